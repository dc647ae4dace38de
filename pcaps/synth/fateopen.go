package synth

import (
	"math"
	"slices"

	"github.com/rocescope/rocescope/decode/ib"
)

// The reasons why a fate is open.
const (
	nothingBehind  = "nothing that was sent behind it in the same pass is in the capture"
	passStartsHere = "it would have been the first packet of a pass, of whose beginning nothing tells"
	nothingOfPass  = "nothing of the pass is in the capture, which looks as if the NAK that calls for it had not come to the requester"
	neverClosed    = "no capture of its resend shows that it was lost"
	closedByResend = "it was sent again with the packets behind a real loss, which looks as if it had been lost, too"
	notAcked       = "no answer in the capture shows that it arrived"
	bothLost       = "the capture missed it, and the network lost it behind the tap"
	notNAKed       = "no NAK in the capture names it"
	newAtTheTap    = "the tap did not see the PSN before, so it looks like the first sending"
	causeUnseen    = "what had it sent again is not in the capture"
	coverUnseen    = "the capture does not hold, before it, the answer that made it needless"
	sameNumber     = "its PSN comes twice, and nothing but the time tells which is late"
	questionUnseen = "the READ that asks for it is not in the capture"
	looksLost      = "a NAK names it although it was not lost, and no answer comes too soon for a resend"
	looksCopied    = "it comes so soon behind the one before with its PSN that it looks like a copy"
	wasOnTheWay    = "the READ is asked again although its response was on the way"
	answeredTwice  = "a second answer to a resend would look like it"
	sameBytes      = "it is the same, byte for byte, as another answer"
	answersCopied  = "what it answers looks like a copy, and so does it"
	nothingBefore  = "the capture holds nothing of the queue pair before it"
	noneOfThem     = "nothing of what the repeated READ drew is in the capture, which looks as if the READ had been lost"
	noRule         = "too little came before it to tell that the PSNs count what is sent here"
	badClock       = "the tap's clock varies, so that the capture's order is not that of the wire"
	byTheClock     = "the requester waited for its timer, which tells less than a NAK"
	howMany        = "no response of the queue pair is in the capture, so that no path MTU tells for certain how many a READ draws"
	manyPSNs       = "a READ that is missing together with its responses looks like as many requests"
	answeredFirst  = "it was sent again, and the answer before it may be to what was sent the first time"
	beganBehind    = "it passed before the capture began, and one of an earlier PSN behind that, which looks as if it had been missed or lost"
	lateOrMore     = "it is of an earlier PSN than the first packet in the capture, or behind a pause of it, and nothing tells whether it came late or was sent again"
	whoseNAK       = "another queue pair, which sent the same, may be the one that the NAK is for, and none alone sends again what it asks for"
	lateOrLost     = "it came late, and the NAK that names it was drawn by what overtook it: whether it arrived then, nothing tells"
	seenBefore     = "the capture holds an earlier sending, so it looks as if it had not been sent again"
)

// withoutQuestion leaves open what became of the responses to a queue pair of
// which the capture lacks a READ: then it is not certain which READ a response
// answers.
func (s *stream) withoutQuestion(c *counter) {
	if s.kind != isReadResponse || s.asker().missedReads == 0 {
		return
	}
	p := s.records[0].packet
	r := c.row(p)
	for _, name := range []string{"gaps", "gap_frames", "lost_upstream", "lost_downstream", "not_captured", "reordered", "retransmitted"} {
		column := s.column(name)
		r.Counts[column] = 0
		for range s.records {
			c.open(p, questionUnseen, column)
		}
	}
}

// passedEarly leaves open what became of a packet that passed before the capture began,
// where the capture begins with one of an earlier PSN, late or sent again, and goes on
// with one of a later PSN.
func (s *stream) passedEarly(c *counter, x *record) {
	psn, earlier := x.packet.bth.PSN, false
	for _, y := range s.inPlaces() {
		switch d := y.packet.bth.PSN.Sub(psn); {
		case d < 0:
			earlier = true
		case earlier && d > 0:
			c.open(x.packet, beganBehind, s.holes()...)
			return
		default:
			return
		}
	}
}

// allUnseen leaves open what became of the responses to a queue pair of which the capture
// holds none, but a READ that asked for them: as many PSNs may be other requests that it
// missed, behind a READ that one larger packet answered.
func (s *stream) allUnseen(c *counter) {
	if s.captured || s.kind != isReadResponse || len(s.questions) == 0 {
		return
	}
	for _, x := range s.records {
		if x.unseen() {
			c.open(x.packet, howMany, s.holes()...)
		}
	}
}

// needlessQuestions leaves open what a READ that is asked again tells where its
// response was on the way: one that came early made it look lost.
func (s *stream) needlessQuestions(c *counter) {
	if s.kind != isReadResponse {
		return
	}
	for _, q := range s.questions {
		if q.packet.again != byImplied {
			continue
		}
		for _, x := range s.records {
			if x.packet.bth.PSN == q.packet.bth.PSN && x.captured && !x.lost && x.place < q.place {
				c.open(x.packet, wasOnTheWay, "response_lost_downstream")
				break
			}
		}
	}
}

// answersTwice leaves open whether an ACK was copied, or sent again for a
// resend, where IDs do not tell.
func (s *stream) answersTwice(c *counter) {
	if s.kind != isRequest || s.idsTell() {
		return
	}
	for _, a := range s.answers {
		if a.copies > 0 && slices.ContainsFunc(s.records, func(x *record) bool { return x.packet.again != "" && x.time < a.time && x.captured }) {
			for range a.copies {
				c.open(a.packet, answeredTwice, "mirror_duplicates")
			}
		}
	}
}

