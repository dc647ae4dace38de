package synth

import (
	"slices"

	"github.com/rocescope/rocescope/decode/ib"
)

// visible reports whether a packet that is not in the capture leaves a hole
// there, and if not, why.
func (s *stream) visible(i int, x *record) (bool, string) {
	p := x.packet
	shown := false
	for _, y := range s.records[i+1:] {
		q := y.packet
		if y.captured && q.pass == p.pass && p.bth.PSN.Before(q.bth.PSN) {
			shown = true
			break
		}
	}
	switch {
	case s.kind == isReadResponse && !s.asked(x):
		return false, questionUnseen
	case s.kind == isReadResponse && p.again != "" && !s.drewAny(x):
		return false, noneOfThem
	case s.kind == isReadResponse:
		return true, ""
	case !shown:
		return false, nothingBehind
	case !slices.ContainsFunc(s.records[:i], func(y *record) bool { return y.captured }):
		return false, nothingBefore
	case p.again != "" && !s.passSeen(i, x):
		return false, passStartsHere
	case p.again == byNAK && !s.repeated(p.pass):
		return false, nothingOfPass
	}
	return true, ""
}

// drewAny reports whether the capture holds any of the responses that were sent
// together with one. A READ that is repeated is answered whatever came before it,
// so that nothing else shows that it arrived: that one packet was lost, or all
// that answer it.
func (s *stream) drewAny(x *record) bool {
	return slices.ContainsFunc(s.records, func(y *record) bool { return y.captured && y.packet.made == x.packet.made })
}

// repeated reports whether the capture holds anything that was sent again in a
// pass. That the NAK which called for the pass was captured does not prove that it
// came to the requester, nor does a number that is missing among the IDs: what bore
// it may have gone elsewhere.
func (s *stream) repeated(pass int) bool {
	return slices.ContainsFunc(s.records, func(y *record) bool { return y.captured && y.packet.pass == pass && y.packet.again != "" })
}

// passSeen reports whether the capture shows that a pass begins no later than
// at the packet: by an earlier packet of it, or by the NAK that called for it.
func (s *stream) passSeen(i int, x *record) bool {
	for _, y := range s.records[:i] {
		if y.captured && y.packet.pass == x.packet.pass && y.packet.again != "" {
			return true
		}
	}
	t := s.recorder.records[x.packet.trigger]
	return t != nil && t.captured && t.packet.isNAK()
}

// closed reports whether the capture holds a resend of what was sent as number
// i.
func (s *stream) closed(i int, x *record) bool {
	return slices.ContainsFunc(s.records[i+1:], func(y *record) bool { return y.captured && y.packet.bth.PSN == x.packet.bth.PSN })
}

// earlier reports whether the capture holds an earlier sending of packet i.
func (s *stream) earlier(i int, x *record) bool {
	return slices.ContainsFunc(s.records[:i], func(y *record) bool { return y.captured && y.packet.bth.PSN == x.packet.bth.PSN })
}

// lostBefore counts a packet that never came to the tap.
func (s *stream) lostBefore(c *counter, i int, x *record) {
	p := x.packet
	if s.unreliable() {
		s.datagram(c, i, x)
		return
	}
	seen, why := s.visible(i, x)
	switch {
	case !seen:
		c.open(p, why, s.holes()...)
	case !s.closed(i, x):
		c.open(p, neverClosed, s.holes()...)
	case slices.ContainsFunc(s.records[i+1:], func(y *record) bool { return y.packet.bth.PSN == p.bth.PSN && s.nothingTells(y) }):
		c.open(p, lateOrMore, s.holes()...)
	default:
		c.add(p, s.column("lost_upstream"), 1)
		s.hole(c, i, x)
	}
}

// datagram counts what nobody sends again: a hole shows, and no more.
func (s *stream) datagram(c *counter, i int, x *record) {
	before := 0
	for _, y := range s.records[:i] {
		if y.captured {
			before++
		}
	}
	seen, why := s.visible(i, x)
	if few := x.packet.conn.Transport == ib.UD && before < 16; seen && (few || before == 0) {
		seen, why = false, noRule
	}
	if !seen {
		c.open(x.packet, why, "lost_upstream", "gap_frames", "gaps")
		return
	}
	c.add(x.packet, "lost_upstream", 1)
	s.hole(c, i, x)
}

