package analysis

import (
	"slices"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// lookBack opens a hole before the first packet of the row: the packet at hand
// may have been overtaken by it.
func (s *shard) lookBack(r *row, p *decode.Packet) {
	q := &r.req
	hs := &q.recovery().holes
	hs.lastGap++
	h := hole{start: p.PSN, end: q.first, upto: q.cur, pass: q.pass, gap: hs.lastGap, phantom: true}
	if e := q.recent.get(q.first); e != nil {
		h.time, h.frame, h.after = e.time, e.frame(), e.id()
	}
	h.before = h.after - 1<<14
	if out, full := hs.add(h); full {
		s.giveUp(r, &out)
	}
	if q.first = p.PSN; !q.unaSet {
		q.una = p.PSN // so that its sighting is worth keeping
	}
}

// arrivedBefore reports whether the packet had arrived at its receiver, as an answer
// said, before it passes here: it is one more sending, and none that came late.
func (r *row) arrivedBefore(p *decode.Packet) bool {
	q := &r.req
	return q.answered(p.PSN) && r.atLeast(p, q.covered) > quickTurn
}

// lateInPass reports whether a packet behind the cursor is one that the current
// resend pass skipped over and that comes late: the pass has not shown it yet,
// and nothing asks for a new pass.
func (s *shard) lateInPass(r *row, p *decode.Packet) bool {
	q := &r.req
	if q.pass == 0 || !p.PSN.After(q.rec.pass.start) {
		return false
	}
	if e := q.recent.get(p.PSN); e == nil || e.frame() >= q.rec.pass.frame {
		return false
	}
	if p.Op.Is(ib.AnsweredByRead|ib.IsAtomic) && q.answered(p.PSN.Add(1)) {
		return false // its response is missing
	}
	n := q.rec.naks.pending(p.PSN)
	return (n == nil || n.psn != p.PSN) && p.Time-q.last < s.patience(r)
}

// overtaken reports whether the packet is the next one of the pass before the
// current one, of which only the first packet has come: go-back-N does not skip
// what it began to repeat.
func (s *shard) overtaken(r *row, p *decode.Packet) bool {
	q := &r.req
	return q.pass > 0 && q.gobackn && q.rec.pass.sent == 1 && p.PSN == q.rec.pass.reached && (p.IPv6 || !r.idsRise()) && p.Time-q.rec.pass.time < r.minRTT()
}

// behindTail reports whether the packet goes on with the current resend pass, of which only
// the first packet has come, and that overtook the last ones of the pass before: they came
// between. Who repeats all sends the second packet next, not one of a later PSN.
func (s *shard) behindTail(r *row, p *decode.Packet) bool {
	q := &r.req
	return q.pass > 0 && q.rec.pass.sent == 1 && p.PSN == q.rec.pass.start.Add(1) && q.cur == q.high && q.rec.pass.high.Before(q.high) && p.Time-q.rec.pass.time < r.minRTT()
}

// wasNoPass goes back to the pass before the current one, where that goes on for the
// second time at the packet: nothing asked for the one packet that seemed to begin a
// new one, so that it came late, or was one more.
func (q *requests) wasNoPass(p *decode.Packet) bool {
	rec := q.rec
	if !rec.pass.tail {
		return false
	}
	rec.pass = *rec.former
	q.pass--
	q.cur = p.PSN
	if e := q.recent.get(p.PSN.Add(-1)); e != nil {
		e.flags &^= seenLate // it was in order
	}
	return true
}

// lateForEarlier returns the index of the hole of an earlier pass that the packet
// fills late, or -1. It is for senders whose IDs do not tell: nothing asks for the
// packet, and no reaction to its absence could be here yet.
func (s *shard) lateForEarlier(r *row, p *decode.Packet) int {
	q := &r.req
	if q.pass == 0 || q.rec.holes.open == 0 || !q.known || p.PSN == q.cur || !p.IPv6 && r.idsRise() {
		return -1
	}
	i := slices.IndexFunc(q.rec.holes.list, func(h hole) bool {
		return h.fate == fateOpen && (h.sure || h.within) && h.pass != q.pass && h.has(p.PSN) && p.Time-h.time < r.minRTT()
	})
	if i < 0 {
		return -1
	}
	if n := q.rec.naks.pending(p.PSN); n != nil && n.psn == p.PSN {
		return -1
	}
	// Go-back-N may have come here; who repeats one packet alone has not.
	if p.PSN.After(q.cur) && (q.gobackn || q.rec.pass.sent != 1) || p.PSN.Before(q.cur) && s.cause(r, p) != RetransmittedUnknown {
		return -1
	}
	return i
}

// tailOfPass takes such a packet; the current pass goes on from where it was.
func (s *shard) tailOfPass(r *row, p *decode.Packet, span int32) Verdict {
	q := &r.req
	if !p.PSN.Before(q.high) {
		q.high = p.PSN.Add(span)
		return s.keepLate(r, p, 0)
	}
	s.resent(r, p, span)
	return s.keepLate(r, p, Resent)
}

// beforeFirst is how far before the first packet of a row a late one may lie.
const beforeFirst = 64

// belated takes a packet whose ID says that it was sent before others already
// seen: it came late, and was not sent again.
func (s *shard) belated(r *row, p *decode.Packet, span int32) Verdict {
	q := &r.req
	if q.pass == 0 && p.PSN.Before(q.first) && q.first.Sub(p.PSN) <= beforeFirst {
		s.lookBack(r, p)
	}
	if q.rec != nil {
		hs := &q.rec.holes
		for i := range hs.list {
			h := &hs.list[i]
			if !h.has(p.PSN) || int16(p.IPID-h.before) < 0 || int16(h.after-p.IPID) < 0 {
				continue
			}
			was := *h
			switch h.fate {
			case fateOpen:
				return s.late(r, i, p)
			case fateLost: // the resend overtook it
				s.overturn(r, i, p, LostUpstream)
			case fateAcked:
				return s.lateBehindAnswer(r, i, p)
			default:
				continue
			}
			return s.keepOverturned(r, &was, p)
		}
	}
	if !p.PSN.Before(q.high) { // the tail of a pass that a resend overtook
		if p.PSN.After(q.high) {
			s.recordTail(r, p)
		}
		s.emit(Event{Kind: Reordered, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame})
		q.high = p.PSN.Add(span)
		r.countMessage(p)
		q.recent.put(p, 0, q.una, r.bundle.room)
		q.last, q.lastFrame = p.Time, p.Frame
		return 0
	}
	// Its PSN has passed, and is no hole of that time: a resend that was
	// overtaken. Where frames stand twice as a rule, or some did and nothing has been
	// sent again, and the first one fell out of the recent ones, it is rather a copy.
	if e := q.recent.get(p.PSN); e != nil && e.id() != p.IPID || !r.doubled() && (q.pass > 0 || !r.bundle.copied) {
		return s.belatedResend(r, p, span)
	}
	s.emit(Event{Kind: MirrorDuplicate, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame})
	return Copy
}

// lateBehindAnswer takes a late packet that the hole at index i lacks, and that seemed not to
// be captured as an answer had covered it.
func (s *shard) lateBehindAnswer(r *row, i int, p *decode.Packet) Verdict {
	was := r.req.rec.holes.list[i]
	kind := NotCaptured
	if was.isNaked(p.PSN) {
		kind = Unresolved
	}
	s.overturn(r, i, p, kind)
	return s.keepOverturned(r, &was, p)
}

// cameBehindAnswer returns the index of such a hole where it is not known that IDs rise, or
// -1: the packet's ID lies between those around the hole, or it comes right behind the answer,
// and nothing has asked for it.
func (s *shard) cameBehindAnswer(r *row, p *decode.Packet) int {
	if !r.req.answered(p.PSN) || r.req.rec == nil {
		return -1
	}
	return slices.IndexFunc(r.req.rec.holes.list, func(h hole) bool {
		return h.fate == fateAcked && h.has(p.PSN) && (!p.IPv6 && h.between(p.IPID) || !r.arrivedBefore(p) && s.cause(r, p) == RetransmittedUnknown)
	})
}

// belatedResend takes a packet of a resend pass whose later packets overtook
// it, so that the pass looked like the one before going on.
func (s *shard) belatedResend(r *row, p *decode.Packet, span int32) Verdict {
	q := &r.req
	rec := q.recovery()
	older := q.pass > 0 && int16(p.IPID-rec.pass.id) < 0 && !p.PSN.Before(rec.pass.start) // sent before the current pass
	if older && q.pass == 1 {
		return s.belatedFirst(r, p)
	}
	asked := rec.pass.cause == RetransmittedNAK && !p.PSN.Before(rec.pass.start) // a further NAK draws a pass of its own
	if n := rec.naks.pending(p.PSN); n != nil && n.time < q.newest && !older && !asked {
		if m := rec.naks.naming(rec.pass.start); m != nil && n.psn == p.PSN && p.PSN.Before(rec.pass.start) {
			m.used = false // it draws a pass of its own, yet to come
		}
		n.used = true
		rec.pass.cause = RetransmittedNAK
	}
	if p.PSN.Before(rec.pass.start) {
		// The pass began here; what came of it so far came too early.
		rec.holes.keep(hole{start: p.PSN, end: rec.pass.start, upto: q.cur, pass: q.pass, fate: fateLate, time: p.Time, frame: p.Frame})
		rec.pass.start = p.PSN
	}
	s.emit(Event{Kind: Reordered, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame})
	s.resent(r, p, span)
	return s.keepLate(r, p, Resent)
}

// belatedFirst takes the first sending of a packet that the first resend pass
// overtook: what had seemed to be the first sending was a resend.
func (s *shard) belatedFirst(r *row, p *decode.Packet) Verdict {
	q := &r.req
	s.emit(Event{Kind: Reordered, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame})
	if e := q.recent.get(p.PSN); e != nil && e.flags&seenResent == 0 {
		s.emit(Event{Kind: q.rec.pass.cause, Count: 1, Flow: r.id, PSN: p.PSN, Time: e.time, Frame: e.frame(), Ref: q.rec.pass.frame})
		e.flags |= seenResent
	}
	return 0
}

// recordTail opens a hole of the pass before the current one.
func (s *shard) recordTail(r *row, p *decode.Packet) {
	q := &r.req
	q.recovery().holes.lastGap++
	pass := q.pass
	q.pass--
	last := q.ids.last
	q.ids.last = p.IPID - 1<<14 // unknown: that of the packet before it in its pass
	s.open(r, q.high, p.PSN, p, true)
	q.pass, q.ids.last = pass, last
}

// late closes the hole at index i by a packet of its own pass. In a resend
// pass that packet is late and sent again at once.
func (s *shard) late(r *row, i int, p *decode.Packet) Verdict {
	q := &r.req
	hs := &q.rec.holes
	span, _ := r.span(p)
	b := r.bundle
	b.depth[r.dir] = max(b.depth[r.dir], hs.list[i].len())
	piece := hs.cut(i, p.PSN, p.PSN.Add(span))
	s.promote(r, &piece)
	piece.ended = p.Op.Is(ib.IsLast | ib.IsOnly)
	if piece.phantom || piece.paused {
		piece.before = p.IPID
	}
	piece.fate, piece.upto, piece.closer = fateLate, q.cur, closer{time: p.Time, frame: p.Frame}
	hs.keep(piece)
	s.needlessFor(r, &piece, p)
	s.emit(Event{Kind: Reordered, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: piece.frame, Value: p.Time - piece.time})
	switch {
	case piece.again && piece.pass == q.pass:
		s.resent(r, p, span)
	case piece.again:
		s.resentBefore(r, &piece, p)
	default:
		q.ranLate(&piece, p)
		return s.keepLate(r, p, 0)
	}
	return s.keepLate(r, p, Resent)
}

// needlessFor tells of the NAK that asked for a late packet.
func (s *shard) needlessFor(r *row, h *hole, p *decode.Packet) {
	if n := r.req.rec.naks.naming(p.PSN); n != nil && h.isNaked(p.PSN) {
		s.emit(Event{Kind: NeedlessNAK, Count: 1, Flow: r.id, PSN: p.PSN, Time: n.time, Frame: n.frame, Ref: p.Frame})
	}
}

// keepLate notes a late packet as seen.
func (s *shard) keepLate(r *row, p *decode.Packet, v Verdict) Verdict {
	q := &r.req
	flags := seenLate
	if v == Resent {
		flags |= seenResent
	} else {
		r.countMessage(p)
	}
	q.recent.put(p, flags, q.una, r.bundle.room)
	q.last, q.lastFrame = p.Time, p.Frame
	if p.Op.Is(ib.AnsweredByRead) {
		span, known := r.span(p)
		s.askedRead(r, p, span, known, v == Resent)
	}
	return v
}

// keepOverturned notes a packet as seen that came late into a closed hole: one sent again
// where its pass repeated it.
func (s *shard) keepOverturned(r *row, h *hole, p *decode.Packet) Verdict {
	if !h.again {
		return s.keepLate(r, p, 0)
	}
	s.resentBefore(r, h, p)
	return s.keepLate(r, p, Resent)
}

// overturn takes a verdict back: the packet was late after all.
func (s *shard) overturn(r *row, i int, p *decode.Packet, was EventKind) {
	h := &r.req.rec.holes.list[i]
	s.emit(Event{Kind: was, Count: -1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: h.frame})
	s.emit(Event{Kind: Reordered, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: h.frame, Value: p.Time - h.time})
	s.needlessFor(r, h, p)
	piece := *h
	piece.start, piece.end, piece.fate = p.PSN, p.PSN.Add(1), fateLate
	r.req.rec.holes.take(i, p.PSN)
	r.req.rec.holes.keep(piece)
}
