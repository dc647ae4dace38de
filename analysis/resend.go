package analysis

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// newPass starts a resend pass at the packet, or at the PSN of the NAK that it
// follows.
func (s *shard) newPass(r *row, p *decode.Packet) {
	q := &r.req
	rec := q.recovery()
	for i := range rec.holes.list {
		if h := &rec.holes.list[i]; h.pass == q.pass && h.fate == fateOpen {
			h.upto = q.cur
		}
	}
	if rec.pass.late {
		s.judgeLate(r, p.Time)
	}
	s.lateAfterAll(r, p)
	cause, again := s.cause(r, p), s.timedOutAgain(r, p)
	start := p.PSN
	switch cause {
	case RetransmittedNAK:
		n := rec.naks.pending(p.PSN)
		if start, n.used = n.psn, true; r.answeredSince(n, p) {
			start = p.PSN // the rest has come
		}
		rec.turnBefore = r.bundle.turn[r.dir]
		s.learnTurn(r, p.Time-n.time)
		s.measure(NAKReaction, r, p, n.frame, p.Time-n.time)
	case RetransmittedRNR:
		rec.rnr.used, rec.naks = true, nakList{}
		rec.needed = q.pass + 1 // the receiver had no buffer for what came before
		stalled := r
		if r.peer != nil {
			stalled = r.peer
		}
		s.emit(Event{Kind: RNRStall, Count: 1, Flow: stalled.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: rec.rnr.frame, Value: p.Time - rec.rnr.time})
	}
	outOfOrder := rec.holes.cameLate(q.pass, p.PSN)
	q.pass++
	tries := int32(0)
	if cause == RetransmittedTimeout {
		tries = 1
		if rec.pass.cause == cause && rec.pass.start == p.PSN {
			tries += rec.pass.tries
		}
		waited := p.Time - q.last
		if e := q.recent.get(p.PSN); e != nil {
			waited = p.Time - e.time
		}
		s.emit(Event{Kind: TimeoutPass, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Value: waited})
	}
	before := rec.pass.start
	if rec.pass.number == 0 {
		before = q.first
	}
	if rec.former == nil {
		rec.former = new(passInfo) // once in a row's life
	}
	*rec.former = rec.pass
	if rec.needed == rec.pass.number {
		rec.neededPass = rec.pass.begins()
	}
	rec.pass = passInfo{before: before, reached: q.cur, number: q.pass, id: p.IPID, tries: tries, nakked: rec.nakkedInVain(q, p.PSN), outOfOrder: outOfOrder, explained: again && rec.pass.cause == cause || rec.explains(p.PSN, q.high), start: start, high: q.high, wants: q.wants, cause: cause, time: p.Time, last: q.last, frame: p.Frame, alone: cause == RetransmittedNAK && p.Time-q.last > r.minRTT()}
	if cause == RetransmittedTimeout && q.answered(p.PSN) && !p.Op.Is(ib.AnsweredByRead|ib.IsAtomic) {
		// The answer has passed the tap: it was lost behind it, or it comes too
		// late for the timer. The next new request tells.
		rec.pass.answered, rec.pass.late = true, true
		rec.pass.waited = p.Time - q.covered
	}
	if cause == RetransmittedTimeout {
		rec.naks = nakList{} // what they asked for is being sent
	}
	q.cur, q.known = start, true
	if start.Before(p.PSN) {
		s.skip(r, start, p)
	}
}

// passGoesOn reports whether the current resend pass goes on at the packet,
// behind a READ of unknown length: it lies beyond that READ, had passed before
// the pass began or was missing then, and nothing that came since asks for a pass
// of its own.
func (s *shard) passGoesOn(r *row, p *decode.Packet) bool {
	q := &r.req
	if q.pass == 0 || p.PSN.Before(q.cur) || p.Time-q.last >= shortestTimer {
		return false
	}
	e, rec := q.recent.get(p.PSN), q.rec
	if e == nil && rec.holes.openAt(p.PSN, -1) == nil || e != nil && e.frame() >= rec.pass.frame {
		return false
	}
	return rec.reads.lastResponse <= q.last && max(rec.naks.last().frame, rec.rnr.frame) < q.lastFrame || s.cause(r, p) == RetransmittedUnknown
}

// slowReaction is how long a requester may sit on a NAK, or on a response that
// shows one before it missing, ns, before a resend is rather put down to its
// timer. Software takes milliseconds; timers of four and
// less are rare, and would have to follow a NAK whose resend the network lost
// whole.
const slowReaction = 10_000_000

// shortestTimer is the silence, ns, from which a resend that nothing asked for
// is put down to a timer: adaptive timers start at two milliseconds, and a
// resend after less has a reason that the tap did not see.
const shortestTimer = 1_800_000

