package analysis

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// unreliable follows a UC or UD request: nothing answers it, nothing repairs it.
func (s *shard) unreliable(r *row, p *decode.Packet) Verdict {
	q := &r.req
	if !q.started {
		*q = requests{started: true, first: p.PSN, cur: p.PSN, high: p.PSN, una: p.PSN, known: true, amid: p.Op.Is(ib.IsMiddle | ib.IsLast)}
		q.ids.last = p.IPID
		return s.accept(r, p, 1, true)
	}
	if s.isCopy(r, &q.recent, &q.ids, p) {
		return Copy
	}
	if r.transport == ib.UD && !r.knowsSender() { // whose packets do the PSNs count?
		q.recent.put(p, 0, q.una, r.bundle.room)
		r.countMessage(p)
		return 0
	}
	ahead := p.PSN.Sub(q.cur)
	if r.transport == ib.UD && (r.shared || !q.steady() || ahead > 1<<16 || ahead < -1<<16) {
		return s.resync(r, p, ahead)
	}
	if ahead < 0 {
		if r.transport == ib.UC && p.PSN.Before(q.first) && q.first.Sub(p.PSN) <= beforeFirst {
			s.lookBack(r, p) // nothing is sent again here, so it came late
		}
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
		s.skip(r, q.cur, p)
	}
	return s.accept(r, p, 1, true)
}

// resync takes a UD packet while nothing says that the PSNs count this row's
// packets: the queue pair may send to others as well, or have begun anew.
func (s *shard) resync(r *row, p *decode.Packet, ahead int32) Verdict {
	q := &r.req
	if -recentFew < ahead && ahead < 0 && p.PSN.After(q.first) && q.recent.get(p.PSN) == nil {
		// Whomever else the queue pair sends to, its PSNs rise: this one came late.
		s.emit(Event{Kind: Gap, Count: 1, Flow: r.id, PSN: p.PSN, Time: q.last, Frame: q.lastFrame})
		s.emit(Event{Kind: Reordered, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: q.lastFrame, Value: p.Time - q.last})
		return s.keepLate(r, p, 0)
	}
	q.inOrder++
	if ahead != 0 {
		q.inOrder = 0
		q.cur, q.high = p.PSN, p.PSN
	}
	return s.accept(r, p, 1, true)
}

// knowsSender reports whether the queue pair that sends the row's datagrams is known. Its
// number may have been cut; that of subnet management is 0.
func (r *row) knowsSender() bool { return r.srcQP != 0 || r.qp == 0 }

// udSender is a queue pair that sends datagrams.
type udSender struct {
	addr [16]byte
	qp   uint32
}

// shareUD notes a new UD row. PSNs count over all destinations of a sender, so
// where there is a second row neither can tell what it lacks.
func (s *shard) shareUD(r *row) {
	k := udSender{r.bundle.addr[r.dir], r.srcQP}
	if other := s.udSenders[k]; other != nil {
		r.shared, other.shared = true, true
		return
	}
	s.udSenders[k] = r
}

// steady reports whether a UD row has shown that its PSNs rise by one: the
// queue pair sends to nobody else.
func (q *requests) steady() bool { return q.inOrder >= steadySteps }

// steadySteps is how many packets in a row must follow each other.
const steadySteps = 3
