package detect

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

const windowNs = 1 << rateWindow

// toldRow is a row of the table of runs. Rates are bytes in a window.
type toldRow struct {
	hosts
	qp                        string
	cnps, first, last         int64
	frames                    []uint64
	sent, before, late, after int64
	wentOn                    bool
	fellAt                    int64   // 0 never
	earlier                   int64   // CNPs before the run
	marks                     float64 // the share of its data that bears marks here
	link                      float64 // bytes that the link brings in a window; 0 unknown
	kept                      keptRate
}

func (t *toldRow) length() int64 { return t.last - t.first }

// while returns the run as long as the former rate stood.
func (t *toldRow) while() *toldRow {
	k := *t
	k.cnps, k.last, k.sent, k.late = t.kept.cnps, max(t.first, t.kept.last), t.kept.sent, t.kept.late
	k.frames = []uint64{t.frames[0], t.kept.lastFrame}
	return &k
}

// rate is the rate that the CNPs left: where the row went on behind them, and
// what stood in queues has drained, what it sent then.
func (t *toldRow) rate() int64 {
	if t.wentOn {
		return t.after
	}
	return t.late
}

func toldRows(r *report.Report, c *analysis.Config) []toldRow {
	rows := r.Rows("reaction", "runs")
	out := make([]toldRow, 0, len(rows))
	for _, row := range rows {
		first := number(row.Key[3])
		v := row.Values
		out = append(out, toldRow{hosts: hosts{row.Key[0], row.Key[1]}, qp: row.Key[2], cnps: v[0], first: first, last: v[1],
			frames: []uint64{uint64(v[2]), uint64(v[3])}, sent: v[4], before: v[5], late: v[6], after: v[7], wentOn: v[8] != 0, fellAt: v[9], earlier: v[10],
			kept: keptRate{v[11], v[12], v[13], uint64(max(0, v[14])), v[15]}})
	}
	if len(out) == 0 {
		return nil
	}
	flows := byName(r)
	behind, before := linkWindows(r, c)
	for i := range out {
		x := &out[i]
		if f := flows.at([]string{x.src, x.dst, x.qp}, x.first); f != nil {
			x.marks = float64(f.CE) / float64(max(1, f.DataFrames))
		}
		x.link = behind
		if x.marks == 0 {
			x.link = before
		}
	}
	return out
}

// linkWindows are what a link brings in a window, for data that is seen behind the
// queue that marks it, and before that: as the user says, or else as was seen, mirror
// copies left out. Behind a queue all frames in view may have come through one link.
// A tap before it may see the links of many senders, of which each brings at least what
// its host sends at its fastest.
func linkWindows(r *report.Report, c *analysis.Config) (behind, before float64) {
	if c.LinkRate > 0 {
		told := c.LinkRate / 8e9 * windowNs
		return told, told
	}
	once := originals(pointers(r.Flows))
	behind = float64(r.Value("reaction", "fastest_window")) * once
	before = float64(r.Value("incast", "peak_sent_10us")) / 10_000 * windowNs * once
	if before == 0 {
		before = behind
	}
	return behind, before
}

// judgeReaction looks for senders whose rate stays although they are told. It is
// silent about those that send little, for an application with no more to send
// looks the same, and about rates that stay only as long as a queue before the
// tap takes to drain.
func judgeReaction(r *report.Report, c *analysis.Config) []report.Finding {
	told := toldRows(r, c)
	bySender := map[string][]toldRow{}
	for _, t := range told {
		bySender[t.src] = append(bySender[t.src], t)
	}
	var out []report.Finding
	for _, src := range sortedKeys(bySender) {
		var kept, fell int
		var worst *toldRow
		for i := range bySender[src] {
			t := &bySender[src][i]
			switch {
			case t.ignored(told, c) || t.outgrown(told, c) != nil:
				kept++
				if w := t.while(); worst == nil || w.sent > worst.sent {
					worst = w
				}
			case t.resisted(told, c):
				kept++
				if worst == nil || t.sent > worst.sent {
					worst = t
				}
			case t.fell():
				fell++
			}
		}
		if kept > fell { // a host whose other queue pairs slow down can do it
			out = append(out, worst.finding(r, told, kept, c))
		}
	}
	return condense(out, "sender", cnpFilter)
}

