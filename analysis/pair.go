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
	r.forgetCandidates()
	g.forgetCandidates()
	s.release(r.bundle)
}

func (r *row) forgetCandidates() {
	if r.cand != nil {
		r.cand = nil
		r.bundle.unsure--
	}
}

// candidate is a row that may hold the requests which the responses of another
// answer.
type candidate struct {
	row *row
	// msn is the responder's message count less the messages that the row has
	// ended; it stays the same as long as the two belong together.
	msn    uint32
	msnSet bool
}

// match looks for the row whose requests the response in g answers. It pairs
// the two only where no other row could have asked.
func (s *shard) match(g *row, p *decode.Packet) {
	b := g.bundle
	var fit []candidate
	if g.cand != nil {
		fit = g.cand[:0]
		for _, c := range g.cand {
			if c.fits(g, p) {
				fit = append(fit, c)
			}
		}
	} else {
		for _, r := range b.rows[1-g.dir] {
			if c := (candidate{row: r}); c.fits(g, p) {
				fit = append(fit, c)
			}
		}
	}
	if len(fit) > 1 {
		if r := byFormula(fit, g, p.SrcPort); r != nil {
			s.pair(r, g, byPort)
			return
		}
	}
	s.narrow(g, fit)
}

// narrow keeps the candidates that are left, and pairs where there is one.
func (s *shard) narrow(g *row, fit []candidate) {
	switch {
	case len(fit) == 1:
		s.pair(fit[0].row, g, byResponses)
	case len(fit) == 0:
		g.forgetCandidates()
		s.release(g.bundle)
	case len(fit) > 1:
		if g.cand == nil {
			g.bundle.unsure++
		}
		g.cand = fit
	}
}

// fits reports whether the response in g may answer the candidate's requests.
func (c *candidate) fits(g *row, p *decode.Packet) bool {
	r := c.row
	w := &r.win
	if r.peer != nil || r.retired || r.suspect || r.transport != g.transport || !w.set {
		return false
	}
	if p.PSN.Before(w.first) || !p.PSN.Before(w.high) || w.high.Sub(p.PSN) > 1<<16 {
		return false
	}
	m := w.find(p.PSN)
	if m == nil {
		return true // fallen out of the log, or a hole
	}
	if rtt := r.minRTT(); rtt > 0 && r.knowsRTT() && p.Time-m.time < rtt/2 && p.PSN == m.end.Add(-1) {
		return false // it was sent too short a while ago
	}
	switch {
	case p.Op.Is(ib.IsReadResponse):
		return m.kind&ib.IsRead != 0
	case p.Op.Is(ib.IsAtomicAck):
		return m.kind&ib.IsAtomic != 0
	case !p.HasExt || p.Syndrome.Type() != ib.ACK:
		return true // a NAK may name any request
	case m.kind&(ib.IsRead|ib.IsAtomic) != 0:
		return false
	}
	return p.PSN != m.end.Add(-1) || c.countsAlike(p.MSN-m.ordinal)
}

// countsAlike reports whether the message counts of both ends still differ by
// the same number.
func (c *candidate) countsAlike(d uint32) bool {
	d &= ib.PSNMask
	if !c.msnSet {
		c.msn, c.msnSet = d, true
	}
	return c.msn == d
}

// settlePairs pairs, at the end, the rows that have one candidate left because
// the others found their partner.
func (s *shard) settlePairs(b *bundle) {
	for changed := true; changed && b.unsure > 0; {
		changed = false
		for _, rows := range b.rows {
			for _, g := range rows {
				if g.cand == nil {
					continue
				}
				n := len(g.cand)
				g.cand = slices.DeleteFunc(g.cand, func(c candidate) bool { return c.row.peer != nil })
				if len(g.cand) != n && len(g.cand) == 1 {
					s.pair(g.cand[0].row, g, byResponses)
					changed = true
				}
			}
		}
	}
}

// byFormula picks, among rows that fit, the one whose source port and that of
// g both follow from the two queue pair numbers by the formula that most
// drivers share. It is commutative, so both directions use one port.
func byFormula(fit []candidate, g *row, port uint16) *row {
	var found *row
	for i := range fit {
		r := fit[i].row
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
		x.forgetCandidates()
		delete(s.index, x.key())
	}
	s.release(r.bundle)
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
	if len(b.held) == 0 {
		return
	}
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
