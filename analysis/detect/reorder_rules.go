package detect

import "github.com/rocescope/rocescope/analysis/report"

// reorderRules are the pages of what Reorder finds.
var reorderRules = []report.Rule{
	{
		Name: "reorder.path", Severities: []report.Severity{report.Notice},
		Brief: "packets overtake each other on the way, and nobody minds",
		Means: "Packets of one queue pair came out of the order of their PSNs, were not lost and not sent again. Several paths carry it: adaptive routing, packet spraying, or a path that changed. " +
			"It is harmless where the receiver places packets out of order.",
		Computed: "A packet is late where it fills a hole in the PSNs without having been sent again; a resend is told from it by the sender's IPv4 identifications where they rise, by whether what follows comes again, and by the round trip. " +
			"Its lateness runs from the packet that revealed the hole. Counted are late requests and READ responses (reordered, response_reordered) of flows without more needless NAKs than losses, between two hosts.",
		Not: "Not loss.upstream: nothing was sent again. Not reorder.spurious-nak, where the receiver complained. Late packets behind the tap cannot be seen. A capturing host with several queues can swap frames as well: where capture.clock is said, this is only possible.",
		Do:  "Nothing, if the fabric is meant to spray. Else look at the load balancing of the switches for this class (adaptive routing, flowlets, packet mode), and for a route or bond member that flapped. Compare out_of_sequence of the receiver, which should stand still.",
	},
	{
		Name: "reorder.spurious-nak", Severities: []report.Severity{report.Warning},
		Brief: "packets that only came late drew NAKs, and so needless resends",
		Means: "The network spreads packets of one queue pair over several paths, and its receiver goes back N: each time one is overtaken it sends a NAK, and everything under way is sent again. Throughput falls as if packets were lost, while no port drops any.",
		Computed: "Sequence NAKs for a packet that passed the tap late, or early because one before it was late, or that was acknowledged sooner than a resend could have been answered (needless_naks). " +
			"Flows count where such NAKs are more than the losses; where losses prevail, such a NAK is rather one more of them. The count is of NAKs.",
		Not: "Not loss.downstream: what the NAK asked for arrived on its own. Where both happen in one flow, single NAKs may be put down to the wrong one.",
		Do: "Enable out-of-order placement on the receiver (ROCE_ADAPTIVE_ROUTING_EN of `mlxconfig`, or adaptive_routing_forced_en of the register ROCE_ACCL), or keep this class off adaptive routing and per-packet load balancing. " +
			"out_of_sequence of the receiver and packet_seq_err of the sender rise while the drop counters of all ports stand still.",
	},
}
