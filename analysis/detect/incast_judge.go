package detect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

func judgeBurst(r *report.Report, c *analysis.Config) []report.Finding {
	v := readBursts(r)
	var hurt, above []report.Finding
	for _, row := range r.Rows("incast", "receivers") {
		if row.Values[recvBursts] == 0 {
			continue
		}
		x := v.receiver(row, c)
		switch {
		case x.lost || x.marked || x.paused:
			hurt = append(hurt, x.finding(v, c))
		case x.above(c):
			above = append(above, x.harmless(c))
		}
	}
	const filter = "infiniband.bth.opcode"
	return append(condense(hurt, "receiver", filter), condense(above, "receiver", filter)...)
}

// burstView is a report as the judge looks at it.
type burstView struct {
	toward map[string][]*report.Flow
	bursts map[string][]report.Row // by receiver
	losses map[string][]lossAt     // by receiver
	harm   int64                   // marks and losses towards all receivers
	seen   int                     // receivers of data
	sent   int64                   // the most that one host sent within 10 µs
	noise  int64                   // by how much times may be wrong, ns
}

// lossAt is a row of the table "losses".
type lossAt struct {
	src            string
	ns             int64
	lost, timeouts int64
	frame          uint64
}

func readBursts(r *report.Report) *burstView {
	v := &burstView{toward: map[string][]*report.Flow{}, bursts: map[string][]report.Row{}, losses: map[string][]lossAt{}}
	v.sent, v.noise = r.Value("incast", "peak_sent_10us"), clockNoise(r)
	needless := map[[3]string]bool{}
	for _, g := range groupBy(r, func(f *report.Flow) string { return f.Dst }) {
		v.toward[g.key] = g.flows
		v.harm += total(g.flows, (*report.Flow).Lost)
		for _, f := range g.flows {
			if f.NeedlessTimeouts+f.LostAcks+f.RNRNAKs > 0 {
				needless[[3]string{f.Src, f.Dst, qpText(f.DestQP)}] = true
			}
		}
	}
	for _, row := range r.Rows("incast", "receivers") {
		v.seen++
		v.harm += row.Values[recvCE]
	}
	for _, row := range r.Rows("incast", "bursts") {
		v.bursts[row.Key[0]] = append(v.bursts[row.Key[0]], row)
	}
	for _, row := range r.Rows("incast", "losses") {
		x := lossAt{src: row.Key[0], ns: number(row.Key[3]), lost: row.Values[0], timeouts: row.Values[1], frame: uint64(max(0, row.Values[2]))}
		if needless[[3]string(row.Key[:3])] {
			x.timeouts = 0 // the timer may have been all there was to it
		}
		if x.lost > 0 || x.timeouts > 0 {
			v.losses[row.Key[1]] = append(v.losses[row.Key[1]], x)
		}
	}
	return v
}

// incast is the bursts towards one receiver.
type incast struct {
	dst                  string
	row                  []int64 // of the table "receivers"
	worst                burstRow
	lost, marked, paused bool // what followed
	told                 int  // bursts in the report
	hurt                 int  // of them with losses from several senders
	first, last          int64
	lostFrames           int64
	real                 float64 // the share of frames that are no mirror copies
	noise                int64   // by how much times may be wrong, ns
	flows                []*report.Flow
}

// burstRow is one burst with the losses that began in it.
type burstRow struct {
	start  int64
	values []int64
	hit    int // senders that lost within a moment of each other
	crowds int // losses in moments in which most senders lost
	alone  int // the others
	lost   int64
	after  int64 // ns from the crowd to the first loss
	frames []uint64
}

func (b *burstRow) end() int64 { return b.start + b.values[burstLengthAt] }

