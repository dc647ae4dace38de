package analysis

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// answer takes a response packet of row g as news about the requests of its
// peer r.
func (s *shard) answer(r, g *row, p *decode.Packet) {
	switch {
	case p.Op.Is(ib.IsReadResponse | ib.IsAtomicAck):
		if p.Op.Is(ib.IsMiddle | ib.IsLast) {
			s.fillRead(r, p.PSN)
		}
		s.sample(r, p)
		s.cover(r, p.PSN.Add(1), p)
	case !p.HasExt:
		return
	case p.Syndrome.Type() == ib.ACK:
		s.sample(r, p)
		s.cover(r, p.PSN.Add(1), p)
	case p.Syndrome.Type() == ib.RNRNAK:
		s.cover(r, p.PSN, p)
		rec := r.req.recovery()
		rec.rnr = nakInfo{set: true, psn: p.PSN, time: p.Time, frame: p.Frame}
	case p.Syndrome&0x7F == ib.NAKPSNSequence:
		s.sequenceNAK(r, g, p)
	case p.Syndrome.Type() == ib.NAK:
		s.cover(r, p.PSN, p)
	}
}

// sample measures the round trip of a request that was sent once.
func (s *shard) sample(r *row, p *decode.Packet) {
	q := &r.req
	e := q.recent.get(p.PSN)
	if e == nil || e.flags&(seenResent|seenLate) != 0 || e.time > p.Time || (q.unaSet && p.PSN.Before(q.una)) {
		return
	}
	rtt := p.Time - e.time
	if m := &r.bundle.minRTT[r.dir]; *m == 0 || rtt < *m {
		*m = max(rtt, 1)
	}
	if p.Op.Is(ib.IsAck) {
		s.emit(Event{Kind: RoundTrip, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: e.frame, Value: rtt})
	}
}

// minRTT returns the shortest round trip seen from the tap to the receiver of
// this row's requests and back; 0 where none was.
func (r *row) minRTT() int64 { return r.bundle.minRTT[r.dir] }

// soon reports whether an answer at t came too soon to answer a packet that
// passed the tap at sent.
func (r *row) soon(sent, t int64) bool { return t-sent < r.minRTT() }

// cover notes that all requests before end have arrived.
func (s *shard) cover(r *row, end ib.PSN, p *decode.Packet) {
	q := &r.req
	if !q.started {
		return
	}
	if end.Sub(q.high) > 0 {
		// Beyond what was seen: the capture started late, lost packets, or
		// holds the answer before the question.
		end = s.beyond(r, end, p)
	}
	rec := q.rec
	if rec != nil {
		if len(rec.tent) > 0 && rec.tent[0].PSN.Before(end) {
			s.decide(r, false)
		}
		s.judgePass(r, end, p)
	}
	if q.unaSet && !end.After(q.una) {
		return
	}
	q.una, q.unaSet, q.lastAnswer = end, true, p.Time
	if rec == nil {
		return
	}
	s.judgeDoubts(r, end, p)
	s.dropResends(r, end, p)
	if rec.holes.open > 0 {
		s.coverHoles(r, end, p)
	}
}

// beyond handles an answer to requests that the tap has not seen.
func (s *shard) beyond(r *row, end ib.PSN, p *decode.Packet) ib.PSN {
	q := &r.req
	if !q.known && p.Op.Is(ib.IsReadResponse) {
		// The READ's length was not known; its responses tell it.
		q.high, q.cur = end, end
	}
	return end
}

// coverHoles takes what an answer covers out of the open holes: those packets
// arrived, so the capture missed them.
func (s *shard) coverHoles(r *row, end ib.PSN, p *decode.Packet) {
	hs := &r.req.rec.holes
	var closed []hole
	for i := 0; i < len(hs.list) && hs.open > 0; i++ {
		h := &hs.list[i]
		if h.fate != fateOpen || !h.start.Before(end) {
			continue
		}
		n := len(hs.list)
		piece := hs.cut(i, h.start, end)
		if len(hs.list) < n {
			i--
		}
		piece.fate = fateAcked
		if !piece.sure {
			continue // repeated selectively, so it was no hole
		}
		closed = append(closed, piece)
		kind := NotCaptured
		if piece.naked {
			kind = Unresolved // the network lost it, and the tap the repair
		}
		s.emit(Event{Kind: kind, Count: piece.len(), Flow: r.id, PSN: piece.start, Time: piece.time, Frame: piece.frame, Ref: p.Frame})
	}
	for i := range closed {
		hs.keep(closed[i])
	}
}

