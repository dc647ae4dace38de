package detect

import "github.com/rocescope/rocescope/analysis/report"

// stragglerRules are the pages of what Straggler finds.
var stragglerRules = []report.Rule{
	{
		Name: "straggler.host", Severities: []report.Severity{report.Warning},
		Brief: "one host that its peers wait for: slow ACKs, or last in most collective steps",
		Means: "In a collective all wait for the slowest. One host whose answers or whose steps take longer than those of its peers sets the pace of the job.",
		Computed: "Two signs, alone or together. Slow ACKs: the median ACK round trip of requests to the host is a multiple of that of its peers, at least 4 (Limits.StragglerRatio), and longer by 5 µs (Limits.StragglerExcess), or by twice what times in the capture are off by where that is more (capture.clock), for every host that asks it, and than that of the hosts that it talks to itself, and than that of three quarters of its peers, with three peers at least, and samples of each at least 20 (Limits.StragglerSamples); where one host alone asks, the multiple is 20 (Limits.StragglerLoneRatio).\n\n" +
			"Steps: the capture's common silences cut it into steps. The host sends the last request or response in at least 60 % (Limits.StragglerShare) of the steps, of which there are at least 5 (Limits.StragglerSteps), on average behind the median host by a part of the step of 0.25 (Limits.StragglerLate), behind the last but one by more than lies between that and the first, times 1 (Limits.StragglerAlone), though not begun so late that more than half of the shortest silence behind such a step lies before it, and the probability of as much by chance is below 0.001 (Limits.StragglerChance). " +
			"Where both signs meet, less is enough: a ratio of 3 (Limits.StragglerBothRatio), steps of at least 3 (Limits.StragglerBothSteps), a part of the step of 0.08 (Limits.StragglerBothLate), a probability of 0.02 (Limits.StragglerBothChance).",
		Not: "Not congestion on the way to it: a host that receives much more than its peers, or whose data is marked, is left out. The root of a tree and the end of a chain are last by their place, so only hosts with a like share of the work are compared. A host that is alone for more than half a silence may be late for one step or early for the next: which, a capture does not tell, and it is not found. " +
			"A host that is simply farther away has slow ACKs, too: without steps the finding is only possible.",
		Do: "Compare it with a peer: link speed and width (`ethtool`, `lspci -vv` LnkSta), NUMA node of adapter and GPU, power states, firmware, IOMMU, `ethtool -S` rx_discards_phy and rx_prio*_pause, cable and optic errors. The finding says what the packets show of the reason: a late start, slow answers, RNR, resends.",
	},
}