// ignored reports whether a long run of CNPs left the rate as it was. Where the
// queue that marks lies before the tap, it hides the reaction for as long as it
// takes to drain, so there something must tell that it has.
func (t *toldRow) ignored(told []toldRow, c *analysis.Config) bool {
	l := &c.Limits
	t = t.while()
	return t.length() >= l.IgnoredRun && t.cnps >= l.IgnoredCNPs && t.keeps(t.late, c) &&
		float64(t.sent)*windowNs >= float64(l.IgnoredSent)*t.link &&
		(t.marks == 0 || t.length() >= l.LongestQueue || t.drained(c) || t.outlasted(told, c))
}

// drained reports whether more was sent in the run than a queue holds that marks only
// some of what passes: a longer one would have marked all.
func (t *toldRow) drained(c *analysis.Config) bool {
	return t.marks <= c.Limits.MarkedShare && t.sent >= c.Limits.MarkingQueue
}

// outlasted reports whether the reaction of another sender to the same receiver,
// told at the same time, showed long before the run ended: that of this one
// would have come through the same queue.
func (t *toldRow) outlasted(told []toldRow, c *analysis.Config) bool {
	l := &c.Limits
	return slices.ContainsFunc(told, func(x toldRow) bool {
		return t.beside(&x, c) && x.fellAt > 0 && x.last >= x.fellAt &&
			t.last-x.fellAt >= max(l.IgnoredSent, x.fellAt-x.first)
	})
}

// outgrown returns the row of another sender to the same receiver, told as well,
// whose fall had come through the queue that both share while this one's rate was
// higher than before; or nil. That one went on or was still told behind its fall, so
// that it had not just sent all it had; where it was told earlier, what it took to fall
// must have passed for this one, too. As in resisted, only the first CNPs count.
func (t *toldRow) outgrown(told []toldRow, c *analysis.Config) *toldRow {
	l := &c.Limits
	t = t.while()
	if t.earlier > 0 || t.length() < l.ResistedRun || t.cnps < l.ResistedCNPs || !t.keeps(t.late, c) ||
		float64(t.late) < l.ResistedRise*float64(t.before) || float64(t.late) < l.ResistedShare*t.link {
		return nil
	}
	for i := range told {
		x := &told[i]
		due := t.beside(x, c) || x.dst == t.dst && x.src != t.src && x.fellAt > t.first && t.length() >= x.fellAt-x.first+l.ResistedRun
		if due && x.fellAt > 0 && x.fellAt <= t.last && (x.fell() || x.fellAt < x.last && 2*x.late <= x.before) {
			return x
		}
	}
	return nil
}

// beside reports whether another sender to the same receiver was told at the
// same time, or later.
func (t *toldRow) beside(x *toldRow, c *analysis.Config) bool {
	return x.dst == t.dst && x.src != t.src && x.first >= t.first-c.Limits.ToldTogether && x.first < t.last
}

// resisted reports whether a run left the rate higher than it was while others
// towards the same receiver, told as well, fell. Only the first CNPs that a
// sender gets count, for DCQCN cuts by half at those; later its cuts may be
// small for a while, and others make room for it.
func (t *toldRow) resisted(told []toldRow, c *analysis.Config) bool {
	l := &c.Limits
	return t.earlier == 0 && t.length() >= l.ResistedRun && t.cnps >= l.ResistedCNPs && t.wentOn && t.late > t.before &&
		float64(t.after) >= l.ResistedRise*float64(t.before) && float64(t.after) >= l.ResistedShare*t.link && t.keeps(t.after, c) && t.fallen(told, c) != nil
}

// keeps reports whether a rate is neither small nor below the one before.
func (t *toldRow) keeps(rate int64, c *analysis.Config) bool {
	return t.link > 0 && t.before > 0 && float64(rate) >= c.Limits.RateKept*float64(t.before) && float64(rate) >= c.Limits.IgnoredShare*t.link
}

// fell reports whether the rate fell to half or less while the row went on.
func (t *toldRow) fell() bool { return t.before > 0 && t.wentOn && 2*t.after <= t.before }

// fallen returns the row of another sender to the same receiver, told as well,
// that fell the most, or nil.
func (t *toldRow) fallen(told []toldRow, c *analysis.Config) *toldRow {
	var found *toldRow
	for i := range told {
		x := &told[i]
		if t.beside(x, c) && x.fell() && (found == nil || x.before-x.after > found.before-found.after) {
			found = x
		}
	}
	return found
}

