package analysis

import (
	"slices"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// Queue pairs that do all the same, at about the same time, are told apart by what goes
// wrong in one of them: a NAK asks for a packet, and one alone sends it again.

// nakLooks bounds how many NAKs of two hosts are looked at in one go, and backLooks among
// how many packets before one its row's last is looked for.
const (
	nakLooks  = 16
	backLooks = 128
	longWait  = 4 // times what an RNR NAK asks for may requesters wait
)

// settleByResend pairs a row with the only one that sent again what a NAK in it asked for,
// and reports whether there was any.
func (s *shard) settleByResend(b *bundle) bool {
	for i, left := 0, nakLooks; i < len(b.held) && left > 0; i++ {
		h := &b.held[i]
		if asks, _ := asksAgain(&h.packet); h.row.cand == nil || !asks {
			continue
		}
		left--
		if r := b.sentAgainFor(h); r != nil {
			s.pair(r, h.row, byResponses)
			return true
		}
	}
	return false
}

// asksAgain reports whether a response asks for a packet to be sent again, and how long
// behind it.
func asksAgain(p *decode.Packet) (asks bool, wait int64) {
	if p.HasSyndrome() && p.Syndrome.Type() == ib.RNRNAK {
		return true, p.Syndrome.RNRTimer().Nanoseconds()
	}
	return p.IsSequenceNAK(), 0
}

// sentAgainFor returns the only row that went back to the packet that a NAK asks for, as
// soon behind it as requesters do; nil where several did or none, another NAK asks for the
// same, or the capture may have paused meanwhile.
func (b *bundle) sentAgainFor(nak *heldPacket) (found *row) {
	psn, t := nak.packet.PSN, nak.packet.Time
	_, wait := asksAgain(&nak.packet)
	soonest, latest := max(quickTurn, wait), longWait*wait
	for i := range b.held {
		h := &b.held[i]
		switch p := &h.packet; {
		case p.PSN != psn || h.row == nak.row:
		case h.row.dir == nak.row.dir:
			if asks, _ := asksAgain(p); asks {
				return nil
			}
		case p.Frame > nak.packet.Frame && b.wentBack(i) && p.Time-t <= latest+h.row.reaction():
			if found != nil && found != h.row || t < b.resumed && b.resumed <= p.Time || h.row.atMost(p, t) < soonest {
				return nil
			}
			found = h.row
		}
	}
	if found == nil || !slices.ContainsFunc(nak.row.cand, func(c candidate) bool { return c.row == found && !c.contradicted() }) {
		return nil
	}
	return found
}

// wentBack reports whether a request that waits steps back.
func (b *bundle) wentBack(i int) bool {
	h := &b.held[i]
	if !h.asksIn(h.row) {
		return false
	}
	for j := i - 1; j >= max(0, i-backLooks); j-- {
		if x := &b.held[j]; x.asksIn(h.row) {
			return !x.packet.PSN.Before(h.packet.PSN)
		}
	}
	return h.row.req.started && h.packet.PSN.Before(h.row.req.cur)
}
