package detect

import (
	"fmt"
	"slices"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

const (
	timerAdvice   = "The timer is the queue pair's timeout attribute, 4.096 µs · 2^t (rdma_set_option, NCCL_IB_TIMEOUT, UCX_RC_TIMEOUT). "
	timerCounters = "`ethtool -S` and `rdma statistic` of the sender count local_ack_timeout_err."
)

func judgeRetransmit(r *report.Report, c *analysis.Config) []report.Finding {
	if len(r.Rows("retransmit", "timeouts")) == 0 {
		return nil
	}
	near, flows := neighboursOf(r), byName(r)
	table := func(name string) map[*report.Flow][]report.Row { return flows.tableOf(r, "retransmit", name) }
	all, repeated, doubling := table("timeouts"), table("repeats"), table("doubling")
	stuck := stuckRows(r, near, flows)
	var timeouts, spurious, adaptive []report.Finding
	for i := range r.Flows {
		f := &r.Flows[i]
		n := f.EvidenceOf(analysis.TimeoutPass.String()).Count
		if n == 0 || f.Src == report.Other {
			continue
		}
		v := timeoutView{flow: f, n: n, all: readIntervals(all[f]), repeated: readIntervals(repeated[f]), stuck: stuck[f]}
		v.heard = f.PeerQP != nil || len(near[hostsOf(f).back()]) > 0 || v.stuck != nil && v.stuck.others > 0
		if d := doubling[f]; len(d) > 0 {
			v.doubles = true
			adaptive = append(adaptive, retransmitAdaptive(&v, d[0].Values))
		}
		if f.NeedlessTimeouts > 0 {
			spurious = append(spurious, retransmitSpurious(&v, leastRoundTrip(near[hostsOf(f)])))
		}
		// Repeats of one packet are one episode, and so is what was needless.
		dead := v.stuck != nil && v.stuck.dead(c)
		if dead && n < v.stuck.sendings {
			continue // all of them belong to the queue pair's death, which another finding tells
		}
		if n-v.repeated.n > f.NeedlessTimeouts {
			if dead {
				v.stuck = nil
			}
			timeouts = append(timeouts, retransmitTimeout(&v))
		}
	}
	return slices.Concat(condense(timeouts, "flow", "infiniband"), doubtSides(r, &c.Limits, condense(spurious, "flow", "infiniband")), condense(adaptive, "flow", "infiniband"),
		judgeDead(r, c, stuck))
}

// intervals is the intervals of one sort, as the tables hold them.
type intervals struct{ n, total, shortest, longest int64 }

func readIntervals(rows []report.Row) (sum intervals) {
	for i, row := range rows {
		v := row.Values
		if i == 0 {
			sum.shortest = v[2]
		}
		sum.n, sum.total, sum.shortest, sum.longest = sum.n+v[0], sum.total+v[1], min(sum.shortest, v[2]), max(sum.longest, v[3])
	}
	return sum
}

func (i *intervals) mean() int64 { return i.total / max(1, i.n) }

// timeoutView is what is known of the timeouts of one flow.
type timeoutView struct {
	flow          *report.Flow
	n             int64
	all, repeated intervals
	doubles       bool
	stuck         *stuckRow
	heard         bool // something of its peer is in the capture
}

// exponent returns the largest timeout exponent whose time fits into an
// interval, 0 where none does. Clocks may differ by two in a hundred.
func exponent(ns int64) int {
	t := 0
	for t < 31 && 4096<<(t+1) <= ns+ns/50 {
		t++
	}
	return t
}

// exponentText names the timeout exponent that an interval implies. Adapters run
// their timers somewhat longer than its time, but not nearly to the next one.
func exponentText(ns int64) string {
	t := exponent(ns)
	switch {
	case t == 0:
		return "shorter than any timeout exponent"
	case !plainTimer(ns):
		return fmt.Sprintf("between timeout exponents %d, %s, and %d", t, report.Duration(4096<<t), t+1)
	}
	return fmt.Sprintf("timeout exponent %d, %s", t, report.Duration(4096<<t))
}

// plainTimer reports whether an interval is that of a timeout exponent.
func plainTimer(ns int64) bool {
	t := exponent(ns)
	return t > 0 && 2*ns <= 3*4096<<t
}

func timeoutFinding(v *timeoutView, rule string, severity report.Severity, n int64, kind analysis.EventKind) report.Finding {
	ev := evidence([]*report.Flow{v.flow}, kind)
	return report.Finding{
		Rule: rule, Severity: severity, Confidence: report.Likely, Flow: v.flow.Ref(), FirstNs: ev.FirstNs, LastNs: ev.LastNs, Count: n, Frames: ev.Frames,
		Values: map[string]int64{"timeouts": v.n, "shortest_interval_ns": v.all.shortest, "longest_interval_ns": v.all.longest,
			"repeats": v.repeated.n, "retransmitted_timeout": v.flow.RetransmittedTimeout},
		Filter: toward(v.flow),
	}
}

func retransmitTimeout(v *timeoutView) report.Finding {
	out := timeoutFinding(v, "retransmit.timeout", report.Warning, v.n, analysis.TimeoutPass)
	f := v.flow
	out.Summary = fmt.Sprintf("%s to %s %s: the timer ran out %s, after %s of silence%s, and brought %s again",
		f.Src, f.Dst, report.QP(f.DestQP), repeatedly(v.n), fromTo(v.all.shortest, v.all.longest), v.timer(&out), report.Counted(f.RetransmittedTimeout, "packet"))
	if v.repeated.n > 0 {
		out.Values["repeat_interval_ns"] = v.repeated.mean()
		out.Summary += fmt.Sprintf("; %s that packet had been sent again before", repeatedly(v.repeated.n))
		if !v.doubles && !alike(v.all.shortest, v.all.longest) {
			out.Summary += ", " + fromTo(v.repeated.shortest, v.repeated.longest) + " earlier"
		}
	}
	if v.stuck != nil {
		out.Summary += fmt.Sprintf("; the last one, PSN %d, was still unanswered after %s sendings when the capture ended", v.stuck.psn, report.Count(v.stuck.sendings))
	}
	out.Summary += "."
	out.Not = "Not a resend that a NAK asked for: nothing came back before it."
	if !v.heard {
		out.Confidence = report.Possible
		out.Not = "Not one of the resends that follow at once on a NAK; but what comes back is not in view, and a late NAK or an RNR NAK would look the same."
	}
	out.Advice = "What was lost is told by the loss findings of this flow; a loss at the end of a message draws no NAK, so only the timer repairs it. " + timerAdvice + timerCounters
	return out
}

// timer says what the intervals tell of the timer that ran out. Those between two
// resends of one packet are the timer itself; the first one may hold waits for
// packets before it, so that only one which fits says something.
func (v *timeoutView) timer(f *report.Finding) string {
	ns := v.all.shortest
	switch {
	case v.doubles:
		return ", twice as long for each further resend of a packet"
	case v.repeated.n > 0:
		ns = v.repeated.shortest
	case !plainTimer(ns):
		return ""
	}
	f.Values["timeout_exponent"] = int64(exponent(ns))
	return " (" + exponentText(ns) + ")"
}

// fromTo writes a range, or one value where both ends are near each other.
func fromTo(least, most int64) string {
	if alike(least, most) {
		return report.Duration(least)
	}
	return report.Duration(least) + " to " + report.Duration(most)
}

func alike(least, most int64) bool { return most-least <= most/20 }

func repeatedly(n int64) string {
	if n == 1 {
		return "once"
	}
	return report.Count(n) + " times"
}

// leastRoundTrip returns the shortest round trip in some rows; 0 where every request was sent again before its answer came.
func leastRoundTrip(flows []*report.Flow) int64 {
	var least int64
	for _, f := range flows {
		if !f.AckRTT.IsZero() && (least == 0 || f.AckRTT.Min < least) {
			least = f.AckRTT.Min
		}
	}
	return least
}

func retransmitSpurious(v *timeoutView, least int64) report.Finding {
	f := v.flow
	out := timeoutFinding(v, "retransmit.spurious", report.Warning, f.NeedlessTimeouts, analysis.NeedlessPass)
	out.Values["needless_timeouts"], out.Values["spurious"], out.Values["shortest_round_trip_ns"] = f.NeedlessTimeouts, f.Spurious, least
	trip := "the shortest round trip between the two is " + report.Duration(least)
	if f.AckRTT.Count() > 0 {
		trip = fmt.Sprintf("round trips of this flow take %s", fromTo(f.AckRTT.Min, f.AckRTT.Max))
	} else if least == 0 {
		trip = "no round trip is as short, for every request was sent again before its answer"
	}
	out.Summary = fmt.Sprintf("%s to %s %s: the timer ran out %s while the answer was on its way (needless: %s). It runs out after %s, and %s.",
		f.Src, f.Dst, report.QP(f.DestQP), repeatedly(f.NeedlessTimeouts), report.Counted(f.Spurious, "resend"), fromTo(v.all.shortest, v.all.longest), trip)
	out.Not = "Not loss: the answer came sooner after the resend than a round trip allows, so the original had arrived."
	out.Advice = "Raise the timer above the round trip of the path, or find out what delays answers. " + timerAdvice +
		"Adaptive retransmission of the adapter may fire earlier than that: its counter is roce_adp_retrans. " + timerCounters
	return out
}

func retransmitAdaptive(v *timeoutView, d []int64) report.Finding {
	f := v.flow
	out := timeoutFinding(v, "retransmit.adaptive", report.Notice, d[0], analysis.TimeoutPass)
	out.Values["doubling_intervals"], out.Values["first_interval_ns"], out.Values["last_interval_ns"] = d[0], d[1], d[2]
	out.Summary = fmt.Sprintf("%s to %s %s: resends of one packet came after %s, each interval twice the one before, up to %s (%s in a row).",
		f.Src, f.Dst, report.QP(f.DestQP), report.Duration(d[1]), report.Duration(d[2]), report.Counted(d[0], "interval"))
	out.Not = "Not the queue pair's own timer, which repeats at one interval: the adapter retransmits adaptively."
	out.Advice = "The timeout attribute is only the upper bound there. `ethtool -S` counts roce_adp_retrans; the mode is set by the adapter's register ROCE_ACCL (mlxreg; adaptive retransmission). " +
		"Why the packet stayed unanswered is told by the other findings of this flow."
	return out
}
