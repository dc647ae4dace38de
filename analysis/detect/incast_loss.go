package detect

import (
	"strconv"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// burstLoss notes when packets were lost, so that a judge can tell whether that
// was in a burst. The resend, which proves a loss, may come much later.
type burstLoss struct{ rows perRow[*lossTimes] } // nil for rows without gaps and losses

// lossTimes is when a row lost packets.
type lossTimes struct {
	gaps  [4]lossTime // the last ones, whatever their fate
	gap   int
	spots []lossTime // at most spotsMost, the first ones
}

type lossTime struct {
	time           int64
	frame          uint64
	lost, timeouts int64
}

const spotsMost = 12

func newBurstLoss(*analysis.Config) analysis.Observer { return &burstLoss{} }

func (l *burstLoss) Observe(b *analysis.Batch) {
	for i := range b.Events {
		switch e := &b.Events[i]; e.Kind {
		case analysis.Gap, analysis.ResponseGap:
			x := l.row(e.Flow)
			x.gaps[x.gap%len(x.gaps)] = lossTime{time: e.Time, frame: e.Frame}
			x.gap++
		case analysis.LostUpstream, analysis.ResponseLostUpstream:
			l.row(e.Flow).lost(e)
		case analysis.LostDownstream, analysis.ResponseLostDownstream:
			l.row(e.Flow).spot(e.Time, e.Frame).lost += int64(e.Count)
		case analysis.TimeoutPass:
			l.row(e.Flow).spot(e.Time-e.Value, e.Frame).timeouts += int64(e.Count)
		}
	}
}

func (l *burstLoss) row(id analysis.FlowID) *lossTimes {
	x := l.rows.at(id)
	if *x == nil {
		*x = new(lossTimes) // once in a row's life
	}
	return *x
}

// lost takes missing packets that were sent again, at the time of their gap. One
// whose gap is long gone, or that left none, is told by the timer.
func (x *lossTimes) lost(e *analysis.Event) {
	for _, g := range x.gaps {
		if g.frame == e.Ref && g.frame != 0 {
			x.spot(g.time, g.frame).lost += int64(e.Count)
			return
		}
	}
}

// spot returns the loss of about that time, the last one where there are too
// many.
func (x *lossTimes) spot(ns int64, frame uint64) *lossTime {
	for i := range x.spots {
		if d := ns - x.spots[i].time; d >= 0 && d <= burstGap {
			return &x.spots[i]
		}
	}
	if len(x.spots) < spotsMost {
		x.spots = append(x.spots, lossTime{time: ns, frame: frame})
	}
	return &x.spots[len(x.spots)-1]
}

func (l *burstLoss) Report(r *report.Report) {
	t := report.Table{Name: "losses", Help: "When packets were lost: at their gap, or when what a timer sent again was sent before.",
		Keys: []string{"src", "dst", "dest_qp", "at_ns"},
		Columns: append(columns("frames", "lost"), report.Column{Name: "timeouts", Kind: report.Sum},
			report.Column{Name: "frame", Kind: report.Floor})}
	for id, row := range l.rows.of(r) {
		f, x := &r.Flows[id], *row
		if x == nil || f.Src == report.Other {
			continue
		}
		for _, s := range x.spots {
			if s.lost > 0 || s.timeouts > 0 {
				t.Rows = append(t.Rows, report.Row{Key: []string{f.Src, f.Dst, qpText(f.DestQP), strconv.FormatInt(s.time, 10)},
					Values: []int64{s.lost, s.timeouts, int64(s.frame)}})
			}
		}
	}
	addTable(r, "incast", t)
}
