package analysis

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// Most packets go on with the message of the one before them, in order, and tell
// nothing but that. These are taken here by what they change, many at a time; any
// packet that may tell more ends it, and goes the way of all others (shard.packet).
// What is taken here must leave a row as that way would.

// run is what packets add up to that go on with one message and whose PSNs follow
// each other, or a single one.
type run struct {
	n              int
	bytes, payload int64
	wire           int64 // see Streak
	even           bool  // all are of one size, but a LAST one
	first, last    int64 // times
}

// runOf adds up packets of one message, of which there is at least one. Those
// behind the first are not FIRST ones.
func runOf(ps []decode.Packet) run {
	head, tail := &ps[0], &ps[len(ps)-1]
	u := run{n: len(ps), first: head.Time, last: head.Time}
	uneven := 0
	for i := range ps {
		p := &ps[i]
		u.bytes += int64(p.Len)
		u.payload += int64(p.PayloadLen)
		u.wire += int64(p.WireLen())
		u.first, u.last = min(u.first, p.Time), max(u.last, p.Time)
		if !sameSize(p, head) {
			uneven++
		}
	}
	u.even = uneven == 0 || uneven == 1 && !sameSize(tail, head) && tail.Op.Is(ib.IsLast)
	return u
}

// goOn takes as many packets as it can that go on with the message of the newest
// packet of a row, and returns what they add up to.
func (s *shard) goOn(r *row, ps []decode.Packet) (u run) {
	b, n := r.bundle, 0
	switch {
	case r.retired || r == s.other || r.qp <= 1 || !r.reliable():
	case len(b.held) > 0 || b.unsure > 0 && r.peer == nil:
	case ps[0].Op.Is(ib.IsRequest):
		n = r.requestsOn(ps)
	case r.peer != nil:
		n = r.responsesOn(ps)
	}
	if n > 0 {
		u = runOf(ps[:n])
		s.times.frame = ps[n-1].Frame
		r.countOn(&u, &ps[0])
		b.passedOn(ps[:n], &u)
		r.mtuOn(ps[:n])
	}
	return u
}

// countOn counts a run as touch and countFirst count each of its packets.
func (r *row) countOn(u *run, p *decode.Packet) {
	c := &r.count
	c.FirstNs, c.LastNs = min(c.FirstNs, u.first), max(c.LastNs, u.last)
	c.Frames += int64(u.n)
	c.Bytes += u.bytes
	c.DataFrames += int64(u.n)
	if p.Op.Is(ib.IsRequest) {
		c.RequestFrames += int64(u.n)
		c.RequestBytes += u.payload
	} else {
		c.ResponseFrames += int64(u.n)
		c.ResponseBytes += u.payload
	}
	r.suspect = false
}

// requestsOn takes requests of one message that follow each other, sent for the
// first time, while nothing is in doubt, and returns how many.
func (r *row) requestsOn(ps []decode.Packet) int {
	q, icrc := &r.req, ps[0].ICRC
	if !q.started || !q.known || q.cur != q.high || !q.quiet() || q.answered(q.cur) || icrc == decode.ICRCBad || r.peer == nil && q.cur.Before(r.win.high) {
		return 0
	}
	n, psn, rising := 0, q.cur, r.bundle.rising[r.dir] && q.ids.rising()
	for i := range ps {
		p := &ps[i]
		if p.PSN != psn || psn == q.first || p.ICRC != icrc {
			break
		}
		slot := q.recent.next(psn, q.una)
		if slot == nil {
			break
		}
		if d := int16(p.IPID - q.ids.last); rising && 0 < d && d < idStep {
			q.ids.last, q.ids.rises = p.IPID, inc(q.ids.rises) // all that nextID would do
		} else if !p.IPv6 && !r.nextID(p.IPID) {
			break
		}
		slot.set(p, 0)
		if p.AckReq {
			q.wants = psn
		}
		psn = psn.Add(1)
		n++
	}
	if n > 0 {
		q.cur, q.high = psn, psn
		p := &ps[n-1]
		q.lastFresh, q.newest, q.last, q.lastFrame = p.Time, p.Time, p.Time, p.Frame
		q.sentOn(ps[:n])
		r.win.goOn(ps[:n], r.peer != nil)
		r.countMessage(p)
	}
	return n
}

