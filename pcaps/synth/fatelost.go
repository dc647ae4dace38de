package synth

import (
	"slices"
)

// lostBehind counts a packet that passed the tap and never arrived.
func (s *stream) lostBehind(c *counter, i int, x *record) {
	p := x.packet
	switch {
	case s.unreliable():
	case s.kind == isReadResponse && s.askedAgain(x):
		c.add(p, "response_lost_downstream", 1)
	case s.kind == isRequest && s.named(i, x) && !s.cameEarly(i, x) && s.unclear():
		c.open(p, whoseNAK, "lost_downstream", "unresolved")
	case s.kind == isRequest && s.named(i, x) && !s.cameEarly(i, x) && s.namedAsLate(i, x):
		c.open(p, lateOrLost, "lost_downstream")
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

// namedAsLate reports whether every NAK that names a packet, which came late, was on its way
// when it passed: what overtook it had drawn that. Had the packet arrived then, its receiver
// would have thrown away what came before it, and would be asked for no less.
func (s *stream) namedAsLate(i int, x *record) bool {
	return s.lateAmongItsKind(x) && !slices.ContainsFunc(s.answers, func(a *record) bool {
		return s.names(a, i, x) && a.time-x.time >= s.roundTrip()
	})
}

// named reports whether the capture holds a NAK that names the packet, sent
// before the packet was sent again.
func (s *stream) named(i int, x *record) bool {
	return slices.ContainsFunc(s.answers, func(a *record) bool { return s.names(a, i, x) })
}

func (s *stream) names(a *record, i int, x *record) bool {
	return a.packet.isNAK() && a.packet.bth.PSN == x.packet.bth.PSN && a.packet.blames == s.instance(i)
}

// askedAgain reports whether the capture holds a READ that begins with the lost
// response, sent because of what came behind it. Only the first packet of a pass is
// asked for because of what it lacks; those behind it are asked for because it was.
// Of a response that passed more than once it speaks for the newest.
func (s *stream) askedAgain(x *record) bool {
	return slices.ContainsFunc(s.questions, func(q *record) bool {
		return q.packet.again == byImplied && q.packet.bth.PSN == x.packet.bth.PSN && q.place > x.place && s.beginsPass(q) &&
			!s.alike(x, func(y *record) bool { return x.place < y.place && y.place < q.place })
	})
}

// beginsPass reports whether a request was the first that its requester sent again
// when it went back.
func (s *stream) beginsPass(q *record) bool {
	return !slices.ContainsFunc(s.recorder.order, func(y *record) bool {
		return y.packet.asker == q.packet.asker && y.packet.kind == isRequest && y.packet.pass == q.packet.pass && y.packet.again != "" && y.packet.order < q.packet.order
	})
}

// late counts what passed the tap behind packets that were sent later.
func (s *stream) late(c *counter) {
	newest := -1
	for _, x := range s.inPlaces() {
		i := slices.Index(s.records, x)
		if i < newest || s.behindAnswer(x) {
			s.overtaken(c, i, x)
		}
		newest = max(newest, i)
	}
}

// lateInTruth reports whether a packet passed behind one that was sent later.
func (s *stream) lateInTruth(x *record) bool {
	return s.lateAmongItsKind(x) || slices.ContainsFunc(s.sentBehind(x), func(a *record) bool { return a.passing < x.passing })
}

// lateAmongItsKind reports whether another packet of the stream overtook one.
func (s *stream) lateAmongItsKind(x *record) bool {
	return slices.ContainsFunc(s.records, func(y *record) bool {
		return y.captured && y.packet.order > x.packet.order && y.passing < x.passing
	})
}

// behindAnswer reports whether a READ response passed behind an answer to what was
// asked for after it: a responder answers in order, so that the one was overtaken by
// the other just as by a further response.
func (s *stream) behindAnswer(x *record) bool {
	return slices.ContainsFunc(s.sentBehind(x), func(a *record) bool { return a.place < x.place })
}

// sentBehind returns the answers other than responses in the capture that were sent
// behind a READ response, to later requests.
func (s *stream) sentBehind(x *record) []*record {
	var out []*record
	for _, a := range s.answers {
		if s.kind == isReadResponse && a.packet.made >= x.packet.made && x.packet.bth.PSN.Before(a.packet.bth.PSN) {
			out = append(out, a)
		}
	}
	return out
}

func (s *stream) overtaken(c *counter, i int, x *record) {
	if !s.lateInTruth(x) {
		c.open(x.packet, badClock, append(s.holes(), append(s.causes(), s.column("reordered"), "spurious")...)...)
		return
	}
	if s.nothingTells(x) {
		return
	}
	if s.lateOrAgain(x) {
		c.open(x.packet, sameNumber, append(s.holes(), append(s.causes(), s.column("reordered"), "spurious", "messages")...)...)
		return
	}
	if x.packet.again != "" && !s.lateAmongItsKind(x) {
		c.open(x.packet, answeredFirst, append(s.holes(), s.column("reordered"))...)
		return
	}
	c.add(x.packet, s.column("reordered"), 1)
	c.add(x.packet, s.column("gap_frames"), 1)
	if i == 0 || !s.lateTogether(s.records[i-1], x) {
		c.add(x.packet, s.column("gaps"), 1)
	}
}

// lateOrAgain reports whether nothing tells which of the packets with one PSN is
// the late one.
func (s *stream) lateOrAgain(x *record) bool {
	return !s.idsTell() && s.alike(x, func(*record) bool { return true }) && !s.beforeAnyReaction(x)
}

// alike reports whether the capture holds another packet with the PSN that is so.
func (s *stream) alike(x *record, so func(*record) bool) bool {
	return slices.ContainsFunc(s.records, func(y *record) bool {
		return y != x && y.captured && y.packet.bth.PSN == x.packet.bth.PSN && so(y)
	})
}

// beforeAnyReaction reports whether a late packet passed before anything could have
// had it sent again: sooner behind the one that showed that it was missing than a
// round trip, with no packet sent again between, and no NAK that calls for it.
func (s *stream) beforeAnyReaction(x *record) bool {
	if x.packet.again != "" || s.earlier(slices.Index(s.records, x), x) || !s.measures() {
		return false
	}
	shown := s.shownBy(x)
	if shown == nil || x.time-shown.time >= s.roundTrip()*3/4 {
		return false
	}
	for _, a := range s.answers {
		if a.packet.isNAK() && a.place < x.place && !x.packet.bth.PSN.Before(a.packet.bth.PSN) && !s.followed(a, shown) {
			return false
		}
	}
	return !slices.ContainsFunc(s.records, func(y *record) bool {
		return y.captured && y.packet.again != "" && y.place > shown.place && y.place < x.place
	})
}

// shownBy returns the first packet in the capture that was sent behind one that is
// late.
func (s *stream) shownBy(x *record) *record {
	var first *record
	for _, y := range s.records {
		if y.captured && y.packet.order > x.packet.order && y.place < x.place && (first == nil || y.place < first.place) {
			first = y
		}
	}
	return first
}

// followed reports whether what a NAK had sent again passed before some packet.
func (s *stream) followed(nak, before *record) bool {
	return slices.ContainsFunc(s.records, func(y *record) bool {
		return y.captured && y.packet.trigger == nak.packet && y.place < before.place
	})
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
