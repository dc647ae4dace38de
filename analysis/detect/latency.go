package detect

import (
	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// Latency measures round trips at the tap.
var Latency = add(analysis.Analyzer{
	Name: "latency",
	Doc: "How long do requests wait for their acknowledgement?\n\n" +
		"The round trip runs from a request at the tap to its own ACK at the tap, so it leaves out the way between\n" +
		"the sender and the tap. Requests that were sent again, or that a later ACK covers, are no samples.",
	New: newLatency,
})

type latency struct{ flows []report.Hist } // by FlowID, of the row of the request

func newLatency(*analysis.Config) analysis.Observer { return &latency{} }

func (l *latency) Observe(b *analysis.Batch) {
	for i := range b.Events {
		if e := &b.Events[i]; e.Kind == analysis.RoundTrip {
			at(&l.flows, e.Flow).Add(e.Value)
		}
	}
}

func (l *latency) Report(r *report.Report) {
	for id := range l.flows {
		r.Flows[id].AckRTT.Merge(&l.flows[id])
	}
}
