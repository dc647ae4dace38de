package detect

import (
	"fmt"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode/ib"
)

// Loss counts what became of requests and READ responses.
var Loss = add(analysis.Analyzer{
	Name: "loss",
	Doc: "Which queue pairs lost packets, on which side of the tap, and how was each loss repaired?\n\n" +
		"What is missing at the tap and comes again was lost upstream. What passed the tap and is asked for again was\n" +
		"lost downstream. What is missing at the tap and acknowledged all the same is no loss: see capture.",
	Rules: lossRules,
	New:   newLoss,
	Judge: judgeLoss,
})

type loss struct{ flows perRow[*lossFlow] } // nil for rows without a loss, a resend and the like

// lossFlow is the events of one row.
type lossFlow struct {
	n          [analysis.NumEventKinds]int32
	noHole     int32                  // of the unresolved events: timeouts of which nothing is missing
	late       int64                  // how late a packet came at most, ns
	untold     *[len(lateSteps)]int32 // of those lost before the tap, where no ID tells: how long they were missing
	resent     int64                  // time of the last resend
	uncaptured int64                  // time of the last run of packets that the capture alone lacks
	missing    *missingPacket
	open       *openLoss
}

// missingPacket is the newest packet of a row of which a hole or a NAK tells that the
// receiver lacks it.
type missingPacket struct {
	psn   ib.PSN
	n     int32 // packets
	naked naked
	time  int64
	frame uint64
}

// naked says whether a NAK asked for what is missing. The report has the number.
type naked int64

const (
	nakedNever   naked = iota // it may be missing in the capture alone
	nakedSeen                 // though it passed the tap
	nakedMissing              // and it did not pass
)

// openLoss is what stood open when the row ended.
type openLoss struct {
	missingPacket
	requests int32 // without an answer
	last     int64 // time of the last request
}

func newLoss(*analysis.Config) analysis.Observer { return &loss{} }

func (l *loss) Observe(b *analysis.Batch) {
	for i := range b.Events {
		e := &b.Events[i]
		if e.Kind.Measure() || e.Kind == analysis.MirrorDuplicate {
			continue // of which a clean row has many
		}
		row := l.flows.at(e.Flow)
		f := *row
		if f == nil {
			if e.Kind == analysis.Outstanding {
				continue // with nothing missing
			}
			f = new(lossFlow) // once in a row's life
			*row = f
		}
		f.n[e.Kind] += e.Count
		switch e.Kind {
		case analysis.Unresolved:
			switch e.Value {
			case 0:
				f.miss(e, nakedNever)
			case 1:
				f.noHole += e.Count
			default:
				f.miss(e, nakedMissing)
			}
		case analysis.LostUpstream:
			f.missed(e)
		case analysis.Reordered:
			f.late = max(f.late, e.Value)
		case analysis.LostDownstream:
			f.miss(e, nakedSeen)
		case analysis.RetransmittedNAK, analysis.RetransmittedTimeout, analysis.RetransmittedImplied,
			analysis.RetransmittedRNR, analysis.RetransmittedUnknown:
			f.resent = e.Time
		case analysis.NotCaptured, analysis.ResponseNotCaptured:
			if e.Count > 1 {
				f.uncaptured = max(f.uncaptured, e.Time)
			}
		case analysis.Outstanding:
			f.end(e)
		}
	}
}

func (f *lossFlow) miss(e *analysis.Event, by naked) {
	if f.missing == nil {
		f.missing = new(missingPacket) // once in a row's life
	}
	if f.missing.yields(e, by) {
		*f.missing = missingPacket{psn: e.PSN, n: e.Count, naked: by, time: e.Time, frame: e.Frame}
	}
}

// yields reports whether another packet tells more of how the row ended: the newer one, but
// what the network is known to have lost tells more than what the capture may have missed.
func (m *missingPacket) yields(e *analysis.Event, by naked) bool {
	if m.naked != by && m.naked != nakedSeen && by != nakedSeen {
		return by == nakedMissing
	}
	return e.Time >= m.time
}

// end takes the end of a row with requests unanswered: the loss stands open if
// what is missing is among them and nothing was sent again since.
func (f *lossFlow) end(e *analysis.Event) {
	if m := f.missing; m != nil && !m.psn.Before(e.PSN) && f.resent <= m.time {
		if f.open == nil {
			f.open = new(openLoss)
		}
		*f.open = openLoss{*m, e.Count, e.Time}
	}
}

