package analysis

import (
	"slices"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// firstAnswer is the first answer to a resend pass after a timeout.
type firstAnswer struct {
	pass   passInfo
	end    ib.PSN // the answer covers all before it
	time   int64
	frame  uint64
	data   bool   // a READ response or that to an atomic: each request of those has its own
	nak    bool   // a sequence NAK
	mine   bool   // what the pass asked for, by its PSN
	before bool   // a READ of the pass had been answered before it
	holed  bool   // the PSN at end is missing at the tap
	last   ib.PSN // the highest PSN resent before the answer, as early as it takes to be answered
	own    ib.PSN // the same of those that the pass itself resent
	seen   uint64 // the frame of the packet that was lost, if one was; 0 unknown
	again  bool   // the same answer came twice
}

// judgePass reads the first answer to a resend after a timeout.
func (s *shard) judgePass(r *row, end ib.PSN, p *decode.Packet) {
	q := &r.req
	pass := &q.rec.pass
	if pass.cause != RetransmittedTimeout || pass.answered || pass.sent == 0 {
		return
	}
	own := r.asksFor(p)
	if r.soonFor(pass.time, p.Time, p.IsSequenceNAK(), own) && end.Before(pass.high) {
		return // an answer to what was sent before the timeout
	}
	if !end.After(pass.start) && p.Syndrome.Type() == ib.ACK && !p.Op.Is(ib.IsReadResponse) {
		return // it covers nothing of the pass
	}
	pass.answered = true
	a := firstAnswer{pass: *pass, end: end, time: p.Time, frame: p.Frame, data: p.Op.Is(ib.IsReadResponse | ib.IsAtomicAck),
		nak: p.IsSequenceNAK(), mine: own, holed: q.rec.holes.openAt(end, -1) != nil, last: pass.start, own: pass.start}
	if p.Op.Is(ib.IsReadResponse) {
		a.before = q.rec.reads.answered(pass.start, pass.time)
	}
	for _, e := range q.rec.resends {
		if r.sooner(e.time, p.Time) || e.answered != 0 {
			continue
		}
		if !e.psn.Before(a.last) {
			a.last = e.psn
		}
		if e.pass == pass.number && !e.psn.Before(a.own) {
			a.own = e.psn
		}
	}
	a.seen = q.sentBefore(pass, a.lost())
	if len(q.rec.waiting) >= waitingMax {
		s.judgeAnswer(r, &q.rec.waiting[0])
		q.rec.waiting = q.rec.waiting[:copy(q.rec.waiting, q.rec.waiting[1:])]
	}
	q.rec.waiting = append(q.rec.waiting, a)
}

const waitingMax = 32

// asksFor reports whether an ACK is, by its PSN, what a packet of the current pass asked for,
// which a timer has drawn after so long that no answer to what was sent before comes just then.
func (r *row) asksFor(p *decode.Packet) bool {
	rec := r.req.rec
	return rec.pass.cause == RetransmittedTimeout && rec.pass.time-rec.pass.last > longAgo*r.minRTT() && p.Op.Is(ib.IsAck) && p.Syndrome.Type() == ib.ACK &&
		slices.ContainsFunc(rec.resends, func(e resend) bool { return e.asked && e.psn == p.PSN && e.pass == rec.pass.number })
}

// longAgo is how many round trips behind a request its answer comes seldom.
const longAgo = 100

// lost returns the packet that a first answer, which covers all before end, shows
// to be lost before a timeout: where a NAK had asked for the first one in vain, that,
// unless the answer covers more than what it can be an answer to.
func (a *firstAnswer) lost() ib.PSN {
	if a.pass.nakked && a.end.Sub(a.own) <= 1 {
		return a.pass.start
	}
	return a.end
}

// sentBefore returns the frame in which psn passed last before the pass; 0
// unknown.
func (q *requests) sentBefore(pass *passInfo, psn ib.PSN) uint64 {
	for i := range q.rec.resends {
		if e := &q.rec.resends[i]; e.psn == psn && e.time >= pass.time {
			return e.before
		}
	}
	if e := q.recent.get(psn); e != nil && e.time < pass.time {
		return e.frame()
	}
	return 0
}

// nakkedInVain reports whether a pass from psn repeats what a NAK has drawn
// once, without anything from psn on having been answered since.
func (rec *recovery) nakkedInVain(q *requests, psn ib.PSN) bool {
	n := rec.naks.last()
	return n.set && n.used && n.psn == psn && !q.una.After(psn)
}

// putOffBefore takes back that a timer has drawn the current pass, where an RNR NAK answers
// it, and what that puts off was first sent before the capture began: it may have been put
// off then, too.
func (s *shard) putOffBefore(r *row, p *decode.Packet) {
	q := &r.req
	if q.rec == nil || q.rec.pass.cause != RetransmittedTimeout || q.rec.pass.start != p.PSN {
		return
	}
	pass := &q.rec.pass
	if !slices.ContainsFunc(q.rec.resends, func(e resend) bool { return e.pass == q.pass && e.psn == p.PSN && e.before == 0 }) {
		return // its first sending is in view, and what answered that
	}
	s.emit(Event{Kind: TimeoutPass, Count: -1, Flow: r.id, PSN: pass.start, Time: pass.time, Frame: pass.frame, Value: pass.time - pass.last})
	for i := range q.rec.resends {
		if e := &q.rec.resends[i]; e.pass == q.pass {
			s.emit(Event{Kind: RetransmittedTimeout, Count: -1, Flow: r.id, PSN: e.psn, Time: e.time, Frame: e.frame, Ref: pass.frame})
			s.emit(Event{Kind: RetransmittedUnknown, Count: 1, Flow: r.id, PSN: e.psn, Time: e.time, Frame: e.frame, Ref: pass.frame})
		}
	}
	pass.cause = RetransmittedUnknown
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

// judgeAnswer tells what a first answer shows.
func (s *shard) judgeAnswer(r *row, a *firstAnswer) {
	pass := &a.pass
	if a.before {
		return // the cause is told where its responses were judged
	}
	if r.soonFor(pass.time, a.time, a.nak, a.mine) { // the answer was on its way
		s.emit(Event{Kind: NeedlessPass, Count: 1, Flow: r.id, PSN: pass.start, Time: pass.time, Frame: pass.frame, Ref: a.frame})
		return
	}
	if pass.explained || a.nak {
		return // the cause is told where it was found
	}
	ev := Event{Kind: Unresolved, Count: 1, Flow: r.id, PSN: pass.start, Time: pass.time, Frame: pass.frame, Ref: a.frame, Value: 1}
	switch {
	case a.data:
		// The responses begin again from the READ or atomic asked again; whether
		// the request or all responses were lost is not to be known.
	case a.end.Before(pass.high):
		if a.holed {
			return
		}
		lost := a.lost()
		if !lost.Before(pass.before) && !lost.Before(pass.reached) {
			break // it passed long ago, and was thrown away then
		}
		if pass.outOfOrder {
			break // a receiver that takes none of those before a late one threw them away
		}
		// The receiver has all before end, and not the packet at end. Where a
		// NAK had asked for the first packet, that was lost once more.
		ev = Event{Kind: LostDownstream, Count: 1, Flow: r.id, PSN: lost, Time: a.time, Frame: a.seen, Ref: a.frame}
		if a.seen == 0 {
			ev.Frame = a.frame
		}
	case r.knowsRTT() && (a.again || a.end.Sub(a.last) > 1) && !pass.wants.Before(pass.start) && pass.wants.Before(a.end):
		// It covers more than the resends that it can be an answer to, and one
		// of the packets it covers had asked for an answer before.
		ev.Kind, ev.Frame, ev.Ref, ev.Value = LostAck, a.frame, pass.frame, 0
	}
	s.emit(ev)
}

// judgeLate tells, at the next new request or at the end, what became of an
// answer that had passed the tap before its request was resent. A requester
// that waited for the answer to the resend needs a turn to go on; one that goes
// on sooner had the first answer, only later than its timer allowed.
func (s *shard) judgeLate(r *row, t int64) {
	pass := &r.req.rec.pass
	pass.late = false
	kind := LostAck
	if turn := r.bundle.turn[r.dir]; turn > 0 && t-pass.time < turn-turn/8 && pass.waited < r.reaction() {
		kind = NeedlessPass
	}
	s.emit(Event{Kind: kind, Count: 1, Flow: r.id, PSN: pass.start, Time: pass.time, Frame: pass.frame})
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
		} else if r.needless(rec, &e, e.answered, e.nak) {
			s.needlessResend(r, &e, e.answer)
		}
	}
	rec.resends = kept
}

// explains reports whether a timeout from psn on needs no further reason: what
// is sent again was missing at the tap, or a NAK had asked in vain.
func (rec *recovery) explains(psn, high ib.PSN) bool {
	for i := range rec.holes.list {
		if h := &rec.holes.list[i]; h.fate == fateOpen && h.sure && h.start.Before(high) && psn.Before(h.end) {
			return true
		}
	}
	for i := range rec.doubts {
		if rec.doubts[i].resent == 0 {
			return true
		}
	}
	for i := range rec.naks {
		if n := &rec.naks[i]; n.set && !n.used {
			return true
		}
	}
	return false
}
