package analysis

import (
	"slices"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// isCopy reports whether the packet is a further copy of one just seen, made
// by a mirror or the network, and says so in an event.
func (s *shard) isCopy(r *row, seen *recent, ids *idOrder, p *decode.Packet) bool {
	if r.req.rec != nil && r.doubtful(ids, p) && !r.calledFor(ids, p) {
		s.emit(Event{Kind: MirrorDuplicate, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame})
		return true
	}
	e := seen.get(p.PSN)
	if e == nil || !e.isLike(p) {
		if e = r.copiedBefore(ids, p); e == nil {
			return false
		}
	}
	if p.IPv6 || !ids.tells(p.IPID) {
		// No ID tells a copy from a resend, so the time must: a resend needs a
		// reason that takes half a round trip to arrive.
		if !s.tooSoonToResend(r, e, p) {
			return false
		}
		e.flags |= seenCopied
	}
	r.req.copied = p.Frame
	s.emit(Event{Kind: MirrorDuplicate, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: e.frame()})
	return true
}

// copiesGoOn reports whether the packet follows one of the row that seemed to be a copy, with
// nothing new between, soon behind the begin of a capture that began amid a message: then
// what asked for a pass that repeats both may have passed unseen.
func (s *shard) copiesGoOn(r *row, p *decode.Packet) bool {
	q := &r.req
	if !q.amid || q.copied <= q.lastFrame || p.Time-s.began > unseenRTT || r.doubled() {
		return false
	}
	before := q.recent.get(p.PSN.Add(-1))
	return before != nil && before.flags&seenCopied != 0
}

// copiedBefore returns the request that the packet looks like, of those that were
// sent again since; nil where there is none. Only an ID tells it from a resend.
func (r *row) copiedBefore(ids *idOrder, p *decode.Packet) *sighting {
	if r.req.rec == nil || p.IPv6 || !ids.tells(p.IPID) || r.rises(ids) && !r.sentBefore(ids, p) {
		return nil
	}
	return r.req.rec.earlier.like(p)
}

// doubtful reports whether the packet is a copy of one that waits for what
// follows to tell whether it was late.
func (r *row) doubtful(ids *idOrder, p *decode.Packet) bool {
	rec := r.req.rec
	within := int64(copyWithin)
	if r.peer != nil {
		within = copyWithinView
	}
	for i := range rec.tent {
		t := &rec.tent[i]
		if !maybeCopies(t, p) {
			continue
		}
		if i == 0 && p.Time-t.Time > copyWithin && rec.naks.naming(p.PSN) != nil {
			return !p.IPv6 && ids.tells(p.IPID) // the first was late, and this is what the NAK asked for
		}
		return !p.IPv6 && ids.tells(p.IPID) || p.Time-t.Time <= within
	}
	return false
}

// calledFor reports whether the packet is the resend that a NAK drew, where one
// that looks the same came too soon behind that NAK to be it.
func (r *row) calledFor(ids *idOrder, p *decode.Packet) bool {
	if !p.IPv6 && ids.tells(p.IPID) || r.doubled() {
		return false
	}
	n := r.req.rec.naks.naming(p.PSN)
	first := &r.req.rec.tent[0]
	return n != nil && first.PSN == p.PSN && first.Time-n.time < r.quickestTurn() && r.couldFollow(n, p) && p.Time-first.Time > copyWithin
}

// The times within which a packet that looks like one just seen is a copy.
const (
	copyWithinView = 30_000    // ns, at least, where the other direction is in view: no timer is that short
	copyAtMost     = 1_000_000 // ns, however long the round trip: timers of a millisecond exist
	copyWithin     = 3_000     // ns, where it is not in view: a NAK may have come unseen
)

func (s *shard) tooSoonToResend(r *row, e *sighting, p *decode.Packet) bool {
	gap, q := p.Time-e.time, &r.req
	if q.pass > 0 && p.PSN == q.cur || s.copiesGoOn(r, p) {
		return false // the resend pass goes on with it
	}
	if s.newestAgain(r, e, p) && !r.doubtGoesOn(e, p) {
		return true
	}
	if r.peer == nil {
		within := int64(copyWithin)
		if p.ICRC == decode.ICRCBad && e.flags&seenBad == 0 {
			within = copyWithinView // the same ICRC, and right before: rather a box between two taps than damage to a resend
		}
		return gap <= within && !r.doubtGoesOn(e, p)
	}
	if gap <= copyWithin && !r.resendsHere(e, p) && !r.doubtGoesOn(e, p) {
		return true
	}
	if (gap > copyWithin || p.Op.Is(ib.AnsweredByRead|ib.IsAtomic)) && !r.doubled() && q.answered(p.PSN) {
		return false // a response came between the two
	}
	if rec := q.rec; rec != nil {
		if n := len(rec.tent); n > 0 && p.PSN == rec.tent[n-1].PSN.Add(1) || n == 0 && q.lateRun(p.PSN) > 1 {
			return false // what is in doubt goes on with it
		}
		n := rec.lastNAK()
		if r.doubled() {
			if n.set && n.frame > e.frame() && r.couldFollow(n, p) {
				return false
			}
		} else if recently := p.Time - s.patience(r); n.set && n.time > recently || rec.lastResend > recently {
			return false // in the midst of resends, a packet alike is rather one more
		}
		if p.Op.Is(ib.AnsweredByRead) && !r.doubled() && rec.reads.holes.open > 0 {
			return false // a response is missing
		}

	}
	return gap <= min(max(r.minRTT()/2, copyWithinView), copyAtMost)
}

// newestAgain reports whether the packet looks like the one that was sent last, and passed
// sooner behind it than it can have been sent again. Nobody can miss a packet yet behind which
// none has come.
func (s *shard) newestAgain(r *row, e *sighting, p *decode.Packet) bool {
	q := &r.req
	if e.frame() != q.lastFrame || q.cur != q.high && !r.doubled() {
		return false
	}
	if q.rec != nil && (len(q.rec.tent) > 0 || s.mayBeDue(r, e, p)) || r.peer != nil && q.answered(p.PSN) {
		return false
	}
	return r.atLeast(p, e.time) <= r.sentAgainBehind(e, p)
}

// mayBeDue reports whether a NAK came so lately that the packet, which looks like the one
// seen, may be of the pass that it draws.
func (s *shard) mayBeDue(r *row, e *sighting, p *decode.Packet) bool {
	n := r.req.rec.lastNAK()
	return n.set && (n.frame > e.frame() || !r.doubled() && n.time > p.Time-s.patience(r))
}

// sentAgainBehind returns how soon behind it the packet that was sent last may be sent again,
// ns: only a timer has it so, which runs from the oldest one unanswered, or its refusal by a
// receiver that is not ready.
func (r *row) sentAgainBehind(e *sighting, p *decode.Packet) int64 {
	q := &r.req
	switch {
	case r.doubled() && e.flags&seenCopied == 0:
		return copyAtMost // here comes the second of them
	case p.Op.Is(ib.AnsweredByRead | ib.IsAtomic):
		return copyWithin // its answer may be amiss
	case r.peer == nil && (p.Op.Is(ib.IsSend) || p.Op.Info().Headers&ib.HasImmDt != 0):
		return copyWithin // nobody sees the refusal
	case r.peer != nil && q.unaSet && q.una.Before(p.PSN):
		return copyAtMost // it would not come alone
	}
	return copyWithinView
}

// doubtGoesOn reports whether several packets in a row that are in doubt, or were taken
// for late ones, lead up to the packet, which looks like the one seen, or a single one
// where the clock does not tell how soon it came behind that.
func (r *row) doubtGoesOn(e *sighting, p *decode.Packet) bool {
	if r.req.rec == nil {
		return false
	}
	tent := r.req.rec.tent
	if len(tent) == 0 {
		return r.req.lateRun(p.PSN) > 1
	}
	n := len(tent)
	return p.PSN == tent[n-1].PSN.Add(1) && (n > 1 || r.atMost(p, e.time) > copyWithin || r.req.lateRun(tent[0].PSN) > 0)
}

// little is how many packets a resend pass may have skipped where it seems to go on.
const little = 8

// resendsHere reports whether a resend pass may stand at the packet, which looks
// like the one seen: one that
// skipped a little, or one that the last NAK calls for. A pass that begins
// elsewhere would have lost its first packets.
func (r *row) resendsHere(e *sighting, p *decode.Packet) bool {
	q := &r.req
	if d := p.PSN.Sub(q.cur); q.pass > 0 && 0 <= d && d < little {
		return true
	}
	if p.Op.Is(ib.AnsweredByRead | ib.IsAtomic) {
		// What is asked again is its response, and all before it has come. That one
		// is asked for twice so soon takes that something has come amiss.
		rec := q.recovery()
		amiss := e.flags&seenResent != 0 || rec.reads.upset >= e.time || rec.reads.holes.openAt(p.PSN, -1) != nil || rec.pass.frame > e.frame()
		return amiss && (!q.unaSet || !p.PSN.After(q.una))
	}
	rec := q.rec
	if rec == nil {
		return false
	}
	n := rec.naks.naming(p.PSN)
	if n != nil && n.used && e.frame() > n.frame && e.frame() == rec.pass.frame {
		after, turn := e.time-n.time+r.noise(), rec.turnBefore
		if turn > 0 && after >= turn-turn/8 || turn == 0 && (after >= max(2*r.minRTT(), copyWithin) || p.Time-e.time < quickTurn) {
			return false // the one seen, with which the pass began, was what it asks for
		}
	}
	return n != nil && r.atMost(p, n.time) >= r.bundle.turn[r.dir]/2 || rec.rnr.set && rec.rnr.psn == p.PSN
}

// doubled reports whether frames of this row stand twice as a rule, which the first copy
// does not show: all in all, or of late.
func (r *row) doubled() bool {
	n, x := r.count.MirrorDuplicates, &r.twice
	if n > 1 && n*3 >= r.count.Frames && (n > byChance || r.othersTwice()) {
		return true
	}
	late := n - x.copies
	return late > 2*byChance && late*3 >= r.count.Frames-x.frames && r.othersTwice()
}

// othersTwice reports whether frames of the other direction stand twice as well, or there are
// too few of them to tell.
func (r *row) othersTwice() bool {
	g := r.peer
	return g == nil || g.count.MirrorDuplicates > 0 || g.count.Frames <= byChance
}

// stretch is how many frames of a row, and copies among them, there were before they
// began to stand twice as a rule, if they do.
type stretch struct{ frames, copies int64 }

// copied counts a copy, and begins the stretch anew where too few frames of it were copies.
func (c *rowCount) copied(x *stretch) {
	if 3*(c.MirrorDuplicates+1-x.copies) < c.Frames-x.frames {
		*x = stretch{c.Frames - 1, c.MirrorDuplicates}
	}
	c.MirrorDuplicates++
}

// byChance is how many frames of a row may stand twice, and the other direction's none,
// where a mirror copies some by accident.
const byChance = 4

// couldFollow reports whether the packet may be the first resend that the NAK
// drew: with the PSN that the NAK named, and not before the requester can have
// turned around.
func (r *row) couldFollow(n *nakInfo, p *decode.Packet) bool {
	if turn := r.bundle.turn[r.dir]; turn > 0 && r.atMost(p, n.time) < turn-turn/8 {
		return false
	}
	return p.PSN == n.psn
}

// copyReach is how many PSNs of responses stay in memory for their copies.
const copyReach = 64

// isCopyOfResponse is isCopy for ACKs and READ responses. Where no ID tells, a
// responder that answers every duplicate request with the same ACK makes ACKs
// that look like copies, so none is called a copy while there may be duplicates
// about.
func (s *shard) isCopyOfResponse(g *row, p *decode.Packet) bool {
	c := &g.rsp
	if c.any {
		told := !p.IPv6 && c.ids.tells(p.IPID)
		if e := c.like(p); e != nil && (told || s.onceMore(g, e, p) && !s.goesOn(g, p)) {
			copied := Event{Kind: MirrorDuplicate, Count: 1, Flow: g.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: e.frame()}
			if !told && isPlainACK(p) {
				copied.Value = 1
			}
			s.emit(copied)
			return true
		}
	}
	c.takeNew(g, p)
	c.remember(p, g.responsesRoom())
	return false
}

// takeNew takes a response that is no copy.
func (c *responses) takeNew(g *row, p *decode.Packet) {
	if !c.any {
		c.any, c.high = true, p.PSN
		c.ids.last, c.previous = p.IPID, p.IPID-1<<14 // unknown: one sent before it may have any lower number
		return
	}
	if p.PSN.After(c.high) { // one behind it may be late, which proves nothing of the IDs
		if !p.IPv6 {
			g.learn(&c.ids, p.IPID)
		}
		c.high = p.PSN
	}
	c.previous = c.ids.last
	c.ids.newest(p.IPID, g.rises(&c.ids))
}

// onceMore reports whether a response that no ID tells from another one is its
// copy. One response is copied once: a train of them answers as many requests.
func (s *shard) onceMore(g *row, e *sighting, p *decode.Packet) bool {
	if e.flags&seenCopied != 0 && !g.doubled() || !s.responseTooSoon(g, e, p) || s.mayAnswerEarlier(g, p) {
		return false
	}
	e.flags |= seenCopied
	return true
}

// goesOn reports whether a response that looks like a copy goes on behind another one that
// did: an answer to a READ asked again comes in order, and one that a mirror copied now and
// then does not. It takes the one before for what it was.
func (s *shard) goesOn(g *row, p *decode.Packet) bool {
	r := g.peer
	if r == nil || r.req.rec == nil || !p.Op.Is(ib.IsReadResponse) || g.doubled() {
		return false
	}
	rd := &r.req.rec.reads
	if rd.copied == nil {
		rd.copied = new(decode.Packet) // once in a row's life
	}
	before := *rd.copied
	if before.Frame == 0 || p.PSN != before.PSN.Add(1) || p.Op.Is(ib.IsFirst|ib.IsOnly) || !rd.askedTwice(p.PSN) {
		*rd.copied = *p
		return false
	}
	s.emit(Event{Kind: MirrorDuplicate, Count: -1, Flow: g.id, PSN: before.PSN, Time: before.Time, Frame: before.Frame})
	g.count.MirrorDuplicates--
	g.countFirst(&before)
	g.rsp.remember(&before, g.responsesRoom())
	s.readResponse(r, g, &before)
	return true
}

// isPlainACK reports whether a packet is an acknowledgement that asks for nothing: any number
// of duplicates may draw as many of them, all alike.
func isPlainACK(p *decode.Packet) bool { return p.Op.Is(ib.IsAck) && p.Syndrome.Type() == ib.ACK }

// mayAnswerEarlier reports whether two ACKs alike may answer duplicates of what was sent
// before the capture began: soon behind that, on a connection that was under way by then, and
// between hosts of which nothing has been copied yet.
func (s *shard) mayAnswerEarlier(g *row, p *decode.Packet) bool {
	since := p.Time - s.began
	if since > unseenRTT || g.bundle.copied || !isPlainACK(p) {
		return false
	}
	if r := g.peer; r != nil {
		return since <= max(copyWithinView, r.bundle.longest(r)/2) && r.wasUnderWay(g, p) // queues double a round trip
	}
	return !slices.ContainsFunc(g.bundle.asking[1-g.dir], func(r *row) bool {
		return r.peer == nil && r.win.find(p.PSN) != nil && !r.wasUnderWay(g, p)
	})
}

// wasUnderWay reports whether the ACK in g shows that the row's requests had begun before
// the first one in view: that is amid a message, more messages have been ended than are in
// view, or what came before says that the receiver had all of this.
func (r *row) wasUnderWay(g *row, p *decode.Packet) bool {
	ended := max(r.count.Messages, int64(r.win.ordinal))
	return r.req.amid || p.HasExt && int64(p.MSN) > ended || p.PSN.Before(g.rsp.high)
}

// like returns the response just seen that the packet looks like, or nil.
func (c *responses) like(p *decode.Packet) *sighting {
	if e := c.recent.get(p.PSN); e != nil && e.isLike(p) {
		return e
	}
	return c.earlier.like(p)
}

// maybeCopies reports whether two packets of one row may be copies of one.
func maybeCopies(a, b *decode.Packet) bool {
	return a.PSN == b.PSN && a.Op == b.Op && a.IPID == b.IPID && tagOf(a) == tagOf(b)
}

// isLike reports whether the packet may be a further copy of the one seen.
func (e *sighting) isLike(p *decode.Packet) bool {
	return e.op() == p.Op && e.id() == p.IPID && e.tag == tagOf(p)
}

// remember keeps a response. One with the PSN of another, as an ACK that is
// sent for each duplicate, does not push that one out at once: its copy may come
// behind both.
func (c *responses) remember(p *decode.Packet, room *recentRoom) {
	flags := sightingFlag(0)
	if p.HasSyndrome() && p.Syndrome.Type() != ib.ACK {
		flags = seenNAK
	}
	if e := c.recent.get(p.PSN); e != nil {
		flags |= e.flags & seenCopied
		if e.isLike(p) {
			flags |= seenAgain
		}
		if c.earlier == nil {
			c.earlier = new(earlier)
		}
		c.earlier.put(e, p.Time)
	}
	c.recent.put(p, flags, p.PSN.Add(-copyReach), room)
}

// responsesRoom is the room for responses: while it is not known what they answer
// as much as for requests, and then little where room has become scarce, for
// nothing but their copies asks for them.
func (g *row) responsesRoom() *recentRoom {
	if g.peer != nil && *g.bundle.room < recentAll/2 {
		return nil
	}
	return g.bundle.room
}

func (s *shard) responseTooSoon(g *row, e *sighting, p *decode.Packet) bool {
	limit := int64(copyWithin)
	if g.peer == nil && !g.doubled() && g.answersRepeats(p) {
		return false // nobody knows yet whose requests these answer, and some of them were repeated
	}
	if r := g.peer; r != nil {
		limit = copyWithinView
		rec := r.req.rec
		if x := r.req.recent.get(p.PSN); p.IsSequenceNAK() && (x == nil || x.frame() < e.frame()) && p.Time-e.time <= copyWithin {
			return true // nothing has come since for which it could be refused once more
		}
		if rec != nil && p.Op.Is(ib.IsReadResponse) && p.Time-e.time <= copyWithin {
			if out := g.rsp.outOfLine(e, p); out && rec.reads.standsAt(p.PSN) || rec.reads.served(r, p, out) {
				return true // an answer to the READ once more would have come to it in order, and been asked for
			}
		}
		if rec != nil && rec.reads.repeats(r, p) {
			return true
		}
		if rec != nil && rec.duplicate != 0 && p.Time-rec.duplicate < r.reaction()+4*r.minRTT() {
			return false
		}
		if rec != nil && !g.doubled() && rec.lastResend > min(e.time, p.Time-s.patience(r)) {
			return false // asked for again, or the answers to one resend and to the next
		}
	}
	if g.peer == nil && e.flags&seenAgain != 0 && !g.doubled() {
		return false // one of the answers that each duplicate request draws
	}
	return p.Time-e.time <= limit
}

// outOfLine reports whether a READ response, which looks like the one seen, is amid
// an answer of which the response before it has not passed again since.
func (c *responses) outOfLine(e *sighting, p *decode.Packet) bool {
	if p.Op.Is(ib.IsFirst | ib.IsOnly) {
		return false
	}
	before := c.recent.get(p.PSN.Add(-1))
	return before != nil && before.frame() < e.frame()
}

// repeated tells a further copy of a CNP, which carries no sequence number to
// know it by. A notification point spaces its CNPs by microseconds.
func (s *shard) repeated(r *row, p *decode.Packet) Verdict {
	if r.cnp == nil {
		r.cnp = new(sighting) // once in a row's life
	}
	last := *r.cnp
	r.cnp.set(p, 0)
	if last.flags == 0 || last.id() != p.IPID {
		return 0
	}
	limit := int64(cnpSpacing)
	if !p.IPv6 && p.IPID != 0 {
		limit = copyAtMost
	}
	if p.Time-last.time > limit {
		return 0
	}
	s.emit(Event{Kind: MirrorDuplicate, Count: 1, Flow: r.id, Time: p.Time, Frame: p.Frame, Ref: last.frame()})
	return Copy
}

// cnpSpacing is the shortest time between two CNPs to one queue pair that
// adapters are set to, ns.
const cnpSpacing = 2_000
