package analysis

import "slices"

// finish tells the fate of everything that is still open.
func (s *shard) finish() {
	s.batch = Batch{Events: s.batch.Events[:0]}
	for _, b := range s.bundlesInOrder() {
		s.settlePairs(b)
		b.unsure = 0
		s.release(b)
	}
	for _, r := range s.rows {
		if !r.retired {
			s.finishRow(r)
		}
	}
	s.deliver()
}

// bundlesInOrder returns the bundles by their number, so that what is told at
// the end comes in one order.
func (s *shard) bundlesInOrder() []*bundle {
	out := make([]*bundle, len(s.bundles))
	for _, b := range s.bundles {
		out[b.id] = b
	}
	return out
}

func (s *shard) finishRow(r *row) {
	rec := r.req.rec
	if rec != nil {
		s.settleRow(r, rec)
	}
	if q := &r.req; q.started && r.reliable() && q.high.After(q.una) {
		e := Event{Kind: Outstanding, Count: q.high.Sub(q.una), Flow: r.id, PSN: q.una, Time: q.last, Frame: q.lastFrame, Value: 1}
		if rec != nil && rec.pass.cause == RetransmittedTimeout && rec.pass.start == q.una {
			e.Value += int64(rec.pass.tries)
		}
		s.emit(e)
	}
}

// settleRow tells the fate of all that is open in a row.
func (s *shard) settleRow(r *row, rec *recovery) {
	if len(rec.tent) > 0 {
		s.decide(r, nil)
	}
	if rec.pass.late {
		s.judgeLate(r, r.req.last)
	}
	s.judgeWaiting(r)
	for i := range rec.doubts {
		s.judgeDoubt(r, &rec.doubts[i])
	}
	rec.doubts = nil
	for i := range rec.holes.list {
		h := &rec.holes.list[i]
		if h.fate == fateAcked && s.passedBefore(r, h) {
			s.emit(Event{Kind: NotCaptured, Count: -h.len(), Flow: r.id, PSN: h.start, Time: h.time, Frame: h.frame})
		}
		if h.fate == fateLate && (h.phantom || h.paused) {
			s.settleLate(r, h)
		}
		s.giveUp(r, h)
	}
	if n := rec.holes.dropped; n > 0 {
		s.giveUp(r, &hole{start: r.req.una, end: r.req.una.Add(n), time: r.req.last, frame: r.req.lastFrame, sure: true})
	}
	if r.peer != nil {
		s.missSkipped(r, r.peer)
		for i := range rec.reads.holes.list {
			s.giveUpResponse(r, r.peer, &rec.reads.holes.list[i])
		}
	}
	rec.holes, rec.reads = holes{}, reads{}
}

// settleLate takes back that a packet came late, behind the first one in view of the row, or
// of what goes on behind a pause of the capture, where it was sent again as its ID shows, by
// what is known of these now, or may have been.
func (s *shard) settleLate(r *row, h *hole) {
	again := r.idsRise() && int16(h.before-h.after) > 0
	if !again && !s.mayHaveComeAgain(r, h) {
		return
	}
	e := Event{Kind: Reordered, Count: -1, Flow: r.id, PSN: h.start, Time: h.closer.time, Frame: h.closer.frame}
	s.emit(e)
	if h.ended {
		r.count.Messages--
	}
	if e.Kind, e.Count = RetransmittedUnknown, 1; again {
		s.emit(e)
	}
	e = Event{Kind: Gap, Count: -1, Flow: r.id, PSN: h.start, Time: h.time, Frame: h.frame}
	switch {
	case h.paused && again:
		e.Kind, e.Count = LostUpstream, 1
	case h.paused:
		e.Kind, e.Count = Unresolved, 1
	}
	s.emit(e)
}

// mayHaveComeAgain reports whether nothing tells that such a packet was not sent again: its
// first sending may have passed before the capture began, or went on, or been lost, and what
// asked for it was not seen. Where packets overtake each other it is one of those.
func (s *shard) mayHaveComeAgain(r *row, h *hole) bool {
	if behind := h.after - h.before; h.naked || !r.reliable() || r.idsRise() || 0 < behind && behind < closely {
		return false
	}
	b, began := r.bundle, s.began
	if b.resumed != 0 && b.resumed <= h.time {
		began = b.resumed
	}
	if h.paused {
		began = h.time
	}
	return !b.overtaken(r.dir) && h.closer.time-began <= r.reaction()
}

// passedBefore reports whether what the capture lacks may have passed before it began:
// packets overtake each other between the two hosts, and the one ahead of the hole came
// so soon after the capture began that what is missing may have overtaken it. Where the
// row begins with a new message, it would have overtaken all of the row up to there.
func (s *shard) passedBefore(r *row, h *hole) bool {
	b := r.bundle
	if !h.sure || h.naked || h.pass != 0 || !b.overtaken(r.dir) || h.ahead-s.began > b.latest[r.dir] {
		return false
	}
	return r.req.amid || h.start.Sub(r.req.first) <= b.depth[r.dir]
}

// giveUp tells the fate of a hole that falls out of memory, or is open at the
// end.
func (s *shard) giveUp(r *row, h *hole) {
	if h.fate != fateOpen || !h.sure {
		return
	}
	kind := Unresolved
	switch {
	case !r.reliable() && s.passedBefore(r, h):
		return // nothing will ever tell
	case !r.reliable():
		kind = LostUpstream // nothing will ever repair it
	case r.peer == nil && !h.naked && r.coveredByAny(h):
		kind = NotCaptured
	}
	e := Event{Kind: kind, Count: h.len(), Flow: r.id, PSN: h.start, Time: h.time, Frame: h.frame}
	if kind == Unresolved && h.naked {
		e.Value = 2
	}
	s.emit(e)
}

// coverLooks is among how many rows at most the partner of one may be looked for at the end.
const coverLooks = 256

// coveredByAny reports whether responses show that what is missing in a row has arrived,
// whichever row it is that answers it: all that may have gone beyond, none of them asked
// for any of it, and as many rows look for a partner as there are partners.
func (r *row) coveredByAny(h *hole) bool {
	b, covered := r.bundle, false
	if len(b.rows[1-r.dir]) > coverLooks {
		return false
	}
	for _, g := range b.rows[1-r.dir] {
		if g.candidate(r) == nil {
			continue
		}
		if g.rsp.high.Before(h.end) || g.refused(h) {
			return false
		}
		covered = true
	}
	seeking, free := b.left(1 - r.dir)
	return covered && seeking == free
}

// refused reports whether a NAK in the row named what is missing, as far as the row's
// responses are in memory.
func (g *row) refused(h *hole) bool {
	return slices.ContainsFunc(g.rsp.recent.slots, func(e sighting) bool {
		return e.flags&seenValid != 0 && e.flags&seenNAK != 0 && h.has(e.psn())
	})
}

// giveUpResponse tells the fate of a response that never came.
func (s *shard) giveUpResponse(r, g *row, h *hole) {
	if h.fate != fateOpen {
		return
	}
	kind := ResponseUnresolved
	rd := &r.req.rec.reads
	if !h.naked && (r.req.lastFresh > h.time+r.thereAndBack(g) || max(rd.lastResponse, r.req.last) > h.time+r.soonest()) {
		kind = ResponseNotCaptured // the requester went on and did not ask again
	}
	s.emit(Event{Kind: kind, Count: h.len(), Flow: g.id, PSN: h.start, Time: h.time, Frame: h.frame})
}