func (l *loss) Report(r *report.Report) {
	open := report.Table{
		Name: "open", Help: "Losses that nothing repaired before the end of the row.",
		Keys: []string{"src", "dst", "dest_qp", "psn"},
		Columns: []report.Column{{Name: "packets", Kind: report.Peak}, {Name: "nak", Kind: report.Peak}, {Name: "unanswered", Kind: report.Peak},
			{Name: "noticed_ns", Kind: report.Peak}, {Name: "last_request_ns", Kind: report.Peak}, {Name: "frame", Kind: report.Peak},
			{Name: "uncaptured_ns", Kind: report.Peak}},
	}
	late := report.Table{
		Name: "late", Help: "Packets lost before the tap that may only have come late: no ID tells, and others came as late.",
		Keys: lifeKeys, Columns: columns("frames", "packets"),
	}
	lacks := map[hosts]int64{} // when the capture last missed a run of packets from one host to the other
	for id, row := range l.flows.of(r) {
		x, f := *row, &r.Flows[id]
		if x == nil {
			continue
		}
		x.columns(f)
		if f.Src == report.Other {
			continue
		}
		if x.uncaptured > 0 {
			lacks[hostsOf(f)] = max(lacks[hostsOf(f)], x.uncaptured)
		}
		if n := x.asLate(); n > 0 {
			late.Rows = append(late.Rows, report.Row{Key: lifeKey(f), Values: []int64{n}})
		}
		if o := x.open; o != nil {
			open.Rows = append(open.Rows, report.Row{Key: []string{f.Src, f.Dst, qpText(f.DestQP), fmt.Sprint(uint32(o.psn))},
				Values: []int64{int64(o.n), int64(o.naked), int64(o.requests), o.time, o.last, int64(o.frame), 0}})
		}
	}
	for _, row := range open.Rows {
		h := hosts{row.Key[0], row.Key[1]}
		row.Values[6] = max(lacks[h], lacks[h.back()])
	}
	addTable(r, "loss", open)
	addTable(r, "loss", late)
}

// missed notes for how long packets were missing that no ID tells from late ones.
func (f *lossFlow) missed(e *analysis.Event) {
	if e.Value <= 0 || e.Count <= 0 {
		return
	}
	if f.untold == nil {
		f.untold = new([len(lateSteps)]int32) // once in a row's life
	}
	f.untold[lateStep(e.Value)] += e.Count
}

// asLate counts those that were missing for about as long as others that came late.
func (f *lossFlow) asLate() (n int64) {
	if f.untold == nil || f.late == 0 {
		return 0
	}
	for _, x := range f.untold[:lateStep(f.late)+1] {
		n += int64(x)
	}
	return n
}

func (x *lossFlow) columns(f *report.Flow) {
	get := func(k analysis.EventKind) int64 { return int64(x.n[k]) }
	f.Gaps += get(analysis.Gap)
	f.LostUpstream += get(analysis.LostUpstream)
	f.LostDownstream += get(analysis.LostDownstream)
	f.LostAcks += get(analysis.LostAck)
	f.NotCaptured += get(analysis.NotCaptured)
	f.Unresolved += get(analysis.Unresolved)
	f.Reordered += get(analysis.Reordered)
	f.GapFrames += get(analysis.LostUpstream) + get(analysis.Reordered) + get(analysis.NotCaptured) + get(analysis.Unresolved) - int64(x.noHole)
	f.RetransmittedNAK += get(analysis.RetransmittedNAK)
	f.RetransmittedTimeout += get(analysis.RetransmittedTimeout)
	f.RetransmittedImplied += get(analysis.RetransmittedImplied)
	f.RetransmittedRNR += get(analysis.RetransmittedRNR)
	f.Retransmitted += get(analysis.RetransmittedNAK) + get(analysis.RetransmittedTimeout) + get(analysis.RetransmittedImplied) +
		get(analysis.RetransmittedRNR) + get(analysis.RetransmittedUnknown)
	f.Spurious += get(analysis.Spurious)
	f.NeedlessTimeouts += get(analysis.NeedlessPass)
	f.NeedlessNAKs += get(analysis.NeedlessNAK)
	f.ResponseGaps += get(analysis.ResponseGap)
	f.ResponseLostUpstream += get(analysis.ResponseLostUpstream)
	f.ResponseLostDownstream += get(analysis.ResponseLostDownstream)
	f.ResponseNotCaptured += get(analysis.ResponseNotCaptured)
	f.ResponseUnresolved += get(analysis.ResponseUnresolved)
	f.ResponseReordered += get(analysis.ResponseReordered)
	f.ResponseRetransmitted += get(analysis.ResponseRetransmitted)
	f.ResponseGapFrames += get(analysis.ResponseLostUpstream) + get(analysis.ResponseReordered) + get(analysis.ResponseNotCaptured) + get(analysis.ResponseUnresolved)
}
