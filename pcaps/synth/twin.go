package synth

import "slices"

// twins notes which connections the order of packets cannot tell from another
// one between the same hosts. Source ports tell them apart where they follow
// from the queue pairs, and so does connection management.
func (r *recorder) twins(c *counter) {
	asking := slices.DeleteFunc(r.streams(), func(s *stream) bool { return s.kind != isRequest || !s.captured })
	for _, s := range asking {
		for _, x := range asking {
			if x != s && s.sameHosts(x) && s.mayBe(x) {
				p, q := s.records[0].packet, x.records[0].packet
				c.row(p).Twin = x.back()
				c.rowBack(p).Twin = q.bth.DestQP
				c.row(q).Twin = s.back()
				c.rowBack(q).Twin = p.bth.DestQP
			}
		}
	}
}

func (s *stream) sameHosts(x *stream) bool {
	p, q := s.records[0].packet, x.records[0].packet
	return p.from == q.from && p.to == q.to && s.unreliable() == x.unreliable()
}

// back is the queue pair that answers to the stream go to.
func (s *stream) back() uint32 {
	p := s.records[0].packet
	return p.conn.a.qpn + p.conn.b.qpn - p.bth.DestQP
}

// mayBe reports whether every answer to the stream could be one to another.
func (s *stream) mayBe(x *stream) bool {
	c := s.records[0].packet.conn
	followsFromQPs := !c.ByCM && c.Port == 0 && !c.world.scenario.Network.RoCEv1
	if followsFromQPs || c.ByCM && s.recorder.introduced[c] {
		return false
	}
	for _, a := range s.answers {
		if !x.passedBefore(a) {
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
