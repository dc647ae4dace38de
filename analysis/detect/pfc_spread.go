package detect

import (
	"fmt"

	"github.com/rocescope/rocescope/analysis/report"
)

// pfcEdge says that pauses of one port followed those of another.
type pfcEdge struct {
	first, then        *pausing
	times, after, atNs int64
}

// readSpread reads who follows whom. Of two ports that follow each other the
// one that does so more often, or else later, is the one that follows.
func readSpread(r *report.Report, index map[[2]string]*pausing) []pfcEdge {
	var out []pfcEdge
	at := map[[2]*pausing]int{}
	for _, row := range r.Rows("pfc", "spread") {
		first, then := index[[2]string{row.Key[1], row.Key[2]}], index[[2]string{row.Key[4], row.Key[5]}]
		if first == nil || then == nil || first == then {
			continue // two ports of a switch with one MAC
		}
		e := pfcEdge{first, then, row.Values[0], row.Values[1], row.Values[2]}
		if i, ok := at[[2]*pausing{first, then}]; ok {
			out[i].times += e.times
			out[i].after, out[i].atNs = min(out[i].after, e.after), min(out[i].atNs, e.atNs)
			continue
		}
		at[[2]*pausing{first, then}] = len(out)
		out = append(out, e)
	}
	kept := out[:0:0]
	for _, e := range out {
		if i, both := at[[2]*pausing{e.then, e.first}]; both {
			if back := out[i]; back.times > e.times || back.times == e.times && back.atNs < e.atNs {
				continue
			}
		}
		kept = append(kept, e)
	}
	return kept
}

// origin returns where the pauses that a port follows began, nil where it
// follows none.
func (v *pfcView) origin(x *pausing) *pausing {
	from := x
	for range v.ports { // as a circle has no origin
		next := v.before(from)
		if next == nil {
			break
		}
		from = next.first
	}
	if from == x || v.before(from) != nil {
		return nil
	}
	return from
}

// before returns what a port follows most often.
func (v *pfcView) before(x *pausing) *pfcEdge {
	var best *pfcEdge
	for i := range v.edges {
		if e := &v.edges[i]; e.then == x && (best == nil || e.times > best.times) {
			best = e
		}
	}
	return best
}

// spreadText says what a port follows, or what follows it, step by step.
func (v *pfcView) spreadText(x *pausing) string {
	if e := v.before(x); e != nil {
		text := fmt.Sprintf("; it came behind %s by %s", e.first.name(), report.Duration(e.after))
		if o := v.origin(x); o != nil && o != e.first {
			text += ", and all began at " + o.name()
		}
		return text
	}
	text, last := "", x
	for i, e := range v.chain(x) {
		switch {
		case i == 0:
			text = fmt.Sprintf("; it was the first to pause, %s joined %s later", e.then.name(), report.Duration(e.after))
		case e.first == last:
			text += fmt.Sprintf(", %s %s after that", e.then.name(), report.Duration(e.after))
		default:
			text += fmt.Sprintf(", %s %s after %s", e.then.name(), report.Duration(e.after), e.first.name())
		}
		last = e.then
	}
	return text
}

// chainMost is how many steps of a chain are told.
const chainMost = 4

// chain returns the steps by which pauses spread from a port, the nearest first.
func (v *pfcView) chain(x *pausing) []pfcEdge {
	var out []pfcEdge
	reached := map[*pausing]bool{x: true}
	for queue := []*pausing{x}; len(queue) > 0 && len(out) < chainMost; queue = queue[1:] {
		for _, e := range v.edges {
			if e.first == queue[0] && !reached[e.then] && len(out) < chainMost {
				reached[e.then] = true
				out = append(out, e)
				queue = append(queue, e.then)
			}
		}
	}
	return out
}