// sameFrames leaves open whether an answer was copied that is the same, byte for byte,
// as another one: its IP ID, which is random, happens to be the same as well.
func (s *stream) sameFrames(c *counter) {
	net := &s.recorder.world.scenario.Network
	if s.kind != isRequest || net.IDs != RandomIDs || net.IPv6 || net.RoCEv1 {
		return
	}
	for i, a := range s.answers {
		if a.packet.kind == isAck && slices.ContainsFunc(s.answers[:i], func(b *record) bool { return a.packet.sameAnswer(b.packet) }) {
			c.open(a.packet, sameBytes, "mirror_duplicates")
		}
	}
}

// sameAnswer reports whether two answers cannot be told apart on the wire.
func (p *packet) sameAnswer(q *packet) bool {
	a, b := p.aeth(), q.aeth()
	return p.id == q.id && p.bth == q.bth && a.Syndrome == b.Syndrome && a.MSN == b.MSN
}

// answersUnasked leaves open whether an ACK alike soon behind another one, of which the
// capture does not hold what drew it, is a copy. A third one shows that they answer
// duplicates.
func (s *stream) answersUnasked(c *counter) {
	if s.kind != isRequest || s.idsTell() {
		return
	}
	twice := map[ib.PSN]bool{}
	for i, a := range s.answers {
		p := a.packet
		asked := slices.ContainsFunc(s.records, func(x *record) bool { return x.captured && x.packet.reached == p.made })
		if p.kind != isAck || asked || twice[p.bth.PSN] {
			continue
		}
		if twice[p.bth.PSN] = slices.ContainsFunc(s.answers[:i], func(b *record) bool {
			return a.time-b.time <= copyView && b.packet.bth.PSN == p.bth.PSN && b.packet.syndrome() == p.syndrome()
		}); twice[p.bth.PSN] {
			c.open(p, answersCopied, "mirror_duplicates")
		}
	}
}

// needlessNAKs leaves open what a NAK tells that names a packet which was not
// lost: it came late, or had been thrown away because another one did. Where no
// answer follows too soon for a resend, that looks like a loss behind the tap.
func (s *stream) needlessNAKs(c *counter) {
	if s.kind != isRequest {
		return
	}
	for _, a := range s.answers {
		if !a.packet.isNAK() {
			continue
		}
		for i, x := range s.records {
			if x.packet.bth.PSN == a.packet.bth.PSN && s.instance(i) == a.packet.blames && !x.lost && !s.refuted(a) {
				c.open(x.packet, looksLost, "lost_downstream")
			}
		}
	}
}

// refuted reports whether an answer shows that what a NAK names had arrived
// without a resend: it comes before the resend could have been answered. Where
// the capture holds none, one may have passed unseen from the NAK on.
func (s *stream) refuted(nak *record) bool {
	resent := int64(math.MaxInt64)
	for _, x := range s.records {
		if x.captured && x.place > nak.place && x.packet.bth.PSN == nak.packet.bth.PSN {
			resent = min(resent, x.time)
		}
	}
	if resent == math.MaxInt64 {
		resent = nak.time
	}
	for _, b := range s.recorder.breaks { // it may have passed then
		if to := epoch + ns(b.to); nak.time < to {
			resent = min(resent, max(nak.time, epoch+ns(b.from)))
		}
	}
	return s.measures() && slices.ContainsFunc(s.answers, func(a *record) bool {
		return a.place > nak.place && a.packet.acknowledges(nak.packet.bth.PSN) && a.time < resent+s.roundTrip()*3/4
	})
}

// timeout notes that what a timer had sent again may have been lost, or its
// answer, without the capture telling which.
func (s *stream) timeout(c *counter, x *record) {
	if p := x.packet; s.kind == isRequest && p.again == byTimeout {
		c.open(p, byTheClock, "unresolved", "lost_acks")
	}
}

// likeCopy leaves open what a packet is that looks like a copy, and what the answer
// is that it drew. It reports whether it does.
func (s *stream) likeCopy(c *counter, x *record, n int) bool {
	if !s.looksCopied(x, n) {
		return false
	}
	c.open(x.packet, looksCopied, append(s.causes(), "mirror_duplicates", s.column("lost_upstream"), s.column("reordered"), "spurious", "messages")...)
	if s.kind == isRequest && !s.goesOn(x, n) {
		s.answerLikeCopy(c, x)
	}
	return true
}

// looksCopied reports whether the packet captured as number n comes so soon behind
// another one with its PSN, and with no NAK between, that it looks like a copy.
// Where IDs tell, it does not.
func (s *stream) looksCopied(x *record, n int) bool {
	if n == 0 || s.idsTell() {
		return false
	}
	return slices.ContainsFunc(s.inPlaces()[:n], func(y *record) bool {
		return y.packet.bth.PSN == x.packet.bth.PSN && x.time-y.time <= copyView &&
			!slices.ContainsFunc(s.answers, func(a *record) bool { return a.packet.isNAK() && y.place < a.place && a.place < x.place })
	})
}

// answerLikeCopy leaves open what the answer is that a packet drew which looks like
// a copy: where the same answer has come not long before, a mirror may have copied
// that as well.
func (s *stream) answerLikeCopy(c *counter, x *record) {
	for _, a := range s.answers {
		if a.packet.made != x.packet.reached || a.packet.kind != isAck {
			continue
		}
		if slices.ContainsFunc(s.answers, func(b *record) bool {
			return b.place < a.place && a.time-b.time <= copyView && b.packet.bth.PSN == a.packet.bth.PSN && b.packet.syndrome() == a.packet.syndrome()
		}) {
			c.open(a.packet, answersCopied, "mirror_duplicates")
		}
	}
}

// copyView is how soon behind another one a packet looks like its copy, in ns.
const copyView = 30_000