func (v *burstView) receiver(row report.Row, c *analysis.Config) *incast {
	x := &incast{dst: row.Key[0], row: row.Values, noise: v.noise, flows: v.toward[row.Key[0]]}
	x.real = originals(x.flows)
	pauses, one := 0, x.oneQueue(v.sent, c)
	for _, r := range v.bursts[x.dst] {
		b := burstRow{start: number(r.Key[1]), values: r.Values}
		if b.values[burstSendersAt] < int64(c.Limits.IncastSenders) {
			continue
		}
		x.told++
		b.losses(v.losses[x.dst], &c.Limits)
		if b.values[burstPausesAt] > 0 && b.values[burstOwnAt] == 0 {
			pauses++
		}
		if one && x.converging(&b, &c.Limits) {
			x.hurt++
			x.lostFrames += b.lost
		} else {
			b.hit = 0
		}
		x.take(&b)
	}
	marked := x.worst.values != nil && 2*x.worst.values[burstMarkedAt] >= x.worst.values[burstSendersAt] && x.worst.values[burstMarkedAt] > 1
	x.lost = x.hurt > 0
	x.marked = marked && float64(x.row[recvBurstCE]) >= c.Limits.CEWarn*float64(x.row[recvBurstFrames])
	// Pauses alone may be for the sake of a slow receiver, unless more comes than its
	// link carries, which a tap before the queue sees.
	x.paused = pauses > 0 && 2*pauses >= x.told && c.LinkRate > 0 && x.exceeds(0, c)
	return x
}

// losses joins what was lost in the burst, or was its last.
func (b *burstRow) losses(all []lossAt, limits *analysis.Limits) {
	crowd := b.start + b.values[burstCrowdAt]
	in := slices.DeleteFunc(slices.Clone(all), func(l lossAt) bool { return l.ns < b.start || l.lost > 0 && l.ns < crowd || l.ns > b.end()+burstGap })
	slices.SortStableFunc(in, func(a, b lossAt) int { return int(min(max(a.ns-b.ns, -1), 1)) })
	crowded := 0 // in the moments so far, up to this index
	for i, l := range in {
		if l.lost > 0 && b.lost == 0 {
			b.after = l.ns - crowd // a timer sends again from the oldest packet on, lost or not
		}
		b.lost += l.lost
		b.frames = append(b.frames, l.frame)
		senders, n := map[string]bool{}, i
		for n < len(in) && in[n].ns-l.ns <= burstMoment {
			senders[in[n].src] = true
			n++
		}
		b.hit = max(b.hit, len(senders))
		if b.most(len(senders), limits) {
			crowded = n
		}
		if i < crowded {
			b.crowds++
		} else {
			b.alone++
		}
	}
}

// most reports whether so many senders are those that a full queue would take nothing from.
func (b *burstRow) most(senders int, l *analysis.Limits) bool {
	return senders >= l.IncastSenders && 2*int64(senders) >= b.values[burstSendersAt]
}

// converging reports whether losses look like a queue that many filled: several
// senders lose at about the same time, at least half of them, though not before a
// queue can have filled, nor with the first packets, as behind a link that was
// down. Chance has them so once in a while, but most losses all over the burst.
func (x *incast) converging(b *burstRow, l *analysis.Limits) bool {
	filled := float64(x.peak()) * float64(b.after) / float64(burstWindows[0].ns)
	return b.most(b.hit, l) && b.crowds >= b.alone && b.lost > 0 && filled >= float64(l.IncastQueue)
}

// oneQueue reports whether the losses of the receiver's flows may all be those of
// one full queue. It lies on one side of the tap. While it is full, most of what
// many senders send finds no place, so that packets are missing in runs; chance
// takes single ones. Of losses behind the tap only the first of a run is known,
// but there all that comes to the queue is in view, and must have been more than
// leaves it: than the link carries or, where that is not known, than any one host
// sends.
func (x *incast) oneQueue(sent int64, c *analysis.Config) bool {
	up, down := x.sides()
	if up > 0 && down > 0 && 4*min(up, down) > max(up, down) {
		return false
	}
	gaps := total(x.flows, func(f *report.Flow) int64 { return f.Gaps + f.ResponseGaps })
	missing := total(x.flows, func(f *report.Flow) int64 { return f.GapFrames + f.ResponseGapFrames })
	if down <= up {
		return 2*missing >= 3*gaps
	}
	return x.exceeds(sent, c)
}

// exceeds reports whether more came than the link of the receiver carries, as far
// as that is known, with a fifth of room; where it is not, much more than any one
// host sends.
func (x *incast) exceeds(sent int64, c *analysis.Config) bool {
	if _, tells := x.window(); !tells {
		return false
	}
	if c.LinkRate > 0 {
		return 5*x.peak() >= 6*int64(c.LinkRate/8e9*float64(burstWindows[0].ns))
	}
	return float64(x.peak()) >= c.Limits.IncastAbove*float64(sent)
}

