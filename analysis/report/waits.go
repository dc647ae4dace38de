package report

import (
	"math/bits"
	"strconv"
)

// Waits that are measured for each pair of hosts stand in a table of this layout,
// one row for each step of duration that occurred: a histogram that adds up
// like any table.
const (
	LatencySection = "latency"
	WaitTable      = "waits" // keyed by src, dst, wait and from_ns
)

// The waits of that table.
const (
	WaitMessage        = "message"
	WaitReadResponse   = "read_response"
	WaitReadCompletion = "read_completion"
	WaitNAK            = "nak_generation"
	WaitNAKReaction    = "nak_reaction"
)

// Waits counts durations in steps, four to an octave. The zero value is empty
// and ready.
type Waits struct {
	steps   Hist
	longest int64
}

// Add counts one duration; a negative one counts as none at all.
func (w *Waits) Add(ns int64) {
	ns = max(ns, 0)
	w.steps.Add(stepOf(ns))
	w.longest = max(w.longest, ns)
}

// Merge adds what other counted.
func (w *Waits) Merge(other *Waits) {
	w.steps.Merge(&other.steps)
	w.longest = max(w.longest, other.longest)
}

// stepOf returns the shortest duration of a step.
func stepOf(ns int64) int64 {
	if n := bits.Len64(uint64(ns)); n > 3 {
		return ns &^ (1<<(n-3) - 1)
	}
	return ns
}

// rows returns a row for each step in use. The longest wait stands in the last,
// and nothing in the others.
func (w *Waits) rows(key ...string) []Row {
	n := len(w.steps.buckets)
	out, width := make([]Row, 0, n), len(key)+1
	keys, values := make([]string, 0, n*width), make([]int64, 2*n)
	for i, b := range w.steps.buckets {
		from, _ := lowOf(b.index)
		from = stepOf(from)
		keys = append(append(keys, key...), strconv.FormatInt(from, 10))
		values[2*i] = int64(b.count)
		out = append(out, Row{keys[i*width : (i+1)*width : (i+1)*width], values[2*i : 2*i+2 : 2*i+2]})
	}
	if len(out) > 0 {
		out[len(out)-1].Values[1] = w.longest
	}
	return out
}

// NewWaitTable returns a table of waits without rows.
func NewWaitTable(name, help string) Table {
	return Table{Name: name, Help: help, Keys: []string{"src", "dst", "wait", "from_ns"},
		Columns: []Column{{Name: "count", Kind: Sum}, {Name: "longest", Unit: "ns", Kind: Peak}}}
}

// AddWaits adds what a pair of hosts waited for to a table of waits.
func (t *Table) AddWaits(src, dst, wait string, w *Waits) {
	t.Rows = append(t.Rows, w.rows(src, dst, wait)...)
}

// WaitsOf adds up one kind of wait over a table's hosts. Quantiles are good to a
// tenth or so; the longest is exact.
func (r *Report) WaitsOf(section, table, wait string) Hist {
	var h Hist
	for _, row := range r.Rows(section, table) {
		if len(row.Key) != 4 || len(row.Values) != 2 || row.Key[2] != wait {
			continue
		}
		from, err := strconv.ParseInt(row.Key[3], 10, 64)
		if err != nil {
			continue
		}
		n, longest := row.Values[0], row.Values[1]
		middle := from + from/8
		if longest > 0 { // it is the longest of some capture
			h.AddN(longest, min(n, 1))
			n, middle = n-1, min(middle, longest)
		}
		h.AddN(middle, n)
	}
	return h
}
