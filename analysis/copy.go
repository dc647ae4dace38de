package analysis

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// isCopy reports whether the packet is a further copy of one just seen, made
// by a mirror or the network, and says so in an event.
func (s *shard) isCopy(r *row, seen *recent, ids *idOrder, p *decode.Packet) bool {
	e := seen.get(p.PSN)
	if e == nil || e.op != p.Op || e.tag != copyTag(p) || e.id != p.IPID {
		return false
	}
	if p.IPv6 || !ids.usable() {
		// No ID tells a copy from a resend, so the time must: a resend needs a
		// reason that takes half a round trip to arrive.
		if !s.tooSoonToResend(r, e, p) {
			return false
		}
	}
	s.emit(Event{Kind: MirrorDuplicate, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: e.frame})
	return true
}

// The times within which a packet that looks like one just seen is a copy,
// where no round trip is known: no timer is that short, and where NAKs are in
// view none came between.
const (
	copyWithinView = 30_000 // ns, the other direction is in view
	copyWithin     = 3_000  // ns, it is not: a NAK may have come unseen
)

func (s *shard) tooSoonToResend(r *row, e *sighting, p *decode.Packet) bool {
	gap := p.Time - e.time
	if r.peer == nil {
		return gap <= copyWithin
	}
	if rec := r.req.rec; rec != nil {
		if rec.naks.last().set && rec.naks.last().time >= e.time || rec.rnr.set && rec.rnr.time >= e.time {
			return false
		}
		if p.Op.Is(ib.IsRead) && rec.reads.holes.open > 0 {
			return false
		}
	}
	return gap <= max(r.minRTT()/2, copyWithinView)
}

// copyReach is how many PSNs of responses stay in memory for their copies.
const copyReach = 64

// isCopyOfResponse is isCopy for ACKs and READ responses. Where no ID tells, a
// responder that answers every resent request with the same ACK makes ACKs
// that look like copies, so none is called a copy while requests are resent.
func (s *shard) isCopyOfResponse(g *row, p *decode.Packet) bool {
	c := &g.rsp
	if c.any {
		if e := c.recent.get(p.PSN); e != nil && e.op == p.Op && e.tag == copyTag(p) && e.id == p.IPID {
			if !p.IPv6 && c.ids.usable() || s.responseTooSoon(g, e, p) {
				s.emit(Event{Kind: MirrorDuplicate, Count: 1, Flow: g.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: e.frame})
				return true
			}
		}
		c.ids.inOrder(p.IPID)
	}
	c.any = true
	c.ids.newest(p.IPID, g.rises(&c.ids))
	c.recent.put(p, 0, p.PSN.Add(-copyReach))
	return false
}

func (s *shard) responseTooSoon(g *row, e *sighting, p *decode.Packet) bool {
	limit := int64(copyWithin)
	if r := g.peer; r != nil {
		limit = copyWithinView
		if rec := r.req.rec; rec != nil && rec.pass.time >= e.time-s.patience(r) && rec.pass.sent > 0 {
			return false
		}
	}
	return p.Time-e.time <= limit
}

// repeated judges a CNP, which carries no sequence number: only an equal ID
// shows a copy.
func (s *shard) repeated(r *row, p *decode.Packet) Verdict { return 0 }