// sides returns the losses before and behind the tap.
func (x *incast) sides() (up, down int64) {
	return total(x.flows, func(f *report.Flow) int64 { return f.LostUpstream + f.ResponseLostUpstream }),
		total(x.flows, func(f *report.Flow) int64 { return f.LostDownstream + f.ResponseLostDownstream })
}

// take keeps the worst burst, and the time that all cover.
func (x *incast) take(b *burstRow) {
	if x.worst.values == nil {
		x.first, x.last = b.start, b.end()
	}
	x.first, x.last = min(x.first, b.start), max(x.last, b.end())
	if x.worst.values == nil || b.harm() > x.worst.harm() {
		x.worst = *b
	}
}

// harm ranks bursts: by losses, then marks, then pauses, then senders.
func (b *burstRow) harm() int64 {
	return int64(b.hit)<<40 + min(b.values[burstCEAt], 1<<20)<<20 + min(b.values[burstPausesAt], 1<<10)<<8 + b.values[burstSendersAt]
}

// window returns the shortest of burstWindows within which the clock tells rates: a
// fifth is the room that is left anyway. Where none is, it reports false, with the
// longest.
func (x *incast) window() (at int, tells bool) {
	for at = range burstWindows {
		if 5*x.noise <= burstWindows[at].ns {
			return at, true
		}
	}
	return at, false
}

// peak returns the most bytes within 10 µs, copies left out, or where the clock is too
// coarse, what they are on average in the window that it tells.
func (x *incast) peak() int64 {
	at, _ := x.window()
	return int64(float64(x.row[recvPeak+2*at]*burstWindows[0].ns/burstWindows[at].ns) * x.real)
}

// rate says how much came at once, as far as the clock tells.
func (x *incast) rate() string {
	at, tells := x.window()
	text := fmt.Sprintf("up to %s in %s", report.BitRate(x.peak(), burstWindows[0].ns), report.Duration(burstWindows[at].ns))
	switch {
	case !tells:
		return fmt.Sprintf("how fast cannot be told, for times in this capture are off by up to %s", report.Duration(x.noise))
	case at > 0:
		text += fmt.Sprintf(" (times in this capture are off by up to %s)", report.Duration(x.noise))
	}
	return text
}

// above reports whether more came within 10 µs than the link carries, by half:
// the ends of a window cut frames.
func (x *incast) above(c *analysis.Config) bool {
	_, tells := x.window()
	return tells && c.LinkRate > 0 && x.worst.values != nil && float64(x.peak())*8e9 >= 1.5*c.LinkRate*float64(burstWindows[0].ns)
}

func (x *incast) opening(c *analysis.Config) string {
	text := fmt.Sprintf("%s sent to %s at once, %s", report.Counted(x.worst.values[burstSendersAt], "host"), x.dst, x.rate())
	if x.above(c) {
		text += fmt.Sprintf(" where its link carries %s", report.BitRate(int64(c.LinkRate/8), 1e9))
	}
	return text
}

// harmless speaks of more than the link carries, which the queue took.
func (x *incast) harmless(c *analysis.Config) report.Finding {
	return report.Finding{
		Rule: "incast.burst", Severity: report.Info, Confidence: report.Certain, Host: x.dst, FirstNs: x.first, LastNs: x.last, Count: x.row[recvBursts],
		Frames: fewFrames([]uint64{uint64(x.worst.values[burstFirstAt]), uint64(x.worst.values[burstLastAt])}), Values: x.values(),
		Summary: x.opening(c) + ": the queue before it took the burst, for neither losses nor standing marks follow.",
		Not:     "No fault: collectives send this way, and buffers are there for it.",
		Advice:  "Watch the queue depth of the port of " + x.dst + " where the same pattern grows with the job.",
		Filter:  x.filter(),
	}
}

