package detect

import "github.com/rocescope/rocescope/analysis/report"

// congestionRules are the pages of what Congestion finds.
var congestionRules = []report.Rule{
	{
		Name: "ecn.marked", Severities: []report.Severity{report.Warning, report.Notice},
		Brief: "frames arrive that a switch marked as congested (CE)",
		Means: "A queue before the tap was longer than its ECN threshold. A few percent of marks are how congestion control works; many mean a queue that stays full, and higher latency for all that share it.",
		Computed: "Frames with ECN 3 (CE) towards each receiver, copies left out, in ce_frames. The share is of data frames that can be marked, Not-ECT ones left out. " +
			"It is a warning from 10 % (Limits.CEWarn) on: DCQCN holds a queue near its threshold by marking a few percent at most, so that a tenth means standing congestion.",
		Not: "Not loss: what is marked has arrived. The tap shows marks of queues before it only; where it stands before the congested queue, look for cnp.without-ce. Which of the switches before the tap marked cannot be known.",
		Do: "See how many senders the receiver has at a time. On each switch before the tap: ECN thresholds, marked packets and depth of the egress queue towards the receiver. " +
			"`ethtool -S` or `/sys/class/infiniband/mlx5_0/ports/1/hw_counters` of the receiver: np_ecn_marked_roce_packets should read the same, np_cnp_sent less, because CNPs are spaced.",
	},
	{
		Name: "ecn.not-ect", Severities: []report.Severity{report.Notice},
		Brief: "data that no switch can mark, because its ECN bits are 00",
		Means: "A queue over its ECN threshold marks packets that say they understand it (ECT) and drops, or at best delays, those that do not. The sender of Not-ECT data never hears of congestion before it is loss or pause.",
		Computed: "Data frames of RoCEv2 with ECN 0, in not_ect_frames. Where other data of the capture is ECT or CE, each sender of Not-ECT data is named. " +
			"Where all data is Not-ECT, it is said only if reliable connections lost packets, beyond those with a bad ICRC, or PFC frames were seen.",
		Not: "Not a fault where neither loss nor pause shows: some networks run on PFC alone. ACKs, CNPs and RoCEv1 do not count. A router that clears the bits looks like a sender that never set them.",
		Do:  "Check the traffic class (tclass 106 is DSCP 26 with ECT(0); NCCL_IB_TC, `cma_roce_tos`), `/sys/class/net/IFACE/ecn/roce_np/enable/PRIO` and roce_rp/enable of the sender. Capture at the sender to see whether the bits are lost on the way.",
	},
	{
		Name: "cnp.missing", Severities: []report.Severity{report.Warning},
		Brief: "marked data arrives, and the receiver tells nobody",
		Means: "The network marks, and the receiver sends no congestion notification. The senders do not slow down, so that queues fill up to PFC or loss.",
		Computed: "A receiver of at least 10 (Limits.MarksWithoutCNP) marked data frames, from senders to which other frames of it are in view, that sends not one CNP to anybody, " +
			"though it is in view for at least 100 µs (Limits.CNPWait) behind the first mark. One CNP may be lost or fall outside the capture, and an adapter sends one for several marks: it spaces them by 4 to 50 µs. The count is of marked data frames.",
		Not: "Not a capture of one direction, which says nothing here. A receiver that tells by the BECN bit of its ACKs, or congestion control by round trips, looks the same: see becn_frames of its flows. " +
			"So do CNPs that are mirrored from another port or filtered out, and those that are dropped or take another path between the receiver and the tap: they have a class of their own, and often a UDP port. " +
			"So it is likely where all of the capture is about that receiver, as on its own link, and else possible.",
		Do: "On the receiver: `/sys/class/net/IFACE/ecn/roce_np/enable/PRIO`, and whether np_cnp_sent stands still while np_ecn_marked_roce_packets rises. Software RoCE (rxe) never sends CNPs.",
	},
	{
		Name: "cnp.without-ce", Severities: []report.Severity{report.Notice, report.Info},
		Brief: "CNPs with no marked data in view: triggered by loss, or marked behind the tap",
		Means: "A receiver tells a sender to slow down, and no frame that it got is marked at the tap. Either its adapter answers loss with CNPs, or the congested queue lies between the tap and the receiver, which is what congestion control looks like from there.",
		Computed: "CNPs from one host to another where data the other way is in view and no frame of it is marked. Where two thirds of them stand within 20 µs (Limits.NearNAK) of a NAK sequence error of the same queue pair, before or behind it, loss triggers them: a notice, or info where they are fewer than 3 (Limits.CNPsNearNAK), where NAKs are so many that chance would put them there with a probability above 1 % (Limits.NearNAKChance), or where the capture misses packets of that data. " +
			"Otherwise the marks are set behind the tap: info. The count is of CNPs.",
		Not: "Not a failure of ECN. One marked frame in view is enough for nothing to be said, and data that is not captured is not judged. A few marks that only the capture lost would look the same.",
		Do: "Near NAKs: look for the loss first (loss.upstream, loss.downstream); roce_slow_restart_cnps counts CNPs of slow restart, and np_ecn_marked_roce_packets of the receiver stands still. " +
			"Else: look at the egress queues between the tap and the receiver, its own port last.",
	},
}
