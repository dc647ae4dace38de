package analysis

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// requests follows the request packets that travel in one row.
//
// They form passes. A pass starts at the first packet and at each resend that
// steps back; a PSN skipped within a pass is a hole. What becomes of a hole is
// told by what fills it: a packet of a later pass was sent again, one of the
// same pass came late, and a hole that the receiver acknowledged without
// either was never missing in the network, only in the capture.
type requests struct {
	started  bool
	known    bool // cur is known; it is not behind a READ of unknown length
	amid     bool // its first packet in view is amid a message
	unaSet   bool // a response has been seen
	unaPlain bool // one that carries nothing has covered all before una
	level    bool // the requests in view have once come as far as the answers
	gobackn  bool // this sender repeats what follows a resent packet
	pass     uint16
	cur      ib.PSN // the PSN the current pass expects next
	high     ib.PSN // one past the highest PSN sent
	una      ib.PSN // the first PSN that no response covers
	first    ib.PSN // the first PSN of the row
	wants    ib.PSN // the highest PSN that asked for an answer; first-1 where none did
	inOrder  uint32 // UD: packets that followed their predecessor, since the last jump

	last      int64 // time of the last request
	lastFrame uint64
	lastFresh int64  // time of the last request that was sent the first time
	covered   int64  // when an answer last moved una
	newest    int64  // time of the packet that was sent last, as far as IDs tell
	copied    uint64 // the frame of the newest copy

	recent recent
	sent   *messages // nil until one of several packets was sent
	rec    *recovery // nil until something out of the ordinary happens
	ids    idOrder
}

// recovery is what a sequence needs once something went wrong, or READs are
// under way: cold state, so that a clean row stays small.
type recovery struct {
	holes   holes
	pass    passInfo
	former  *passInfo // the one before; nil while there was none
	naks    nakList
	rnr     nakInfo
	doubts  []doubt         // sequence NAKs whose meaning the next answer tells
	tent    []decode.Packet // packets that are late or resent: what follows tells
	resends []resend        // of which no answer has come
	waiting []firstAnswer   // first answers that only a known round trip can judge
	trail   trail
	run     lateRun
	reads   reads
	// duplicate is when a request last passed that the receiver may have had
	// already, and may answer again; 0 never.
	duplicate  int64
	lastResend int64     // when a request last passed again; 0 never
	turnBefore int64     // the shortest turnaround before the last NAK was followed
	needed     uint16    // the last pass whose first packet had not arrived before; 0 none
	neededPass firstSent // of that pass, once another one has begun
	earlier    *earlier  // requests that were sent again since; nil while none was
}

// passInfo is the current resend pass.
type passInfo struct {
	// before is where the pass before this one began, and reached one past
	// where it ended: what lies beyond was not sent in it, as far as the tap saw.
	before, reached ib.PSN
	number          uint16
	id              uint16 // the IPv4 ID of the packet that began it
	start           ib.PSN
	high            ib.PSN // the row's high when the pass started
	wants           ib.PSN // the row's wants when the pass started
	cause           EventKind
	time            int64
	last            int64 // time of the packet before
	heard           int64 // when an answer first covered its first packet; 0 not yet
	frame           uint64
	sent            int   // packets resent in it
	tries           int32 // timeouts in a row that this pass ends, all from start
	nakked          bool  // it begins with what a NAK had drawn once before, in vain
	outOfOrder      bool  // in the one before, its first packet came late or before a late one
	tail            bool  // the one before has gone on since
	explained       bool  // why the timer ran out is known without looking at the answer
	answered        bool  // the first answer has been judged
	alone           bool  // behind silence of a round trip or more
	late            bool  // the answer had passed before, and may have come too late or never
	waited          int64 // since then
}

// firstSent is the first packet of a pass.
type firstSent struct {
	frame       uint64
	time, heard int64 // heard is when an answer first covered it; 0 not yet
}

// begins returns the first packet of a pass.
func (p *passInfo) begins() firstSent { return firstSent{p.frame, p.time, p.heard} }

// resend is a resent packet that no answer covers yet.
type resend struct {
	psn      ib.PSN
	time     int64
	frame    uint64
	answered int64  // when an answer came, while no round trip was known
	answer   uint64 // its frame
	nak      bool   // it was a NAK
	own      bool   // it may be the answer to the pass
	asked    bool   // for an answer
	pass     uint16
	before   uint64 // the frame in which the PSN passed last before; 0 unknown
}

const (
	resendsMax = 1024
	doubtsMax  = 16
	tentMax    = 16
)

func (q *requests) recovery() *recovery {
	if q.rec == nil {
		q.rec = new(recovery)
	}
	return q.rec
}

