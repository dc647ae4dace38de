package analysis

import (
	"slices"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// nakInfo is the last NAK of a kind.
type nakInfo struct {
	set   bool
	used  bool // a pass followed it
	psn   ib.PSN
	time  int64
	frame uint64
}

// nakList holds the last sequence NAKs, oldest first: a second one may arrive
// before the requester reacts to the first.
type nakList [4]nakInfo

// last returns the newest NAK; its set is false where there was none.
func (l *nakList) last() *nakInfo { return &l[len(l)-1] }

func (l *nakList) add(n nakInfo) {
	copy(l[:], l[1:])
	*l.last() = n
}

// naming returns the newest NAK that named psn, or nil.
func (l *nakList) naming(psn ib.PSN) *nakInfo {
	for i := len(l) - 1; i >= 0; i-- {
		if n := &l[i]; n.set && n.psn == psn {
			return n
		}
	}
	return nil
}

// pending returns the NAK that a pass starting at psn follows, or nil: the one
// that named it, else the newest that named one before it.
func (l *nakList) pending(psn ib.PSN) *nakInfo {
	var found *nakInfo
	for i := range l {
		n := &l[i]
		if !n.set || n.used || psn.Before(n.psn) {
			continue
		}
		if n.psn == psn {
			return n
		}
		found = n
	}
	return found
}

// doubt is a sequence NAK for a packet that had passed the tap: lost behind
// it, or overtaken there.
type doubt struct {
	psn      ib.PSN
	seen     uint64 // the frame of the packet
	sent     int64  // when it passed, if that was its first sending; 0 unknown
	nakFrame uint64
	nakTime  int64
	resent   int64  // when the packet passed again; 0 not yet
	again    uint64 // its frame then
	alone    bool   // it was sent again behind silence
	answered int64  // when its arrival was acknowledged; 0 not yet
	answer   uint64
	nak      bool // by a further NAK
}

// sequenceNAK takes a NAK that asks for its PSN again.
func (s *shard) sequenceNAK(r, g *row, p *decode.Packet) {
	q := &r.req
	if !q.started { // the capture began behind what it asks for
		q.recovery().naks.add(nakInfo{set: true, psn: p.PSN, time: p.Time, frame: p.Frame})
		return
	}
	rec := q.recovery()
	stale := q.answered(p.PSN)
	pending := rec.naks.pending(p.PSN)
	repeat := pending != nil && pending.psn == p.PSN
	s.cover(r, p.PSN, p)
	if stale || repeat {
		return
	}
	s.sampleNAK(r, p)
	rec.reads.refuse(r, p.PSN, p.Time)
	rec.naks.add(nakInfo{set: true, psn: p.PSN, time: p.Time, frame: p.Frame})
	if rec.rnr.set && !rec.rnr.used && rec.rnr.psn == p.PSN {
		s.emit(Event{Kind: RNREcho, Count: 1, Flow: g.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: rec.rnr.frame})
		return
	}
	if h := rec.holes.openAt(p.PSN, -1); h != nil {
		s.nameHole(r, p.PSN)
		return
	}
	if !p.PSN.Before(q.high) || p.PSN.Before(q.first) {
		return // what it asks for has not passed yet, or before the capture began
	}
	if rec.reads.hides(q, p.PSN) || q.drewNAK(p.PSN) {
		s.open(r, p.PSN, p.PSN.Add(1), p, true)
		s.nameHole(r, p.PSN)
		return
	}
	s.doubt(r, p)
}

// hides reports whether the PSN of a NAK, which has not passed although the one
// behind it has, was missing behind a READ of unknown length, where no hole shows.
func (rd *reads) hides(q *requests, psn ib.PSN) bool {
	if q.pass > 0 || q.recent.get(psn) != nil || q.recent.get(psn.Add(1)) == nil {
		return false
	}
	return slices.ContainsFunc(rd.list, func(e read) bool { return !e.known && e.start.Before(psn) })
}

// drewNAK reports whether the packet that a NAK asks for had arrived: nothing else can
// have drawn the NAK before it, which asked for the packet before. So its receiver
// throws away what comes behind a missing packet, and a sender that has begun to
// repeat what the NAK asked for has to repeat this one, too. That is what is missing.
func (q *requests) drewNAK(psn ib.PSN) bool {
	pass := &q.rec.pass
	if q.pass == 0 || pass.cause != RetransmittedNAK || pass.sent != 1 || psn != pass.start.Add(1) || !psn.Before(q.cur) {
		return false
	}
	n, e, next := q.rec.naks.naming(pass.start), q.recent.get(psn), q.recent.get(psn.Add(1))
	return n != nil && e != nil && e.flags&seenBad == 0 && e.frame() < n.frame && (next == nil || next.frame() > n.frame)
}

// nameHole marks the PSN of a NAK in every hole that has it.
func (s *shard) nameHole(r *row, psn ib.PSN) {
	hs := &r.req.rec.holes
	for i := 0; i < len(hs.list); i++ {
		h := &hs.list[i]
		if h.fate != fateOpen || !h.has(psn) || h.phantom {
			continue
		}
		if h.sure {
			h.naked, h.named = true, psn
			continue
		}
		piece := hs.cut(i, psn, psn.Add(1))
		s.promote(r, &piece)
		piece.naked, piece.named = true, psn
		hs.add(piece)
		return
	}
}

// nameLate marks the PSN of a NAK in the holes that its packet closed late: nothing had asked
// for that before, for it is asked for once.
func (hs *holes) nameLate(psn ib.PSN) {
	for i := range hs.list {
		if h := &hs.list[i]; h.fate == fateLate && h.has(psn) {
			h.naked, h.named = true, psn
		}
	}
}

// doubt weighs a sequence NAK for a packet that the tap saw: it was lost
// behind the tap, unless reordering explains the NAK.
func (s *shard) doubt(r *row, p *decode.Packet) {
	q := &r.req
	rec := q.rec
	d := doubt{psn: p.PSN, nakFrame: p.Frame, nakTime: p.Time}
	if e := q.recent.get(p.PSN); e != nil {
		d.seen = e.frame()
		if e.flags&seenBad != 0 {
			s.lostDamaged(r, e, p)
			return
		}
		if e.flags&seenLate != 0 {
			rec.holes.nameLate(p.PSN)
			s.needless(r, &d)
			return
		}
		if e.flags&seenResent == 0 {
			d.sent = e.time
		}
	}
	if h := q.cameEarly(p.PSN); h != nil && !r.keptBehind(h, p) {
		// The receiver threw it away, because something before it was late.
		s.needless(r, &d)
		return
	}
	if len(rec.doubts) >= doubtsMax {
		s.judgeDoubt(r, &rec.doubts[0])
		rec.doubts = rec.doubts[:copy(rec.doubts, rec.doubts[1:])]
	}
	rec.doubts = append(rec.doubts, d)
}

// lostDamaged counts a packet that passed with a bad ICRC, now that p shows that
// it was not taken. The damage was done before the tap.
func (s *shard) lostDamaged(r *row, e *sighting, p *decode.Packet) {
	e.flags &^= seenBad
	s.emit(Event{Kind: LostDownstream, Count: 1, Flow: r.id, PSN: e.psn(), Time: e.time, Frame: e.frame(), Ref: p.Frame})
}

// needless tells of a sequence NAK that reordering drew.
func (s *shard) needless(r *row, d *doubt) {
	ref := d.answer
	if ref == 0 {
		ref = d.seen
	}
	s.emit(Event{Kind: NeedlessNAK, Count: 1, Flow: r.id, PSN: d.psn, Time: d.nakTime, Frame: d.nakFrame, Ref: ref})
}

// cameEarly returns a hole before the PSN that was open when the PSN passed the last
// time, or nil.
func (q *requests) cameEarly(psn ib.PSN) *hole {
	pass := q.pass
	if q.pass > 0 && (psn.Before(q.rec.pass.start) || !psn.Before(q.cur)) {
		pass-- // the current pass has not reached it
	}
	for i := range q.rec.holes.list {
		h := &q.rec.holes.list[i]
		had := h.fate == fateOpen && !h.sure && !h.end.After(q.una) // it lacked nothing there
		if h.pass != pass || psn.Before(h.end) || had {
			continue
		}
		if h.fate == fateOpen || psn.Before(h.upto) {
			return h
		}
	}
	return nil
}

// keptBehind reports whether a NAK shows that its receiver kept what came behind a hole,
// now closed, instead of throwing it away: it has the packet before the one that it asks
// for, and that passed while the hole was open, or nothing that it could have drawn the
// NAK for has passed since.
func (r *row) keptBehind(h *hole, nak *decode.Packet) bool {
	q := &r.req
	if h.fate != fateLost && h.fate != fateLate {
		return false
	}
	if e := q.recent.get(nak.PSN.Add(-1)); e != nil && h.end.Before(nak.PSN) {
		return e.frame() < h.closer.frame
	}
	draws := func(t int64) bool { return t > h.closer.time && !r.soon(t, nak.Time, true) }
	if draws(q.lastFresh) {
		return false
	}
	for psn := nak.PSN.Add(1); psn.Before(q.high) && psn.Sub(nak.PSN) <= nakSearch; psn = psn.Add(1) {
		if e := q.recent.get(psn); e != nil && draws(e.time) {
			return false
		}
	}
	return true
}

// judgeDoubts settles what sequence NAKs meant, now that all before end has
// arrived.
func (s *shard) judgeDoubts(r *row, end ib.PSN, p *decode.Packet) {
	rec := r.req.rec
	short := s.stopsShort(r, end, p)
	kept := rec.doubts[:0]
	for i := range rec.doubts {
		d := rec.doubts[i]
		if d.answered == 0 && d.psn.Before(end) {
			d.answered, d.answer, d.nak = p.Time, p.Frame, p.IsSequenceNAK()
			if short && d.psn == rec.pass.start && d.resent != 0 && (d.psn.Add(1).Before(end) || d.nak && rec.pass.sent == 1) {
				rec.needed = rec.pass.number
				s.lostBehind(r, &d)
				continue
			}
		}
		if d.answered == 0 || d.resent != 0 && !r.knowsRTT() || d.resent == 0 && p.Time-d.nakTime < r.reaction() && r.resentUnseen(&d) {
			kept = append(kept, d)
			continue
		}
		s.judgeDoubt(r, &d)
	}
	rec.doubts = kept
}

// stopsShort reports whether an answer up to end, amid a pass that a NAK drew,
// shows that the receiver threw away what had followed the packet it asked for:
// packets behind end that passed long before are not covered. Had the NAK been
// drawn by a late packet, the receiver would have taken all that came behind it,
// or, where it takes nothing out of order, nothing but that packet. Then only a
// packet behind it could draw a further NAK, and none but the resend has passed.
// What did not ask for an answer, an ACK may leave out.
func (s *shard) stopsShort(r *row, end ib.PSN, p *decode.Packet) bool {
	q, t := &r.req, p.Time
	pass := &q.rec.pass
	if pass.cause != RetransmittedNAK || !end.Before(pass.high) || !r.knowsRTT() || pass.wants.Before(end) && !p.IsSequenceNAK() {
		return false
	}
	e := q.recent.get(pass.high.Add(-1)) // sent again, it may still be too late for this answer
	return e != nil && e.flags&seenBad == 0 && (e.flags&seenResent == 0 || r.soon(e.time, t, false)) && 2*(t-pass.last) > 3*r.minRTT()
}

// judgeDoubt tells what a sequence NAK meant whose packet has arrived, or that
// stands at the end.
func (s *shard) judgeDoubt(r *row, d *doubt) {
	arrived := d.answered != 0 && (d.resent == 0 && !r.resentUnseen(d) || d.again > d.answer || r.soon(d.resent, d.answered, d.nak) && !(d.alone && r.req.rec.pass.sent == 1 && !r.farSooner(d.resent, d.answered)))
	early := d.sent != 0 && r.soon(d.sent, d.nakTime, true) // the NAK was on its way when the packet passed
	if arrived || early {
		s.needless(r, d)
		return
	}
	s.lostBehind(r, d)
}

// resentUnseen reports whether the packet that a NAK asks for, of which no resend has
// passed, may have been sent again unseen: its arrival was acknowledged no sooner than
// that of a resend could be.
func (r *row) resentUnseen(d *doubt) bool {
	soonest := d.nakTime + max(r.soonestTurn(), r.quickestTurn())
	return d.answered >= soonest && !r.soon(soonest, d.answered, d.nak)
}

func (s *shard) lostBehind(r *row, d *doubt) {
	frame, ref := d.seen, d.nakFrame
	if frame == 0 {
		frame = ref
	}
	s.emit(Event{Kind: LostDownstream, Count: 1, Flow: r.id, PSN: d.psn, Time: d.nakTime, Frame: frame, Ref: ref})
}

// lastNAK returns the newest NAK or RNR NAK.
func (rec *recovery) lastNAK() *nakInfo {
	if n := rec.naks.last(); n.time >= rec.rnr.time {
		return n
	}
	return &rec.rnr
}
