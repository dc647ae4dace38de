package analysis

import (
	"slices"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// Which READ a response answers is told by its PSN, unless READs were asked again, seemed
// to be refused, or are of unknown length. These look for it.

// standsAt reports whether psn is that of the newest response, or of one before it in
// an answer that is not complete yet.
func (rd *reads) standsAt(psn ib.PSN) bool {
	return rd.lastPSN == psn || rd.amid && rd.lastPSN.After(psn)
}

// repeats reports whether a READ response is the newest once more, of an answer of several
// packets, and comes before anything was asked for again: an answer goes on behind each of
// them, and one that begins anew begins with the first.
func (rd *reads) repeats(r *row, p *decode.Packet) bool {
	if !p.Op.Is(ib.IsReadResponse) || p.Op.Is(ib.IsOnly) || rd.lastPSN != p.PSN || r.req.rec.lastResend > rd.lastResponse {
		return false
	}
	within := int64(copyWithinView)
	if r.peer.doubled() {
		within = copyAtMost
	}
	return p.Time-rd.lastResponse <= within
}

// askedTwice reports whether a response was asked for more than once.
func (rd *reads) askedTwice(psn ib.PSN) bool {
	return slices.ContainsFunc(rd.list, func(e read) bool { return e.resent && e.has(psn) })
}

// served reports whether a response was asked for in READs that have all had it or lost it,
// or were sent too short a while ago, and that none of them is what a copy may have been one
// more of. One that seemed to be refused may have its answer yet, which would come in order;
// so may any of several where the response goes on behind the one before it.
func (rd *reads) served(r *row, p *decode.Packet, outOfLine bool) bool {
	had, asked := false, 0
	begins := !outOfLine && !(rd.amid && rd.lastPSN == p.PSN)
	for i := range rd.list {
		e := &rd.list[i]
		if !e.has(p.PSN) {
			continue
		}
		if q := r.req.recent.get(e.start); q != nil && q.flags&seenCopied != 0 {
			return false
		}
		asked++
		switch {
		case e.first != 0 && !e.borrowed && e.cursor.After(p.PSN):
			had = true
		case e.askedTooLate(r, p.Time):
		case e.done && !e.borrowed && (e.first != 0 || !begins):
		default:
			return false
		}
	}
	return had && (asked == 1 || outOfLine || p.Op.Is(ib.IsFirst|ib.IsOnly))
}

// has reports whether psn is that of a response to the READ, by all that is known of it.
func (e *read) has(psn ib.PSN) bool {
	return !psn.Before(e.start) && (!e.known || psn.Before(e.end))
}

// expecting returns the READ that expects the packet next, or -1: the oldest,
// but of a READ and its repetition the one that starts here where the packet
// starts a message.
func (rd *reads) expecting(r *row, seen *recent, p *decode.Packet) int {
	found := -1
	for i := rd.settled(); i < len(rd.list); i++ {
		e := &rd.list[i]
		if e.borrowed && e.start == p.PSN && p.Op.Is(ib.IsFirst|ib.IsOnly) {
			e.borrowed = false
			if n := seen.get(p.PSN.Add(1)); n == nil || !n.op().Is(ib.IsReadResponse) || n.time <= e.last || e.end == p.PSN.Add(1) || rd.took(n, i) {
				e.done, e.cursor = false, e.start // now its own come
			} // else they have come, but for this one, which is late
		}
		if e.done || e.cursor != p.PSN {
			continue
		}
		if e.start == p.PSN && p.Op.Is(ib.IsFirst|ib.IsOnly) {
			return i
		}
		if found < 0 && !e.tooYoung(r, p) {
			found = i
		}
	}
	return found
}

// anew returns the oldest READ asked again that has but the responses to another one, and the
// first of whose own are missing before the packet, which does not go on behind the last one,
// and comes too late to be a copy of it; -1 where there is none.
func (rd *reads) anew(r *row, p *decode.Packet) int {
	if rd.amid && p.PSN.After(rd.lastPSN) {
		return -1
	}
	for i := rd.settled(); i < len(rd.list); i++ {
		if e := &rd.list[i]; e.borrowed && e.done && e.known && e.has(p.PSN) && p.Time-e.last > copyWithin && !e.askedTooLate(r, p.Time) {
			e.borrowed, e.done, e.cursor = false, false, e.start
			return i
		}
	}
	return -1
}

// again reports whether a response that is missing goes on with an answer that others before
// it came in once more.
func (rd *reads) again(g *row, p *decode.Packet) bool {
	if !rd.amid || p.PSN != rd.lastPSN.Add(1) {
		return false
	}
	before := g.rsp.recent.get(rd.lastPSN)
	return before != nil && before.frame() > rd.holes.openAt(p.PSN, -1).frame && before.frame() != rd.late.frame
}

// tooYoung reports whether a response comes too soon behind a READ asked again, which
// nothing has answered, to be of its answer: it was under way when the READ passed.
func (e *read) tooYoung(r *row, p *decode.Packet) bool {
	return e.first == 0 && e.askedTooLate(r, p.Time)
}

// askedTooLate reports whether a READ was asked again too short a while before t for an
// answer to have come then: that was to an earlier request.
func (e *read) askedTooLate(r *row, t int64) bool {
	return e.resent && (r.soon(e.time, t, false) || r.muchSooner(e.time, t))
}

// took reports whether a response was taken for another READ than the one at index i.
func (rd *reads) took(n *sighting, i int) bool {
	for k := range rd.list {
		if e := &rd.list[k]; k != i && !e.borrowed && e.first != 0 && e.first <= n.time && n.time <= e.last && !n.psn().Before(e.start) && n.psn().Before(e.cursor) {
			return true
		}
	}
	return false
}

// notRefused returns the READ that a response answers where it comes too soon to
// answer the one at index i, which expects it: an earlier one, that a NAK seemed to
// refuse. What the NAK asked for came late, and the responder had kept the rest.
func (rd *reads) notRefused(r *row, i int, p *decode.Packet) int {
	if i < 0 || rd.list[i].first != 0 || !r.soon(rd.list[i].time, p.Time, false) || rd.holes.openAt(p.PSN, -1) != nil {
		return i
	}
	for k := i - 1; k >= 0; k-- {
		if e := &rd.list[k]; e.done && e.first == 0 && e.cursor == p.PSN {
			e.resent = e.resent || rd.seen && p.PSN.Before(rd.high) // another request for it was answered before
			rd.revive(k)
			return k
		}
	}
	return i
}

// neverAnswered returns the newest READ from psn on that seemed to be refused, and
// is answered now: it had come behind what the NAK was drawn by. So is one that nobody
// asked for again, whose first responses are missing. It returns -1 where there is none.
func (rd *reads) neverAnswered(psn ib.PSN) int {
	if rd.holes.openAt(psn, -1) != nil || rd.seen && psn.Before(rd.high) {
		return -1
	}
	once := true
	for k := len(rd.list) - 1; k >= 0; k-- {
		e := &rd.list[k]
		has := e.known && !psn.Before(e.start) && psn.Before(e.end)
		if e.done && e.first == 0 && (e.start == psn && e.cursor == psn || e.skipped && has && once) {
			rd.revive(k)
			return k
		}
		once = once && !has
	}
	return -1
}

// askedSince returns the READ that asked again after time t for what is missing, and that
// the packet may answer, or -1.
func (rd *reads) askedSince(r *row, p *decode.Packet, t int64) int {
	for i := len(rd.list) - 1; i >= 0; i-- {
		e := &rd.list[i]
		if e.resent && !e.done && e.time >= t && !p.PSN.Before(e.cursor) && (!e.known || p.PSN.Before(e.end)) && !e.tooYoung(r, p) {
			return i
		}
	}
	return -1
}

// reopen returns the newest READ that was asked again for psn, and expects that
// now, though later responses had come before; -1 where there is none.
func (rd *reads) reopen(psn ib.PSN) int {
	for i := len(rd.list) - 1; i >= 0; i-- {
		if e := &rd.list[i]; e.resent && e.known && !psn.Before(e.start) && psn.Before(e.end) {
			e.cursor = psn
			rd.revive(i)
			return i
		}
	}
	return -1
}

// covering returns the READ whose responses have come closest to the packet's
// PSN without reaching it, or -1.
func (rd *reads) covering(r *row, p *decode.Packet) int {
	best, dist := -1, int32(0)
	for i := rd.settled(); i < len(rd.list); i++ {
		e := &rd.list[i]
		if e.done || p.PSN.Before(e.cursor) || p.PSN.After(e.cursor) && e.tooYoung(r, p) {
			continue
		}
		if e.known && !p.PSN.Before(e.end) || !e.known && p.Op.Is(ib.IsFirst|ib.IsOnly) {
			continue
		}
		if d := p.PSN.Sub(e.cursor); best < 0 || d < dist {
			best, dist = i, d
		}
	}
	return best
}
