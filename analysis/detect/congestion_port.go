package detect

import (
	"cmp"
	"fmt"

	"github.com/rocescope/rocescope/analysis/report"
)

// whole is the share of all marks from which those of one receiver count as all:
// a few may be left from another queue.
const whole = 0.9

// allMarks is what is marked in the whole report.
type allMarks struct {
	frames, receivers int64
	senders           int64 // of marked frames
}

// sumMarks adds up all marks, and sorts CNPs by sender, once for all receivers.
func (v *congestionView) sumMarks() {
	senders := map[string]bool{}
	for _, g := range v.toward {
		n := total(g.flows, func(f *report.Flow) int64 { return f.CE })
		if v.marks.frames += n; n > 0 {
			v.marks.receivers++
		}
		for _, f := range g.flows {
			if f.CE > 0 {
				senders[f.Src] = true
			}
		}
	}
	v.marks.senders = int64(len(senders))
	for _, row := range v.r.Rows("congestion", "cnp_spacing") {
		v.spaced[row.Key[0]] = append(v.spaced[row.Key[0]], row)
	}
}

// place says which port is likely congested that marked what goes to a receiver:
// what it is, and why. Both are empty where the tap cannot tell.
func (v *congestionView) place(receiver string, flows []*report.Flow, ce int64) (what, why string) {
	all, receivers, marking := v.marks.frames, v.marks.receivers, v.marks.senders
	senders := int64(len(v.senders(flows)))
	switch {
	case float64(ce) >= whole*float64(all) && senders > 1:
		why = fmt.Sprintf("of all marks %s go to %s, from %s", report.Share(ce, all), receiver, report.Counted(senders, "sender"))
		if n := v.unmarkedBeside(receiver, flows); n > 0 {
			return "the switch port to " + receiver, why + fmt.Sprintf(", and what these send to %s is not marked", report.Counted(n, "other host"))
		}
		return "the switch port to " + receiver, why + "; that they share a link before that port, with no data to other hosts in view, is possible as well"
	case float64(ce) >= whole*float64(all):
		return "", "" // one sender to one receiver: any port between them
	case marking == 1:
		return "a port near " + flows[0].Src, fmt.Sprintf("all marked frames are its own, to %s", report.Counted(receivers, "receiver"))
	}
	return "a link inside the fabric", fmt.Sprintf("%s from %s are marked, so that no receiver's own link explains it", report.Counted(receivers, "receiver"), report.Counted(marking, "sender"))
}

// unmarkedBeside counts the other receivers of a receiver's marked senders that
// get data which could be marked, and is not.
func (v *congestionView) unmarkedBeside(receiver string, flows []*report.Flow) (n int64) {
	senders := v.senders(flows)
	for _, g := range v.toward {
		if g.key == receiver {
			continue
		}
		for src := range senders {
			if m := v.pairs[hosts{src, g.key}]; m.ect > 0 && m.ce == 0 {
				n++
				break
			}
		}
	}
	return n
}

// fewCNPPairs is how many pairs of CNPs must be seen before the shortest time
// between them is taken for a setting.
const fewCNPPairs = 4

// spacingOf says how a host spaces its CNPs, and over what: the widest scope that
// keeps what a single queue pair does.
func (v *congestionView) spacingOf(host string) (text string, shortest int64) {
	least := map[string]spacing{}
	for _, row := range v.spaced[host] {
		s, scope := least[row.Key[2]], row.Key[2]
		least[scope] = spacing{s.n + row.Values[0], min(row.Values[1], cmp.Or(s.shortest, row.Values[1]))}
	}
	qp := least[scopeQP]
	if qp.n < fewCNPPairs || qp.shortest == 0 {
		return "", 0
	}
	over := "for each queue pair by itself"
	keeps := func(scope string) (kept, known bool) {
		s := least[scope]
		return 5*s.shortest >= 4*qp.shortest, s.n >= fewCNPPairs
	}
	pair, knownPair := keeps(scopePair)
	port, knownPort := keeps(scopeHost)
	switch {
	case knownPort && port && (pair || !knownPair):
		over = "over all its queue pairs and peers together"
	case knownPair && pair:
		over = "over all queue pairs of a peer"
	case !knownPair && !knownPort:
		over = "for one queue pair"
	}
	return fmt.Sprintf("%s keeps its CNPs %s apart at least, %s (min_time_between_cnps).", host, report.Duration(qp.shortest), over), qp.shortest
}
