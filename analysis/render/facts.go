package render

import (
	"github.com/rocescope/rocescope/analysis/report"
)

// facts are the sums over a report that its head is made of.
type facts struct {
	frames, bytes, truncated, dropped int64
	first, last                       int64 // of all captures; 0 without a frame
	queuePairs                        int64
	hostPairs                         int64
	connected, oneWay                 int64 // host pairs with a connection, and those of them seen in one direction only
	severities                        [4]int64
}

func factsOf(r *report.Report) facts {
	var f facts
	for i := range r.Captures {
		f.addCapture(&r.Captures[i])
	}
	f.addFlows(r)
	for i := range r.Findings {
		if rank := r.Findings[i].Severity.Rank(); rank < len(f.severities) {
			f.severities[rank]++
		}
	}
	return f
}

func (f *facts) addCapture(c *report.Capture) {
	if c.Frames > 0 {
		if f.frames == 0 {
			f.first, f.last = c.FirstNs, c.LastNs
		}
		f.first, f.last = min(f.first, c.FirstNs), max(f.last, c.LastNs)
	}
	f.frames += c.Frames
	f.bytes += c.Bytes
	f.truncated += c.Truncated
	f.dropped += c.Dropped
}

// addFlows counts queue pairs and pairs of hosts.
func (f *facts) addFlows(r *report.Report) {
	type queuePair struct {
		host string
		qp   uint32
	}
	queuePairs := map[queuePair]bool{}
	for i := range r.Flows {
		if row := &r.Flows[i]; row.Src != report.Other {
			queuePairs[queuePair{row.Dst, row.DestQP}] = true
		}
	}
	f.queuePairs = int64(len(queuePairs))
	pairs := r.HostPairs()
	f.hostPairs, f.connected, f.oneWay = pairs.All, pairs.Connected, pairs.OneWay
}
