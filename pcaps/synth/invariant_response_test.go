package synth_test

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// gapDrawsOneNAK: the responder says once what it misses, and only when it saw
// something behind. It may say it again when that came and was refused.
func gapDrawsOneNAK(s *stream) (out violations) {
	said := map[ib.PSN]bool{}
	s.follow(func(t *track, p *decode.Packet) {
		switch {
		case p.Op.Is(ib.IsRequest):
			delete(said, p.PSN)
		case !isNAK(p) || isFatal(p):
		case said[p.PSN]:
			out.add(p, "a second NAK of %d, which did not come again", p.PSN)
		case t.begun && !t.high.After(p.PSN.Add(1)):
			out.add(p, "a NAK of %d, and nothing behind that was sent", p.PSN)
		default:
			said[p.PSN] = true
		}
	})
	return out
}

// nakNamesTheExpected: a NAK, and an RNR NAK, says that all before its PSN was
// executed, and nothing from there on.
func nakNamesTheExpected(s *stream) (out violations) {
	s.follow(func(t *track, p *decode.Packet) {
		if (isNAK(p) || isRNR(p)) && t.answered && p.PSN.Before(t.done) {
			out.add(p, "%v of PSN %d, and all before %d was executed", p.Syndrome, p.PSN, t.done)
		}
	})
	return out
}

// acksNeverGoBack: an ACK is of the newest request that was executed, also where
// an older one came again.
func acksNeverGoBack(s *stream) (out violations) {
	s.follow(func(t *track, p *decode.Packet) {
		if isACK(p) && t.answered && p.PSN.Add(1).Before(t.done) {
			out.add(p, "an ACK of %d, and all before %d was executed", p.PSN, t.done)
		}
	})
	return out
}

// acksAreAskedFor: a SEND or WRITE draws an ACK where it asks for one, and where
// it comes again. All other requests have answers of their own.
func acksAreAskedFor(s *stream) (out violations) {
	asked, acks := 0, 0
	s.follow(func(t *track, p *decode.Packet) {
		switch {
		case p.Op.Is(ib.IsSend | ib.IsWrite):
			if p.AckReq || t.begun && p.PSN.Before(t.high) {
				asked++
			}
		case isACK(p):
			if acks++; acks > asked {
				out.add(p, "ACK number %d, and %d were asked for", acks, asked)
			}
		}
	})
	return out
}

// duplicatesAreAcknowledged needs the tap at the responder: each SEND or WRITE
// that came again draws one ACK, as each request does that asks for one.
func duplicatesAreAcknowledged(s *stream) (out violations) {
	if s.tap != atReceiver || len(s.answers) == 0 {
		return nil
	}
	due := 0
	r := arrivals{s: s, expected: s.first().PSN}
	var last *decode.Packet
	for _, p := range s.packets {
		switch {
		case isACK(p):
			due--
		case p.Op.Is(ib.IsRequest):
			if again, taken := r.take(p); (again || taken && p.AckReq) && p.Op.Is(ib.IsSend|ib.IsWrite) {
				due++
			}
		case isRNR(p) || isFatal(p):
			return nil // what a refusal draws is told elsewhere
		}
		last = p
	}
	if due != 0 {
		out.add(last, "to %#x: at the end %d ACKs are due", s.qp, due)
	}
	return out
}

// everyGapIsTold needs the tap at the responder: it says so each time when what
// comes is ahead of what it expects, once until that comes.
func everyGapIsTold(s *stream) (out violations) {
	if s.tap != atReceiver || len(s.answers) == 0 {
		return nil
	}
	r := arrivals{s: s, expected: s.first().PSN}
	told := 0
	for _, p := range s.packets {
		switch {
		case p.Op.Is(ib.IsRequest):
			r.take(p)
		case isRNR(p) || isFatal(p):
			return nil // behind a refusal, hardware is silent, and software is not
		case isNAK(p):
			told++
		}
	}
	if told != r.gaps {
		out.add(s.first(), "to %#x: %d gaps drew %d NAKs", s.qp, r.gaps, told)
	}
	return out
}

// responsesHaveTheirRequests: whatever a queue pair answers, some of it is asked
// for in the capture; else no other rule would see it.
func responsesHaveTheirRequests(w *wire) (out violations) {
	peers := w.peers()
	for i := range w.packets {
		p := &w.packets[i]
		if _, ok := peers[flowOf(p)]; !ok && p.Op.Is(ib.IsResponse) && p.ICRC != decode.ICRCBad {
			out.add(p, "%v to %#x, which asked for nothing", p.Op, p.QP)
		}
	}
	return out
}

