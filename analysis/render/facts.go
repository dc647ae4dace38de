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

// hosts is a pair of addresses.
type hosts struct{ a, b string }

func (h hosts) reverse() hosts { return hosts{h.b, h.a} }

func factsOf(r *report.Report) facts {
	var f facts
	for i := range r.Captures {
		f.addCapture(&r.Captures[i])
	}
	f.addFlows(r.Flows)
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

// addFlows counts queue pairs and pairs of hosts. Only a connection must be
// answered: that nothing comes back to a datagram says nothing.
func (f *facts) addFlows(flows []report.Flow) {
	type queuePair struct {
		host string
		qp   uint32
	}
	queuePairs := map[queuePair]bool{}
	seen := map[hosts]bool{} // every direction
	connected := map[hosts]bool{}
	for i := range flows {
		row := &flows[i]
		if row.Src == report.Other {
			continue
		}
		queuePairs[queuePair{row.Dst, row.DestQP}] = true
		way := hosts{row.Src, row.Dst}
		seen[way] = true
		if row.Transport != "UC" && row.Transport != "UD" {
			connected[way] = true
		}
	}
	f.queuePairs = int64(len(queuePairs))
	f.hostPairs = unordered(seen)
	f.connected = unordered(connected)
	for way := range connected {
		if !seen[way.reverse()] {
			f.oneWay++
		}
	}
}

// unordered counts pairs, both directions as one.
func unordered(ways map[hosts]bool) int64 {
	var n int64
	for way := range ways {
		if way.a <= way.b || !ways[way.reverse()] {
			n++
		}
	}
	return n
}
