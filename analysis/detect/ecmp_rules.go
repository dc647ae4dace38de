package detect

import "github.com/rocescope/rocescope/analysis/report"

// ecmpRules are the pages of what ECMP finds.
var ecmpRules = []report.Rule{
	{
		Name: "ecmp.imbalance", Severities: []report.Severity{report.Warning, report.Info},
		Brief: "one of several parallel links carries far more than its share",
		Means: "Switches choose among equal links by a hash of addresses and ports, and RoCE gives them little to hash: a few long flows, all to UDP port 4791. Where several fall on one link, it fills while others idle, and marks, pauses and stragglers follow.",
		Computed: "Observed: links are the interfaces of the capture, or else source MACs (of a bond, or of routers), that carry flows between the same hosts at a time, each packet once. A flow belongs to the link that has at least 90 % (Limits.MemberShare) of its frames. " +
			"Links on which more than 5 % (Limits.InSeries) of the frames are seen twice are taps in series and do not count. With --links interfaces that are not in the capture count as idle links. " +
			"From 4 (Limits.MemberFlows) flows with data and 100 (Limits.MemberFrames) frames on, it is a warning if the busiest link carries more than 1.5 (Limits.Hottest) times its fair share of the bytes, and info if one flow alone makes that. The count is of flows on that link.\n\n" +
			"Predicted, with --links only: the data flows, by UDP source port and destination queue pair, are spread over that number of links by three families of hashes (CRC16, CRC32, XOR) with sixteen seeds each; the middle of them is compared with the same threshold. " +
			"It needs as many frames, and at least as many queue pairs as links. It is a warning where hash keys (addresses and source port) are fewer than links, which is a setting, and else info, for keys collide by chance. The count is of hash keys.",
		Not: "Not measured, where it says that it would: hash functions of vendors are not public, and the switch's own may do better or worse. What travels over links that the capture does not show is not known. " +
			"A link that took over from another is not parallel to it.",
		Do: "Give the hash more to tell flows apart: a UDP source port for each queue pair (entropy.single-port), more queue pairs to each peer (NCCL_IB_QPS_PER_CONNECTION), the BTH destination queue pair in the switch's hash, or adaptive routing. " +
			"For a bond of a host see xmit_hash_policy in `/proc/net/bonding/bond0` and the port affinity of queue pairs. Compare `show interfaces counters` of the members, and hash seeds of switch tiers, which must differ (polarization).",
	},
}