// holes are the columns in which a packet that is missing from the capture may
// stand.
func (s *stream) holes() []string {
	var out []string
	for _, name := range []string{"lost_upstream", "not_captured", "unresolved", "gap_frames", "gaps"} {
		out = append(out, s.column(name))
	}
	return out
}

// hole counts a packet that was missing where its successor passed, and a gap
// where its predecessor was not missing, too.
func (s *stream) hole(c *counter, i int, x *record) {
	c.add(x.packet, s.column("gap_frames"), 1)
	if i == 0 || !s.missing(i-1, x.packet.pass) {
		c.add(x.packet, s.column("gaps"), 1)
	}
}

// missing reports whether packet i is no more in the capture than its successor
// of the same pass, or was not when later ones passed.
func (s *stream) missing(i, pass int) bool {
	x := s.records[i]
	return (!x.captured && !x.outside || x.captured && s.lateAmongItsKind(x)) && x.packet.pass == pass
}

// unseen counts a packet that arrived without being captured.
func (s *stream) unseen(c *counter, i int, x *record) {
	p := x.packet
	if s.unreliable() {
		s.datagram(c, i, x)
		return
	}
	s.hides(c, x)
	seen, why := s.visible(i, x)
	switch {
	case !seen:
		c.open(p, why, s.holes()...)
	case s.earlier(i, x):
		c.open(p, seenBefore, s.holes()...)
	case x.lost:
		c.open(p, bothLost, append(s.holes(), s.column("lost_downstream"))...)
	case s.closed(i, x):
		c.open(p, closedByResend, s.holes()...)
	case !s.arrivalShown(x):
		c.open(p, notAcked, s.holes()...)
	default:
		c.add(p, s.column("not_captured"), 1)
		s.hole(c, i, x)
	}
}

// hides leaves open how many requests a missing READ stands for: it uses the PSNs of
// all its responses, and where the capture holds none of those either, as many other
// requests would leave the same hole.
func (s *stream) hides(c *counter, x *record) {
	p := x.packet
	if s.kind != isRequest || !p.bth.Opcode.Is(ib.IsRead) {
		return
	}
	for psn := p.bth.PSN.Add(1); psn != p.next(); psn = psn.Add(1) {
		if !slices.ContainsFunc(s.answers, func(a *record) bool { return a.packet.kind == isReadResponse && a.packet.bth.PSN == psn }) {
			c.open(p, manyPSNs, s.holes()...)
		}
	}
}

// arrivalShown reports whether the capture shows that a packet arrived. That a
// response did, nothing says but that it is not asked for again.
func (s *stream) arrivalShown(x *record) bool {
	if s.kind == isReadResponse {
		return s.wentOn(x)
	}
	for _, as := range s.answeredAs() {
		if !slices.ContainsFunc(as.answers, func(a *record) bool { return a.packet.acknowledges(x.packet.bth.PSN) }) {
			return false
		}
	}
	return true
}

// wentOn reports whether the requester sent something new after it had seen what came
// behind a response that the capture does not hold: it did not miss it. What it
// sent before says nothing, for several READs may be under way.
func (s *stream) wentOn(x *record) bool {
	for _, q := range s.requests {
		if q.packet.again == "" && slices.ContainsFunc(s.behind(x), func(a *record) bool { return a.packet.reached < q.packet.made }) {
			return true
		}
	}
	return false
}

// behind returns what the capture holds of the answers behind a response that
// arrived.
func (s *stream) behind(x *record) []*record {
	var out []*record
	for _, l := range [][]*record{s.records, s.answers} {
		for _, a := range l {
			if a.captured && !a.lost && a.packet.made >= x.packet.made && x.packet.bth.PSN.Before(a.packet.bth.PSN) {
				out = append(out, a)
			}
		}
	}
	return out
}
