package detect

import "github.com/rocescope/rocescope/analysis/report"

// entropyRules are the pages of what Entropy finds.
var entropyRules = []report.Rule{
	{
		Name: "entropy.single-port", Severities: []report.Severity{report.Warning, report.Info},
		Brief: "many queue pairs between two hosts share one UDP source port",
		Means: "Switches spread traffic by hashing addresses and ports, and RoCEv2 has one destination port for all. Queue pairs with the same source port are one flow to them and take one path, however many links there are.",
		Computed: "The queue pairs from one host to another at the moment when most of them are active, from their first to their last packet, by the source ports of their requests. " +
			"With 8 (Limits.SharedPort) or more on a single port it is a warning, with two to seven it is info: below eight, a host often has no more paths to fill than ports. Datagrams and the queue pairs of management are left out. The count is of queue pairs.",
		Not: "Not one busy queue pair, which has one port by nature. Not that the links are unevenly loaded: switches that hash on the BTH destination queue pair, or spray packets, tell them apart all the same. RoCEv1 has no ports.",
		Do: "Leave the flow label unset or give each queue pair one of its own (ah_attr.grh.flow_label of ibv_modify_qp), use NCCL_IB_QPS_PER_CONNECTION or UCX_IB_ROCE_PATH_FACTOR, or let the switches hash on the destination queue pair. " +
			"Compare the rates of the uplinks (`show interfaces counters`).",
	},
	{
		Name: "entropy.low", Severities: []report.Severity{report.Notice, report.Info},
		Brief: "the traffic cannot spread over all the equal-cost links",
		Means: "All data of the capture has too few different addresses and ports, or too much of it on one of them, to fill the parallel links. Some stay idle while others are full.",
		Computed: "Effective paths are 2^H, where H is the entropy of the payload bytes over source address, destination address and UDP source port: that many equally loaded keys would spread as well. Beside it stands the same with the destination queue pair in the key.\n\n" +
			"It is a notice where --links says how many links there are and the effective paths are fewer. Without, it is info where at least 8 (Limits.Paths) queue pairs spread over fewer than 8 effective paths: leaf switches have eight uplinks and more. The count is of keys.",
		Not: "Not the load of any link: that is for the switches' hash to decide, which can be worse. With the queue pair in the hash, or packets sprayed, the traffic spreads further than said. All data counts together, whichever switch it passes.",
		Do:  "Use more queue pairs to each peer and a source port for each of them (entropy.single-port says how), or the queue pair in the hash. Compare the rates of the uplinks on the leaf switches.",
	},
}
