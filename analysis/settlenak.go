package analysis

import "slices"

// settleByNAK pairs a row of responses that refused a packet with the one row of
// requests that went back just to that since, where no other row refused it and none
// else went back there. It reports whether it paired any.
func (s *shard) settleByNAK(b *bundle) bool {
	for i := range b.held {
		if g := b.held[i].row; g.peer == nil && b.held[i].packet.IsSequenceNAK() {
			if r := b.wentBack(i); r != nil {
				s.pair(r, g, byResponses)
				return true
			}
		}
	}
	return false
}

// wentBack returns the only row that went back to what the NAK that is held at an index
// asks for, as soon as requesters do; nil where there is none, where there are several,
// or where another row asked for the same.
func (b *bundle) wentBack(i int) *row {
	g, nak := b.held[i].row, &b.held[i].packet
	if slices.ContainsFunc(b.held, func(h heldPacket) bool {
		return h.row != g && h.row.dir == g.dir && h.packet.IsSequenceNAK() && h.packet.PSN == nak.PSN
	}) {
		return nil
	}
	var only *row
	for _, r := range b.asking[1-g.dir] {
		back := func(x repeat) bool {
			return x.psn == nak.PSN && 0 < x.first-nak.Time && x.first-nak.Time < slowReaction
		}
		switch {
		case !slices.ContainsFunc(r.win.repeats, back):
		case only != nil || r.peer != nil || !slices.ContainsFunc(g.cand, func(c candidate) bool { return c.row == r }):
			return nil
		default:
			only = r
		}
	}
	return only
}
