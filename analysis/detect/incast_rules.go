package detect

import "github.com/rocescope/rocescope/analysis/report"

// burstRules are the pages of what Burst finds.
var burstRules = []report.Rule{
	{
		Name: "incast.burst", Severities: []report.Severity{report.Warning, report.Info},
		Brief: "many senders hit one receiver at once, and losses, marks or pauses follow",
		Means: "Several hosts send to one receiver in the same microseconds. Its link carries no more than one of them can send, so the rest waits in the queue of the switch port before it, until that marks, pauses or drops. " +
			"Small jobs pass and large ones collapse, for the number of senders grows with the job.",
		Computed: "A burst is data towards one address from several hosts, at least 3 (Limits.IncastSenders), without a silence of 100 µs; after a millisecond it is cut and the next one begins. Rates are the most bytes on the wire, mirror copies left out, within 10 µs, 100 µs and 1 ms; where the capture's clock is coarse, as capture.clock has it, only windows five times as long as times are off by say anything.\n\n" +
			"It is a finding where its price is in view: at least half of its senders, and 3 or more, lose packets within 25 µs of each other, not before a queue can have filled, in bytes 64000 (Limits.IncastQueue); " +
			"or at least 10 % (Limits.CEWarn) of the frames in bursts are marked, from at least half of the senders; or pauses begin in it while more comes than --link-rate says the link carries. " +
			"Losses behind the tap count only where more came than the link carries, or, where --link-rate does not tell that, more than any one host sends at its fastest, times 1.5 (Limits.IncastAbove). More than the link carries without any of that is said as info.",
		Not: "Many senders at once are how collectives work, and no fault. Losses of single senders, before the burst or with its first packets, are not its doing. " +
			"Random loss on a busy receiver's flows can look alike from before the queue: then it is only possible. A tap behind the queue never shows more than the link carries; there fan-in and what follows tell.",
		Do: "Look at the egress port towards the receiver: queue watermark, drops, ECN marks and PFC counters (`show queue watermark`, `show pfc counters`). Spread the senders in time or number (NCCL_MAX_NCHANNELS, staggered checkpoints), " +
			"let ECN mark earlier, or give the queue a larger share of the buffer. Where several receivers suffer at a time, look at an uplink that they share.",
	},
}
