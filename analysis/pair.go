package analysis

import (
	"slices"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// How the partner of a queue pair became known, strongest first.
const (
	byCM        = "cm"
	byResponses = "responses"
	byPort      = "source-port"
	byDatagram  = "datagram"
)

// pair joins the two rows of a connection: responses in g answer requests in r
// and the other way round.
func (s *shard) pair(r, g *row, by string) {
	r.peer, g.peer = g, r
	r.peerQP, r.peerBy = g.qp, by
	g.peerQP, g.peerBy = r.qp, by
	for _, x := range [...]*row{r, g} {
		if x.cand != nil {
			x.cand = nil
			x.bundle.unsure--
		}
	}
	if len(r.bundle.held) > 0 {
		s.release(r.bundle)
	}
}

// match looks for the row whose requests the response in g answers. It pairs
// the two only where no other row could have asked.
func (s *shard) match(g *row, p *decode.Packet) {
	b := g.bundle
	from := g.cand
	if from == nil {
		from = b.rows[1-g.dir]
	}
	var fit []*row
	for _, r := range from {
		if r.peer == nil && !r.retired && !r.suspect && r.transport == g.transport && r.asked(p) {
			fit = append(fit, r)
		}
	}
	switch {
	case len(fit) == 1:
		s.pair(fit[0], g, byResponses)
		return
	case len(fit) == 0:
		if g.cand != nil {
			g.cand = nil
			b.unsure--
		}
		return
	}
	if r := byFormula(fit, g, p.SrcPort); r != nil {
		s.pair(r, g, byPort)
		return
	}
	if g.cand == nil {
		b.unsure++
	}
	g.cand = fit
}

// asked reports whether the row has sent the request that a response answers.
func (r *row) asked(p *decode.Packet) bool {
	w := &r.win
	if !w.set || p.PSN.Before(w.first) || !p.PSN.Before(w.high) {
		return false
	}
	return w.high.Sub(p.PSN) <= 1<<16
}

// sawRequest keeps the window up to date.
func (r *row) sawRequest(p *decode.Packet) {
	w := &r.win
	span, _ := r.span(p)
	end := p.PSN.Add(span)
	if p.Op.Is(ib.IsRead) && p.HasExt && r.readMTU() == 0 {
		end = p.PSN.Add(int32(max(1, (min(p.DMALen, 1<<23)+255)/256))) // at most
	}
	if !w.set {
		*w = window{true, p.PSN, end, p.SrcPort}
		return
	}
	if end.After(w.high) {
		w.high = end
	}
	w.port = p.SrcPort
}

// byFormula picks, among rows that fit, the one whose source port and that of
// g both follow from the two queue pair numbers by the formula that most
// drivers share. It is commutative, so both directions use one port.
func byFormula(fit []*row, g *row, port uint16) *row {
	var found *row
	for _, r := range fit {
		if r.win.port == port && SourcePort(r.qp, g.qp) == port {
			if found != nil {
				return nil
			}
			found = r
		}
	}
	return found
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

// cm takes a connection management message.
func (s *shard) cm(b *bundle, dir uint8, m *ib.CM) {
	switch m.Attr {
	case ib.AttrREQ:
		for i := range b.conns {
			if c := &b.conns[i]; c.from == dir && c.commID == m.LocalCommID && c.a == m.QPN {
				return // asked again
			}
		}
		if len(b.conns) >= connsMax {
			b.conns = slices.Delete(b.conns, 0, 1)
		}
		s.retire(b, 1-dir, m.QPN)
		b.conns = append(b.conns, conn{from: dir, a: m.QPN, commID: m.LocalCommID, psnA: m.StartPSN, mtu: uint32(m.PathMTU.Bytes())})
	case ib.AttrREP:
		for i := len(b.conns) - 1; i >= 0; i-- {
			c := &b.conns[i]
			if c.from == dir || c.commID != m.RemoteCommID || c.replied {
				continue
			}
			s.retire(b, 1-dir, m.QPN)
			c.b, c.remoteID, c.psnB, c.replied = m.QPN, m.LocalCommID, m.StartPSN, true
			return
		}
	}
}

// retire ends the row towards a queue pair whose number a new connection gets.
// dir is the direction of that row.
func (s *shard) retire(b *bundle, dir uint8, qp uint32) {
	for _, r := range b.rows[dir] {
		if r.qp == qp && r.reliable() {
			s.retireRow(r)
			return
		}
	}
}

func (s *shard) retireRow(r *row) {
	for _, x := range [...]*row{r, r.peer} {
		if x == nil || x.retired {
			continue
		}
		x.retired = true
		s.finishRow(x)
		live := &x.bundle.rows[x.dir]
		if i := slices.Index(*live, x); i >= 0 {
			*live = slices.Delete(*live, i, i+1)
		}
		if x.cand != nil {
			x.cand = nil
			x.bundle.unsure--
		}
		delete(s.index, x.key())
	}
}

// byConn pairs a new row by what CM said of its queue pair.
func (s *shard) byConn(r *row) {
	b := r.bundle
	for i := len(b.conns) - 1; i >= 0; i-- {
		c := &b.conns[i]
		// A row towards a travels against the REQ.
		var other uint32
		switch {
		case r.dir != c.from && r.qp == c.a:
			other = c.b
		case r.dir == c.from && c.replied && r.qp == c.b:
			other = c.a
		default:
			continue
		}
		if r.mtu == 0 {
			r.mtu = c.mtu
		}
		if !c.replied {
			return
		}
		r.peerQP, r.peerBy = other, byCM
		for _, g := range b.rows[1-r.dir] {
			if g.qp == other && g.transport == r.transport && g.peer == nil {
				s.pair(r, g, byCM)
				return
			}
		}
		return
	}
}

// hold keeps a packet back while the bundle has responses that may answer
// several rows: taken now, a NAK would be news about nobody. It reports false
// where the packet need not wait.
func (s *shard) hold(r *row, p *decode.Packet) bool {
	b := r.bundle
	if b.unsure == 0 || r.peer != nil {
		return false
	}
	if len(b.held) >= heldMax {
		h := b.held[0]
		b.held = b.held[:copy(b.held, b.held[1:])]
		s.follow(h.row, &h.packet)
	}
	b.held = append(b.held, heldPacket{r, *p})
	return true
}

// release takes the held packets of rows that are paired by now, or of all
// rows where nothing is unsure any more.
func (s *shard) release(b *bundle) {
	held := b.held
	b.held = nil
	for i := range held {
		h := &held[i]
		if h.row.peer != nil || b.unsure == 0 {
			s.follow(h.row, &h.packet)
		} else {
			b.held = append(b.held, *h)
		}
	}
}