func (x *incast) finding(v *burstView, c *analysis.Config) report.Finding {
	w := &x.worst
	f := report.Finding{
		Rule: "incast.burst", Severity: report.Warning, Confidence: report.Likely, Host: x.dst, FirstNs: x.first, LastNs: x.last, Count: x.row[recvBursts],
		Values: x.values(), Filter: x.filter(),
		Frames: fewFrames(slices.DeleteFunc(append(slices.Clone(w.frames), uint64(w.values[burstFirstAt]), uint64(w.values[burstMarkFrameAt]), uint64(w.values[burstNAKFrameAt])),
			func(n uint64) bool { return n == 0 })),
		Summary: x.opening(c) + ": " + strings.Join(x.followed(), ", ") + "; " + x.place(v),
		Not:     "Not chance losses: they begin within the burst and meet several of its senders at about the same time.",
		Advice: "Look at the egress port towards " + x.dst + ": queue depth and drop counters (`ethtool -S` tx_discards on the switch, `show queue watermark`, `show priority-group drop`), ECN thresholds, `show pfc counters`. " +
			"Fewer senders at a time help most: stagger the collective, lower the number of channels, or enlarge the buffer share (alpha) of this queue.",
	}
	if !x.lost {
		f.Not = "Not the light marking of a queue near its threshold: a tenth of the frames and more, from most senders of the burst."
	}
	if x.lost && !x.marked && !x.here(v) {
		f.Confidence = report.Possible
		f.Not += " Where each packet is lost with the same chance whatever its receiver, busy receivers would show this as well."
	}
	if !x.lost && !x.marked {
		f.Confidence = report.Possible
		f.Not = "Not only a receiver that is slow by itself: more came than its link carries. Pauses that another receiver causes would look the same from this tap."
	}
	return f
}

// followed says what the worst burst cost.
func (x *incast) followed() []string {
	var out []string
	w := &x.worst
	if x.lost {
		out = append(out, fmt.Sprintf("%s after the burst began, packets of %s of them were lost (at least %s in %s)",
			report.Duration(w.after), report.Count(int64(w.hit)), report.Counted(x.lostFrames, "packet"), report.Counted(int64(x.hurt), "burst")))
	}
	if x.marked {
		out = append(out, fmt.Sprintf("%s after the burst began, frames were marked, %s of those in bursts", report.Duration(w.values[burstMarkAt]), report.Share(x.row[recvBurstCE], x.row[recvBurstFrames])))
	}
	if n := w.values[burstNAKsAt]; n > 0 {
		out = append(out, fmt.Sprintf("%s came after %s", report.Counted(n, "NAK"), report.Duration(w.values[burstNAKAt])))
	}
	if n := w.values[burstPausesAt]; n > 0 && x.paused {
		out = append(out, fmt.Sprintf("%s followed after %s", report.Counted(n, "pause frame"), report.Duration(w.values[burstPauseAt])))
	}
	return out
}

// place says where the queue is, seen from the tap.
func (x *incast) place(v *burstView) string {
	up, down := x.sides()
	side := "the pauses do not tell on which side of the tap the queue lies"
	switch {
	case x.lost && up >= down, x.marked:
		side = "the tap sits behind the queue"
	case x.lost:
		side = "the tap sits before the queue"
	}
	switch {
	case !x.lost && !x.marked:
		return side + "."
	case v.seen == 1:
		return side + ", most likely that of the link of " + x.dst + ", the only receiver in view."
	case x.here(v):
		return side + ", most likely that of the link of " + x.dst + ": other receivers are spared."
	}
	return side + ", and other receivers suffer as well: look at an uplink that they share."
}

// here reports whether this receiver has nearly all harm that is in view.
func (x *incast) here(v *burstView) bool {
	return 5*(x.row[recvCE]+total(x.flows, (*report.Flow).Lost)) >= 4*v.harm
}

func (x *incast) values() map[string]int64 {
	w := x.worst.values
	out := map[string]int64{
		"senders": w[burstSendersAt], "bursts": x.row[recvBursts], "bursts_with_losses": int64(x.hurt),
		"senders_hit": int64(x.worst.hit), "lost": x.lostFrames, "first_loss_ns": x.worst.after,
		"burst_frames": x.row[recvBurstFrames], "ce_frames": x.row[recvBurstCE], "first_mark_ns": w[burstMarkAt],
		"naks": x.row[recvBurstNAKs], "pauses": w[burstPausesAt], "burst_bytes": w[burstBytesAt], "burst_ns": w[burstLengthAt],
	}
	for at := range burstWindows {
		if told, tells := x.window(); tells && at >= told {
			out["peak_bytes_"+burstWindows[at].name] = int64(float64(x.row[recvPeak+2*at]) * x.real)
		}
	}
	return out
}

func (x *incast) filter() string {
	return onlyHost(x.dst, "dst", x.flows)
}