// request takes a request packet of a reliable row.
func (s *shard) request(r *row, p *decode.Packet) Verdict {
	q := &r.req
	span, known := r.span(p)
	if !q.started {
		*q = requests{started: true, rec: q.rec, first: p.PSN, cur: p.PSN, high: p.PSN, una: p.PSN, wants: p.PSN.Add(-1), known: true, amid: p.Op.Is(ib.IsMiddle | ib.IsLast)}
		q.ids.last = p.IPID
		if r.peer != nil {
			s.heardBefore(r, r.peer, p.PSN, p.Frame)
		}
		return s.accept(r, p, span, known)
	}
	if s.isCopy(r, &q.recent, &q.ids, p) {
		return Copy
	}
	if r.sentBefore(&q.ids, p) && !q.goesOn(p) {
		return s.belated(r, p, span)
	}
	if q.rec != nil && len(q.rec.tent) > 0 && !s.settle(r, p) {
		return 0
	}
	return s.advance(r, p, span, known)
}

// goesOn reports whether the packet is the next one of the first pass, which cannot have
// been sent before the one that it follows: if its ID is lower, IDs do not rise.
func (q *requests) goesOn(p *decode.Packet) bool {
	return q.pass == 0 && q.known && p.PSN == q.cur && p.PSN == q.high
}

// advance places a packet that was sent after all before it.
func (s *shard) advance(r *row, p *decode.Packet, span int32, known bool) Verdict {
	q := &r.req
	fresh := !p.PSN.Before(q.high)
	if i := s.lateForEarlier(r, p); i >= 0 {
		return s.late(r, i, p)
	}
	switch ahead := p.PSN.Sub(q.cur); {
	case !q.known && ahead >= 0:
		if !fresh && !s.passGoesOn(r, p) {
			s.newPass(r, p)
		} else if ahead == 0 {
			q.rec.reads.single(p.PSN)
		} else if fresh {
			s.skip(r, r.behindRead(p), p)
		}
	case ahead >= 0 && s.askedAlone(r, p):
		s.newPass(r, p)
	case ahead > 0:
		switch {
		case !s.overtaken(r, p):
			if s.overtook(r, p); q.cur != p.PSN {
				s.skip(r, q.cur, p)
			}
		case !q.wasNoPass(p):
			if q.rec.pass.cause == RetransmittedUnknown {
				q.rec.pass.tail, q.rec.pass.reached = true, p.PSN.Add(span)
			}
			return s.tailOfPass(r, p, span)
		}
	case ahead < 0:
		if len(r.bundle.early) > 0 {
			s.adoptNAK(r, p)
		}
		if q.pass == 0 && p.PSN.Before(q.first) && q.first.Sub(p.PSN) <= beforeFirst && !r.arrivedBefore(p) {
			s.lookBack(r, p)
		}
		if p.IPv6 || !r.idsRise() {
			if i := s.cameBehindAnswer(r, p); i >= 0 {
				return s.lateBehindAnswer(r, i, p)
			}
			if s.goesOnBefore(r, p) {
				return s.accept(r, p, span, known)
			}
			if q.holeInPass(p.PSN) != nil && !q.passedOver(p) {
				q.rec.tent = append(q.rec.tent, *p)
				return 0
			}
			if s.lateInPass(r, p) {
				if s.behindTail(r, p) {
					return s.accept(r, p, span, known)
				}
				s.emit(Event{Kind: Reordered, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame})
				s.resent(r, p, span)
				return s.keepLate(r, p, Resent)
			}
		}
		s.passBegins(r, p, 2)
	}
	return s.accept(r, p, span, known)
}

// behindRead returns the PSN from which on the capture lacks what was sent before the packet,
// the next one behind a READ whose length was not known when it passed: the path MTU may have
// shown itself since. However long the READ, a message has begun behind it that the packet is
// amid.
func (r *row) behindRead(p *decode.Packet) ib.PSN {
	if e, end := r.measured(); e != nil && !end.After(p.PSN) {
		return end
	}
	if p.Op.Is(ib.IsMiddle | ib.IsLast) {
		return p.PSN.Add(-1)
	}
	return p.PSN
}

// measured returns the READ that is the last request so far, and where its answer ends: its
// length was not known when it passed, and is by the path MTU that has shown itself since.
func (r *row) measured() (*read, ib.PSN) {
	q := &r.req
	if q.known || q.rec == nil {
		return nil, 0
	}
	list := q.rec.reads.list
	for i := len(list) - 1; i >= 0; i-- {
		e := &list[i]
		if end, ok := e.endBy(r.readMTU()); ok && e.start.Add(1) == q.high {
			return e, end
		}
	}
	return nil, 0
}

// answered reports whether an answer to the request, or to one behind it, has passed.
func (q *requests) answered(psn ib.PSN) bool { return q.unaSet && q.una.After(psn) }

func (q *requests) holeInPass(p ib.PSN) *hole {
	if q.rec == nil {
		return nil
	}
	return q.rec.holes.openAt(p, int(q.pass))
}