// passedOver reports whether the packet asks again for what an answer came behind
// of: one to a later request, or one that carries nothing where this needs more.
func (q *requests) passedOver(p *decode.Packet) bool {
	if !p.Op.Is(ib.AnsweredByRead|ib.IsAtomic) || !q.unaSet {
		return false
	}
	next := p.PSN.Add(1)
	return q.una.After(next) || q.unaPlain && q.una == next
}

// answeredSince reports whether all that a NAK asked for up to the packet, and the
// packet itself, has been answered since the NAK, and sooner than the requester went
// back: what has its response asked for again is that it had been told to go back, and
// no response is missing.
func (r *row) answeredSince(n *nakInfo, p *decode.Packet) bool {
	if n == nil || r.peer == nil || !r.req.una.After(p.PSN) || r.req.rec.pass.frame > n.frame {
		return false // or the requester has gone back since
	}
	e := r.peer.rsp.recent.get(p.PSN)
	return e != nil && e.frame() > n.frame && e.time-n.time < p.Time-e.time && p.Time-n.time < r.reaction()
}

// behindAnswered reports whether the request before psn is one that is answered
// by data.
func (q *requests) behindAnswered(psn ib.PSN) bool {
	e := q.recent.get(psn.Add(-1))
	return q.rec.reads.endsAt(psn) || e != nil && e.op().Is(ib.AnsweredByRead|ib.IsAtomic)
}

// cause tells why a resend pass starts at the packet.
func (s *shard) cause(r *row, p *decode.Packet) EventKind {
	q := &r.req
	rec := q.rec
	if rec.rnr.set && !rec.rnr.used && p.PSN == rec.rnr.psn {
		return RetransmittedRNR
	}
	silence := p.Time - max(q.last, rec.reads.lastResponse, rec.naks.last().time)
	n := rec.naks.pending(p.PSN)
	if n != nil && n.psn == p.PSN && silence < s.patience(r)+slowReaction {
		return RetransmittedNAK
	}
	if q.passedOver(p) && !r.answeredSince(n, p) && silence < s.patience(r)+slowReaction {
		return RetransmittedImplied
	}
	if n != nil && silence < s.patience(r)+slowReaction && !r.passedSince(n, p) {
		return RetransmittedNAK // of which the first packets are missing
	}
	if q.unaSet && !q.una.Before(p.PSN) && silence < shortestTimer && q.behindAnswered(p.PSN) {
		return RetransmittedImplied // of which the READ or atomic is missing: the rest had arrived
	}
	if upset := rec.reads.upset; upset != 0 && silence < shortestTimer && p.Time-upset < s.patience(r) && !rec.naks.last().set {
		return RetransmittedImplied // drawn by a response that came before an earlier one
	}
	switch {
	case r.peer != nil && silence >= shortestTimer:
		return RetransmittedTimeout
	case r.peer == nil && silence >= 1_000_000:
		// Nothing comes back in view, so a NAK may have come unseen; no NAK
		// takes a millisecond longer than the traffic before it.
		return RetransmittedTimeout
	}
	return RetransmittedUnknown
}

// passedSince reports whether the packet has passed since the NAK, and comes once more
// sooner than any that a NAK drew.
func (r *row) passedSince(n *nakInfo, p *decode.Packet) bool {
	e := r.req.recent.get(p.PSN)
	return e != nil && e.frame() > n.frame && r.atMost(p, n.time) < r.soonestTurn()
}

// askedAlone reports whether the packet goes on with the current resend pass only
// because the NAK that came behind the packet before asks for the next one, as a
// sender that repeats selectively is asked for one loss after the other; or because
// a response that came behind it shows that the packet, a READ, lacks its own; or
// because its timer ran out once more.
func (s *shard) askedAlone(r *row, p *decode.Packet) bool {
	q := &r.req
	if q.pass == 0 || !p.PSN.Before(q.high) {
		return false
	}
	if rd := &q.rec.reads; q.passedOver(p) && rd.upset > q.last && rd.holes.openAt(p.PSN, -1) != nil {
		return true
	}
	if s.timedOutAgain(r, p) {
		return true
	}
	if r.bundle.turn[r.dir] == 0 {
		return false
	}
	n := q.rec.naks.pending(p.PSN)
	return n != nil && n.psn == p.PSN && n.frame > q.lastFrame && r.couldFollow(n, p)
}

// timedOutAgain reports whether the packet is sent again because the timer ran out for
// it, although one packet before had been sent again just now, and all before it has been
// acknowledged since: nobody who repeats all from there on would have waited that long.
func (s *shard) timedOutAgain(r *row, p *decode.Packet) bool {
	q := &r.req
	pass := &q.rec.pass
	if pass.sent != 1 || p.PSN.Before(q.cur) || !q.unaSet || q.una != p.PSN {
		return false
	}
	waited := s.patience(r)
	if pass.cause == RetransmittedTimeout {
		waited = (pass.time - pass.last) / 2
	}
	once := p.PSN.After(q.cur) || p.Time-q.covered > waited // an answer sets the timer anew
	return once && s.cause(r, p) == RetransmittedTimeout
}

