package analysis

// Config is what a run needs to know that packets do not say. The zero value
// is not ready; start from Defaults.
type Config struct {
	Port     uint16  // the UDP destination port of RoCEv2; 0 means 4791
	Workers  int     // shards that run in parallel, at least 1
	MaxFlows int     // rows in all; further ones count together in a row "other"
	LinkRate float64 // of the tapped link in bits per second; 0 unknown
	Links    int     // equal-cost links between hosts; 0 unknown
	Limits   Limits
	// Tap, where set, sees every batch after its observers, together with the
	// shard's rows. It is called from the shard's goroutine; set Workers to 1
	// to have one order.
	Tap func(*Batch)
}

// Limits are the thresholds above which a count becomes a finding, each with
// its reason.
type Limits struct {
	// RNRShare is the share of a queue pair's life spent in RNR waits above
	// which the stall is a warning even where single waits are short.
	RNRShare float64
	// RNRWait is the single wait, in ns, from which an RNR stall is a warning
	// whatever its share: a millisecond is many round trips of any fabric.
	RNRWait int64
	// RNRGiveUp is after how many waits without a resend the requester has given
	// up: timers of adapters run to twice the time asked for at most.
	RNRGiveUp int
	// CEWarn is the share of marked frames of a flow from which ecn.marked is
	// a warning: DCQCN holds a queue near its threshold by marking a few
	// percent at most, so that a tenth means standing congestion.
	CEWarn float64
	// MarksWithoutCNP is the number of marked data frames from which a receiver
	// that sends no CNP counts as mute: one CNP may be lost or fall outside the
	// capture, and an adapter sends one for several marks.
	MarksWithoutCNP int
	// CNPWait is how long, in ns, a receiver must be in view behind its first
	// mark: adapters space CNPs by 4 to 50 µs.
	CNPWait int64
	// CNPGap is how far apart, in ns, two CNPs for one queue pair may be and still
	// belong to one run: adapters send one every 4 to 50 µs while marks come, and
	// DCQCN raises a rate 55 µs after a CNP at the earliest (its authors' timer;
	// adapters take 300), so that within a run a rate has little chance to grow.
	CNPGap int64
	// IgnoredRun is how long, in ns, and IgnoredCNPs how many CNPs a run must be
	// at least before a rate that stays is held against the sender: seven cuts 50 µs
	// apart leave a hundredth of a rate whose reduction factor stands at its
	// initial 1, and nine tenths where it had decayed to nothing and rises by 1/256
	// only (the slowest gain in use).
	IgnoredRun  int64
	IgnoredCNPs int64
	// ResistedRun and ResistedCNPs are the same where other senders, told as well,
	// fell to half or less while this one rose: the comparison says more than time.
	// A rise of ResistedRise is more than a share of a queue shifts by chance.
	ResistedRun  int64
	ResistedCNPs int64
	// ResistedShare is the share of the link that it has then: more than half is
	// more than all others together.
	ResistedRise  float64
	ResistedShare float64
	// IgnoredSent is how long, in ns, the whole link would take for what the sender
	// sent during the run. Cuts by half every 50 µs let out 100 µs of it, however
	// long a queue before the tap takes to drain; this is twice that.
	IgnoredSent int64
	// IgnoredShare is the share of the link from which a steady rate may be one
	// that should have been cut. Below it, an application that has no more to send
	// looks the same.
	IgnoredShare float64
	// LongestQueue is how long, in ns, a run must last to be longer than any queue
	// takes to drain: 64 MB, the whole memory of a usual switch, pass a link of
	// 100 Gbit/s in 5 ms, and one of 25 in 20.
	LongestQueue int64
	// MarkingQueue is how many bytes a queue holds at most that marks no more than
	// MarkedShare of the frames: it stands between its two thresholds, of which the
	// higher one is a few MB at 400 Gbit/s, and less on slower links.
	MarkingQueue int64
	MarkedShare  float64
	// ToldTogether is by how much, in ns, another sender may have been told earlier
	// and still show how long a reaction takes to come through the queue.
	ToldTogether int64
	// RateKept is the part of its former rate from which a sender counts as not
	// slowed down: windows of 33 µs differ by a few percent.
	RateKept float64
	// NearNAK is how close, in ns, to a sequence NAK, before or behind, a CNP is
	// taken for its companion: adapters that slow down on loss send both within a
	// few microseconds.
	NearNAK int64
	// CNPsNearNAK is the number of such CNPs below which they may stand there by
	// chance, so that loss as their cause is told as info. So it is where NAKs are so
	// many that chance would put them there with a probability above NearNAKChance.
	CNPsNearNAK   int
	NearNAKChance float64
	// ClassSiblings is the number of queue pairs from which their DSCP is the usual
	// one between two hosts, and how many times those on another they must be: of
	// two queue pairs with two DSCPs neither is odd.
	ClassSiblings int
	// ClassClear is the share of frames that must ride one DSCP for a direction to
	// be of one class: a few of another application may be among them.
	ClassClear float64
	// ClassShared is the share of a class's bytes, and ClassSharedFrames the number
	// of frames, from which traffic that is no RoCE is a warning: the odd frame
	// fills no queue.
	ClassShared       float64
	ClassSharedFrames int
	// SharedPort is the number of queue pairs between two hosts from which one
	// UDP source port for all of them is a warning: below eight, a host often
	// has no more paths to fill than ports.
	SharedPort int
	// Paths is the number of effective paths below which entropy.low is said
	// where the number of links is not known: leaf switches have eight uplinks
	// and more.
	Paths int
	// OneWay is the number of requests sent for the first time from which hosts
	// whose answers are not in view count as going on: a sender puts that many on
	// the wire at once, so that fewer may be on their way to a dead peer.
	OneWay int
	// Glimpse is how long, in ns, two hosts must be in view until answers should
	// have been, where the tap sees both directions of others: ten round trips of
	// any fabric. Where it sees those of nobody, GlimpseFrames are enough.
	Glimpse       int64
	GlimpseFrames int
	// Backward is the share of frames out of time order from which
	// capture.clock is said: the queues of one adapter disagree now and then.
	Backward float64
	// AnsweredFirst is the share of RoCE frames that pass behind their answers from which
	// capture.clock is said: clocks that disagree swap many, and a capture that begins
	// amid resends, or loses frames itself, may seem to hold a few.
	AnsweredFirst float64
	// ClockBatch is how many frames with one time, of which one host sent several, show
	// that the clock does not tell when they came: hardware that times each frame gives
	// two of one link different times, and fewer may come from as many links at once.
	ClockBatch int
	// ClockSteps is after how many different times their common divisor is the tick of
	// the clock: that of as many by chance is 1 ns. A divisor that is as unlikely by
	// chance is the tick after fewer.
	ClockSteps int
	// ClockWait is how long, in ns, a driver lets frames wait for more of them: a longer
	// time between two batches is silence. Adapters hold interrupts back by 8 to 20 µs.
	ClockWait int64
	// FastestLink is the rate, in Gbit/s, above which frames with one time did not come
	// within one tick of the clock: no port of today carries more.
	FastestLink float64
	// SenderICRC is the number of packets from which a sender with no good ICRC
	// is blamed: fewer may all have met one bad link.
	SenderICRC int
	// Doublings is how many intervals in a row, each about twice the one before,
	// show a timer that grows: two may be a wait that began late, and the timer
	// itself.
	Doublings int
	// RetryGiveUp is how many of its own timeouts a requester must stay silent
	// before it counts as having given up: the next resend would have come after
	// one, and timers of adapters run to twice the nominal time at most.
	RetryGiveUp int
	// Retries is the number of unanswered resends of one packet from which a
	// queue pair counts as dead even where the capture ends before its timer
	// would run out again. The retry counter goes to seven; a flap of the path
	// that outlasts five timers hardly ends within the last two.
	Retries int
	// SilentTries is how often a packet must have been sent without any answer
	// before its peer counts as silent: chance loses one packet four times in a
	// row only where nothing else would get through either.
	SilentTries int
	// UnrecoveredWait is how long, in ns, a queue pair must be silent behind an
	// open loss, and UnrecoveredRTTs how many of its round trips, before the loss
	// counts as never repaired: a NAK is served within a round trip, and where it
	// is lost, timers of the usual exponent 14 run out after 67 ms.
	UnrecoveredWait int64
	UnrecoveredRTTs int64
	// PauseShare is the share of time, of the whole capture or of its worst
	// PauseWindow, that a priority must be held paused before that is a warning.
	// A lossless fabric absorbs the odd burst by a pause of some microseconds; a
	// hundredth of the time is a hundredth of the link's rate lost, time and
	// again.
	PauseShare float64
	// PauseLeast is how long, in ns, pauses must be in all for that: less is what
	// bursts take until congestion control acts, a few pauses of ten to twenty
	// microseconds each at 100 Gbit/s, which a short capture would blow up.
	PauseLeast int64
	// PauseHeavy is the share from which pauses are a warning however short the
	// capture is.
	PauseHeavy float64
	// PauseWindow is the window, in ns, over which choppy pauses are added up:
	// half of what a watchdog waits, which sees unbroken ones only.
	PauseWindow int64
	// PauseSilence is how many times longer than usual a gap in a row's data must
	// be to be laid to a pause: shorter ones are the row's own.
	PauseSilence int64
	// PauseQuiet is of which share of a port's pauses, by time or by number, a row
	// must have been silent for that to be told: gaps of its own fall into a pause
	// now and then.
	PauseQuiet float64
	// StormAfter is how long, in ns, a priority must be held without a break to
	// be a storm: the detection time of the SONiC PFC watchdog as it starts by
	// default.
	StormAfter int64
	// ECTBeforePause is the number of frames that could have been marked, and
	// were not, from which pauses before any mark say something of thresholds: a
	// queue marks from 150 kB to 1 MB on, which is about a hundred frames.
	ECTBeforePause int
	// MarkLag is how long, in ns, behind a pause a first mark may be seen and
	// still count as set before it: a queue of a megabyte drains in that time at
	// 100 Gbit/s, and a CNP takes a round trip.
	MarkLag int64
	// AnswerWait is how long, in ns, a connection request that is not repeated
	// must have gone without an answer: a server replies or asks for patience
	// (MRA) within milliseconds, while RDMA-CM repeats only after 4.3 s.
	AnswerWait int64
	// RejectStorm is the number of rejects between two hosts from which requests
	// that cross each other are a warning although they succeed in the end: a pair
	// that asks each other at a time needs one or two to settle it.
	RejectStorm int
	// DataWait is how long, in ns, a connection must live without one packet
	// before the tap counts as blind to it: services speak within milliseconds of
	// the set-up.
	DataWait int64
	// SizeTries is how often a packet larger than any that arrived must have been
	// sent in vain before its size is blamed: chance loses one packet three times
	// in a row only where smaller ones would hardly get through.
	SizeTries int
	// SizePassed is how many answers must have come for smaller packets, where
	// none came after the first large one: fewer may stand before a path that
	// went down for everything.
	SizePassed int
	// Hottest is how many times its fair share the busiest of some parallel links
	// must carry before the spread counts as uneven: half as much again fills one
	// link while the others still have a third to spare.
	Hottest float64
	// MemberFlows and MemberFrames are how many flows and frames must be seen on
	// parallel links before their spread is judged: three flows cannot be even
	// over two links.
	MemberFlows  int
	MemberFrames int
	// MemberShare is the share of a flow's frames that must be seen on one of
	// parallel links for the flow to count as its own: one that is sprayed, or
	// moved from link to link, says nothing of how whole flows are spread.
	MemberShare float64
	// InSeries is the share of frames seen twice from which two interfaces or
	// senders are taps in series, not parallel: a mirror copies a few by accident.
	InSeries float64
	// IncastSenders is how many hosts must send to one receiver at a time for a
	// burst to be incast: two share a link wherever there are three hosts, and
	// congestion control settles between them.
	IncastSenders int
	// IncastQueue is how many bytes must have come towards the receiver, at the
	// burst's highest rate, before the first loss of a queue that overflowed: no
	// switch for RoCE gives a port less buffer.
	IncastQueue int64
	// IncastAbove is how many times as much as any one host sends at its fastest
	// must come to a receiver before a queue behind the tap is held to have
	// overflowed, where the link's rate is not known: the receiver's link may well
	// carry a little more than was seen, hardly half as much again.
	IncastAbove float64
	// StragglerSamples is the number of ACK round trips from which a host's median
	// is compared, and StragglerRatio how many times that of its peers it must be:
	// a path of more hops in one fabric makes two or three times. StragglerExcess
	// is by how many ns it, or the end of its steps, must lie behind as well: below
	// that adapters of one make differ.
	StragglerSamples int
	StragglerRatio   float64
	StragglerExcess  int64
	// StragglerLoneRatio is that ratio where one host alone asks: the way between
	// the two may be slow instead, and a queue on it adds tens of round trips.
	StragglerLoneRatio float64
	// StragglerSteps is how many steps there must be before the last ones are
	// compared; StragglerShare the share of them that a host must end;
	// StragglerLate by what share of a step's length it must be behind on average,
	// for somebody is always last; StragglerAlone how far behind the last but one, as
	// a multiple of what lies between the first and that, for where hosts finish one
	// after the other the end of the row is no straggler; StragglerChance the
	// probability of as much where all are equally fast.
	StragglerSteps  int
	StragglerShare  float64
	StragglerLate   float64
	StragglerAlone  float64
	StragglerChance float64
	// StragglerBothRatio, StragglerBothLate, StragglerBothSteps and
	// StragglerBothChance are enough where a host's ACKs are slow and it ends the
	// steps as well, which rarely meet by chance: all of three steps among eight
	// hosts are a 64th. The ratio still leaves room for a longer way.
	StragglerBothRatio  float64
	StragglerBothSteps  int
	StragglerBothLate   float64
	StragglerBothChance float64
	// PeerSame is how far apart, as a share, the least round trips of true pairs of
	// queue pairs between two hosts lie, where nothing but their traffic tells who
	// answers whom: all share the way and the adapters, and the least of several
	// answers leaves out what queues add. In the simulated fabrics, with queues and
	// losses, they lie within a hundredth.
	PeerSame float64
	// PeerAnswers is of how many answers that round trip must be the least: one in
	// eight finds no queue, where half the ways are busy at three switches. Twice as
	// many are needed where round trips lie farther apart than PeerSame, and half as
	// many where those of all others are clearly off.
	PeerAnswers int
	// PeerMissed is how many requests the capture may lack for a queue pair to remain
	// a possible partner, where most answers do not fit it: a tap that drops one
	// packet in a hundred lacks as many in a few hundred, longer than it takes for
	// answers to tell. Requests that the capture is seen to lack do not count.
	PeerMissed int
}

