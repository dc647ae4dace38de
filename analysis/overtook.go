package analysis

import (
	"github.com/rocescope/rocescope/decode"
)

// Where no ID tells, a resend pass that overtakes its own first packets looks like the pass
// before going on, until it leaves out what had overtaken them.

// overtook moves the cursor of the current resend pass over what it seems to skip at the
// packet, where that had passed since the NAK that drew the pass: who repeats all leaves
// nothing out, so that it was sent in this pass, and overtook all of it that came behind.
func (s *shard) overtook(r *row, p *decode.Packet) {
	q := &r.req
	if q.pass == 0 || !q.gobackn || !p.IPv6 && r.idsRise() || q.rec.pass.cause != RetransmittedNAK {
		return
	}
	n := q.rec.naks.naming(q.rec.pass.start)
	if n == nil || !r.bundle.overtakes(r.dir, q.cur.Sub(n.psn)) {
		return
	}
	first, end := (*sighting)(nil), q.cur
	for psn := q.cur; psn.Before(p.PSN); psn = psn.Add(1) {
		e := q.recent.get(psn)
		if e == nil || e.time-n.time < r.turnaround() {
			break
		}
		end = psn.Add(1)
		if first == nil || e.frame() < first.frame() {
			first = e
		}
	}
	if first != nil && first.frame() < q.rec.pass.frame {
		s.cameBehind(r, first)
		q.cur = end
	}
}

// cameBehind takes what has passed of the current resend pass for late, as the sighting
// overtook it. Where that alone showed that some was missing, it was not sent again.
func (s *shard) cameBehind(r *row, first *sighting) {
	q := &r.req
	rec := q.rec
	for psn := rec.pass.start; psn.Before(q.cur); psn = psn.Add(1) {
		e := q.recent.get(psn)
		if e == nil || e.flags&seenLate != 0 || e.frame() < rec.pass.frame {
			continue
		}
		e.flags |= seenLate
		if i := rec.closedBy(e); i >= 0 && rec.holes.list[i].frame >= first.frame() {
			s.notResent(r, i, psn)
			continue
		}
		s.emit(Event{Kind: Reordered, Count: 1, Flow: r.id, PSN: psn, Time: e.time, Frame: e.frame(), Ref: first.frame()})
	}
}
