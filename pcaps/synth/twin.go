package synth

import "slices"

// rivals finds which connections the order of packets cannot tell from another
// one between the same hosts. Source ports tell them apart where they follow
// from the queue pairs, and so does connection management.
func rivals(streams []*stream) {
	var asking []*stream
	for _, s := range streams {
		if s.kind == isRequest && s.captured {
			asking = append(asking, s)
		}
	}
	for _, s := range asking {
		for _, x := range asking {
			if x != s && s.sameHosts(x) && (s.mayBe(x, false) || s.mayBe(x, true) && x.mayComeTo(s, asking)) {
				s.twins, x.twins = append(s.twins, x), append(x.twins, s)
			}
		}
	}
	for _, x := range streams {
		if x.kind != isRequest || x.captured || len(x.answers) == 0 {
			continue
		}
		for _, s := range asking {
			if s.sameHosts(x) && x.mayBe(s, false) && s.answeredAsSoonAs(x) {
				s.twins, x.twins = append(s.twins, x), append(x.twins, s)
			}
		}
	}
	for _, s := range asking {
		s.told = slices.ContainsFunc(s.answers, s.alone)
	}
}

// noteTwins notes them in the rows.
func noteTwins(c *counter, streams []*stream) {
	for _, s := range streams {
		for _, x := range s.twins {
			p, q := s.records[0].packet, x.records[0].packet
			c.row(p).Twin = x.back()
			c.rowBack(p).Twin = q.bth.DestQP
		}
	}
}

// alone reports whether the capture shows that the stream, and none of its twins, sends
// again what a NAK asks for: so the two belong together.
func (s *stream) alone(nak *record) bool {
	psn := nak.packet.bth.PSN
	resent := slices.IndexFunc(s.records, func(x *record) bool {
		return x.captured && x.packet.trigger == nak.packet && x.packet.bth.PSN == psn && x.place > nak.place
	})
	if !nak.packet.asksAgain() || resent < 0 {
		return false
	}
	if slices.ContainsFunc(s.recorder.breaks, func(b interval) bool {
		return nak.time < epoch+ns(b.to) && epoch+ns(b.from) < s.records[resent].time
	}) {
		return false // others may have sent it then
	}
	return !slices.ContainsFunc(s.twins, func(x *stream) bool {
		again := func(y *record) bool { return y.captured && y.packet.again != "" && y.packet.bth.PSN == psn }
		asks := func(a *record) bool { return a.packet.asksAgain() && a.packet.bth.PSN == psn }
		return slices.ContainsFunc(x.records, again) || slices.ContainsFunc(x.answers, asks)
	})
}

// answeredAs returns the streams the answers to which may be those to this one, by all that
// the capture tells: it, and its twins where nothing tells them apart.
func (s *stream) answeredAs() []*stream {
	out := []*stream{s}
	if s.told {
		return out
	}
	for _, x := range s.twins {
		if !x.told {
			out = append(out, x)
		}
	}
	return out
}

// unclear reports whether it is not known whose answers are those to the stream.
func (s *stream) unclear() bool { return len(s.answeredAs()) > 1 }

func (s *stream) sameHosts(x *stream) bool {
	p, q := s.records[0].packet, x.records[0].packet
	return p.from == q.from && p.to == q.to && s.unreliable() == x.unreliable()
}

// back is the queue pair that answers to the stream go to.
func (s *stream) back() uint32 {
	p := s.records[0].packet
	return p.conn.a.qpn + p.conn.b.qpn - p.bth.DestQP
}

// answeredAsSoonAs reports whether the answers to the stream come as soon behind the begin
// of the capture as those to another one, all of whose requests passed before that. Where
// what the stream sent may have drawn those, its own may be to what passed before: nothing
// but how long they took tells which, and queues double that.
func (s *stream) answeredAsSoonAs(x *stream) bool {
	begin := int64(0)
	for _, y := range s.recorder.order {
		if y.captured && y.place == 1 {
			begin = y.time
		}
	}
	took := func(s *stream) (ns int64) {
		for _, a := range s.answers {
			ns = max(ns, a.time-begin)
		}
		return ns
	}
	return took(s) <= 2*took(x)
}

// mayComeTo reports whether the answers to the stream may be those to another, as long
// as those to that are to a third one and so on, up to a given one: then all of them may
// have changed their places, and what each of them asked while the capture paused with
// them.
func (s *stream) mayComeTo(to *stream, all []*stream) bool {
	seen := []*stream{s}
	for i := 0; i < len(seen); i++ {
		for _, x := range all {
			if !slices.Contains(seen, x) && seen[i].sameHosts(x) && seen[i].mayBe(x, true) {
				seen = append(seen, x)
			}
		}
	}
	return slices.Contains(seen, to)
}

// mayBe reports whether every answer to the stream could be one to another, if need be to
// what that sent while the capture paused.
func (s *stream) mayBe(x *stream, paused bool) bool {
	c := s.records[0].packet.conn
	followsFromQPs := !c.ByCM && c.Port == 0 && !c.world.scenario.Network.RoCEv1
	if followsFromQPs || c.ByCM && s.recorder.introduced[c] {
		return false
	}
	for _, a := range s.answers {
		if !x.passedBefore(a) && !(paused && x.passedInPause(a)) {
			return false
		}
	}
	return true
}

// passedBefore reports whether the stream's request of an answer's PSN passed
// the tap before the answer, or may have before the capture began.
func (s *stream) passedBefore(a *record) bool {
	first := slices.IndexFunc(s.records, func(x *record) bool { return x.captured })
	if a.packet.bth.PSN.Before(s.records[first].packet.bth.PSN) {
		return true
	}
	return slices.ContainsFunc(s.records, func(x *record) bool { return x.captured && x.place < a.place && x.packet.covers(a.packet.bth.PSN) })
}

// passedInPause reports whether the stream may have asked for an answer while the capture
// paused before it: what it sent until then lies before that, and what it sent since
// behind it.
func (s *stream) passedInPause(a *record) bool {
	psn := a.packet.bth.PSN
	return slices.ContainsFunc(s.recorder.breaks, func(b interval) bool {
		from, to := epoch+ns(b.from), epoch+ns(b.to)
		return a.time >= to && !slices.ContainsFunc(s.records, func(x *record) bool {
			return x.captured && (x.time < from && x.packet.next().After(psn) || x.time >= to && !x.packet.bth.PSN.After(psn))
		})
	})
}
