package analysis

import (
	"slices"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// reads follows the READs of one requester and the responses to them, which
// travel in the row of its peer. Responses are judged against the range of the
// READ they answer, so that a missing first or last one counts.
type reads struct {
	list  []read // oldest first
	from  int    // those before are done, and nothing borrowed
	holes holes  // missing responses
	high  ib.PSN // one past the highest response
	seen  bool   // high is set

	copied       *decode.Packet // the newest response, if it seemed to be a copy; it has no frame where it did not
	late         lateOne        // the response before, if it seemed to come late
	lastResponse int64
	lastPSN      ib.PSN
	amid         bool  // the last response was not the last of its answer
	upset        int64 // when a response last passed before an earlier one; 0 never

	msn    uint32 // of the newest answer that bears one, and covers what none before it did
	counts bool   // that changes
}

// read is one READ request, or one asked again.
type read struct {
	start, end ib.PSN // end is one past the last response; valid iff known
	cursor     ib.PSN // the response expected next
	known      bool
	resent     bool // asked again
	done       bool
	borrowed   bool // responses to another one were taken for its own, too
	orphan     bool // its request was not seen
	skipped    bool // nothing answered it, and that it was is only shown later, if at all
	dmaLen     uint32
	time       int64 // of the request; of the first response where it was not seen
	frame      uint64
	last       int64 // of the last response; 0 none
	first      int64 // of the first response; 0 none
}

// endBy returns where the answer ends by the length of the READ and the path MTU. It
// reports false where either is not known.
func (e *read) endBy(mtu uint32) (end ib.PSN, ok bool) {
	if e.dmaLen == 0 || mtu == 0 {
		return 0, false
	}
	return e.start.Add(packets(e.dmaLen, mtu)), true
}

// lateOne is a response that filled a hole although nobody is known to have asked
// again, while no ID tells.
type lateOne struct {
	set   bool
	again bool // it counts as sent again
	psn   ib.PSN
	time  int64
	frame uint64
	ref   uint64 // the frame behind the hole
}

const readsMax = 64

// settled returns the index of the first READ that may still expect responses.
func (rd *reads) settled() int {
	for rd.from < len(rd.list) && rd.list[rd.from].done && !rd.list[rd.from].borrowed {
		rd.from++
	}
	return rd.from
}

// insert puts a READ at an index; the oldest makes room before, see trim.
func (rd *reads) insert(i int, e read) {
	rd.list = slices.Insert(rd.list, i, e)
	rd.from = min(rd.from, i)
}

// trim drops the oldest where there is room for no more.
func (rd *reads) trim() {
	if len(rd.list) >= readsMax {
		rd.list = rd.list[:copy(rd.list, rd.list[1:])]
		rd.from = max(0, rd.from-1)
	}
}

// revive has a READ that was done expect responses again.
func (rd *reads) revive(i int) {
	rd.list[i].done = false
	rd.from = min(rd.from, i)
}

// answered reports whether a response to a READ at psn passed before t.
func (rd *reads) answered(psn ib.PSN, t int64) bool {
	for i := range rd.list {
		e := &rd.list[i]
		if e.first != 0 && e.first < t && !psn.Before(e.start) && !psn.After(e.cursor) {
			return true
		}
	}
	return false
}

// endsAt reports whether the responses to a READ end before psn.
func (rd *reads) endsAt(psn ib.PSN) bool {
	for i := range rd.list {
		if e := &rd.list[i]; e.known && e.end == psn || e.done && e.cursor == psn {
			return true
		}
	}
	return false
}

// askedRead notes a READ request of row r.
func (s *shard) askedRead(r *row, p *decode.Packet, span int32, known, resent bool) {
	rd := &r.req.recovery().reads
	if resent {
		s.askedAgain(r, p)
	} else if r.req.answered(p.PSN) {
		rd.answeredFirst(p, span, known, r.req.una)
		return
	}
	rd.trim()
	i := len(rd.list)
	if !resent { // late at the tap, it is answered before those that overtook it all the same
		for i > 0 && !rd.list[i-1].resent && rd.list[i-1].first == 0 && rd.list[i-1].start.After(p.PSN) {
			i--
		}
	}
	rd.insert(i, read{start: p.PSN, end: p.PSN.Add(span), cursor: p.PSN, known: known, resent: resent, dmaLen: p.DMALen, time: p.Time, frame: p.Frame})
}

// answeredFirst takes a READ request that passed behind its responses, or behind the first
// of them. What was answered before una has come, and how soon it did is not to be known.
func (rd *reads) answeredFirst(p *decode.Packet, span int32, known bool, una ib.PSN) {
	i := slices.IndexFunc(rd.list, func(e read) bool { return e.orphan && e.start == p.PSN })
	if i < 0 {
		rd.trim()
		i = rd.placeOf(p.PSN)
		rd.insert(i, read{start: p.PSN, cursor: p.PSN, time: p.Time, first: p.Time, last: p.Time, orphan: true})
	}
	e := &rd.list[i]
	e.end, e.known, e.dmaLen = p.PSN.Add(span), known, p.DMALen
	if known && una.After(e.end) {
		una = e.end
	}
	if una.After(e.cursor) {
		e.cursor = una
	}
	e.done = known && e.cursor == e.end
}

// askedAgain reads what a repeated READ says about the responses so far: the
// requester has all before its PSN, and not that one.
func (s *shard) askedAgain(r *row, p *decode.Packet) {
	rec := r.req.rec
	rd := &rec.reads
	rd.holes.part(p.PSN)
	for i := range rd.holes.list {
		if h := &rd.holes.list[i]; h.fate == fateOpen && !h.start.Before(p.PSN) || h.has(p.PSN) {
			h.naked = true
		}
	}
	if rec.pass.sent != 1 || r.peer == nil || rd.holes.openAt(p.PSN, -1) != nil {
		return // READs behind the first of a pass are asked again because it was
	}
	if rec.pass.cause == RetransmittedNAK && rec.pass.start == p.PSN {
		return // a NAK asked for the READ itself, before it was answered
	}
	if rec.pass.cause != RetransmittedImplied && rd.lastPSN == p.PSN && p.Time-rd.lastResponse < r.reaction() {
		return // a timer ran out, for no later answer tells of a loss, while this one was on its way
	}
	for i := range rd.list {
		e := &rd.list[i]
		if e.first != 0 && !p.PSN.Before(e.start) && p.PSN.Before(e.cursor) {
			ev := Event{Kind: ResponseLostDownstream, Count: 1, Flow: r.peer.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame}
			if seen := r.peer.rsp.recent.get(p.PSN); seen != nil {
				if rd.overtook(&r.peer.rsp.recent, seen) {
					return
				}
				ev.Frame, ev.Ref = seen.frame(), p.Frame
			}
			s.emit(ev)
			return
		}
	}
}

// overtook reports whether a response passed before one that comes before it, and that came
// late: a requester which takes them in order threw it away.
func (rd *reads) overtook(c *recent, e *sighting) bool {
	return slices.ContainsFunc(rd.holes.list, func(h hole) bool {
		if h.fate != fateLate || e.psn().Before(h.end) {
			return false
		}
		late := c.get(h.end.Add(-1))
		return late != nil && late.frame() > e.frame()
	})
}

// heard notes the newest response.
func (rd *reads) heard(p *decode.Packet) {
	if rd.copied != nil {
		rd.copied.Frame = 0
	}
	rd.lastResponse, rd.lastPSN, rd.amid = p.Time, p.PSN, p.Op.Is(ib.IsFirst|ib.IsMiddle)
}

// readResponse takes a READ response of row g, to a READ of its peer r.
func (s *shard) readResponse(r, g *row, p *decode.Packet) Verdict {
	rd := &r.req.recovery().reads
	defer rd.heard(p)
	if rd.late.set {
		s.notLate(g, rd, p)
	}
	h := rd.holes.openAt(p.PSN, -1)
	if g.sentBefore(&g.rsp.ids, p) || h != nil && !p.IPv6 && h.between(p.IPID) {
		if v, ok := s.lateResponse(r, g, p); ok {
			return v
		}
	}
	i := rd.notRefused(r, rd.expecting(r, &g.rsp.recent, p), p)
	if i < 0 && rd.holes.openAt(p.PSN, -1) != nil {
		i = rd.askedSince(r, p, rd.holes.openAt(p.PSN, -1).time)
		if i < 0 && !p.IPv6 && g.rises(&g.rsp.ids) {
			i = rd.reopen(p.PSN) // its ID says that it was sent behind all others
		}
		if i < 0 && rd.again(g, p) && s.closeResponse(r, g, p) {
			return Resent
		}
		if i < 0 {
			v, _ := s.lateResponse(r, g, p)
			return v
		}
	}
	if i < 0 {
		i = rd.anew(r, p)
	}
	if i < 0 {
		i = rd.neverAnswered(p.PSN)
	}
	if i < 0 && s.lateToSkipped(r, g, p) {
		v, _ := s.lateResponse(r, g, p)
		return v
	}
	if i < 0 {
		i = rd.covering(r, p)
	}
	if i < 0 {
		return s.orphan(r, g, p)
	}
	e := &rd.list[i]
	e.catchUp(&g.rsp.recent, p.PSN)
	if e.resent && e.first == 0 { // those before seemed to come too soon
		e.cursor = g.rsp.recent.passed(e.cursor, p.PSN, e.time)
	}
	if e.cursor.Before(p.PSN) {
		s.missResponses(r, g, e.cursor, p.PSN, p)
		rd.skip(i, p.PSN)
	}
	return s.takeResponse(r, g, i, p)
}

// notLate takes back that the response before was late, where the packet, which
// has passed before, goes on behind it: both answer the READ asked again, of which
// the first responses are missing.
func (s *shard) notLate(g *row, rd *reads, p *decode.Packet) {
	l := rd.late
	rd.late.set = false
	if p.PSN != l.psn.Add(1) || !rd.seen || !p.PSN.Before(rd.high) || p.Op.Is(ib.IsFirst|ib.IsOnly) || rd.holes.openAt(p.PSN, -1) != nil {
		return
	}
	i := slices.IndexFunc(rd.holes.list, func(h hole) bool { return h.fate == fateLate && h.has(l.psn) })
	if i < 0 {
		return
	}
	rd.holes.list[i].fate = fateLost
	s.emit(Event{Kind: ResponseReordered, Count: -1, Flow: g.id, PSN: l.psn, Time: l.time, Frame: l.frame, Ref: l.ref})
	s.emit(Event{Kind: ResponseLostUpstream, Count: 1, Flow: g.id, PSN: l.psn, Time: l.time, Frame: l.frame, Ref: l.ref})
	if !l.again {
		s.emit(Event{Kind: ResponseRetransmitted, Count: 1, Flow: g.id, PSN: l.psn, Time: l.time, Frame: l.frame})
	}
}

// catchUp takes the responses before end that have passed, to a READ asked for once: while
// it was not known yet whose they are, or that it was asked for, nobody took them.
func (e *read) catchUp(seen *recent, end ib.PSN) {
	if !e.resent && e.first == 0 {
		e.cursor = seen.passed(e.cursor, end, 0)
	}
}

// passed returns the first PSN from a READ's own on, before end, of which no READ response
// has passed since a time.
func (r *recent) passed(psn, end ib.PSN, since int64) ib.PSN {
	for psn.Before(end) {
		s := r.get(psn)
		if s == nil || s.time < since || !s.op().Is(ib.IsReadResponse) {
			break
		}
		psn = psn.Add(1)
	}
	return psn
}

// advance moves every READ that expects the packet: one and the same response
// serves a READ that stalled and its repetition.
func (rd *reads) advance(p *decode.Packet, taken int) {
	for i := rd.settled(); i < len(rd.list); i++ {
		e := &rd.list[i]
		if i == taken || e.done || e.cursor != p.PSN || e.first == 0 && !e.resent {
			continue
		}
		e.first, e.last = p.Time, p.Time
		e.borrowed = e.borrowed || e.start == p.PSN
		e.cursor = p.PSN.Add(1)
		e.done = p.Op.Is(ib.IsLast|ib.IsOnly) || e.known && !e.cursor.Before(e.end)
	}
}

// refuse forgets the READs from psn on that nothing has answered: a sequence NAK
// says that the responder did not take them, so no response is missing. It says
// nothing of those that passed too short a while ago to have come there before it.
func (rd *reads) refuse(r *row, psn ib.PSN, t int64) {
	for i := range rd.list {
		if e := &rd.list[i]; e.first == 0 && !e.orphan && !e.start.Before(psn) && !r.soon(e.time, t, true) {
			e.done, e.skipped = true, !e.resent
		}
	}
}

// skip moves the READ at an index, and every other one that expects what is missing, to
// what came behind it: the same responses are not missing twice. The others may yet get
// their own.
func (rd *reads) skip(taken int, to ib.PSN) {
	from := rd.list[taken].cursor
	for i := rd.settled(); i < len(rd.list); i++ {
		if e := &rd.list[i]; !e.done && e.cursor == from && (e.first != 0 || e.resent) && e.known && to.Before(e.end) {
			e.cursor = to
			e.borrowed = e.borrowed || i != taken && e.start == from
		}
	}
}

// orphan takes a response to a READ that the capture does not hold.
func (s *shard) orphan(r, g *row, p *decode.Packet) Verdict {
	rd := &r.req.rec.reads
	if rd.seen && p.PSN.Before(rd.high) {
		if rd.high.Sub(p.PSN) > 1<<16 {
			return 0
		}
		s.emit(Event{Kind: ResponseRetransmitted, Count: 1, Flow: g.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame})
		if g.sentBefore(&g.rsp.ids, p) { // the others of its pass went unnoticed among those before
			s.emit(Event{Kind: ResponseReordered, Count: 1, Flow: g.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame})
		}
		return Resent
	}
	rd.trim()
	i, start := rd.placeOf(p.PSN), p.PSN
	if !p.Op.Is(ib.IsFirst | ib.IsOnly) {
		start = start.Add(-1) // or one before that: the packet's own PSN is no request's
		if e := g.rsp.recent.get(start); rd.seen && rd.high.Before(p.PSN) && (e == nil || e.frame() > p.Frame) {
			s.missResponses(r, g, start, p.PSN, p) // sent before it, and not seen
		}
	} else if r.req.passedUnseen(start) {
		s.emit(Event{Kind: Gap, Count: 1, Flow: r.id, PSN: start, Time: p.Time, Frame: p.Frame})
		s.emit(Event{Kind: NotCaptured, Count: 1, Flow: r.id, PSN: start, Time: p.Time, Frame: p.Frame})
	}
	rd.insert(i, read{start: start, cursor: p.PSN, time: p.Time, orphan: true})
	return s.takeResponse(r, g, i, p)
}

// passedUnseen reports whether the request of a PSN passed unseen among the others, where
// an answer shows that there was one: behind a READ of unknown length no hole does.
func (q *requests) passedUnseen(psn ib.PSN) bool {
	return q.started && !psn.Before(q.first) && psn.Before(q.high) && q.recent.get(psn) == nil &&
		!slices.ContainsFunc(q.rec.holes.list, func(h hole) bool { return h.has(psn) })
}

// placeOf returns where a READ whose request was not seen belongs: before those
// that ask for later PSNs, for it was sent before them.
func (rd *reads) placeOf(psn ib.PSN) int {
	i := len(rd.list)
	for i > 0 && rd.list[i-1].first == 0 && rd.list[i-1].start.After(psn) {
		i--
	}
	return i
}

// takeResponse advances the READ at index i by the packet.
func (s *shard) takeResponse(r, g *row, i int, p *decode.Packet) Verdict {
	rd := &r.req.rec.reads
	s.passOver(r, g, i, p)
	e := &rd.list[i]
	if e.first == 0 {
		e.first = p.Time
		if rd.askedOnce(i) {
			s.measure(ReadResponse, r, p, 0, p.Time-e.time)
		}
	}
	var v Verdict
	if e.resent && s.closeResponse(r, g, p) {
		v = Resent
	}
	if end, ok := e.endBy(r.readMTU()); ok && !e.known {
		e.end, e.known = end, true
		r.req.reaches(e.start, end)
	}
	rd.advance(p, i)
	e.cursor, e.last = p.PSN.Add(1), p.Time
	if p.Op.Is(ib.IsLast | ib.IsOnly) {
		if e.known && e.cursor.Before(e.end) && p.Op.Is(ib.IsOnly) {
			e.known = false // one packet held it all: the path MTU is larger than thought
		}
		if e.done, e.end = true, e.cursor; !e.known {
			r.req.reaches(e.start, e.end)
			e.known = true
		}
	} else if e.known && !e.cursor.Before(e.end) {
		e.done = true
	}
	if e.done && rd.askedOnce(i) {
		s.measure(ReadCompletion, r, p, 0, p.Time-e.time)
	}
	if !rd.seen || e.cursor.After(rd.high) {
		rd.high, rd.seen = e.cursor, true
	}
	return v
}

// askedOnce reports whether the READ at index i was asked for in one request,
// which passed: only that tells how long its responses took.
func (rd *reads) askedOnce(i int) bool {
	e := &rd.list[i]
	if e.orphan || e.resent {
		return false
	}
	for k := i + 1; k < len(rd.list); k++ {
		if n := &rd.list[k]; n.resent && !n.start.Before(e.start) && (!e.known || n.start.Before(e.end)) {
			return false
		}
	}
	return true
}

// single notes that the READ of unknown length before psn, the next request, uses
// but one PSN, however often it was asked for.
func (rd *reads) single(psn ib.PSN) {
	if n := len(rd.list); n == 0 || rd.list[n-1].end != psn {
		return
	}
	for i := rd.settled(); i < len(rd.list); i++ {
		if e := &rd.list[i]; e.end == psn && !e.done {
			e.known = true
		}
	}
}

// reaches notes that the READ at start, if it is the last request so far, uses
// all PSNs before end.
func (q *requests) reaches(start, end ib.PSN) {
	if q.high == start.Add(1) && !q.known {
		q.high, q.cur, q.known = end, end, true
	}
}