// fillRead takes the PSN of a further response of a READ out of a hole: the
// READ request used that PSN, and no packet of its own is missing for it.
func (s *shard) fillRead(r *row, psn ib.PSN) {
	if r.req.rec == nil {
		return
	}
	hs := &r.req.rec.holes
	for i := range hs.list {
		if h := &hs.list[i]; h.fate == fateOpen && h.has(psn) {
			hs.cut(i, psn, psn.Add(1))
			return
		}
	}
}

// dropResends forgets resends that are answered, and tells which of them were
// needless: the answer came too soon to be caused by them.
func (s *shard) dropResends(r *row, end ib.PSN, p *decode.Packet) {
	rec := r.req.rec
	kept := rec.resends[:0]
	for _, e := range rec.resends {
		if !e.psn.Before(end) {
			kept = append(kept, e)
			continue
		}
		if r.soon(e.time, p.Time) {
			s.emit(Event{Kind: Spurious, Count: 1, Flow: r.id, PSN: e.psn, Time: p.Time, Frame: e.frame, Ref: p.Frame})
		}
	}
	rec.resends = kept
}

// sequenceNAK takes a NAK that asks for its PSN again.
func (s *shard) sequenceNAK(r, g *row, p *decode.Packet) {
	q := &r.req
	if !q.started {
		return
	}
	rec := q.recovery()
	stale := q.unaSet && p.PSN.Before(q.una)
	repeat := rec.nak.set && !rec.nak.used && rec.nak.psn == p.PSN
	s.cover(r, p.PSN, p)
	if stale || repeat {
		return
	}
	rec.nak = nakInfo{set: true, psn: p.PSN, time: p.Time, frame: p.Frame}
	if rec.rnr.set && !rec.rnr.used && rec.rnr.psn == p.PSN {
		s.emit(Event{Kind: RNREcho, Count: 1, Flow: g.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: rec.rnr.frame})
		return
	}
	if h := rec.holes.openAt(p.PSN, -1); h != nil {
		s.nameHole(r, p.PSN)
		return
	}
	if !p.PSN.Before(q.high) {
		return // what it asks for has not passed yet
	}
	s.doubt(r, p)
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
			h.naked = true
			continue
		}
		piece := hs.cut(i, psn, psn.Add(1))
		s.promote(r, &piece)
		piece.naked = true
		hs.add(piece)
		return
	}
}

// doubt weighs a sequence NAK for a packet that the tap saw: it was lost
// behind the tap, unless reordering explains the NAK.
func (s *shard) doubt(r *row, p *decode.Packet) {
	q := &r.req
	rec := q.rec
	var frame uint64
	if e := q.recent.get(p.PSN); e != nil {
		frame = e.frame
		soon := r.soon(e.time, p.Time) && e.flags&seenResent == 0
		if e.flags&seenLate != 0 || soon {
			s.needless(r, p, frame)
			return
		}
	}
	if s.cameEarly(q, p.PSN) {
		// The receiver threw it away, because something before it was late.
		s.needless(r, p, frame)
		return
	}
	if len(rec.doubts) >= doubtsMax {
		s.lostBehind(r, &rec.doubts[0])
		rec.doubts = rec.doubts[:copy(rec.doubts, rec.doubts[1:])]
	}
	rec.doubts = append(rec.doubts, doubt{psn: p.PSN, seen: frame, nakFrame: p.Frame, nakTime: p.Time})
}

func (s *shard) needless(r *row, p *decode.Packet, frame uint64) {
	s.emit(Event{Kind: NeedlessNAK, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: frame})
}

