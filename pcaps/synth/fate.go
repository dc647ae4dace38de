package synth

import (
	"slices"

	"github.com/rocescope/rocescope/decode/ib"
)

// stream is the requests of a queue pair, or the responses to its READs, in the
// order in which they were sent. It tells what became of each, and whether the
// capture shows that.
//
// The rule throughout: a count is certain where the capture holds what proves
// it. Everything else that happened is open, with the reason; an analysis that
// counts it is not wrong, and neither is one that does not.
type stream struct {
	kind      kind
	recorder  *recorder
	records   []*record
	answers   []*record // captured: ACKs and NAKs, and for requests READ responses
	questions []*record // captured: READs, of a stream of responses
	requests  []*record // captured, of a stream of responses: all that their asker sent
	captured  bool
	measured  int       // answers that tell the round trip; 0 not counted
	twins     []*stream // of requests: those whose answers may be the stream's, or the other way round
	told      bool      // it is shown which answers are the stream's, whatever twins it has
}

// judge counts what became of the stream's packets.
func (s *stream) judge(c *counter) {
	s.allUnseen(c)
	if !s.captured {
		return
	}
	s.resends(c)
	for i, x := range s.records {
		switch {
		case x.early:
			s.passedEarly(c, x)
		case x.outside:
		case x.before():
			s.lostBefore(c, i, x)
		case x.unseen():
			s.unseen(c, i, x)
		case x.captured && x.behind():
			s.lostBehind(c, i, x)
		}
	}
	s.late(c)
	s.withoutQuestion(c)
	s.needlessNAKs(c)
	s.needlessQuestions(c)
	s.answersTwice(c)
	s.sameFrames(c)
	s.answersUnasked(c)
}

func (s *stream) asker() *endpoint { return s.records[0].packet.asker }

// idsTell reports whether IPv4 IDs tell a packet from its copy.
func (s *stream) idsTell() bool {
	net := &s.recorder.world.scenario.Network
	return net.IDs == RisingIDs && !net.IPv6 && !net.RoCEv1
}

// answered reports whether the capture holds a request and an answer to it.
func (s *stream) answered() bool {
	if s.kind != isRequest {
		return false
	}
	return slices.ContainsFunc(s.answers, func(a *record) bool {
		return slices.ContainsFunc(s.records, func(x *record) bool { return x.captured && x.place < a.place && x.packet.covers(a.packet.bth.PSN) })
	})
}

// column returns the name of a column for this kind of stream.
func (s *stream) column(name string) string {
	if s.kind == isReadResponse {
		return "response_" + name
	}
	return name
}

// inPlaces returns what was captured, in the order of the capture.
func (s *stream) inPlaces() []*record {
	var out []*record
	for _, x := range s.records {
		if x.captured {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b *record) int { return a.place - b.place })
	return out
}

// next returns the PSN behind those that a request uses.
func (p *packet) next() ib.PSN {
	if p.bth.Opcode.Is(ib.IsRead) {
		return p.asker.req.at(p.bth.PSN).end
	}
	return p.bth.PSN.Add(1)
}

// covers reports whether a READ asks for a PSN.
func (p *packet) covers(psn ib.PSN) bool {
	return !psn.Before(p.bth.PSN) && psn.Before(p.next())
}

func (p *packet) isNAK() bool { return p.kind == isAck && p.syndrome() == ib.NAKPSNSequence }

// asksAgain reports whether an answer asks for a packet to be sent again: a sequence or
// an RNR NAK.
func (p *packet) asksAgain() bool {
	return p.isNAK() || p.kind == isAck && p.syndrome().Type() == ib.RNRNAK
}

// acknowledges reports whether an answer shows that the request of a PSN
// arrived.
func (p *packet) acknowledges(psn ib.PSN) bool {
	if t := p.syndrome().Type(); p.kind == isAck && t != ib.ACK {
		return psn.Before(p.bth.PSN)
	}
	return !p.bth.PSN.Before(psn)
}

func (s *stream) unreliable() bool { return s.records[0].packet.conn.Transport != ib.RC }

// instance counts how often the PSN of packet i had been sent by then.
func (s *stream) instance(i int) int {
	n := 0
	for _, y := range s.records[:i+1] {
		if y.packet.bth.PSN == s.records[i].packet.bth.PSN {
			n++
		}
	}
	return n
}