// resent takes a request whose PSN was sent before, or fills a hole.
func (s *shard) resent(r *row, p *decode.Packet, span int32) {
	q := &r.req
	rec := q.recovery()
	rec.pass.sent++
	rec.lastResend = p.Time
	if rec.pass.sent > 1 {
		q.gobackn = true
	}
	before := q.recent.get(p.PSN)
	if before != nil && !p.IPv6 && q.ids.tells(before.id()) {
		if rec.earlier == nil {
			rec.earlier = new(earlier)
		}
		rec.earlier.put(before, p.Time)
	}
	rec.trail.sent(p, before)
	if before != nil && before.flags&seenBad != 0 {
		s.lostDamaged(r, before, p)
	}
	kind := rec.pass.cause
	if kind == Gap { // no pass has begun
		kind = RetransmittedUnknown
	}
	s.emit(Event{Kind: kind, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: rec.pass.frame})
	if kind == RetransmittedTimeout || kind == RetransmittedUnknown || q.answered(p.PSN) {
		rec.duplicate = p.Time
	}
	if s.closeBy(r, p, span, kind) && kind == RetransmittedNAK && p.PSN == rec.pass.start {
		rec.needed = q.pass // it never came by
	}
	for i := range rec.doubts {
		if d := &rec.doubts[i]; d.psn == p.PSN && d.resent == 0 {
			d.resent, d.again, d.alone = p.Time, p.Frame, rec.pass.alone && rec.pass.sent == 1
		}
	}
	e := resend{psn: p.PSN, time: p.Time, frame: p.Frame, pass: q.pass, asked: p.AckReq}
	if before != nil {
		e.before = before.frame()
	}
	s.weigh(r, p, &e, kind)
}

// resentBefore takes a late packet that an earlier pass than the current one, which has sent
// it again, skipped over in the hole.
func (s *shard) resentBefore(r *row, h *hole, p *decode.Packet) {
	s.emit(Event{Kind: h.cause, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: h.frame})
	s.weigh(r, p, &resend{psn: p.PSN, time: p.Time, frame: p.Frame, pass: h.pass}, h.cause)
}

// weigh tells whether a packet was sent again in vain, or keeps it until an answer tells.
func (s *shard) weigh(r *row, p *decode.Packet, e *resend, cause EventKind) {
	q := &r.req
	rec := q.rec
	asks := p.Op.Is(ib.AnsweredByRead | ib.IsAtomic)
	if asks && cause != RetransmittedTimeout {
		return // what is asked again is its response: the request was no waste
	}
	if q.answered(p.PSN) && !asks {
		s.emit(Event{Kind: Spurious, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame})
		return
	}
	if len(rec.resends) >= resendsMax {
		rec.resends = rec.resends[:copy(rec.resends, rec.resends[1:])]
	}
	rec.resends = append(rec.resends, *e)
}

// unasked reports whether a hole within a resend pass is no sign of loss although
// its packets come once more: no ID tells the passes of this row apart, its packets
// overtake each other, and what draws the resend is a NAK that was under way before
// the hole could be seen.
func (s *shard) unasked(r *row, h *hole, p *decode.Packet) bool {
	rec := r.req.rec
	if h.amid || !p.IPv6 && r.idsRise() || !r.bundle.overtaken(r.dir) || rec.pass.cause != RetransmittedNAK {
		return false
	}
	n := rec.naks.naming(rec.pass.start)
	return n != nil && n.time < h.time+r.minRTT()
}

// closeBy closes the holes of earlier passes that the resent packet fills, and
// reports whether there were any.
func (s *shard) closeBy(r *row, p *decode.Packet, span int32, kind EventKind) bool {
	q := &r.req
	hs := &q.rec.holes
	end := p.PSN.Add(span)
	var closed []hole
	for i := 0; i < len(hs.list) && hs.open > 0; i++ {
		h := &hs.list[i]
		if h.fate != fateOpen || h.pass == q.pass || !h.start.Before(end) || !p.PSN.Before(h.end) {
			continue
		}
		n := len(hs.list)
		piece := hs.cut(i, p.PSN, end)
		if len(hs.list) < n {
			i--
		}
		if piece.phantom || !piece.sure && s.unasked(r, &piece, p) {
			continue
		}
		s.promote(r, &piece)
		piece.ended = p.Op.Is(ib.IsLast | ib.IsOnly)
		piece.fate, piece.closer = fateLost, closer{p.Time, p.Frame, kind, r.req.rec.turnBefore}
		closed = append(closed, piece)
		lost := Event{Kind: LostUpstream, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: piece.frame}
		if p.IPv6 || !r.idsRise() {
			lost.Value = p.Time - piece.time
		}
		s.emit(lost)
	}
	for i := range closed {
		hs.keep(closed[i])
	}
	return len(closed) > 0
}