// accept takes the packet as the pass's next.
func (s *shard) accept(r *row, p *decode.Packet, span int32, known bool) Verdict {
	q := &r.req
	var v Verdict
	var flags sightingFlag
	if p.PSN.Before(q.high) {
		v, flags = Resent, seenResent
		s.resent(r, p, span)
	} else {
		if q.cur == p.PSN && q.known && !p.IPv6 && p.PSN != q.first {
			r.learn(&q.ids, p.IPID)
			q.ids.last = p.IPID // nothing was sent behind it
		}
		if q.level && q.answered(p.PSN) {
			s.emit(Event{Kind: AnsweredFirst, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame})
		}
		q.high = p.PSN.Add(span)
		q.lastFresh = p.Time
		if q.rec != nil && q.rec.pass.late {
			s.judgeLate(r, p.Time)
		}
		if p.AckReq || p.Op.Is(ib.AnsweredByRead|ib.IsAtomic) {
			q.wants = p.PSN
		}
		r.countMessage(p)
		q.sentFirst(p)
	}
	q.cur, q.known = p.PSN.Add(span), known
	if q.cur.After(q.high) {
		q.high = q.cur
	}
	q.newest = p.Time
	q.ids.newest(p.IPID, r.idsRise())
	q.recent.put(p, flags, q.una, r.bundle.room)
	q.last, q.lastFrame = p.Time, p.Frame
	if p.Op.Is(ib.AnsweredByRead) {
		s.askedRead(r, p, span, known, v == Resent)
	}
	return v
}

// span returns how many PSNs the packet uses, and whether that is known.
func (r *row) span(p *decode.Packet) (int32, bool) {
	if !p.Op.Is(ib.IsRead) {
		return 1, true
	}
	mtu := r.readMTU()
	if !p.HasExt || (mtu == 0 && p.DMALen > leastMTU) {
		return r.req.asked(p.PSN)
	}
	if mtu == 0 {
		return 1, true
	}
	return packets(p.DMALen, mtu), true
}

// asked returns how many PSNs are left from psn on of the READ that has asked for it before,
// or 1 and false where that is not known: a length that was cut off shows in the responses.
func (q *requests) asked(psn ib.PSN) (int32, bool) {
	if q.rec != nil && psn.Before(q.high) {
		for i := len(q.rec.reads.list) - 1; i >= 0; i-- {
			if e := &q.rec.reads.list[i]; e.known && !psn.Before(e.start) && psn.Before(e.end) {
				return e.end.Sub(psn), true
			}
		}
	}
	return 1, false
}

// leastMTU is the smallest path MTU.
const leastMTU = 256

// packets is how many packets so many bytes take.
func packets(n, mtu uint32) int32 { return int32(max(1, (min(n, 1<<31)+mtu-1)/mtu)) }

// skip opens holes for the PSNs from cur up to the packet.
func (s *shard) skip(r *row, from ib.PSN, p *decode.Packet) {
	q := &r.req
	rec := q.recovery()
	fresh := !p.PSN.Before(q.high)
	if fresh && from.Before(q.high) && rec.pass.sent == 1 && !q.gobackn {
		// One packet sent again and then new ones: the sender repeats
		// selectively, and skipped nothing it owed.
		from = q.high
	}
	if from.Before(q.high) && !p.IPv6 && r.idsRise() && p.IPID == q.ids.last+1 {
		from = q.high // the sender numbered nothing between
	}
	if !from.Before(p.PSN) {
		return
	}
	rec.holes.lastGap++
	if from.Before(q.high) {
		end := q.high
		if p.PSN.Before(end) {
			end = p.PSN
		}
		s.open(r, from, end, p, false)
		from = end
	}
	if from.Before(p.PSN) {
		s.open(r, from, p.PSN, p, true)
	}
}

// open adds one hole.
func (s *shard) open(r *row, from, to ib.PSN, p *decode.Packet, sure bool) {
	q := &r.req
	rec := q.rec
	h := hole{start: from, end: to, upto: to, time: p.Time, ahead: q.last, frame: p.Frame, before: q.ids.last, after: p.IPID,
		pass: q.pass, gap: rec.holes.lastGap, sure: sure, amid: !sure && rec.pass.sent > 2, within: !sure && (rec.pass.sent > 1 || to.Before(rec.pass.high)), paused: sure && q.pass == 0 && q.last < r.bundle.resumed,
		again: q.pass > 0 && from.Before(rec.pass.high), cause: rec.pass.cause}
	if sure {
		s.emit(Event{Kind: Gap, Count: 1, Flow: r.id, PSN: from, Time: p.Time, Frame: p.Frame})
	}
	if out, full := rec.holes.add(h); full {
		s.giveUp(r, &out)
	}
	rec.fillAnswered()
	if q.answered(from) {
		s.coverHoles(r, q.una, p)
	}
}

// promote makes a hole count that was only suspected.
func (s *shard) promote(r *row, h *hole) {
	if h.sure {
		return
	}
	h.sure = true
	for i := range r.req.rec.holes.list { // its episode may count already
		if o := &r.req.rec.holes.list[i]; o != h && o.gap == h.gap && o.sure {
			return
		}
	}
	s.emit(Event{Kind: Gap, Count: 1, Flow: r.id, PSN: h.start, Time: h.time, Frame: h.frame})
}
