package analysis

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// Where nothing shows why, packets that step back and come one behind the other may be late
// or sent again, and an answer may ask for a verdict before anything tells. What comes next
// does: a pass goes on over what had passed before, and late packets do not.

// lateRun is packets that passed one behind the other and were taken for late ones.
type lateRun struct {
	first, next ib.PSN // next is one past the last
	frame, last uint64 // of the first and of the last
	time        int64  // of the first
	holes       int32  // how many of them seemed to close a hole behind the row's first packet
	messages    int32  // how many messages ended with one
}

// lateRun returns how many packets of such a run lead up to psn, where nothing has passed
// in the row behind them.
func (q *requests) lateRun(psn ib.PSN) int {
	if q.rec == nil || q.rec.run.last != q.lastFrame || q.rec.run.next != psn {
		return 0
	}
	return int(psn.Sub(q.rec.run.first))
}

// ranLate adds a late packet, which is in one of the holes, to the run, or begins one.
func (q *requests) ranLate(h *hole, p *decode.Packet) {
	u := &q.rec.run
	if q.lateRun(p.PSN) == 0 || h.isNaked(p.PSN) {
		*u = lateRun{first: p.PSN, frame: p.Frame, time: p.Time}
	}
	u.next, u.last = p.PSN.Add(1), p.Frame
	if !h.phantom {
		u.holes++
	}
	if p.Op.Is(ib.IsLast | ib.IsOnly) {
		u.messages++
	}
	if h.isNaked(p.PSN) {
		u.last = 0 // a NAK has told what it is
	}
}

// passBegins starts a resend pass at the packet, or where a run of so many packets at least
// began that it goes on with.
func (s *shard) passBegins(r *row, p *decode.Packet, least int) {
	run := r.req.lateRun(p.PSN)
	s.newPass(r, p)
	if run >= least && r.req.rec.pass.cause == RetransmittedUnknown {
		s.beganEarlier(r, p, r.req.rec.run)
	}
}

// beganEarlier takes back that the packets of a run were late, now that a pass of which
// nothing says why it should begin at the packet goes on with it.
func (s *shard) beganEarlier(r *row, p *decode.Packet, u lateRun) {
	q := &r.req
	forgotten := int32(0)
	for psn := u.first; psn != p.PSN; psn = psn.Add(1) {
		e := q.recent.get(psn)
		if e == nil {
			forgotten++
			continue
		}
		e.flags = e.flags&^seenLate | seenResent
		s.wasResent(r, &Event{Count: 1, Flow: r.id, PSN: psn, Time: e.time, Frame: e.frame()})
	}
	if forgotten > 0 {
		s.wasResent(r, &Event{Count: forgotten, Flow: r.id, PSN: u.first, Time: u.time, Frame: u.frame})
	}
	r.count.Messages -= int64(u.messages)
	q.rec.pass.start, q.rec.pass.sent, q.gobackn = u.first, int(p.PSN.Sub(u.first)), true
	s.closedByRun(r, p, &u)
}

// wasResent tells that packets, which seemed to be late, were sent again.
func (s *shard) wasResent(r *row, e *Event) {
	again, late := *e, *e
	again.Kind, again.Ref = RetransmittedUnknown, r.req.rec.run.frame
	late.Kind, late.Count = Reordered, -e.Count
	s.emit(again)
	s.emit(late)
}

// closedByRun has the holes that the run filled be closed by a resend. Before the row's
// first packet there is none.
func (s *shard) closedByRun(r *row, p *decode.Packet, u *lateRun) {
	q := &r.req
	if u.holes > 0 {
		s.emit(Event{Kind: LostUpstream, Count: u.holes, Flow: r.id, PSN: u.first, Time: u.time, Frame: u.frame, Ref: p.Frame})
	} else if e := q.recent.get(q.first); e != nil {
		s.emit(Event{Kind: Gap, Count: -1, Flow: r.id, PSN: u.first, Time: e.time, Frame: e.frame()})
	}
	for i := range q.rec.holes.list {
		h := &q.rec.holes.list[i]
		if h.fate == fateLate && !h.start.Before(u.first) && h.start.Before(p.PSN) {
			h.fate, h.closer = fateLost, closer{p.Time, p.Frame, RetransmittedUnknown, q.rec.turnBefore}
		}
	}
}