// nextID learns from the IPv4 ID of a request that follows in order, unless it says
// that the packet is late, or that these IDs say nothing.
func (r *row) nextID(id uint16) bool {
	o := &r.req.ids
	d := int16(id - o.last)
	if d < 0 {
		return false
	}
	if o.step(d); o.rising() {
		r.bundle.rising[r.dir] = true
	}
	o.last = id // no less than it was
	return true
}

// quiet reports whether a request that follows in order tells nothing else.
func (q *requests) quiet() bool {
	rec := q.rec
	return rec == nil || len(rec.tent) == 0 && !rec.pass.late
}

// sentOn is sentFirst of MIDDLE packets one behind the other, behind which a LAST
// one may stand.
func (q *requests) sentOn(ps []decode.Packet) {
	m, n := q.sent, len(ps)-1
	if m == nil || !m.open {
		return
	}
	if ps[0].PSN != m.want {
		n = 0
	}
	m.want = m.want.Add(ps[n].PSN.Sub(ps[0].PSN))
	q.sentFirst(&ps[n])
}

// responsesOn takes MIDDLE responses of row g to one READ, which follow each
// other while nothing is in doubt, and returns how many.
func (g *row) responsesOn(ps []decode.Packet) (n int) {
	r, c := g.peer, &g.rsp
	q := &r.req
	e, until := q.readOn(ps[0].PSN)
	if e == nil || !c.any {
		return 0
	}
	for i := range ps {
		p := &ps[i]
		if p.PSN != e.cursor || !p.PSN.Before(until) || !p.Op.Is(ib.IsMiddle) || p.ICRC != ps[0].ICRC || p.ICRC == decode.ICRCBad ||
			!p.PSN.After(c.high) || c.earlier.like(p) != nil || q.recent.get(p.PSN) != nil {
			break
		}
		slot := c.recent.next(p.PSN, p.PSN.Add(-copyReach))
		if slot == nil {
			break
		}
		if !p.IPv6 && int16(p.IPID-c.ids.last) < 0 {
			break
		}
		c.takeNew(g, p)
		slot.set(p, 0)
		e.cursor = p.PSN.Add(1)
		n++
	}
	if n > 0 {
		q.answeredOn(e, &ps[n-1])
	}
	return n
}

// readOn returns the READ that a response in the midst of its answer belongs to,
// and the PSN where that may change; nil where more than it is to be asked.
func (q *requests) readOn(psn ib.PSN) (on *read, until ib.PSN) {
	rec := q.rec
	if rec == nil || !q.started || rec.holes.open > 0 || len(rec.tent) > 0 || len(rec.doubts) > 0 || len(rec.resends) > 0 ||
		rec.pass.cause == RetransmittedTimeout && !rec.pass.answered && rec.pass.sent > 0 {
		return nil, 0
	}
	rd := &rec.reads
	if rd.late.set || rd.holes.open > 0 || !rd.seen {
		return nil, 0
	}
	until = q.high
	for i := rd.settled(); i < len(rd.list); i++ {
		switch e := &rd.list[i]; {
		case e.done:
		case on == nil && e.cursor == psn && e.first != 0 && !e.resent && (e.known || e.dmaLen == 0):
			if on = e; e.known && e.end.Add(-1).Before(until) {
				until = e.end.Add(-1)
			}
		case on == nil || e.cursor == psn:
			return nil, 0
		case e.cursor.After(psn) && e.cursor.Before(until):
			until = e.cursor
		}
	}
	return on, until
}

// answeredOn notes that all responses to a READ up to the packet have come.
func (q *requests) answeredOn(e *read, p *decode.Packet) {
	rd := &q.rec.reads
	e.last = p.Time
	rd.heard(p)
	if e.cursor.After(rd.high) {
		rd.high = e.cursor
	}
	if !q.unaSet || e.cursor.After(q.una) {
		q.una, q.unaSet, q.unaPlain, q.covered = e.cursor, true, false, p.Time
	}
}