func (t *toldRow) finding(r *report.Report, told []toldRow, kept int, c *analysis.Config) report.Finding {
	other, rate, behind := t.fallen(told, c), t.rate(), int64(0)
	if x := t.outgrown(told, c); x != nil && other == nil {
		other, behind = x, x.late
	} else if other != nil {
		behind = other.after
	}
	if t.ignored(told, c) || t.outgrown(told, c) != nil {
		rate = t.late
	}
	bits := func(window int64) string { return report.BitRate(window, windowNs) }
	bps := func(window int64) int64 { return int64(float64(window) * 8e9 / windowNs) }
	f := report.Finding{
		Rule: "cnp.no-reaction", Severity: report.Warning, Confidence: report.Possible,
		FirstNs: t.first, LastNs: t.last, Count: t.cnps, Frames: t.frames,
		Values: map[string]int64{"cnps": t.cnps, "run_ns": t.length(), "rate_before_bps": bps(t.before), "rate_behind_bps": bps(rate),
			"bytes_in_run": t.sent, "queue_pairs": int64(kept)},
		Summary: fmt.Sprintf("%s does not slow down: %s within %s named its flow to %s QP %s, which had %s before them and went on with %s",
			t.src, report.Counted(t.cnps, "CNP"), report.Duration(t.length()), t.dst, t.qp, bits(t.before), bits(rate)),
		Not: fmt.Sprintf("Not a sender with little to send, whose rate needs no cut: it took %s of the link. Not a queue that drains before the tap: in that time it sent %s, more than cuts by half would have let out.",
			report.Share(rate, int64(t.link)), report.Bytes(t.sent)),
		Advice: "On " + t.src + " look whether the reaction point is on for this priority (roce_rp/enable, mlnx_qos, `mlxreg` ROCE_ACCL) and at rp_cnp_handled against rp_cnp_ignored; " +
			"np_cnp_sent of " + t.dst + " should match. Congestion control by round trips (no DCQCN) leaves CNPs aside as well.",
	}
	if i := slices.IndexFunc(r.Flows, func(x report.Flow) bool { return x.Src == t.src && x.Dst == t.dst && qpText(x.DestQP) == t.qp }); i >= 0 {
		f.Flow = r.Flows[i].Ref()
		f.Filter = bothWays(&r.Flows[i])
	}
	f.Filter = cmp.Or(f.Filter, cnpFilter+" && "+between(t.back()))
	switch {
	case !t.ignored(told, c):
		f.Not = "Not a sender with little to send: its rate rose. A sender that was not told for long slows down little at first, so that this is no proof."
	case c.LinkRate > 0 || other != nil || t.late > t.before:
		f.Confidence = report.Likely
	}
	if other != nil {
		f.Summary += fmt.Sprintf("; %s, told as well, fell from %s to %s", other.src, bits(other.before), bits(behind))
		f.Values["other_before_bps"], f.Values["other_behind_bps"] = bps(other.before), bps(behind)
	}
	t.doubt(&f, told, c)
	f.Summary += "."
	return f
}

// doubt says that the CNPs may not reach the sender, which no tap shows but that
// at the sender: where none of several senders obeys one receiver, the way of
// its CNPs is what they share.
func (t *toldRow) doubt(f *report.Finding, told []toldRow, c *analysis.Config) {
	f.Not += " CNPs that are lost between this tap and " + t.src + " would look the same."
	others := map[string]bool{}
	for i := range told {
		x := &told[i]
		if x.dst != t.dst || x.src == t.src || x.cnps < c.Limits.IgnoredCNPs {
			continue
		}
		if x.fell() || x.fellAt > 0 && x.fellAt <= t.last {
			return // what that one obeyed took the same way at first
		}
		others[x.src] = true
	}
	if len(others) == 0 {
		return
	}
	f.Confidence = report.Possible
	f.Values["others_told"] = int64(len(others))
	f.Summary += fmt.Sprintf("; nor does any other of the %s that %s told, so the CNPs may well be lost on their way", report.Counted(int64(len(others))+1, "sender"), t.dst)
	f.Advice = fmt.Sprintf("Compare np_cnp_sent of %s with rp_cnp_handled and rp_cnp_ignored of the senders: where those stand still, CNPs are dropped, so look at the queue of their class (DSCP 48 mostly) and at access lists on the way. ", t.dst) + f.Advice
}
