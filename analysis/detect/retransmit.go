package detect

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// Retransmit follows the requesters' timers, and peers that never answer.
var Retransmit = add(analysis.Analyzer{
	Name: "retransmit",
	Doc: "Which timers ran out, were they set to fit the path, and who was never answered?\n\n" +
		"An interval runs from the last sending of a packet to its resend. The first one of a packet may hold waits for\n" +
		"packets before it; those of a packet sent a third time and more show the timer itself, and so its exponent.",
	Rules: retransmitRules,
	New:   newRetransmit,
	Judge: judgeRetransmit,
})

type retransmit struct {
	flows  perRow[*rowTimer] // nil for rows whose timer never ran out
	others otherTraffic
	// doublings is Limits.Doublings.
	doublings int64
}

// rowTimer is what the timeouts of one row show.
type rowTimer struct {
	waits, repeats waitCount
	run            timeoutRun
	doubling       doubling
	stuck          stuck
}

// waitCount is the intervals of one sort.
type waitCount struct{ n, total, least, most int64 }

func (w *waitCount) add(ns int64) {
	if w.n == 0 || ns < w.least {
		w.least = ns
	}
	w.n, w.total, w.most = w.n+1, w.total+ns, max(w.most, ns)
}

// takeBack undoes add; the bounds stay, unless nothing is left.
func (w *waitCount) takeBack(ns int64) {
	if w.n, w.total = w.n-1, w.total-ns; w.n == 0 {
		*w = waitCount{}
	}
}

// timeoutRun is the timeouts in a row that send one and the same PSN again.
type timeoutRun struct {
	psn   ib.PSN
	n     int64
	wait  int64 // the last interval
	time  int64 // of the last resend
	grown int64 // intervals in a row, up to the last, each about twice the one before
	from  int64 // the interval that they grew from
	read  bool  // it is a READ request
}

// doubling is the longest growth of intervals.
type doubling struct{ intervals, from, to int64 }

// stuck is how a row ended whose last requests were sent again and again.
type stuck struct {
	timeoutRun
	sendings, requests, last int64
	frame                    uint64
}

func newRetransmit(c *analysis.Config) analysis.Observer {
	return &retransmit{doublings: int64(c.Limits.Doublings), others: otherTraffic{}}
}

func (t *retransmit) Observe(b *analysis.Batch) {
	for i := range b.Streaks {
		r := &b.Streaks[i]
		if r.Flow != analysis.NoFlow {
			continue
		}
		for n := r.From; n < r.To; n++ {
			t.others.count(&b.Packets[n])
		}
	}
	for i := range b.Events {
		e := &b.Events[i]
		switch e.Kind {
		case analysis.TimeoutPass:
			f := t.flows.at(e.Flow)
			if *f == nil {
				*f = new(rowTimer) // once in a row's life
			}
			(*f).ranOut(e, isRead(b, e.Frame))
		case analysis.Outstanding:
			if f := t.flows.known(e.Flow); f != nil && *f != nil {
				(*f).end(e)
			}
		}
	}
}

// isRead reports whether a frame of the batch is a READ request; frames of
// earlier batches are none.
func isRead(b *analysis.Batch, frame uint64) bool {
	i, found := slices.BinarySearchFunc(b.Packets, frame, func(p decode.Packet, frame uint64) int { return cmp.Compare(p.Frame, frame) })
	return found && b.Packets[i].Op.Is(ib.IsRead)
}

func (f *rowTimer) ranOut(e *analysis.Event, read bool) {
	r := &f.run
	if e.Count < 0 { // taken back: the first one of the packet in view
		f.waits.takeBack(e.Value)
		*r = timeoutRun{}
		return
	}
	f.waits.add(e.Value)
	if r.n == 0 || r.psn != e.PSN {
		*r = timeoutRun{psn: e.PSN, n: 1, wait: e.Value, time: e.Time, read: read}
		return
	}
	f.repeats.add(e.Value)
	if doubled(r.wait, e.Value) {
		if r.grown == 0 {
			r.from = r.wait
		}
		r.grown++
		if r.grown+1 > f.doubling.intervals {
			f.doubling = doubling{r.grown + 1, r.from, e.Value}
		}
	} else {
		r.grown = 0
	}
	r.n, r.wait, r.time, r.read = r.n+1, e.Value, e.Time, r.read || read
}

// doubled reports whether an interval is about twice the one before: timers of
// software keep neither to the nanosecond.
func doubled(before, now int64) bool { return 10*now >= 16*before && 10*now <= 24*before }

// end takes the end of a row. Requests that passed long after the last resend
// show that it had been answered out of view.
func (f *rowTimer) end(e *analysis.Event) {
	if e.Value > 1 && f.run.n > 0 && f.run.psn == e.PSN && e.Time-f.run.time < f.run.wait {
		f.stuck = stuck{f.run, e.Value, int64(e.Count), e.Time, e.Frame}
	}
}

func (t *retransmit) Report(r *report.Report) {
	ns := func(name string, kind report.Kind) report.Column {
		return report.Column{Name: name, Unit: "ns", Kind: kind}
	}
	intervals := []report.Column{{Name: "intervals", Kind: report.Sum}, ns("total", report.Sum), ns("shortest", report.Floor), ns("longest", report.Peak)}
	peak := func(name string) report.Column { return report.Column{Name: name, Kind: report.Peak} }
	tables := []report.Table{
		{Name: "timeouts", Help: "Intervals from a packet to its resend after a timeout.", Keys: lifeKeys, Columns: intervals},
		{Name: "repeats", Help: "Intervals between two resends of the same packet.", Keys: lifeKeys, Columns: intervals},
		{Name: "doubling", Help: "The longest run of intervals each about twice the one before.", Keys: lifeKeys,
			Columns: []report.Column{peak("intervals"), ns("from", report.Floor), ns("to", report.Peak)}},
		{Name: "stuck", Help: "Requests that were sent again and never answered, up to the end of their row.", Keys: []string{"src", "dst", "dest_qp", "psn"},
			Columns: []report.Column{peak("sendings"), peak("unanswered"), ns("interval", report.Peak), peak("last_ns"), peak("frame"), peak("read"), peak("doubling")}},
	}
	for id, row := range t.flows.of(r) {
		f, x := &r.Flows[id], *row
		if x == nil || f.Src == report.Other {
			continue
		}
		key := lifeKey(f)
		add := func(table int, key []string, values ...int64) {
			tables[table].Rows = append(tables[table].Rows, report.Row{Key: key, Values: values})
		}
		if w := &x.waits; w.n > 0 {
			add(0, key, w.n, w.total, w.least, w.most)
		}
		if w := &x.repeats; w.n > 0 {
			add(1, key, w.n, w.total, w.least, w.most)
		}
		if d := &x.doubling; d.intervals >= t.doublings {
			add(2, key, d.intervals, d.from, d.to)
		}
		if s := &x.stuck; s.sendings > 0 {
			add(3, append(slices.Clone(key[:3]), fmt.Sprint(uint32(s.psn))), s.sendings, s.requests, s.wait, s.last, int64(s.frame), oneIf(s.read), oneIf(s.grown+1 >= t.doublings))
		}
	}
	for _, table := range append(tables, t.others.table()) {
		addTable(r, "retransmit", table)
	}
}
