package analysis

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// unreliable follows a UC or UD request: nothing answers it, nothing repairs it.
func (s *shard) unreliable(r *row, p *decode.Packet) Verdict {
	q := &r.req
	if !q.started {
		*q = requests{started: true, first: p.PSN, cur: p.PSN, high: p.PSN, una: p.PSN, known: true}
		q.ids.last = p.IPID
		return s.accept(r, p, 1, true)
	}
	if s.isCopy(r, &q.recent, &q.ids, p) {
		return Copy
	}
	ahead := p.PSN.Sub(q.cur)
	if ahead < 0 {
		if q.rec != nil {
			for i := range q.rec.holes.list {
				if h := &q.rec.holes.list[i]; h.fate == fateOpen && h.has(p.PSN) {
					return s.late(r, i, p)
				}
			}
		}
		return s.keepLate(r, p, 0)
	}
	if ahead > 0 {
		if r.transport == ib.UD && !q.steady() {
			q.cur, q.inOrder = p.PSN, 0 // nothing says yet that the PSNs count this row's packets
		} else {
			s.skip(r, q.cur, p)
		}
	} else {
		q.inOrder++
	}
	return s.accept(r, p, 1, true)
}

// steady reports whether a UD row has shown that its PSNs rise by one: the
// queue pair sends to nobody else.
func (q *requests) steady() bool { return q.inOrder >= steadySteps }

// steadySteps is how many packets in a row must follow each other.
const steadySteps = 3
