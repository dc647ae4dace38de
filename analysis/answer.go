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
		if r.req.rec != nil {
			r.req.secondAnswer(p)
		}
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
	if q.rec != nil && p.Op.Is(ib.IsAck) {
		if rtt := q.rec.trail.answered(p); rtt > 0 {
			s.learnRTT(r, rtt)
		}
	}
	e := q.recent.get(p.PSN)
	if e == nil || e.flags&(seenResent|seenLate) != 0 || e.time > p.Time || (q.unaSet && p.PSN.Before(q.una)) {
		return
	}
	rtt := p.Time - e.time
	s.learnRTT(r, rtt)
	if p.Op.Is(ib.IsAck) {
		s.emit(Event{Kind: RoundTrip, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: e.frame, Value: rtt})
	}
}

// learnRTT takes a sample of the round trip. Once there are enough of them, what
// waited for the shortest one is judged.
func (s *shard) learnRTT(r *row, rtt int64) {
	b, d := r.bundle, r.dir
	rtt = max(rtt, 1)
	if b.rtts[d] == 0 || rtt < b.minRTT[d] {
		b.minRTT[d] = rtt
	}
	b.rtts[d]++
	if b.rtts[d] != rttsNeeded {
		return
	}
	for _, x := range b.rows[d] {
		if x.req.rec != nil {
			s.judgeWaiting(x)
		}
	}
}

// rttsNeeded is how many round trips must have been seen before the shortest
// is believed to be near the least possible.
const rttsNeeded = 16

// knowsRTT reports whether answers can be told to have come too soon.
func (r *row) knowsRTT() bool { return r.bundle.rtts[r.dir] >= rttsNeeded }

// trail pairs the sendings of one packet with the answers to them. Where every
// packet is resent before its answer can arrive, no packet is sent once, and
// only that the answers repeat as the sendings did shows the round trip.
type trail struct {
	psn         ib.PSN
	sends, acks [2]int64 // the first two
	nSend, nAck int
}

// sent notes a resend; before is the packet's sighting so far.
func (t *trail) sent(p *decode.Packet, before *sighting) {
	if !p.AckReq || before == nil {
		return
	}
	if t.nSend == 0 || t.psn != p.PSN {
		*t = trail{psn: p.PSN, sends: [2]int64{before.time, p.Time}, nSend: 2}
	}
}

// answered notes an ACK and returns the round trip once two answers show it, 0
// before.
func (t *trail) answered(p *decode.Packet) int64 {
	if t.nSend < 2 || t.psn != p.PSN || t.nAck >= 2 {
		return 0
	}
	t.acks[t.nAck] = p.Time
	t.nAck++
	if t.nAck < 2 {
		return 0
	}
	a, b := t.acks[0]-t.sends[0], t.acks[1]-t.sends[1]
	if a <= 0 || b <= 0 || max(a, b)-min(a, b) > a/4 {
		return 0
	}
	return min(a, b)
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
	q.una, q.unaSet = end, true
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
		switch {
		case !e.psn.Before(end) || e.answered != 0:
			kept = append(kept, e)
		case !r.knowsRTT():
			e.answered, e.answer = p.Time, p.Frame
			kept = append(kept, e)
		case r.soon(e.time, p.Time):
			s.needlessResend(r, &e, p.Frame)
		}
	}
	rec.resends = kept
}

func (s *shard) needlessResend(r *row, e *resend, answer uint64) {
	s.emit(Event{Kind: Spurious, Count: 1, Flow: r.id, PSN: e.psn, Time: e.time, Frame: e.frame, Ref: answer})
}

