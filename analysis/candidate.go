package analysis

import (
	"slices"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

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
	fit := g.cand[:0]
	for _, c := range g.cand {
		if c.fits(g, p) {
			fit = append(fit, c)
		}
	}
	if len(fit) == 0 && g.tryAgain() {
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

// tryAgain paces the search for a partner among many: a row whose requests the
// capture does not hold would search anew with each of its responses.
func (g *row) tryAgain() bool {
	g.tries++
	return g.tries <= 16 || g.tries&(g.tries-1) == 0
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
	if r.peer != nil || r.retired || r.suspect || r.transport != g.transport || r.bundle.tags.apart(r.vlan, g.vlan) || !w.set {
		return false
	}
	if p.PSN.Before(w.first) && !namesLostStart(w, p) || !p.PSN.Before(w.high) || w.high.Sub(p.PSN) > 1<<16 {
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
		return m.kind&ib.AnsweredByRead != 0
	case p.Op.Is(ib.IsAtomicAck):
		return m.kind&ib.IsAtomic != 0
	case !p.HasExt || p.Syndrome.Type() != ib.ACK:
		return true // a NAK may name any request
	case m.kind&(ib.AnsweredByRead|ib.IsAtomic) != 0:
		return false
	}
	return p.PSN != m.end.Add(-1) || c.countsAlike(p.MSN-m.ordinal)
}

// namesLostStart reports whether a NAK asks for a packet just before the first
// one that the tap saw.
func namesLostStart(w *window, p *decode.Packet) bool {
	return p.HasExt && p.Op.Is(ib.IsAck) && p.Syndrome&0x7F == ib.NAKPSNSequence && w.first.Sub(p.PSN) <= beforeFirst
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

func (r *row) forgetCandidates() {
	if r.cand != nil {
		r.cand = nil
		r.bundle.unsure--
	}
}
