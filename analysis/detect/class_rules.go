package detect

import "github.com/rocescope/rocescope/analysis/report"

// classRules are the pages of what Class finds.
var classRules = []report.Rule{
	{
		Name: "class.dscp-outlier", Severities: []report.Severity{report.Warning},
		Brief: "a few queue pairs ride another DSCP than their siblings",
		Means: "Nearly all data between two hosts has one DSCP, and some queue pairs have another. Switches put them into another queue, mostly one without PFC and ECN, where they are the first to be dropped. Jobs then hang on single connections.",
		Computed: "Data of RoCEv2 from one host to another, by DSCP. One that at least 3 (Limits.ClassSiblings) queue pairs share is usual; another is odd where as many times its number are on the usual one. CNPs, ACKs and connection management are left aside.\n\n" +
			"The finding sets the losses of the odd queue pairs beside those of all between the two hosts.",
		Not: "Not a fault by itself: two applications may have two classes on purpose. Where all losses sit on the odd DSCP, it is the cause.",
		Do: "Find what sets the traffic class: NCCL_IB_TC, UCX_IB_TRAFFIC_CLASS, `cma_roce_tos -d mlx5_0`, the traffic_class of ibv_ah_attr.grh. A traffic class is DSCP times four plus ECN. " +
			"See into which queue the switches' DSCP map puts it, and the drops of that queue (`show queue counters`).",
	},
	{
		Name: "class.direction", Severities: []report.Severity{report.Notice},
		Brief:    "data and what comes back ride different DSCPs",
		Means:    "One host marks its traffic and the other does not, or with another value. The two directions are queued, marked and dropped by different rules. An ACK lost in an unprotected class costs a timeout.",
		Computed: "At least 90 % (Limits.ClassClear) of the data frames from one host to another on one DSCP, and as large a share of what comes back (data, ACKs, READ requests; no CNPs) on another one. Two hosts that both send data are told once. The count is of frames on the way back.",
		Not: "Not necessarily a mistake: some adapters put ACKs into a class of their own (Gaudi 3 sends data on DSCP 24 and ACKs on 16). Not CNPs, see cnp.class. " +
			"Where a router rewrites DSCP on the way, each direction is seen as it is at the tap.",
		Do: "Compare NCCL_IB_TC, UCX_IB_TRAFFIC_CLASS or `cma_roce_tos` on both hosts. With loss.ack beside it, see drops in the class of the way back first (`show queue counters` on the switches, rx_prio*_discards in `ethtool -S` of the receiver of the ACKs).",
	},
	{
		Name: "class.pcp-mismatch", Severities: []report.Severity{report.Notice},
		Brief: "the priority in the VLAN tag does not fit the DSCP or LLDP",
		Means: "Switches choose the queue, and PFC the class to pause, by the tag's priority (trust PCP) or by DSCP (trust DSCP). Where the two disagree, a frame rides one class on the one device and another on the next.",
		Computed: "Three comparisons. For each DSCP, the priority that most senders tag it with, at least two of them; a sender among fewer with another priority is named. " +
			"For each priority that at least two senders use for a DSCP which the usual map (DSCP / 8) gives to it, and who follow that map in all else: a sender among fewer that uses it for a DSCP of another priority; that is only possible. " +
			"And where LLDP announces a priority for UDP port 4791 (the DCBX application table) and all ports agree, tagged data with another one. The count is of frames.",
		Not: "Not untagged frames: they have no priority, and what a switch gives them stands in no packet. With a single sender, or as many on either side, the first comparison says nothing.",
		Do:  "Compare `mlnx_qos -i IFACE`, `dcb app show dev IFACE dscp-prio`, the egress-qos-map in `ip -d link show VLAN` of the host and its peers, and what the switch port trusts. ConnectX-5 trusts PCP by default.",
	},
	{
		Name: "class.shared", Severities: []report.Severity{report.Warning},
		Brief:    "other traffic rides the class of RoCE data",
		Means:    "Frames that are no RoCE carry the DSCP of RoCE data. They fill its queue and its headroom, and do not slow down for CNPs: TCP fills a lossless queue until PFC stops all of it.",
		Computed: "IP frames that are no RoCE on a DSCP of RoCE data, in the whole capture: at least 10 (Limits.ClassSharedFrames) frames and at least 1 % (Limits.ClassShared) of the bytes of that DSCP. DSCP 0 is left out, where everything is that nobody has given a class. The count is of frames.",
		Not:      "Not CNPs or connection management, which belong to RoCE. It is told from DSCP alone: where switches trust the VLAN tag, or the other traffic takes other links, the queues may differ all the same.",
		Do:       "The finding's filter shows who sends it; `ss -tin` and `tc` on that host tell what. Take its marking away, or have the leaf switch rewrite DSCP for all that is not UDP port 4791. See the queue's drops and `show pfc counters`.",
	},
	{
		Name: "cnp.class", Severities: []report.Severity{report.Notice},
		Brief:    "CNPs queue behind the data that they report on",
		Means:    "CNPs ride the DSCP and priority of the data they answer. In a congested network they wait in the same queues, or are paused with them, and senders slow down too late.",
		Computed: "All DSCPs and tag priorities of the CNPs from one host to another are among those of the data the other way. CNPs with a DSCP or priority of their own are left alone, whatever it is. The count is of CNPs.",
		Not:      "Not about which class is right: DSCP 48 with priority 6 is the usual default (both seen in ConnectX firmware), others work as well if the switches serve them first. The way of a CNP may be free of congestion, and its class then does not matter.",
		Do:       "Set cnp_dscp and cnp_802p_prio (`/sys/class/net/IFACE/ecn/roce_np/`, or `mlxconfig` CNP_DSCP_P1 and CNP_802P_PRIO_P1), give that class strict priority on the switches, and no PFC.",
	},
}
