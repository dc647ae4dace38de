package analysis

import (
	"slices"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// heldPacket waits for the pairing of its row.
type heldPacket struct {
	row    *row
	packet decode.Packet
	// last and previous are what was known of the IDs of the row's responses then.
	last, previous uint16
}

// held is the verdict of a packet that waits. It never leaves the package.
const held Verdict = 1 << 7

// heldMax bounds how many packets of a bundle wait, and heldInAll those of a
// shard.
const (
	heldMax   = 4096
	heldInAll = 1 << 16
)

// hold keeps a packet back while the bundle has responses that may answer
// several rows: taken now, a NAK would be news about nobody. It reports false
// where the packet need not wait.
func (s *shard) hold(r *row, p *decode.Packet) bool {
	b := r.bundle
	if b.unsure == 0 || r.peer != nil {
		return false
	}
	if len(b.held) >= heldMax || s.held >= heldInAll {
		s.settlePairs(b) // they have waited long enough for what tells more
		if b.unsure == 0 || r.peer != nil {
			return false
		}
		s.giveUpWaiting(b)
	}
	s.wait(b, &heldPacket{r, *p, r.rsp.ids.last, r.rsp.previous})
	s.held++
	return true
}

// wait adds a packet to what waits in a bundle.
func (s *shard) wait(b *bundle, h *heldPacket) {
	const few = 8
	if n := len(s.spare); b.held == nil && n > 0 {
		b.held, s.spare = s.spare[n-1], s.spare[:n-1]
	} else if b.held == nil {
		b.held = make([]heldPacket, 0, few)
	}
	b.held = append(b.held, *h)
}

// spared keeps the room of packets that waited for those that will: at first all
// pairs of hosts have some, each only for a while.
func (s *shard) spared(room []heldPacket) {
	const many, large = 32, 64
	if n := cap(room); n > 0 && n <= large && len(s.spare) < many {
		clear(room[:n])
		s.spare = append(s.spare, room[:0])
	}
}

// giveUpWaiting takes the older half of what waits, without knowing the partners.
func (s *shard) giveUpWaiting(b *bundle) {
	n := (len(b.held) + 1) / 2
	oldest := slices.Clone(b.held[:n])
	b.held = b.held[:copy(b.held, b.held[n:])]
	s.held -= n
	for i := range oldest {
		s.follow(&oldest[i])
	}
}

// copyOfHeld reports whether a request is a further copy of one that is held,
// as is judged where the other direction is not in view. Later is too late: its
// verdict goes to the analyzers now.
func (s *shard) copyOfHeld(r *row, p *decode.Packet) bool {
	newest := true
	for i := len(r.bundle.held) - 1; i >= 0; i-- {
		h := &r.bundle.held[i]
		if h.mayAskFor(r, p) {
			return false
		}
		if !h.asksIn(r) {
			continue
		}
		if d := p.PSN.Sub(h.packet.PSN); newest && (r.follows(&h.packet, p) || 0 < d && d <= little && r.bundle.inOrder(i)) {
			return false // a pass goes on with it
		}
		newest = false
		if !maybeCopies(&h.packet, p) {
			continue
		}
		told := !p.IPv6 && r.req.ids.tells(p.IPID)
		if told || p.Time-h.packet.Time <= copyWithin && !r.bundle.stillAsked(i, p) {
			s.emit(Event{Kind: MirrorDuplicate, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: h.packet.Frame})
			return true
		}
	}
	return s.copyOfTaken(r, p)
}

// inOrder reports whether the request held at index i followed the one before it: one
// alone may have come late.
func (b *bundle) inOrder(i int) bool {
	h := &b.held[i]
	for j := i - 1; j >= 0; j-- {
		if before := &b.held[j]; before.asksIn(h.row) {
			return h.row.follows(&before.packet, &h.packet)
		}
	}
	return false
}

// follows reports whether a request may be the one behind another: as far as is known how
// many PSNs that uses.
func (r *row) follows(before, p *decode.Packet) bool {
	d := p.PSN.Sub(before.PSN)
	span, known := r.span(before)
	if !known {
		return 0 < d && d <= packets(before.DMALen, leastMTU)
	}
	return d == span
}

// copyOfTaken is copyOfHeld for a request that was taken before those of its row were
// held.
func (s *shard) copyOfTaken(r *row, p *decode.Packet) bool {
	if r.peer != nil || r.bundle.unsure == 0 || r.req.pass > 0 {
		return false
	}
	e := r.req.recent.get(p.PSN)
	if e == nil || !e.isLike(p) || (p.IPv6 || !r.req.ids.tells(p.IPID)) && p.Time-e.time > copyWithin {
		return false
	}
	s.emit(Event{Kind: MirrorDuplicate, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: e.frame()})
	return true
}

// asksIn reports whether what is held is a request of the row: a response there is to what
// its partner asks for.
func (h *heldPacket) asksIn(r *row) bool { return h.row == r && h.packet.Op.Is(ib.IsRequest) }

// mayAskFor reports whether what is held is a NAK that may have drawn the packet in
// the row.
func (h *heldPacket) mayAskFor(r *row, p *decode.Packet) bool {
	soonest := max(r.bundle.turn[r.dir]/2, quickTurn)
	return h.row.dir != r.dir && h.packet.PSN == p.PSN && h.packet.IsSequenceNAK() && r.atMost(p, h.packet.Time) >= soonest
}

// stillAsked reports whether a NAK may have drawn the packet, of which a copy seems
// to be held at index i, although that passed behind the NAK: that one went on with
// a pass, which another NAK had drawn, and the pass that this NAK draws is still to
// come.
func (b *bundle) stillAsked(i int, p *decode.Packet) bool {
	r, wentOn := b.held[i].row, false
	for j := i - 1; j >= 0; j-- {
		h := &b.held[j]
		switch {
		case h.asksIn(r) && (h.packet.PSN == p.PSN || !wentOn && h.packet.PSN.Add(1) != p.PSN):
			return false
		case h.asksIn(r):
			wentOn = true
		case wentOn && h.mayAskFor(r, p):
			return true
		}
	}
	return false
}

// release takes the held packets of rows that are paired by now, or of all
// rows where nothing is unsure any more.
func (s *shard) release(b *bundle) {
	if len(b.held) == 0 {
		return
	}
	waiting := b.held
	b.held = nil
	s.held -= len(waiting)
	defer func() { s.held += len(b.held) }()
	for i := range waiting {
		h := &waiting[i]
		if h.row.peer != nil || b.unsure == 0 {
			s.follow(h)
		} else {
			s.wait(b, h)
		}
	}
	s.spared(waiting)
}

// follow takes a packet that was held, by what was known of its sender's IDs when it
// came: those of the responses that came since are no news yet.
func (s *shard) follow(h *heldPacket) {
	r, p := h.row, &h.packet
	if p.Op.Is(ib.IsRequest) {
		r.tally(p, s.request(r, p))
		return
	}
	c := &r.rsp
	last, previous := c.ids.last, c.previous
	c.ids.last, c.previous = h.last, h.previous
	r.tally(p, s.news(r, p))
	c.ids.last, c.previous = last, previous
}

// flush takes the held packets of a row that ends.
func (s *shard) flush(r *row) {
	b := r.bundle
	waiting := b.held
	b.held = nil
	s.held -= len(waiting)
	defer func() { s.held += len(b.held) }()
	for i := range waiting {
		if h := &waiting[i]; h.row == r {
			s.follow(h)
		} else {
			s.wait(b, h)
		}
	}
	s.spared(waiting)
}
