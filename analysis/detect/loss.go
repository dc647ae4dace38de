package detect

import (
	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// Loss counts what became of requests and READ responses.
var Loss = add(analysis.Analyzer{
	Name: "loss",
	Doc:  "Which queue pairs lost packets, where, and how was each loss repaired?",
	New:  newLoss,
})

type loss struct {
	flows [][analysis.NumEventKinds]int32 // by FlowID; only rows with events
}

func newLoss(*analysis.Config) analysis.Observer { return &loss{} }

func (l *loss) Observe(b *analysis.Batch) {
	for i := range b.Events {
		e := &b.Events[i]
		for int(e.Flow) >= len(l.flows) {
			l.flows = append(l.flows, [analysis.NumEventKinds]int32{})
		}
		l.flows[e.Flow][e.Kind] += e.Count
	}
}

func (l *loss) Report(r *report.Report) {
	for id := range l.flows {
		n, f := &l.flows[id], &r.Flows[id]
		get := func(k analysis.EventKind) int64 { return int64(n[k]) }
		f.Gaps += get(analysis.Gap)
		f.LostUpstream += get(analysis.LostUpstream)
		f.LostDownstream += get(analysis.LostDownstream)
		f.LostAcks += get(analysis.LostAck)
		f.NotCaptured += get(analysis.NotCaptured)
		f.Unresolved += get(analysis.Unresolved)
		f.Reordered += get(analysis.Reordered)
		f.RetransmittedNAK += get(analysis.RetransmittedNAK)
		f.RetransmittedTimeout += get(analysis.RetransmittedTimeout)
		f.RetransmittedImplied += get(analysis.RetransmittedImplied)
		f.RetransmittedRNR += get(analysis.RetransmittedRNR)
		f.Retransmitted += f.RetransmittedNAK + f.RetransmittedTimeout + f.RetransmittedImplied + f.RetransmittedRNR + get(analysis.RetransmittedUnknown)
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
	}
}
