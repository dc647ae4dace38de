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
	case !p.HasSyndrome():
		return
	case p.Syndrome.Type() == ib.ACK:
		if r.req.rec != nil {
			r.req.secondAnswer(p)
		}
		s.sample(r, p)
		s.cover(r, p.PSN.Add(1), p)
	case p.Syndrome.Type() == ib.RNRNAK:
		s.putOffBefore(r, p)
		s.cover(r, p.PSN, p)
		rec := r.req.recovery()
		rec.rnr = nakInfo{set: true, psn: p.PSN, time: p.Time, frame: p.Frame}
	case p.IsSequenceNAK():
		s.sequenceNAK(r, g, p)
	case p.Syndrome.Type() == ib.NAK:
		s.cover(r, p.PSN, p)
	}
}

// cover notes that all requests before end have arrived.
func (s *shard) cover(r *row, end ib.PSN, p *decode.Packet) {
	q := &r.req
	if !q.started {
		return
	}
	// Until then, what passes behind its answer may be sent again by one who sent it first
	// before the capture began.
	q.level = q.level || q.answered(q.first) && !q.una.After(q.high)
	if end.Sub(q.high) > 0 {
		// Beyond what was seen: the capture started late, lost packets, or
		// holds the answer before the question.
		end = s.beyond(r, end, p)
	}
	rec := q.rec
	if rec != nil {
		if len(rec.tent) > 0 && rec.tent[0].PSN.Before(end) {
			s.decide(r, nil)
		}
		s.judgePass(r, end, p)
	}
	plain := !p.Op.Is(ib.IsReadResponse | ib.IsAtomicAck)
	if q.unaSet && !end.After(q.una) {
		q.unaPlain = q.unaPlain || plain && end == q.una
		return
	}
	from := q.una
	q.una, q.unaSet, q.unaPlain, q.covered = end, true, plain, p.Time
	if rec == nil {
		return
	}
	if pass := &rec.pass; !from.After(pass.start) && end.After(pass.start) && pass.heard == 0 {
		pass.heard = p.Time
	}
	rec.reads.hearMSN(p)
	s.judgeDoubts(r, end, p)
	s.dropResends(r, end, p)
	if rec.holes.open > 0 {
		s.coverHoles(r, end, p)
	}
}

// beyond handles an answer to requests that the tap has not seen.
func (s *shard) beyond(r *row, end ib.PSN, p *decode.Packet) ib.PSN {
	q := &r.req
	if q.known || !p.Op.Is(ib.IsReadResponse) {
		return end
	}
	if e, by := r.measured(); e != nil {
		q.reaches(e.start, by)
	} else {
		q.high, q.cur = end, end // the READ's length was not known; its responses tell it
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
		if h.fate != fateOpen || !h.start.Before(end) || s.mayBeClosed(r, h, p) {
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
		e := Event{Kind: NotCaptured, Count: piece.len(), Flow: r.id, PSN: piece.start, Time: piece.time, Frame: piece.frame, Ref: p.Frame}
		if piece.naked && piece.has(piece.named) {
			e.Count--
			s.emit(Event{Kind: Unresolved, Count: 1, Flow: r.id, PSN: piece.named, Time: e.Time, Frame: e.Frame, Ref: e.Ref}) // the network lost it, and the tap the repair
		}
		if e.Count > 0 {
			s.emit(e)
		}
	}
	for i := range closed {
		hs.keep(closed[i])
	}
}

// mayBeClosed reports whether packets that a resend pass skipped may come yet, late or in a
// further pass, although they are acknowledged: what had arrived before is sent again in
// vain, but not left out by one who repeats all. So may late ones before the row's first.
func (s *shard) mayBeClosed(r *row, h *hole, p *decode.Packet) bool {
	return (h.within || h.phantom) && !h.sure && p.Time-h.time < s.patience(r)
}

// fillAnswered takes out of the holes what READs used whose responses have
// passed although the request did not: of the PSNs of a READ only the first
// stands for a packet that is missing.
func (rec *recovery) fillAnswered() {
	for i := range rec.reads.list {
		if e := &rec.reads.list[i]; e.orphan {
			rec.holes.fill(e.start.Add(1), e.cursor)
		}
	}
}

// fillRead takes the PSN of a further response of a READ out of a hole: the
// READ request used that PSN, and no packet of its own is missing for it.
func (s *shard) fillRead(r *row, psn ib.PSN) {
	if r.req.rec != nil {
		r.req.rec.holes.fill(psn, psn.Add(1))
	}
}

// dropResends forgets resends that are answered, and tells which of them were
// needless: the answer came too soon to be caused by them.
func (s *shard) dropResends(r *row, end ib.PSN, p *decode.Packet) {
	rec := r.req.rec
	own := r.asksFor(p)
	kept := rec.resends[:0]
	for _, e := range rec.resends {
		switch e.own = e.own || own && e.answered == 0 && e.pass == rec.pass.number && e.psn.Before(end); {
		case !e.psn.Before(end) || e.answered != 0:
			kept = append(kept, e)
		case !r.knowsRTT():
			e.answered, e.answer, e.nak = p.Time, p.Frame, p.IsSequenceNAK()
			kept = append(kept, e)
		case r.needless(rec, &e, p.Time, p.IsSequenceNAK()):
			s.needlessResend(r, &e, p.Frame)
		}
	}
	rec.resends = kept
}

func (s *shard) needlessResend(r *row, e *resend, answer uint64) {
	s.emit(Event{Kind: Spurious, Count: 1, Flow: r.id, PSN: e.psn, Time: e.time, Frame: e.frame, Ref: answer})
}