// judgeWaiting judges what waited for a known round trip, or for the end.
func (s *shard) judgeWaiting(r *row) {
	rec := r.req.rec
	for i := range rec.waiting {
		s.judgeAnswer(r, &rec.waiting[i])
	}
	rec.waiting = nil
	doubts := rec.doubts[:0]
	for i := range rec.doubts {
		if d := &rec.doubts[i]; d.answered != 0 {
			s.judgeDoubt(r, d)
		} else {
			doubts = append(doubts, *d)
		}
	}
	rec.doubts = doubts
	kept := rec.resends[:0]
	for _, e := range rec.resends {
		if e.answered == 0 {
			kept = append(kept, e)
		} else if r.soon(e.time, e.answered) {
			s.needlessResend(r, &e, e.answer)
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
	pending := rec.naks.pending(p.PSN)
	repeat := pending != nil && pending.psn == p.PSN
	s.cover(r, p.PSN, p)
	if stale || repeat {
		return
	}
	rec.naks.add(nakInfo{set: true, psn: p.PSN, time: p.Time, frame: p.Frame})
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
		s.judgeDoubt(r, &rec.doubts[0])
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
		if d.answered == 0 && d.psn.Before(end) {
			d.answered, d.answer = p.Time, p.Frame
		}
		if d.answered == 0 || d.resent != 0 && !r.knowsRTT() {
			kept = append(kept, d)
			continue
		}
		s.judgeDoubt(r, &d)
	}
	rec.doubts = kept
}

// judgeDoubt tells what a sequence NAK meant whose packet has arrived, or that
// stands at the end.
func (s *shard) judgeDoubt(r *row, d *doubt) {
	if d.answered != 0 && (d.resent == 0 || d.resent > d.answered || r.soon(d.resent, d.answered)) {
		// It arrived without being sent again: only late.
		s.emit(Event{Kind: NeedlessNAK, Count: 1, Flow: r.id, PSN: d.psn, Time: d.nakTime, Frame: d.nakFrame, Ref: d.answer})
		return
	}
	s.lostBehind(r, d)
}

func (s *shard) lostBehind(r *row, d *doubt) {
	frame, ref := d.seen, d.nakFrame
	if frame == 0 {
		frame = ref
	}
	s.emit(Event{Kind: LostDownstream, Count: 1, Flow: r.id, PSN: d.psn, Time: d.nakTime, Frame: frame, Ref: ref})
}

// firstAnswer is the first answer to a resend pass after a timeout.
type firstAnswer struct {
	pass   passInfo
	end    ib.PSN // the answer covers all before it
	time   int64
	frame  uint64
	read   bool   // a READ response
	nak    bool   // a sequence NAK
	before bool   // a READ of the pass had been answered before it
	holed  bool   // the PSN at end is missing at the tap
	last   ib.PSN // the highest PSN resent before the answer
	seen   uint64 // the frame of the packet at end; 0 unknown
	again  bool   // the same answer came twice
}

// judgePass reads the first answer to a resend after a timeout.
func (s *shard) judgePass(r *row, end ib.PSN, p *decode.Packet) {
	q := &r.req
	pass := &q.rec.pass
	if pass.cause != RetransmittedTimeout || pass.answered || pass.sent == 0 {
		return
	}
	if r.soon(pass.time, p.Time) && end.Before(pass.high) {
		return // an answer to what was sent before the timeout
	}
	if !end.After(pass.start) && p.Syndrome.Type() == ib.ACK && !p.Op.Is(ib.IsReadResponse) {
		return // it covers nothing of the pass
	}
	pass.answered = true
	a := firstAnswer{pass: *pass, end: end, time: p.Time, frame: p.Frame, read: p.Op.Is(ib.IsReadResponse),
		nak: p.Op.Is(ib.IsAck) && p.Syndrome&0x7F == ib.NAKPSNSequence, holed: q.rec.holes.openAt(end, -1) != nil, last: pass.start}
	if a.read {
		a.before = q.rec.reads.answered(pass.start, pass.time)
	}
	for _, e := range q.rec.resends {
		if !r.soon(e.time, p.Time) && !e.psn.Before(a.last) && e.answered == 0 {
			a.last = e.psn
		}
	}
	if e := q.recent.get(end); e != nil {
		a.seen = e.frame
	}
	if len(q.rec.waiting) >= waitingMax {
		s.judgeAnswer(r, &q.rec.waiting[0])
		q.rec.waiting = q.rec.waiting[:copy(q.rec.waiting, q.rec.waiting[1:])]
	}
	q.rec.waiting = append(q.rec.waiting, a)
}

// secondAnswer notes a further ACK for what the first answer to a pass covered.
// With each packet resent once, at most one of the two can answer the last
// packet; the other answers the original, or a duplicate before it. Either way
// the request had arrived.
func (q *requests) secondAnswer(p *decode.Packet) {
	n := len(q.rec.waiting)
	if n == 0 {
		return
	}
	if a := &q.rec.waiting[n-1]; a.pass.number == q.pass && p.PSN.Add(1) == a.end && p.Frame != a.frame {
		a.again = true
	}
}

const waitingMax = 32

// judgeAnswer tells what a first answer shows.
func (s *shard) judgeAnswer(r *row, a *firstAnswer) {
	pass := &a.pass
	if a.before {
		return // the cause is told where its responses were judged
	}
	if r.soon(pass.time, a.time) { // the answer was on its way
		s.emit(Event{Kind: NeedlessPass, Count: 1, Flow: r.id, PSN: pass.start, Time: pass.time, Frame: pass.frame, Ref: a.frame})
		return
	}
	if pass.explained || a.nak {
		return // the cause is told where it was found
	}
	ev := Event{Kind: Unresolved, Count: 1, Flow: r.id, PSN: pass.start, Time: pass.time, Frame: pass.frame, Ref: a.frame, Value: 1}
	switch {
	case a.read:
		// The responses begin again from the READ asked again; whether the
		// request or all responses were lost is not to be known.
	case a.end.Before(pass.high):
		if a.holed {
			return
		}
		// The receiver has all before end, and not the packet at end.
		ev = Event{Kind: LostDownstream, Count: 1, Flow: r.id, PSN: a.end, Time: a.time, Frame: a.seen, Ref: a.frame}
		if a.seen == 0 {
			ev.Frame = a.frame
		}
	case (a.again || a.end.Sub(a.last) > 1) && !pass.wants.Before(pass.start) && pass.wants.Before(a.end):
		// It covers more than the resends that it can be an answer to, and one
		// of the packets it covers had asked for an answer before.
		ev.Kind, ev.Frame, ev.Ref, ev.Value = LostAck, a.frame, pass.frame, 0
	}
	s.emit(ev)
}