// cameEarly reports whether the PSN passed, the last time, while one before it
// was missing.
func (s *shard) cameEarly(q *requests, psn ib.PSN) bool {
	pass := q.pass
	if q.pass > 0 && (psn.Before(q.rec.pass.start) || !psn.Before(q.cur)) {
		pass-- // the current pass has not reached it
	}
	for i := range q.rec.holes.list {
		h := &q.rec.holes.list[i]
		if h.pass != pass || psn.Before(h.end) {
			continue
		}
		if h.fate == fateOpen || psn.Before(h.upto) {
			return true
		}
	}
	return false
}

// judgeDoubts settles what sequence NAKs meant, now that all before end has
// arrived.
func (s *shard) judgeDoubts(r *row, end ib.PSN, p *decode.Packet) {
	rec := r.req.rec
	kept := rec.doubts[:0]
	for i := range rec.doubts {
		d := rec.doubts[i]
		switch {
		case !d.psn.Before(end):
			kept = append(kept, d)
		case d.resent == 0 || r.soon(d.resent, p.Time):
			// It arrived without being sent again: only late.
			s.emit(Event{Kind: NeedlessNAK, Count: 1, Flow: r.id, PSN: d.psn, Time: d.nakTime, Frame: d.nakFrame, Ref: p.Frame})
		default:
			s.lostBehind(r, &d)
		}
	}
	rec.doubts = kept
}

func (s *shard) lostBehind(r *row, d *doubt) {
	frame, ref := d.seen, d.nakFrame
	if frame == 0 {
		frame = ref
	}
	s.emit(Event{Kind: LostDownstream, Count: 1, Flow: r.id, PSN: d.psn, Time: d.nakTime, Frame: frame, Ref: ref})
}

// judgePass reads the first answer to a resend after a timeout.
func (s *shard) judgePass(r *row, end ib.PSN, p *decode.Packet) {
	q := &r.req
	pass := &q.rec.pass
	if pass.cause != RetransmittedTimeout || pass.answered || pass.sent == 0 {
		return
	}
	soon := r.soon(pass.time, p.Time)
	if soon && end.Before(pass.high) {
		return // an answer to what was sent before the timeout
	}
	pass.answered = true
	switch {
	case soon:
		return // the answer was on its way; the resends count as needless
	case p.Op.Is(ib.IsReadResponse):
		// The responses begin again from the READ asked again. That the READ
		// had arrived before can be told only by responses seen before.
		if !q.rec.reads.answered(pass.start, pass.time) {
			s.emit(Event{Kind: Unresolved, Count: 1, Flow: r.id, PSN: pass.start, Time: p.Time, Frame: pass.frame, Ref: p.Frame})
		}
	case end.Before(pass.high):
		if q.rec.holes.openAt(end, -1) == nil && p.Syndrome&0x7F != ib.NAKPSNSequence {
			s.emit(s.lostAfterTimeout(r, end, p))
		}
	case s.answersMore(r, end, p):
		s.emit(Event{Kind: LostAck, Count: 1, Flow: r.id, PSN: pass.start, Time: p.Time, Frame: p.Frame, Ref: pass.frame})
	default:
		s.emit(Event{Kind: Unresolved, Count: 1, Flow: r.id, PSN: pass.start, Time: p.Time, Frame: pass.frame, Ref: p.Frame})
	}
}

// lostAfterTimeout is the loss that a first answer below the highest PSN shows:
// the receiver has all before psn, and not psn.
func (s *shard) lostAfterTimeout(r *row, psn ib.PSN, p *decode.Packet) Event {
	ev := Event{Kind: LostDownstream, Count: 1, Flow: r.id, PSN: psn, Time: p.Time, Frame: p.Frame, Ref: p.Frame}
	if e := r.req.recent.get(psn); e != nil {
		ev.Frame = e.frame
	}
	return ev
}

// answersMore reports whether the answer covers more than the resends that it
// can be an answer to: then the rest had arrived before.
func (s *shard) answersMore(r *row, end ib.PSN, p *decode.Packet) bool {
	rec := r.req.rec
	last := rec.pass.start
	for _, e := range rec.resends {
		if !r.soon(e.time, p.Time) && !e.psn.Before(last) {
			last = e.psn
		}
	}
	return end.Sub(last) > 1
}