// Defaults returns the configuration of a plain run on n cores.
func Defaults(workers int) *Config {
	return &Config{
		Workers:  max(1, workers),
		MaxFlows: 1 << 17,
		Limits: Limits{
			RNRShare:            0.01,
			RNRWait:             1_000_000,
			RNRGiveUp:           4,
			CEWarn:              0.1,
			MarksWithoutCNP:     10,
			CNPWait:             100_000,
			CNPGap:              100_000,
			IgnoredRun:          350_000,
			IgnoredCNPs:         8,
			ResistedRun:         120_000,
			ResistedCNPs:        4,
			ResistedRise:        1.2,
			ResistedShare:       0.5,
			IgnoredSent:         200_000,
			IgnoredShare:        0.25,
			LongestQueue:        20_000_000,
			MarkingQueue:        8 << 20,
			MarkedShare:         0.5,
			ToldTogether:        20_000,
			RateKept:            0.95,
			SharedPort:          8,
			Paths:               8,
			Backward:            0.001,
			AnsweredFirst:       0.01,
			ClockBatch:          8,
			ClockSteps:          32,
			ClockWait:           20_000,
			FastestLink:         800,
			SenderICRC:          8,
			RetryGiveUp:         2,
			Retries:             5,
			SilentTries:         4,
			UnrecoveredWait:     100_000_000,
			UnrecoveredRTTs:     20,
			PauseShare:          0.01,
			PauseLeast:          100_000,
			PauseHeavy:          0.1,
			PauseWindow:         100_000_000,
			StormAfter:          200_000_000,
			ECTBeforePause:      100,
			MarkLag:             100_000,
			AnswerWait:          2_000_000_000,
			RejectStorm:         8,
			DataWait:            100_000_000,
			SizeTries:           3,
			SizePassed:          5,
			Hottest:             1.5,
			MemberFlows:         4,
			MemberFrames:        100,
			InSeries:            0.05,
			IncastSenders:       3,
			IncastAbove:         1.5,
			IncastQueue:         64_000,
			StragglerSamples:    20,
			StragglerRatio:      4,
			StragglerExcess:     5_000,
			StragglerSteps:      5,
			StragglerShare:      0.6,
			StragglerLate:       0.25,
			StragglerChance:     0.001,
			StragglerAlone:      1,
			StragglerBothRatio:  3,
			StragglerBothLate:   0.08,
			StragglerBothSteps:  3,
			StragglerBothChance: 0.02,
			StragglerLoneRatio:  20,
			NearNAK:             20_000,
			CNPsNearNAK:         3,
			NearNAKChance:       0.01,
			ClassSiblings:       3,
			ClassClear:          0.9,
			ClassShared:         0.01,
			ClassSharedFrames:   10,
			OneWay:              16,
			Glimpse:             200_000,
			GlimpseFrames:       4,
			Doublings:           3,
			PauseSilence:        4,
			PauseQuiet:          0.25,
			MemberShare:         0.9,
			PeerSame:            0.01,
			PeerAnswers:         8,
			PeerMissed:          3,
		},
	}
}
