package synth

import (
	"math"
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
	captured  bool
	shortest  int64 // round trip; 0 not looked for
	measured  int   // answers that tell it
}

// The reasons why a fate is open.
const (
	nothingBehind  = "nothing that was sent behind it in the same pass is in the capture"
	passStartsHere = "it would have been the first packet of a pass, of whose beginning nothing tells"
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
	nothingBefore  = "the capture holds nothing of the queue pair before it"
	noRule         = "too little came before it to tell that the PSNs count what is sent here"
	badClock       = "the tap's clock varies, so that the capture's order is not that of the wire"
	byTheClock     = "the requester waited for its timer, which tells less than a NAK"
	seenBefore     = "the capture holds an earlier sending, so it looks as if it had not been sent again"
)

// judge counts what became of the stream's packets.
func (s *stream) judge(c *counter) {
	if !s.captured {
		return
	}
	s.resends(c)
	for i, x := range s.records {
		switch {
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
}

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

func (s *stream) asker() *endpoint { return s.records[0].packet.asker }

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

// idsTell reports whether IPv4 IDs tell a packet from its copy.
func (s *stream) idsTell() bool {
	net := &s.recorder.world.scenario.Network
	return net.IDs == RisingIDs && !net.IPv6 && !net.RoCEv1
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
// without a resend: it comes before the resend could have been answered.
func (s *stream) refuted(nak *record) bool {
	resent := int64(math.MaxInt64)
	for _, x := range s.records {
		if x.captured && x.place > nak.place && x.packet.bth.PSN == nak.packet.bth.PSN {
			resent = min(resent, x.time)
		}
	}
	return s.roundTrip() > 0 && s.measured >= roundTrips && slices.ContainsFunc(s.answers, func(a *record) bool {
		return a.place > nak.place && a.packet.acknowledges(nak.packet.bth.PSN) && a.time < resent+s.roundTrip()*3/4
	})
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
		s.resend(c, x, known)
		s.timeout(c, x)
		s.likeCopy(c, x, n)
	}
}

// timeout notes that what a timer had sent again may have been lost, or its
// answer, without the capture telling which.
func (s *stream) timeout(c *counter, x *record) {
	if p := x.packet; s.kind == isRequest && p.again == byTimeout {
		c.open(p, byTheClock, "unresolved", "lost_acks")
	}
}

// likeCopy leaves open what a packet is that comes so soon behind another one
// with its PSN, and with no NAK between, that it looks like a copy. Where IDs
// tell, it does not.
func (s *stream) likeCopy(c *counter, x *record, n int) {
	if n == 0 || s.idsTell() {
		return
	}
	for _, y := range s.inPlaces()[:n] {
		if y.packet.bth.PSN != x.packet.bth.PSN || x.time-y.time > copyView {
			continue
		}
		if !slices.ContainsFunc(s.answers, func(a *record) bool { return a.packet.isNAK() && y.place < a.place && a.place < x.place }) {
			c.open(x.packet, looksCopied, append(s.causes(), "mirror_duplicates", s.column("lost_upstream"), s.column("reordered"), "spurious", "messages")...)
			return
		}
	}
}

// copyView is how soon behind another one a packet looks like its copy, in ns.
const copyView = 30_000

// asked reports whether the capture shows the READ that a response answers.
func (s *stream) asked(x *record) bool {
	return s.kind == isReadResponse && slices.ContainsFunc(s.questions, func(q *record) bool { return q.packet.covers(x.packet.bth.PSN) && q.packet.again == "" })
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

func (s *stream) resend(c *counter, x *record, known bool) {
	p := x.packet
	again, last := p.again != "", p.bth.Opcode.Is(ib.IsLast|ib.IsOnly)
	switch {
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
		t := s.recorder.records[p.trigger]
		known = t != nil && t.captured
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
		return a.packet.acknowledges(x.packet.bth.PSN) && a.packet.made <= x.packet.reached && a.time < before
	})
}

// roundTrip is the shortest time in the capture from a request to its answer, by
// those that were sent once; measured is how many tell it.
func (s *stream) roundTrip() int64 {
	if s.shortest == 0 {
		s.shortest = math.MaxInt32
		for _, a := range s.answers {
			for _, x := range s.records {
				if x.captured && !x.lost && x.packet.bth.PSN == a.packet.bth.PSN && x.packet.asker.req.sendings[x.packet.bth.PSN] == 1 && x.time < a.time {
					s.shortest = min(s.shortest, a.time-x.time)
					s.measured++
				}
			}
		}
	}
	return s.shortest
}

func (p *packet) isNAK() bool { return p.kind == isAck && p.syndrome() == ib.NAKPSNSequence }

// needless counts a resend whose receiver had the packet: certainly where an
// answer that covers it was captured before, or so soon behind it that it cannot
// answer it.
func (s *stream) needless(c *counter, x *record) {
	if !x.packet.needless {
		return
	}
	switch soon := s.roundTrip() * 7 / 8; {
	case s.covered(x, x.time), s.measured >= roundTrips && s.covered(x, x.time+soon):
		c.add(x.packet, "spurious", 1)
	default:
		c.open(x.packet, coverUnseen, "spurious")
	}
}

// acknowledges reports whether an answer shows that the request of a PSN
// arrived.
func (p *packet) acknowledges(psn ib.PSN) bool {
	if t := p.syndrome().Type(); p.kind == isAck && t != ib.ACK {
		return psn.Before(p.bth.PSN)
	}
	return !p.bth.PSN.Before(psn)
}

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
	case s.kind == isReadResponse:
		return true, ""
	case !shown:
		return false, nothingBehind
	case !slices.ContainsFunc(s.records[:i], func(y *record) bool { return y.captured }):
		return false, nothingBefore
	case p.again != "" && !s.passSeen(i, x):
		return false, passStartsHere
	}
	return true, ""
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
	default:
		c.add(p, s.column("lost_upstream"), 1)
		s.hole(c, i, x)
	}
}

