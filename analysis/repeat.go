package analysis

import (
	"slices"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// What tells, while it is not known yet whose requests responses answer, two of
// them that are alike from a response and its copy.

// repeat is a run of requests that stepped back, each soon behind the other.
type repeat struct {
	first, last int64  // when
	psn         ib.PSN // the lowest of them
	n           int
}

const repeatsMax = 4

// steppedBack notes a request of a row without a partner that stepped back and is
// no copy: it may be answered as often as it was sent.
func (r *row) steppedBack(p *decode.Packet) {
	w := &r.win
	r.bundle.repeats[r.dir] = p.Time
	if w.goesBack(p) {
		x := &w.repeats[len(w.repeats)-1]
		x.last, x.n = p.Time, x.n+1
		if p.PSN.Before(x.psn) {
			x.psn = p.PSN
		}
		return
	}
	if len(w.repeats) >= repeatsMax {
		w.repeats = w.repeats[:copy(w.repeats, w.repeats[1:])]
	}
	w.repeats = append(w.repeats, repeat{p.Time, p.Time, p.PSN, 1})
}

// goesBack reports whether a request comes so soon behind one that stepped back
// that it belongs to its run.
func (w *window) goesBack(p *decode.Packet) bool {
	n := len(w.repeats)
	return n > 0 && p.Time-w.repeats[n-1].last <= copyWithin
}

// answersRepeats reports whether the response in g, which has no partner yet, may
// answer a request that one of the rows in question has repeated, and is no copy of
// another one alike.
func (g *row) answersRepeats(p *decode.Packet) bool {
	b := g.bundle
	if t := b.repeats[1-g.dir]; t == 0 || p.Time-t > copyAtMost {
		return false
	}
	rtt, known := b.minRTT[1-g.dir], b.rtts[1-g.dir] > 0
	for i := range g.cand {
		if c := &g.cand[i]; c.fitted > 1 && !known {
			rtt = least(rtt, c.quickest)
		}
	}
	soonest := soonestOf(rtt)
	if known {
		soonest = least(b.prompt[1-g.dir]*3/4, soonest)
	}
	if g.cand == nil {
		return slices.ContainsFunc(b.asking[1-g.dir], func(r *row) bool { return r.peer == nil && r.drewTwo(p, soonest, rtt) })
	}
	return slices.ContainsFunc(g.cand, func(c candidate) bool {
		if c.fitted < 2 || c.quickest == 0 || known {
			return c.row.drewTwo(p, soonest, rtt)
		}
		return c.row.drewTwo(p, soonestOf(c.quickest), c.quickest)
	})
}

// soonestOf is how soon, ns, a duplicate may be answered where the quickest ACK took so
// long: that may have been kept back, the answers to duplicates are not.
func soonestOf(rtt int64) int64 { return min(rtt/4, quickTurn) }

// drewTwo reports whether requests of the row may have drawn the answer and another
// one just before that is like it: two that were repeated, or one and its first
// sending. A duplicate is answered at once, no sooner than soonest, so that only
// queues make that take longer than the round trip, which is 0 where it is not
// known.
func (r *row) drewTwo(p *decode.Packet, soonest, rtt int64) bool {
	if r.doubled() {
		return false // then the answers stand twice, too
	}
	latest := int64(copyAtMost)
	if rtt > 0 {
		latest = min(latest, rtt*3/2+queueAtMost)
	}
	n := 0
	for _, x := range r.win.repeats {
		if !p.PSN.Before(x.psn) && r.atMost(p, x.first) >= soonest && r.atLeast(p, x.last) < latest {
			n += x.n
		}
	}
	if n != 1 {
		return n > 1
	}
	m := r.win.find(p.PSN)
	return m == nil || r.atLeast(p, m.time) < latest
}

// least returns the lesser of two times of which 0 says that it is not known.
func least(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// queueAtMost is how long, ns, queues keep a response back beyond half a round trip
// in most cases.
const queueAtMost = 1_000
