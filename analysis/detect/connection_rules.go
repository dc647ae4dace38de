package detect

import "github.com/rocescope/rocescope/analysis/report"

// connectionRules are the pages of what Connection finds.
var connectionRules = []report.Rule{
	{
		Name: "cm.rejected", Severities: []report.Severity{report.Critical, report.Warning, report.Notice},
		Brief: "a connection request was refused, and why",
		Means: "One host asked another for a connection, and one of the two refused: nothing listens there, the application said no, resources ran out, or the request does not fit. The reason stands in the message, so it is mostly a matter of settings.",
		Computed: "REJ messages of connection management, and answers to service ID resolution (SIDR_REP, for UD) with a status other than 0. Those between two hosts about one service with one reason are told together; the service is that of the request, which must be in view for that. " +
			"The count is of refusals, repeats included; rejected is that of connections.\n\n" +
			"It is critical, a warning if such a connection was accepted behind the last refusal, whoever of the two had asked, " +
			"and a notice if, besides, a request of the other side crossed it and there are fewer than 8 (Limits.RejectStorm) refusals: two hosts that ask each other at a time settle it that way.",
		Not: "Not loss and not an unreachable host: an answer came. A client whose REJ says that it heard nothing of the server is cm.unanswered. Where the reason is cut off by the snap length, the finding says so. Many applications exchange queue pairs over TCP, and what goes wrong there is not in view.",
		Do: "By the reason: invalid service ID (8): is the service up and bound to that address and port (`rdma resource show cm_id`)? Consumer reject (28): the log of the application, whose own code the private data may hold. Stale connection (10): the server still holds an older one, after a crash of the client mostly. " +
			"No QP, no resources (1, 3): `rdma resource`, limits on locked memory. Timeout (4): loss of CM packets, or an application that does not serve its events in time.",
	},
	{
		Name: "cm.unanswered", Severities: []report.Severity{report.Critical, report.Warning},
		Brief: "a connection request got no answer at all",
		Means: "A host asks for a connection again and again and hears nothing: no reply, no refusal, no plea for patience. The request does not arrive, nobody there serves it, or the answer is lost on its way.",
		Computed: "REQ (or SIDR_REQ) messages without any reply, REJ, MRA, RTU or data of that connection. They must have been repeated, or be withdrawn by a REJ of their sender, or 2000 ms (Limits.AnswerWait) must have passed: servers answer within milliseconds, while RDMA-CM repeats only after 4.3 s. " +
			"Requests between two hosts are told together. The count is of requests sent, repeats included.\n\n" +
			"It is said only where an answer would be in view: there are other frames from the server to the client, of RoCE or not, or RoCE from the server to others or from others to the client; or the client itself says that none came, which makes it certain. " +
			"It is critical, and a warning if each of the services was granted later. Requests for the same that were granted meanwhile are told: then host and service are there.",
		Not: "Not a capture of one direction, see above; RoCE of others that is in view only makes it likely. Not a refusal (cm.rejected), and not a busy server, which would send MRA. A request repeated once because its answer was late is answered in the end and not told.",
		Do: "On the server: does cm_rx_msgs/req below `/sys/class/infiniband/DEV/ports/1` rise, is rdma_cm loaded, does the service listen (`rdma resource show cm_id`)? Then the way: `ping` of that address from that interface, VLAN, GID index (`show_gids`), access lists on UDP port 4791, and the class of queue pair 1, which is often not the data's. " +
			"Capture at the server to see whether requests arrive.",
	},
	{
		Name: "gid.mixed", Severities: []report.Severity{report.Notice, report.Info},
		Brief: "two hosts address each other by different kinds of GID",
		Means: "The GID that a queue pair uses decides between RoCEv1 and RoCEv2, and between an IPv4, an IPv6 and a link-local address. Two ends that choose differently send packets that the other does not take: they are dropped without a word. " +
			"RoCEv1 and link-local addresses do not pass a router either.",
		Computed: "Rows are joined by the hosts at both ends, which are known by their adapters' MACs, or by a link-local address that was made from one; a MAC with several addresses of one kind may be a router's and joins nothing. " +
			"It is said where two hosts speak two versions of RoCE, or a link-local address meets a routable one, or requests of one kind are repeated and never answered while the other host is heard otherwise. IPv4 beside IPv6 is how many hosts live, and is not told. The count is of rows, each direction of a queue pair being one.\n\n" +
			"It is a notice where requests of one kind are repeated and nothing comes back in that kind, although the other host is heard otherwise, or although one address is link-local and the other one is not; it is likely if the other host speaks another kind that is not answered in turn, and else possible. Otherwise it is info.",
		Not: "Not a fault by itself: as long as each kind gets its answers, it is a habit of two applications. Loss on the way, or a queue pair that is dead for other reasons, leaves requests unanswered as well, hence possible.",
		Do: "List the GIDs of both ends (`show_gids`, or gids and gid_attrs/types below `/sys/class/infiniband/DEV/ports/1`) and choose the same kind: NCCL_IB_GID_INDEX, UCX_IB_GID_INDEX, `ib_write_bw -x`, `cma_roce_mode -d DEV -p 1 -m 2`. " +
			"The index of one kind need not be the same on two hosts, and may change when an address is added.",
	},
	{
		Name: "capture.offload-blind", Severities: []report.Severity{report.Warning, report.Notice},
		Brief: "connections are set up, and no data is in view: the tap is blind to it",
		Means: "The adapter sends and receives RDMA data past the kernel, so that a capture on the host's network interface shows the connection's set-up and nothing of its life. What this capture says of loss, congestion or silence of these hosts means nothing.",
		Computed: "Connections of which the REQ and the RTU are in view, that lived for at least 100 ms (Limits.DataWait), up to the disconnect or the end of the capture, without one packet of theirs, and between hosts of which no other RoCE data is in view either. The count is of connections.\n\n" +
			"It is a warning, and a notice (possible only) for a single connection to a port that no service is known by, which may be idle, or where data of other hosts is in view.",
		Not: "Not a silent peer (peer.silent) and not a refused connection (cm.rejected): each was answered and taken into use. A capture filter that lets connection management through alone would look the same, and so would data that takes another path past the tap. " +
			"Hosts that exchange queue pairs over TCP leave nothing that would show it.",
		Do: "Capture where the adapter cannot hide it: mirror the switch port (SPAN, ERSPAN); or on the host `tcpdump -i mlx5_0` on the RDMA device (libpcap 1.9 or later, with RDMA sniffing), `ibdump`, or `ethtool --set-priv-flags IFACE sniffer on`; on a hypervisor the uplink or the vport representor.",
	},
}
