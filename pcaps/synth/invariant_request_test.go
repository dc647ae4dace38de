package synth_test

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// operationsFollow looks at neighbours by PSN, so it holds in each pass, at any
// tap: what was lost between two packets makes them no neighbours.
func operationsFollow(s *stream) (out violations) {
	var last *decode.Packet
	for _, p := range s.packets {
		if !p.Op.Is(ib.IsRequest) {
			continue
		}
		if last != nil && p.PSN == s.next(last) && !mayFollow(last.Op, p.Op) {
			out.add(p, "%v comes behind %v", p.Op, last.Op)
		}
		last = p
	}
	return out
}

const movers = ib.IsSend | ib.IsWrite | ib.IsReadResponse

func mayFollow(last, op ib.Opcode) bool {
	ended, opens := last.Is(ib.IsLast|ib.IsOnly), op.Is(ib.IsFirst|ib.IsOnly)
	return ended && opens || !ended && !opens && last.Info().Kind&movers == op.Info().Kind&movers
}

// passHasNoGap needs the tap at the sender: elsewhere a loss is a gap. What was
// acknowledged while it was being sent again may be left out.
func passHasNoGap(s *stream) (out violations) {
	if s.tap != atSender {
		return nil
	}
	s.follow(func(t *track, p *decode.Packet) {
		ahead := p.PSN.Sub(t.next)
		switch {
		case !p.Op.Is(ib.IsRequest) || !t.begun || ahead == 0:
		case ahead > 0 && (p.PSN.After(t.high) || p.PSN.After(t.done)):
			out.add(p, "PSN %d comes where %d was next", p.PSN, t.next)
		case ahead < 0 && p.Op.Transport() != ib.RC:
			out.add(p, "PSN %d is sent again on an unreliable connection", p.PSN)
		case ahead < 0 && p.PSN.After(t.done):
			out.add(p, "the sender goes back to PSN %d, and nothing answered %d", p.PSN, t.done)
		}
	})
	return out
}

// resendsAreEqual compares what has the same PSN. A READ may be asked for again
// from its middle, and then its address and length are those of the rest.
func resendsAreEqual(s *stream) (out violations) {
	seen := map[ib.PSN]*decode.Packet{}
	for _, p := range s.packets {
		if !p.Op.Is(ib.IsRequest) {
			continue
		}
		if old := seen[p.PSN]; old != nil && !s.repeats(p, old) {
			out.add(p, "PSN %d was %v (%d bytes, address %#x of %d) and is %v (%d bytes, address %#x of %d)", p.PSN,
				old.Op, old.PayloadLen, old.VA, old.DMALen, p.Op, p.PayloadLen, p.VA, p.DMALen)
		}
		for psn := p.PSN; psn != s.next(p); psn = psn.Add(1) {
			if seen[psn] == nil {
				seen[psn] = p
			}
		}
	}
	return out
}

func (s *stream) repeats(p, old *decode.Packet) bool {
	skipped := uint32(p.PSN.Sub(old.PSN)) * s.mtu
	return p.Op == old.Op && p.PayloadLen == old.PayloadLen && p.RKey == old.RKey &&
		p.VA == old.VA+uint64(skipped) && p.DMALen == old.DMALen-skipped
}

// lengthsFit: First and Middle fill the path MTU, and only what closes a message
// is padded.
func lengthsFit(s *stream) (out violations) {
	for _, p := range s.packets {
		switch n, op := p.PayloadLen, p.Op; {
		case op.Is(ib.IsFirst|ib.IsMiddle) && (n != s.mtu || ib.MTUOf(int(n)) == 0):
			out.add(p, "%v holds %d bytes, and the path MTU is %d", op, n, s.mtu)
		case op.Is(ib.IsLast) && n == 0 || n > s.mtu:
			out.add(p, "%v holds %d bytes", op, n)
		case uint32(p.PadCnt) != -n&3:
			out.add(p, "%d bytes have a pad of %d", n, p.PadCnt)
		}
	}
	return out
}

// writesAreWhole looks for the packet that the length in a First makes the last,
// by its PSN: passes and losses do not matter.
func writesAreWhole(s *stream) (out violations) {
	ends := map[ib.PSN]uint32{} // and how many bytes the packet there must hold
	for _, p := range s.packets {
		switch {
		case !p.Op.Is(ib.IsWrite):
		case p.Op.Is(ib.IsOnly) && p.DMALen != p.PayloadLen:
			out.add(p, "a WRITE of %d bytes holds %d", p.DMALen, p.PayloadLen)
		case p.Op.Is(ib.IsFirst):
			if n := (p.DMALen - 1) / s.mtu; n == 0 {
				out.add(p, "a WRITE of %d bytes needs no First", p.DMALen)
			} else {
				ends[p.PSN.Add(int32(n))] = p.DMALen - n*s.mtu
			}
		}
		if n, ok := ends[p.PSN]; ok && p.Op.Is(ib.IsRequest) && (!p.Op.Is(ib.IsLast) || p.PayloadLen != n) {
			out.add(p, "%v of %d bytes stands where the WRITE's last %d bytes must", p.Op, p.PayloadLen, n)
		}
	}
	return out
}

// refusedComesAgain: an RNR NAK is of a request that was sent. Nothing behind
// that is acknowledged before it came again, and the first step back is to it,
// not before the time that the NAK asks for; or to a READ or an atomic before it
// whose response is missing. A pass that was on its way may hold it at any time,
// also in front of the NAK at the tap.
func refusedComesAgain(s *stream) (out violations) {
	var refused *decode.Packet
	sent := map[ib.PSN]int{} // less the times that it was refused
	s.follow(func(t *track, p *decode.Packet) {
		request := p.Op.Is(ib.IsRequest)
		if request {
			sent[p.PSN]++
		}
		switch {
		case isRNR(p) && sent[p.PSN] == 0:
			out.add(p, "an RNR NAK of PSN %d, which was not sent since the last", p.PSN)
		case isRNR(p):
			if sent[p.PSN]--; sent[p.PSN] == 0 {
				refused = p
			}
		case refused == nil:
		case request && p.PSN.Before(t.next):
			out = append(out, afterRefusal(refused, p)...)
			refused = nil
		case request && p.PSN == refused.PSN:
			refused = nil
		case !request && positive(p) && !p.PSN.Before(refused.PSN):
			out.add(p, "PSN %d is acknowledged, and %d was refused", p.PSN, refused.PSN)
		}
	})
	return out
}

func afterRefusal(refused, p *decode.Packet) (out violations) {
	wait := p.Time - refused.Time
	switch {
	case p.PSN.Before(refused.PSN) && p.Op.Is(ib.IsRead|ib.IsAtomic):
	case p.PSN != refused.PSN:
		out.add(p, "PSN %d is sent again, and %d was refused", p.PSN, refused.PSN)
	case wait < refused.Syndrome.RNRTimer().Nanoseconds():
		out.add(p, "sent again after %d ns, against %v", wait, refused.Syndrome)
	}
	return out
}
