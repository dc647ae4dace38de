package analysis

import (
	"slices"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// What becomes of READ responses that are missing.

// passOver closes the READs before index i: a responder answers in order.
func (s *shard) passOver(r, g *row, i int, p *decode.Packet) {
	for j := r.req.rec.reads.settled(); j < i; j++ {
		s.incomplete(r, g, j, p)
		if e := &r.req.rec.reads.list[j]; e.done {
			e.borrowed = false // its own will not come any more
		}
	}
}

// incomplete closes the READ at index j; what it lacks is missing, unless it
// was asked again before it was complete.
func (s *shard) incomplete(r, g *row, j int, p *decode.Packet) {
	rd := &r.req.rec.reads
	e := &rd.list[j]
	if e.done || e.refusedBy(&r.req.rec.pass) && p.PSN.Before(e.start) {
		return
	}
	e.tookBefore(r, g)
	e.done = true
	if !e.known || !e.cursor.Before(e.end) {
		e.skipped = !e.known && e.first == 0 && !e.resent && !(!p.IPv6 && g.rises(&g.rsp.ids))
		return
	}
	// answered all the same, as p shows: it comes behind, or begins an answer anew
	began := e.first != 0 && !e.borrowed
	completed := e.first == 0 && !e.resent && e.start == r.req.una && p.PSN.Before(e.start) && rd.someCompleted(p)
	silent := (e.first == 0 && !e.resent || began) && !p.PSN.Before(e.end) || began && p.Op.Is(ib.IsFirst|ib.IsOnly) && p.PSN != e.cursor
	for k := j + 1; k < len(rd.list); k++ {
		n := &rd.list[k]
		if n.resent && n.start.Before(e.end) && (!n.known || e.cursor.Before(n.end)) && !completed && !(silent && (e.first != 0 || r.soon(n.time, p.Time, false))) {
			return // asked again before anything came behind it: nothing was skipped
		}
	}
	if e.first == 0 && e.resent && rd.seen && !e.end.After(rd.high) {
		return // answered once already, so that nothing shows that it came the second time
	}
	if e.first == 0 && !p.IPv6 && g.rises(&g.rsp.ids) && int32(p.IPID-g.rsp.previous-1) < e.end.Sub(e.start) {
		// The responder numbers its packets, and left out fewer numbers: it did
		// not answer. The request was lost behind the tap.
		return
	}
	if e.first == 0 && p.PSN.Before(e.start) && (rd.noneCompleted(p) || !r.req.answered(p.PSN)) {
		return // what it waits behind is missing, and only what had been taken before is answered anew
	}
	e.catchUp(&g.rsp.recent, e.end)
	if e.cursor.Before(e.end) {
		s.missResponses(r, g, e.cursor, e.end, p)
		rd.notTwice(j)
	}
}

// tookBefore has a READ take the responses that passed while it was not known whose they
// are, or how many there had to be: of an answer that has begun, the rest is missing.
func (e *read) tookBefore(r, g *row) {
	end := e.end
	if !e.known {
		by, ok := e.endBy(r.readMTU())
		if !ok || e.resent {
			return
		}
		end = by
	}
	if e.catchUp(&g.rsp.recent, end); e.first == 0 && e.cursor != e.start {
		e.first = e.time // or later: it does not matter how soon it came
	}
	if e.first != 0 {
		e.known, e.end = true, end
	}
}

// notTwice closes, with the READ at index j, those that nothing but the same responses
// has served: what is missing is missing once.
func (rd *reads) notTwice(j int) {
	e := &rd.list[j]
	for k := j + 1; k < len(rd.list); k++ {
		if n := &rd.list[k]; !n.done && n.borrowed && n.known && n.cursor == e.cursor && n.end == e.end {
			n.cursor, n.done = n.end, true
		}
	}
}

// hearMSN takes the message count of an answer that covers more than those before it.
func (rd *reads) hearMSN(p *decode.Packet) {
	if !p.HasExt || p.Op.Is(ib.IsMiddle) {
		return
	}
	rd.counts = rd.counts || rd.msn != 0 && rd.msn != p.MSN
	rd.msn = p.MSN
}

// someCompleted reports whether a response says that its sender has completed more than
// the newest answer covers.
func (rd *reads) someCompleted(p *decode.Packet) bool {
	const half = 1 << 23
	more := (p.MSN - rd.msn) & ib.PSNMask
	return rd.counts && p.HasExt && !p.Op.Is(ib.IsMiddle) && 0 < more && more < half
}

// noneCompleted reports whether a response says that its sender, who counts messages,
// has completed none since the newest answer: no READ that came behind that.
func (rd *reads) noneCompleted(p *decode.Packet) bool {
	return rd.counts && p.HasExt && !p.Op.Is(ib.IsMiddle) && p.MSN == rd.msn
}

// completeReads closes the READs before end, which an answer covers. One that covers no
// more than those before it may have come late, amid the responses to a READ asked again.
func (s *shard) completeReads(r, g *row, end ib.PSN, p *decode.Packet) {
	if r.req.rec == nil || r.req.answered(p.PSN) {
		return
	}
	rd := &r.req.rec.reads
	for j := rd.settled(); j < len(rd.list); j++ {
		e := &rd.list[j]
		if e.done || !e.start.Before(end) || e.resent && e.first == 0 {
			continue // the answer may be to what was sent before it was asked again
		}
		if e.tookBefore(r, g); e.known && !e.end.After(end) {
			s.incomplete(r, g, j, p)
		}
	}
}

// refusedBy reports whether the READ was sent before the requester followed a NAK
// that asks for what lies before it or for the READ itself: the responder may not
// have taken it.
func (e *read) refusedBy(pass *passInfo) bool {
	return e.first == 0 && !e.resent && pass.cause == RetransmittedNAK && e.time < pass.time && !e.start.Before(pass.start)
}

// missSkipped opens, at the end, holes for the responses to READs that were passed over: they
// were answered, for an answer to what was asked behind them has passed.
func (s *shard) missSkipped(r, g *row) {
	q := &r.req
	rd := &q.rec.reads
	for j := range rd.list {
		e := &rd.list[j]
		if end, ok := rd.passedOver(j, r.readMTU()); ok && e.skipped && q.answered(end) {
			s.missAnswer(r, g, e, end)
		}
	}
}

// lateToSkipped opens such a hole where a response comes that is in it.
func (s *shard) lateToSkipped(r, g *row, p *decode.Packet) bool {
	rd := &r.req.rec.reads
	if slices.ContainsFunc(rd.holes.list, func(h hole) bool { return h.has(p.PSN) }) {
		return false // it has come already
	}
	for j := range rd.list {
		e := &rd.list[j]
		end, ok := rd.passedOver(j, r.readMTU())
		if !ok || p.PSN.Before(e.start) || !p.PSN.Before(end) || !e.skipped && !g.sentBefore(&g.rsp.ids, p) {
			continue
		}
		s.missAnswer(r, g, e, end)
		h := &rd.holes.list[len(rd.holes.list)-1]
		h.upto, h.before, h.after = e.start, p.IPID, g.rsp.ids.last // nothing in it has passed
		return true
	}
	return false
}

// passedOver returns where the answer ends to the READ at index j, which seemed to be refused,
// or of which nobody knew how many packets answer it, when one came to what was asked behind
// it. It reports false where it is no such READ, or was asked again.
func (rd *reads) passedOver(j int, mtu uint32) (end ib.PSN, ok bool) {
	e := &rd.list[j]
	if end, ok = e.endBy(mtu); !ok || !e.done || e.first != 0 || e.resent {
		return 0, false
	}
	again := func(n read) bool { return n.resent && !n.start.After(e.start) && (!n.known || e.start.Before(n.end)) }
	return end, !slices.ContainsFunc(rd.list[j+1:], again)
}

// missAnswer opens a hole in the place of the whole answer to a READ that was passed over.
func (s *shard) missAnswer(r, g *row, e *read, end ib.PSN) {
	e.skipped = false
	s.missResponses(r, g, e.start, end, &decode.Packet{PSN: e.start, Time: e.time, Frame: e.frame})
}

// missResponses opens a hole in the responses.
func (s *shard) missResponses(r, g *row, from, to ib.PSN, p *decode.Packet) {
	rd := &r.req.rec.reads
	rd.holes.lastGap++
	rd.upset = p.Time
	h := hole{start: from, end: to, upto: from, time: p.Time, frame: p.Frame, before: g.rsp.previous, after: p.IPID, gap: rd.holes.lastGap, sure: true}
	if e := g.rsp.recent.get(from.Add(-1)); e != nil && int16(h.before-e.id()) > 0 {
		h.before = e.id() // what is missing comes right behind that, and other answers may have passed since
	}
	if rd.seen && rd.high.After(from) {
		h.upto = rd.high // what lies before had been sent once
	}
	s.emit(Event{Kind: ResponseGap, Count: 1, Flow: g.id, PSN: from, Time: p.Time, Frame: p.Frame})
	if out, full := rd.holes.add(h); full {
		s.giveUpResponse(r, g, &out)
	}
}

// closeResponse counts a response sent again, and closes the holes that it
// fills. It reports false for one that had not been sent before.
func (s *shard) closeResponse(r, g *row, p *decode.Packet) bool {
	rd := &r.req.rec.reads
	if !s.fillHoles(g, rd, p, p.Frame) && !(rd.seen && p.PSN.Before(rd.high)) {
		return false
	}
	s.emit(Event{Kind: ResponseRetransmitted, Count: 1, Flow: g.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame})
	return true
}

// fillHoles closes the holes opened before a frame that a response sent again fills: it may have
// been lost more than once. It reports false where there is none.
func (s *shard) fillHoles(g *row, rd *reads, p *decode.Packet, before uint64) bool {
	var closed []hole
	for i := 0; i < len(rd.holes.list) && rd.holes.open > 0; i++ {
		h := &rd.holes.list[i]
		if h.fate != fateOpen || !h.has(p.PSN) || h.frame >= before {
			continue
		}
		n := len(rd.holes.list)
		piece := rd.holes.cut(i, p.PSN, p.PSN.Add(1))
		if len(rd.holes.list) < n {
			i--
		}
		piece.fate = fateLost
		closed = append(closed, piece)
		s.emit(Event{Kind: ResponseLostUpstream, Count: 1, Flow: g.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: piece.frame})
	}
	for i := range closed {
		rd.holes.keep(closed[i])
	}
	return len(closed) > 0
}

// lateResponse closes a hole by a response that was not asked for again: the last that it
// fits, for those before are of answers that were given again since. It reports false
// where there is no such hole.
func (s *shard) lateResponse(r, g *row, p *decode.Packet) (Verdict, bool) {
	rd := &r.req.rec.reads
	rises := !p.IPv6 && g.rises(&g.rsp.ids)
	for i := len(rd.holes.list) - 1; i >= 0; i-- {
		h := rd.holes.list[i]
		if !h.has(p.PSN) || !rises && h.fate != fateOpen || rises && (int16(p.IPID-h.before) < 0 || int16(h.after-p.IPID) < 0) {
			continue
		}
		switch h.fate {
		case fateOpen:
			piece := rd.holes.cut(i, p.PSN, p.PSN.Add(1))
			piece.fate = fateLate
			rd.holes.keep(piece)
			s.fillHoles(g, rd, p, h.frame)
			if !p.PSN.Before(rd.high) {
				rd.high = p.PSN.Add(1)
			}
			rd.late = lateOne{set: !rises, again: p.PSN.Before(h.upto), psn: p.PSN, time: p.Time, frame: p.Frame, ref: h.frame}
		case fateLost:
			s.emit(Event{Kind: ResponseLostUpstream, Count: -1, Flow: g.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: h.frame})
			rd.holes.list[i].fate = fateLate
		default:
			continue
		}
		s.emit(Event{Kind: ResponseReordered, Count: 1, Flow: g.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: h.frame})
		if !p.PSN.Before(h.upto) {
			return 0, true
		}
		s.emit(Event{Kind: ResponseRetransmitted, Count: 1, Flow: g.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame})
		return Resent, true
	}
	return 0, false
}
