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

// latency has what the requests of a row wait for.
type latency struct {
	trips  perRow[report.Hist]
	others perRow[*waiting] // nil while nothing else was measured
}

// waiting is one of the waits beside the round trip. A row has one or two.
type waiting struct {
	times report.Waits
	next  *waiting // of the row; nil for the last
	wait  uint8    // in waitNames
}

// waitNames are the waits beside the round trip, in the order of their events.
var waitNames = [...]string{report.WaitNAK, report.WaitNAKReaction, report.WaitReadResponse, report.WaitReadCompletion, report.WaitMessage}

func newLatency(*analysis.Config) analysis.Observer { return &latency{} }

func (l *latency) Observe(b *analysis.Batch) {
	for i := range b.Events {
		switch e := &b.Events[i]; {
		case e.Kind == analysis.RoundTrip:
			l.trips.at(e.Flow).Add(e.Value)
		case e.Kind.Measure():
			l.wait(e.Flow, uint8(e.Kind-analysis.NAKGeneration)).Add(e.Value)
		}
	}
}

func (l *latency) wait(id analysis.FlowID, wait uint8) *report.Waits {
	at := l.others.at(id)
	for ; *at != nil; at = &(*at).next {
		if (*at).wait == wait {
			return &(*at).times
		}
	}
	*at = &waiting{wait: wait} // a few times in a row's life
	return &(*at).times
}

func (l *latency) Report(r *report.Report) {
	sums := map[hosts]*[len(waitNames)]report.Waits{}
	for id, trips := range l.trips.of(r) {
		r.Flows[id].AckRTT.Merge(trips)
	}
	for id, others := range l.others.of(r) {
		f := &r.Flows[id]
		if *others == nil || f.Src == report.Other {
			continue
		}
		sum := sums[hostsOf(f)]
		if sum == nil {
			sum = new([len(waitNames)]report.Waits)
			sums[hostsOf(f)] = sum
		}
		for w := *others; w != nil; w = w.next {
			sum[w.wait].Merge(&w.times)
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