func (s *stream) unreliable() bool { return s.records[0].packet.conn.Transport != ib.RC }

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
// of the same pass.
func (s *stream) missing(i, pass int) bool {
	x := s.records[i]
	return !x.captured && !x.outside && x.packet.pass == pass
}

// unseen counts a packet that arrived without being captured.
func (s *stream) unseen(c *counter, i int, x *record) {
	p := x.packet
	if s.unreliable() {
		s.datagram(c, i, x)
		return
	}
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

// arrivalShown reports whether the capture shows that a packet arrived. That a
// response did, nothing says but that it is not asked for again.
func (s *stream) arrivalShown(x *record) bool {
	if s.kind == isReadResponse {
		return s.wentOn(x)
	}
	return slices.ContainsFunc(s.answers, func(a *record) bool { return a.packet.acknowledges(x.packet.bth.PSN) })
}

// wentOn reports whether the requester asked for more after a response came that
// the capture does not hold: it did not miss it.
func (s *stream) wentOn(x *record) bool {
	for _, q := range s.questions {
		if q.packet.again == "" && q.packet.made > x.packet.reached {
			return true
		}
	}
	return false
}

// lostBehind counts a packet that passed the tap and never arrived.
func (s *stream) lostBehind(c *counter, i int, x *record) {
	p := x.packet
	switch {
	case s.unreliable():
	case s.kind == isReadResponse && s.askedAgain(x):
		c.add(p, "response_lost_downstream", 1)
	case s.kind == isRequest && s.named(i, x) && !s.cameEarly(i, x):
		c.add(p, "lost_downstream", 1)
	default:
		c.open(p, notNAKed, s.column("lost_downstream"), s.column("unresolved"), "lost_acks")
	}
}

// cameEarly reports whether the packet passed while an earlier one was on its
// way: its receiver would have thrown it away even if it had come.
func (s *stream) cameEarly(i int, x *record) bool {
	return slices.ContainsFunc(s.records[:i], func(y *record) bool {
		return y.packet.pass == x.packet.pass && !y.before() && (y.place > x.place || !y.captured)
	})
}

// named reports whether the capture holds a NAK that names the packet, sent
// before the packet was sent again.
func (s *stream) named(i int, x *record) bool {
	return slices.ContainsFunc(s.answers, func(a *record) bool {
		return a.packet.isNAK() && a.packet.bth.PSN == x.packet.bth.PSN && a.packet.blames == s.instance(i)
	})
}

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

// askedAgain reports whether the capture holds a READ that begins with the lost
// response, sent because of what came behind it.
func (s *stream) askedAgain(x *record) bool {
	return slices.ContainsFunc(s.questions, func(q *record) bool {
		return q.packet.again == byImplied && q.packet.bth.PSN == x.packet.bth.PSN && q.place > x.place
	})
}

// late counts what passed the tap behind packets that were sent later.
func (s *stream) late(c *counter) {
	newest := -1
	for _, x := range s.inPlaces() {
		i := slices.Index(s.records, x)
		if i < newest {
			s.overtaken(c, i, x)
		}
		newest = max(newest, i)
	}
}

// lateInTruth reports whether a packet passed behind one that was sent later.
func (s *stream) lateInTruth(x *record) bool {
	return slices.ContainsFunc(s.records, func(y *record) bool {
		return y.captured && y.packet.order > x.packet.order && y.passing < x.passing
	})
}

func (s *stream) overtaken(c *counter, i int, x *record) {
	if !s.lateInTruth(x) {
		c.open(x.packet, badClock, append(s.holes(), append(s.causes(), s.column("reordered"), "spurious")...)...)
		return
	}
	twice := slices.ContainsFunc(s.records, func(y *record) bool { return y != x && y.captured && y.packet.bth.PSN == x.packet.bth.PSN })
	if twice && s.recorder.world.scenario.Network.IDs != RisingIDs {
		c.open(x.packet, sameNumber, append(s.holes(), append(s.causes(), s.column("reordered"), "spurious", "messages")...)...)
		return
	}
	c.add(x.packet, s.column("reordered"), 1)
	c.add(x.packet, s.column("gap_frames"), 1)
	if i == 0 || !s.lateTogether(s.records[i-1], x) {
		c.add(x.packet, s.column("gaps"), 1)
	}
}

// lateTogether reports whether two adjoining packets were missing at one time:
// the first had not come when a later one passed.
func (s *stream) lateTogether(before, x *record) bool {
	if !before.captured {
		return before.packet.pass == x.packet.pass
	}
	for _, y := range s.records {
		if y.captured && y.packet.order > x.packet.order && y.place < before.place && y.place < x.place {
			return true
		}
	}
	return false
}
