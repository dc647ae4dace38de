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

func runOf(p *decode.Packet) run {
	return run{1, int64(p.Len), int64(p.PayloadLen), int64(p.WireLen()), true, p.Time, p.Time}
}

// add adds a packet to the run that the packets before it are.
func (u *run) add(p, before *decode.Packet) {
	if u.n == 0 {
		*u = runOf(p)
		return
	}
	u.n++
	u.bytes += int64(p.Len)
	u.payload += int64(p.PayloadLen)
	u.wire += int64(p.WireLen())
	u.even = u.even && (p.Op.Is(ib.IsLast) || sameSize(p, before))
	u.first, u.last = min(u.first, p.Time), max(u.last, p.Time)
}

// goOn takes as many packets as it can that go on with the message of the newest
// packet of a row, and returns what they add up to.
func (s *shard) goOn(r *row, ps []decode.Packet) (u run) {
	b := r.bundle
	switch {
	case r.retired || r == s.other || r.qp <= 1 || !r.reliable():
	case len(b.held) > 0 || b.unsure > 0 && r.peer == nil:
	case ps[0].Op.Is(ib.IsRequest):
		u = r.requestsOn(ps)
	case r.peer != nil:
		u = r.responsesOn(ps)
	}
	if u.n > 0 {
		r.countOn(&u, &ps[0])
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
// first time, while nothing is in doubt.
func (r *row) requestsOn(ps []decode.Packet) (u run) {
	q := &r.req
	if !q.started || !q.known || q.cur != q.high || !q.quiet() {
		return u
	}
	for i := range ps {
		p := &ps[i]
		if p.PSN != q.cur || p.PSN == q.first || r.peer == nil && p.PSN.Before(r.win.high) || p.ICRC != ps[0].ICRC || p.ICRC == decode.ICRCBad {
			break
		}
		slot := q.recent.next(p.PSN, q.una)
		if slot == nil {
			break
		}
		if !p.IPv6 {
			if int16(p.IPID-q.ids.last) < 0 {
				break // by its ID it is late, or these IDs say nothing
			}
			if q.ids.inOrder(p.IPID); q.ids.rising() {
				r.bundle.rising[r.dir] = true
			}
		}
		q.ids.newest(p.IPID, r.idsRise())
		slot.set(p, 0)
		if p.AckReq {
			q.wants = p.PSN
		}
		r.sawRequest(p)
		q.cur = p.PSN.Add(1)
		r.countMessage(p)
		r.mtuOf(p)
		u.add(p, &ps[max(0, i-1)])
	}
	if u.n > 0 {
		p := &ps[u.n-1]
		q.high = q.cur
		q.lastFresh, q.newest, q.last, q.lastFrame = p.Time, p.Time, p.Time, p.Frame
		q.sentOn(ps[:u.n])
	}
	return u
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
// other while nothing is in doubt.
func (g *row) responsesOn(ps []decode.Packet) (u run) {
	r, c := g.peer, &g.rsp
	q := &r.req
	e, until := q.readOn(ps[0].PSN)
	if e == nil || !c.any {
		return u
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
		g.mtuOf(p)
		u.add(p, &ps[max(0, i-1)])
	}
	if u.n > 0 {
		q.answeredOn(e, &ps[u.n-1])
	}
	return u
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
	e.last, rd.lastResponse = p.Time, p.Time
	if e.cursor.After(rd.high) {
		rd.high = e.cursor
	}
	if !q.unaSet || e.cursor.After(q.una) {
		q.una, q.unaSet, q.unaPlain, q.covered = e.cursor, true, false, p.Time
	}
}
