package detect

import "github.com/rocescope/rocescope/analysis/report"

// reactionRules are the pages of what Reaction finds.
var reactionRules = []report.Rule{
	{
		Name: "cnp.no-reaction", Severities: []report.Severity{report.Warning},
		Brief: "CNPs reach a sender, and its rate does not fall",
		Means: "A CNP tells a queue pair that its packets were marked, and DCQCN cuts its rate by up to half. A sender that goes on as before takes the share of all that obey, and keeps the queue full.",
		Computed: "Runs of CNPs to one queue pair, at most 100 µs (Limits.CNPGap) apart, and the rate of its data in windows of 33 µs before the run, at its end and behind it. A run counts up to the last CNP before which the former rate still stood, for a sender may have sent all it had before the last one. " +
			"It is a finding where a run, with a number of CNPs of at least 8 (Limits.IgnoredCNPs) over 350 µs (Limits.IgnoredRun), leaves of the rate at least 95 % (Limits.RateKept), the flow had a share of the link of at least 0.25 (Limits.IgnoredShare), what it sent in that time would take the link at least 200 µs (Limits.IgnoredSent), and no queue before the tap can have hidden the cut: its data bears no marks here, or the run lasted 20 ms (Limits.LongestQueue), or let 8 MiB (Limits.MarkingQueue) or more through of which at most 50 % (Limits.MarkedShare) are marked, or another sender, told at most 20 µs (Limits.ToldTogether) earlier, fell long before. " +
			"Weaker, and only possible: after the sender's first CNPs, at least 4 (Limits.ResistedCNPs) over 120 µs (Limits.ResistedRun), the rate is higher by a factor of 1.2 (Limits.ResistedRise) and above a share of the link of 0.5 (Limits.ResistedShare), while another sender to the same receiver, told as well, fell to half, behind the run or within it.\n\n" +
			"The link's rate is that of --link-rate, or else the fastest that was seen: of all frames together where the data bears marks, of any one sender where it does not, because the queue lies behind the tap.",
		Not: "Not a sender with little to send: there is no rate to cut. A queue that drains before the tap shows its own rate, not the sender's, so there the finding is made only for long runs or where another sender's cut came through the same queue. " +
			"One direction alone shows either the CNPs or the rate. CNPs that are lost between the tap and the sender look the same; where no sender that a receiver told slows down, the finding says so and is only possible.",
		Do: "See whether the reaction point is on for this priority (`mlnx_qos`, roce_rp/enable, `mlxreg` ROCE_ACCL), and whether rp_cnp_handled or rp_cnp_ignored of the sender rises. Check that CNPs arrive in a class that is not dropped (cnp.class). " +
			"Congestion control by round trips, without DCQCN, leaves CNPs aside by design.",
	},
}
