package detect

import (
	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// Latency measures round trips and other waits at the tap.
var Latency = add(analysis.Analyzer{
	Name: "latency",
	Doc: "How long do requests wait for their answers, and repairs for those who make them?\n\n" +
		"The round trip runs from a request at the tap to its own ACK at the tap, so it leaves out the way between\n" +
		"the sender and the tap. Requests that were sent again, or that a later ACK covers, are no samples. A message\n" +
		"runs from its first packet to the ACK of its last, a READ to its first response and to its last, a NAK from\n" +
		"the packet behind the gap, and its reaction from there to the first packet sent again.",
	New: newLatency,
})

type latency struct{ flows []waiting } // by FlowID, of the row of the request

// waiting is what the requests of a row wait for.
type waiting struct {
	trips  report.Hist
	others *[len(waitNames)]report.Waits // nil while nothing else was measured
}

// waitNames are the waits beside the round trip, in the order of their events.
var waitNames = [...]string{report.WaitNAK, report.WaitNAKReaction, report.WaitReadResponse, report.WaitReadCompletion, report.WaitMessage}

func newLatency(*analysis.Config) analysis.Observer { return &latency{} }

func (l *latency) Observe(b *analysis.Batch) {
	for i := range b.Events {
		switch e := &b.Events[i]; {
		case e.Kind == analysis.RoundTrip:
			at(&l.flows, e.Flow).trips.Add(e.Value)
		case e.Kind.Measure():
			at(&l.flows, e.Flow).add(int(e.Kind-analysis.NAKGeneration), e.Value)
		}
	}
}

func (f *waiting) add(wait int, ns int64) {
	if f.others == nil {
		f.others = new([len(waitNames)]report.Waits) // once in a row's life
	}
	f.others[wait].Add(ns)
}

func (l *latency) Report(r *report.Report) {
	sums := map[hosts]*[len(waitNames)]report.Waits{}
	for id := range l.flows {
		x, f := &l.flows[id], &r.Flows[id]
		f.AckRTT.Merge(&x.trips)
		if x.others == nil || f.Src == report.Other {
			continue
		}
		sum := sums[hostsOf(f)]
		if sum == nil {
			sum = new([len(waitNames)]report.Waits)
			sums[hostsOf(f)] = sum
		}
		for i := range sum {
			sum[i].Merge(&x.others[i])
		}
	}
	t := report.NewWaitTable(report.WaitTable, "How often requests from src to dst waited so long at the tap, by what they waited for.")
	for h, sum := range sums {
		for i, name := range waitNames {
			t.AddWaits(h.src, h.dst, name, &sum[i])
		}
	}
	addTable(r, report.LatencySection, t)
}
