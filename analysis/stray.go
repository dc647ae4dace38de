package analysis

import (
	"slices"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// A packet that was missing in one resend pass may come late amid another one, and look
// like a part of that. These find such strays, and take back what was made of them.

// strayed reports whether the current resend pass goes on at the packet, because
// the one packet that seemed to skip what lies between was none of it: it had
// been sent before, and came late. A resend of what lies between would take a
// round trip. Where that packet does not come again, it has to be one that was
// missing in an earlier pass. So it is where several came late, each missing in an
// earlier pass. What had been made of them is taken back.
func (s *shard) strayed(r *row, h *hole, p *decode.Packet, again, several bool) bool {
	q := &r.req
	e, strays := q.recent.get(h.end), q.cur.Sub(h.end)
	if q.pass == 0 || h.sure || p.PSN != h.start && !(again && several) || strays < 1 || strays > straysMax || e == nil || e.frame() != h.frame || p.Time-e.time >= r.turnaround() {
		return false
	}
	if n := q.rec.naks.pending(p.PSN); n != nil && n.psn == p.PSN && n.frame > e.frame() {
		return false
	}
	if (!again || strays > 1) && !q.closedEarlier(h.end) {
		return false
	}
	first := h.end
	q.cur = h.start
	s.wereInOrder(r, h.frame)
	q.rec.holes.forgetAt(q.cur, q.pass)
	s.takeStrays(r, first, strays)
	return true
}

// closedEarlier reports whether each packet from first to the end of the current pass
// closed a hole of an earlier one.
func (q *requests) closedEarlier(first ib.PSN) bool {
	for psn := first; psn.Before(q.cur); psn = psn.Add(1) {
		if q.rec.closedBy(q.recent.get(psn)) < 0 {
			return false
		}
	}
	return true
}

// goesOnBefore reports whether the current resend pass goes on at the packet, although
// others of it seemed to pass that lie behind it, the first of them this one: they had
// been missing in an earlier pass, and came late. So it is where nothing can have asked
// for the packet since, and no ID tells. What had been made of them is taken back.
func (s *shard) goesOnBefore(r *row, p *decode.Packet) bool {
	q := &r.req
	strays := q.cur.Sub(p.PSN)
	if q.pass == 0 || strays > straysMax {
		return false
	}
	e := q.recent.get(p.PSN)
	if e == nil || p.Time-e.time >= r.turnaround() || !q.closedEarlier(p.PSN) {
		return false
	}
	if n := q.rec.naks.pending(p.PSN); n != nil && n.psn == p.PSN && n.frame > e.frame() {
		return false
	}
	s.wereInOrder(r, e.frame())
	s.takeStrays(r, p.PSN, strays)
	q.cur = p.PSN
	return true
}

// wereInOrder takes back that packets of the current resend pass came late which a
// packet seemed to skip: there was no hole.
func (s *shard) wereInOrder(r *row, frame uint64) {
	q := &r.req
	skipped := func(o hole) bool {
		return o.fate == fateLate && o.pass == q.pass && o.frame == frame && !o.naked
	}
	gap := slices.IndexFunc(q.rec.holes.list, skipped)
	if gap < 0 {
		return
	}
	h := q.rec.holes.list[gap]
	s.emit(Event{Kind: Gap, Count: -1, Flow: r.id, PSN: h.start, Time: h.time, Frame: h.frame})
	for _, o := range q.rec.holes.list {
		for psn := o.start; skipped(o) && psn != o.end; psn = psn.Add(1) {
			if e := q.recent.get(psn); e != nil {
				e.flags &^= seenLate
				s.emit(Event{Kind: Reordered, Count: -1, Flow: r.id, PSN: psn, Time: e.time, Frame: e.frame(), Ref: frame})
			}
		}
	}
	q.rec.holes.list = slices.DeleteFunc(q.rec.holes.list, skipped)
}

// straysMax is how many packets in a row may have come late amid a resend pass.
const straysMax = 8

// takeStrays takes packets that seemed to be some of a resend pass for late ones.
func (s *shard) takeStrays(r *row, first ib.PSN, n int32) {
	for i := range n {
		s.takeStray(r, r.req.recent.get(first.Add(i)))
	}
}

// takeStray takes a packet that seemed to be one of a resend pass for a late one.
func (s *shard) takeStray(r *row, e *sighting) {
	rec := r.req.rec
	if i := rec.closedBy(e); i >= 0 {
		s.wasLate(r, i, e.psn())
		return
	}
	s.emit(Event{Kind: Reordered, Count: 1, Flow: r.id, PSN: e.psn(), Time: e.time, Frame: e.frame()})
}

// closedBy returns the index of the hole that a packet closed as one sent again, or -1.
func (rec *recovery) closedBy(e *sighting) int {
	return slices.IndexFunc(rec.holes.list, func(h hole) bool {
		return e != nil && h.fate == fateLost && h.has(e.psn()) && h.closer.frame == e.frame()
	})
}

// lateAfterAll takes back that a resend closed a hole: the resend that the NAK
// had asked for comes only now, so what closed the hole was the late packet. It
// is for senders whose IDs do not tell.
func (s *shard) lateAfterAll(r *row, p *decode.Packet) {
	rec := r.req.rec
	n := rec.naks.naming(p.PSN)
	if n == nil || !p.IPv6 && r.idsRise() {
		return
	}
	i := slices.IndexFunc(rec.holes.list, func(h hole) bool {
		return h.fate == fateLost && h.has(p.PSN) && h.closer.kind == RetransmittedNAK && h.closer.frame > n.frame && p.Time-h.closer.time <= s.patience(r)+slowReaction
	})
	if i < 0 || r.req.inItsPass(p.PSN, rec.holes.list[i].closer.frame) {
		return
	}
	first := rec.holes.list[i]
	r.bundle.turn[r.dir] = first.closer.turn // nobody turned around that fast
	s.notResent(r, i, p.PSN)
	n.used = false
	s.lateWith(r, &first, p, p.Time-n.time)
}

// inItsPass reports whether a frame, of the PSN, passed behind the packet before it in the
// current resend pass: that came to it, whatever else a NAK asks for.
func (q *requests) inItsPass(psn ib.PSN, frame uint64) bool {
	before := q.recent.get(psn.Add(-1))
	return before != nil && q.rec.pass.frame <= before.frame() && before.frame() < frame
}
