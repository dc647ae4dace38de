package synth

import (
	"math"
	"slices"

	"github.com/rocescope/rocescope/decode/ib"
)

// resends counts what was sent again, and first sendings of messages.
func (s *stream) resends(c *counter) {
	seen := map[ib.PSN]bool{}
	var high ib.PSN
	for n, x := range s.inPlaces() {
		p := x.packet
		known := n > 0 && p.bth.PSN.Before(high) || seen[p.bth.PSN] || s.asked(x)
		seen[p.bth.PSN] = true
		if end := p.next(); n == 0 || high.Before(end) {
			high = end
		}
		if !s.likeCopy(c, x, n) || s.goesOn(x, n) {
			s.resend(c, x, known)
		}
		s.timeout(c, x)
	}
}

// goesOn reports whether the packet captured as number n goes on with a pass
// where the one before it stood.
func (s *stream) goesOn(x *record, n int) bool {
	before := s.inPlaces()[n-1].packet
	return before.pass == x.packet.pass && before.order < x.packet.order
}

// asked reports whether the capture shows the READ that a response answers.
func (s *stream) asked(x *record) bool {
	return s.kind == isReadResponse && slices.ContainsFunc(s.questions, func(q *record) bool { return q.packet.covers(x.packet.bth.PSN) && q.packet.again == "" })
}

func (s *stream) resend(c *counter, x *record, known bool) {
	p := x.packet
	again, last := p.again != "", p.bth.Opcode.Is(ib.IsLast|ib.IsOnly)
	switch {
	case s.nothingTells(x):
		c.open(p, lateOrMore, append(s.holes(), append(s.causes(), s.column("reordered"), "spurious")...)...)
		if last {
			c.open(p, lateOrMore, "messages")
		}
	case !again:
		if s.kind == isRequest && last {
			c.add(p, "messages", 1)
		}
	case !known:
		c.open(p, newAtTheTap, s.causes()...)
		if s.kind == isRequest && last {
			c.open(p, newAtTheTap, "messages")
		}
	default:
		c.add(p, s.column("retransmitted"), 1)
		if s.kind == isRequest {
			s.cause(c, x)
			s.needless(c, x)
		}
	}
}

// nothingTells reports whether a request, of an earlier PSN than the first one in the
// capture, or behind a pause of it, may as well have come late as have been sent again: no
// ID tells, no NAK before it asks for it, no answer before it shows that it had arrived, and
// no packet of a pass with it that had passed before.
func (s *stream) nothingTells(x *record) bool {
	if s.kind != isRequest || !x.captured || s.idsTell() {
		return false
	}
	psn, first := x.packet.bth.PSN, s.firstSince(x)
	again := x.packet.again != ""
	if !psn.Before(first.packet.bth.PSN) || !again && !s.lateInTruth(x) {
		return false
	}
	asked := func(a *record) bool {
		return a.place < x.place && (a.packet.isNAK() && a.packet.bth.PSN == psn || a.packet.acknowledges(psn))
	}
	tells := func(y *record) bool {
		switch {
		case y == x || !y.captured:
			return false
		case y.packet.bth.PSN == psn && y.place < x.place:
			return true
		case again:
			return y.packet.again != "" && y.packet.pass == x.packet.pass && s.alike(y, func(z *record) bool { return z.place < y.place })
		}
		return s.lateInTruth(y) // they overtake each other
	}
	return !slices.ContainsFunc(s.answers, asked) && !slices.ContainsFunc(s.records, tells)
}

// firstSince returns the first packet in the capture since that began, or paused last before
// the given one.
func (s *stream) firstSince(x *record) *record {
	since := int64(0)
	for _, b := range s.recorder.breaks {
		if to := epoch + ns(b.to); to <= x.time {
			since = max(since, to)
		}
	}
	in := s.inPlaces()
	return in[slices.IndexFunc(in, func(y *record) bool { return y.time >= since })]
}

func (s *stream) causes() []string {
	if s.kind == isReadResponse {
		return []string{"response_retransmitted"}
	}
	return []string{"retransmitted", "retransmitted_nak", "retransmitted_timeout", "retransmitted_rnr", "retransmitted_implied"}
}