func acksCoverWhatWasSent(s *stream) (out violations) {
	s.follow(func(t *track, p *decode.Packet) {
		if p.Op.Is(ib.IsResponse) && positive(p) && !(t.begun && p.PSN.Before(t.high)) {
			out.add(p, "%v of PSN %d, which was not sent yet", p.Op, p.PSN)
		}
	})
	return out
}

// msnCountsMessages: an ACK or NAK holds the number of messages that ended at or
// before what it acknowledges. A response to a READ that came again holds the
// newest number, of which no more is known than that there are so many.
func msnCountsMessages(s *stream) (out violations) {
	m := messages{s, map[ib.PSN]bool{}, map[ib.PSN]bool{}}
	last := ib.PSN(0)
	for _, p := range s.packets {
		m.take(p)
		if p.Op.Info().Headers&ib.HasAETH == 0 {
			continue
		}
		n := m.upTo(p)
		switch msn := ib.PSN(p.MSN); {
		case msn.Before(last):
			out.add(p, "MSN %d comes behind %d", msn, last)
		case p.Op.Is(ib.IsAck) && msn != n, msn.Before(n), int(msn) > len(m.ended):
			out.add(p, "MSN %d, and %d messages ended", msn, n)
		}
		last = ib.PSN(p.MSN)
	}
	return out
}

// messages knows where they end. A READ counts where it begins, and one that
// asks again from the middle of another does not count.
type messages struct {
	s             *stream
	ended, inRead map[ib.PSN]bool
}

func (m *messages) take(p *decode.Packet) {
	if !p.Op.Is(ib.IsRequest) || !p.Op.Is(ib.IsLast|ib.IsOnly) {
		return
	}
	if !m.inRead[p.PSN] {
		m.ended[p.PSN] = true
	}
	for psn := p.PSN.Add(1); psn.Before(m.s.next(p)); psn = psn.Add(1) {
		m.inRead[psn] = true
	}
}

// upTo counts the messages that ended at or, for a NAK, before a PSN.
func (m *messages) upTo(p *decode.Packet) (n ib.PSN) {
	for psn := range m.ended {
		if psn.Before(p.PSN) || psn == p.PSN && positive(p) {
			n++
		}
	}
	return n
}

// responsesFitTheirRead: there is a READ in whose range the response has the
// right place and length. After a loss several READs cover a PSN; a responder
// may go on with either.
func responsesFitTheirRead(s *stream) (out violations) {
	var reads []*decode.Packet
	for _, p := range s.packets {
		if p.Op.Is(ib.AnsweredByRead) {
			reads = append(reads, p)
		}
		if p.Op.Is(ib.IsReadResponse) && !s.fitsOne(p, reads) {
			out.add(p, "no READ asked for %v of %d bytes at PSN %d", p.Op, p.PayloadLen, p.PSN)
		}
	}
	return out
}

func (s *stream) fitsOne(p *decode.Packet, reads []*decode.Packet) bool {
	for _, r := range reads {
		i, n := p.PSN.Sub(r.PSN), s.next(r).Sub(r.PSN)
		if 0 <= i && i < n && placeIn(p.Op) == placeOf(i, n) && p.PayloadLen == min(s.mtu, r.DMALen-uint32(i)*s.mtu) {
			return true
		}
	}
	return false
}

func placeIn(op ib.Opcode) ib.Kind {
	return op.Info().Kind & (ib.IsFirst | ib.IsMiddle | ib.IsLast | ib.IsOnly)
}

// placeOf is the place of packet i of n.
func placeOf(i, n int32) ib.Kind {
	switch {
	case n == 1:
		return ib.IsOnly
	case i == 0:
		return ib.IsFirst
	case i == n-1:
		return ib.IsLast
	}
	return ib.IsMiddle
}

// responsesFollow needs the tap at the responder. Nothing comes between the
// responses to a READ, and no PSN is left out. Where a READ was asked for again
// from its middle, software goes on with a Middle or Last, hardware with a First.
func responsesFollow(s *stream) (out violations) {
	if s.tap != atReceiver {
		return nil
	}
	var open *decode.Packet
	begins := map[ib.PSN]bool{} // of READs
	for _, p := range s.packets {
		switch {
		case p.Op.Is(ib.IsRequest):
			begins[p.PSN] = begins[p.PSN] || p.Op.Is(ib.IsRead)
			continue
		case open != nil && (p.PSN != open.PSN.Add(1) || !mayFollow(open.Op, p.Op)):
			out.add(p, "%v of PSN %d comes behind %v of %d", p.Op, p.PSN, open.Op, open.PSN)
		case open == nil && p.Op.Is(ib.IsReadResponse) && !begins[p.PSN]:
			out.add(p, "%v begins at PSN %d, where no READ does", p.Op, p.PSN)
		}
		if open = nil; p.Op.Is(ib.IsFirst | ib.IsMiddle) {
			open = p
		}
	}
	return out
}
