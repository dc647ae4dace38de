package analysis

import (
	"cmp"
	"math"
	"slices"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// peerBy is how the partner of a queue pair became known.
type peerBy uint8

const (
	byNothing peerBy = iota // it is not known
	byCM
	byResponses
	byPort
	byDatagram
)

// String returns the name as a report has it.
func (by peerBy) String() string {
	return [...]string{"", "cm", "responses", "source-port", "datagram"}[by]
}

// pair joins the two rows of a connection: responses in g answer requests in r
// and the other way round.
func (s *shard) pair(r, g *row, by peerBy) {
	r.peer, g.peer = g, r
	r.peerQP, r.peerBy = g.qp, by
	g.peerQP, g.peerBy = r.qp, by
	s.answeredBefore(r, g)
	if q := &r.req; q.started && !q.unaSet {
		first, frame := q.begins()
		s.heardBefore(r, g, first, frame)
	}
	r.forgetCandidates()
	g.forgetCandidates()
	s.release(r.bundle)
}

// heardBefore takes what the responses in g told that passed before the first request of
// the row in view, which has that PSN and stands in that frame: what had arrived by then,
// so that to send it again was no use.
func (s *shard) heardBefore(r, g *row, first ib.PSN, frame uint64) {
	q := &r.req
	for back := int32(0); back <= beforeFirst && !q.unaSet; back++ {
		e := g.rsp.recent.get(first.Add(-back))
		if e == nil || e.frame() > frame || back == 0 && e.flags&seenNAK == 0 {
			continue
		}
		q.una, q.unaSet, q.covered = e.psn(), true, e.time
		if e.flags&seenNAK == 0 {
			q.una = e.psn().Add(1)
		}
		if q.rec == nil {
			return
		}
		q.rec.resends = slices.DeleteFunc(q.rec.resends, func(x resend) bool {
			needless := x.psn.Before(q.una)
			if needless {
				s.needlessResend(r, &x, e.frame())
			}
			return needless
		})
	}
}

// answeredBefore takes the READ responses in g that passed while nothing in view could have
// asked for them, in the order in which they came: one may be late, or missing, where the
// sightings still tell.
func (s *shard) answeredBefore(r, g *row) {
	end := g.rsp.high.Add(1)
	if r.win.set {
		end = r.win.first
	}
	until := r.seenSince(g)
	var before []decode.Packet // with no ID where there is none: that does not rise
	for psn := end.Add(-beforeFirst); psn != end; psn = psn.Add(1) {
		e := g.rsp.recent.get(psn)
		switch {
		case e == nil && len(before) > 0 && g.rsp.recent.lacks:
			return
		case e != nil && e.frame() < until && e.op().Is(ib.IsReadResponse):
			before = append(before, decode.Packet{Op: e.op(), PSN: psn, IPID: e.id(), Time: e.time, Frame: e.frame()})
		}
	}
	slices.SortFunc(before, func(a, b decode.Packet) int { return cmp.Compare(a.Frame, b.Frame) })
	c := &g.rsp
	last, previous := c.ids.last, c.previous
	for i := range before {
		p := &before[i]
		if c.previous = c.ids.last; i == 0 {
			c.ids.last, c.previous = p.IPID, p.IPID-1<<14
		}
		c.ids.newest(p.IPID, g.rises(&c.ids))
		s.readResponse(r, g, p)
	}
	c.ids.last, c.previous = last, previous
}

// seenSince returns the frame of the row's first request in view, or that of the first
// packet that waits to be taken, here or in g.
func (r *row) seenSince(g *row) uint64 {
	frame := uint64(math.MaxUint64)
	if r.req.started {
		_, frame = r.req.begins()
	}
	held := r.bundle.held
	if i := slices.IndexFunc(held, func(h heldPacket) bool { return h.row == r || h.row == g }); i >= 0 {
		frame = min(frame, held[i].packet.Frame)
	}
	return frame
}

// begins returns the PSN and the frame of the row's first request in view.
func (q *requests) begins() (ib.PSN, uint64) {
	first := q.first
	if q.rec != nil {
		for i := range q.rec.holes.list {
			if h := &q.rec.holes.list[i]; h.phantom && h.end.After(first) {
				first = h.end // what lies before came late, or was sent again
			}
		}
	}
	if e := q.recent.get(first); e != nil {
		return first, e.frame()
	}
	return first, 0 // long ago
}

// byFormula picks, among rows that fit, the one whose source port and that of
// g both follow from the two queue pair numbers by the formula that most
// drivers share. It is commutative, so both directions use one port.
func byFormula(fit []candidate, g *row, port uint16) *row {
	var found *row
	for i := range fit {
		r := fit[i].row
		if formulaNames(r, g, port) {
			if found != nil {
				return nil
			}
			found = r
		}
	}
	return found
}

// formulaNames reports whether the formula gives a port to these two rows, and
// to no other row in the place of either: it folds to few bits, so among many
// queue pairs some collide.
func formulaNames(r, g *row, port uint16) bool {
	if r.win.port != port || SourcePort(r.qp, g.qp) != port {
		return false
	}
	for _, x := range g.bundle.rows[g.dir] {
		if x != g && SourcePort(r.qp, x.qp) == port {
			return false
		}
	}
	for _, x := range r.bundle.rows[r.dir] {
		if x != r && SourcePort(x.qp, g.qp) == port {
			return false
		}
	}
	return true
}

// SourcePort returns the UDP source port that the common Linux helper computes
// from the queue pair numbers of both ends where a connection has no flow
// label: 0xC000 to 0xFFFF.
func SourcePort(a, b uint32) uint16 {
	v := uint64(a) * uint64(b)
	v ^= v >> 20
	v ^= v >> 40
	return FlowLabelPort(uint32(v))
}

// FlowLabelPort returns the UDP source port that belongs to a flow label, of
// which the low 20 bits count.
func FlowLabelPort(label uint32) uint16 {
	return uint16(label&0x3FFF^label&0xFC000>>14) | 0xC000
}