// cause counts why a request was sent again, where what told so was captured;
// a timeout tells by silence, which a lost NAK breaks.
func (s *stream) cause(c *counter, x *record) {
	p := x.packet
	known := false
	if p.trigger != nil {
		// A NAK behind a READ that lacks responses is both reasons in one.
		t := s.recorder.records[p.trigger]
		known = t != nil && t.captured && (p.again != byImplied || !p.trigger.isNAK()) && !(p.trigger.isNAK() && s.unclear())
	} else {
		known = !slices.ContainsFunc(s.answers, func(a *record) bool {
			return a.lost && a.packet.isNAK() && a.packet.bth.PSN == p.bth.PSN && a.place < x.place
		})
	}
	if known {
		c.add(p, "retransmitted_"+string(p.again), 1)
	} else {
		c.open(p, causeUnseen, s.causes()[1:]...)
	}
}

// roundTrips is how many answers a capture must hold until the shortest round
// trip in it is believed to be the least possible.
const roundTrips = 16

// covered reports whether the capture holds, before a time, an answer that
// covers a resend and was not caused by it.
func (s *stream) covered(x *record, before int64) bool {
	return slices.ContainsFunc(s.answers, func(a *record) bool {
		caused := !x.lost && a.packet.made >= x.packet.reached
		return a.packet.acknowledges(x.packet.bth.PSN) && !caused && a.time < before
	})
}

// roundTrip is the shortest time in the capture from a request of the two hosts
// to the answer to it. An answer that comes sooner cannot answer, however the
// receiver keeps ACKs back.
func (s *stream) roundTrip() int64 {
	a := s.asker()
	if t, ok := s.recorder.quickest()[hosts{a.host, a.peer.host}]; ok {
		return t
	}
	return math.MaxInt32
}

// measures reports whether the capture holds so many answers to what was sent
// once that the shortest round trip is believed, and times that are those of the wire.
func (s *stream) measures() bool {
	if s.recorder.inexact {
		return false
	}
	if s.measured == 0 {
		for _, x := range s.records {
			if slices.ContainsFunc(s.answers, func(a *record) bool { return x.once(a) && x.time < a.time }) {
				s.measured++
			}
		}
	}
	return s.measured >= roundTrips
}

// once reports whether the packet is the only sending of what an answer names.
func (x *record) once(a *record) bool {
	p := x.packet
	return x.captured && !x.lost && p.bth.PSN == a.packet.bth.PSN && p.asker.req.sendings[p.bth.PSN] == 1
}

// hosts are one that asks and one that answers.
type hosts struct{ asks, answers *host }

// quickest returns the shortest round trips by the hosts: of what drew an answer
// at once, and of what was sent once and is named by the answer.
func (r *recorder) quickest() map[hosts]int64 {
	if r.shortest != nil {
		return r.shortest
	}
	r.shortest = map[hosts]int64{}
	for _, s := range r.streams() {
		if s.kind != isRequest {
			continue
		}
		a := s.asker()
		k := hosts{a.host, a.peer.host}
		for _, x := range s.records {
			for _, a := range s.answers {
				drew := x.captured && !x.lost && x.packet.reached == a.packet.made
				if t := a.time - x.time; (drew || x.once(a)) && t > 0 && (r.shortest[k] == 0 || t < r.shortest[k]) {
					r.shortest[k] = t
				}
			}
		}
	}
	return r.shortest
}

// needless counts a resend whose receiver had the packet: certainly where an
// answer that covers it was captured before, or so soon behind it that it cannot
// answer it. A little sooner than the shortest round trip it can: where queues
// stood while that was measured and are empty now, an answer to the resend looks
// like one that was on its way.
func (s *stream) needless(c *counter, x *record) {
	if !x.packet.needless {
		return
	}
	switch soon := s.roundTrip() * 3 / 4; {
	case s.alike(x, func(y *record) bool { return s.lateInTruth(y) && s.lateOrAgain(y) }):
		c.open(x.packet, sameNumber, "spurious")
	case s.covered(x, x.time), s.measures() && s.covered(x, x.time+soon):
		c.add(x.packet, "spurious", 1)
	default:
		c.open(x.packet, coverUnseen, "spurious")
	}
}
