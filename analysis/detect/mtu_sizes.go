package detect

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// climb finds the largest packet of a row that arrived, without a list of all
// that are under way: a packet that is not larger than one sent before it need not
// be kept, for where it arrived that one did as well.
type climb struct {
	arrived int64
	list    [6]step // under way: ascending by PSN, and by size
	n       uint8
}

type step struct {
	psn  ib.PSN
	size int64
}

func (c *climb) sent(psn ib.PSN, size int64) {
	switch {
	case size <= c.arrived || c.n > 0 && size <= c.list[c.n-1].size:
	case int(c.n) == len(c.list):
		c.list[c.n-1].size = size // rather too much than too little has arrived
	default:
		c.list[c.n] = step{psn, size}
		c.n++
	}
}

// upTo lets all before end arrive.
func (c *climb) upTo(end ib.PSN) {
	i := 0
	for i < int(c.n) && c.list[i].psn.Before(end) {
		c.arrived = c.list[i].size
		i++
	}
	c.n = uint8(copy(c.list[:], c.list[i:c.n]))
}

// requestSizes is the requests of a row by size: those that are a whole message
// (Only), and those that are part of one (First, Middle, Last).
type requestSizes struct {
	una, high  ib.PSN // all before una arrived; one past the highest sent
	previous   ib.PSN // of the request before
	only, part climb
	answers    int64 // that let something arrive
	lastNs     int64 // of the last of them
	try        try
	// tail is the end of a message whose other packets never come by, and holds
	// from una on as try does.
	tail try
	full bool // some of the others did
}

// try is one packet that is sent again and again; it is empty while sendings is
// 0. Its size is 0 while it has not come by: where the tap lies behind the link
// that is too narrow for it, only the end of its message does.
type try struct {
	psn       ib.PSN
	sendings  int64
	size      int64
	behind    int64 // the smallest packet sent behind it, 0 none
	naks      int64 // that asked for it
	asks      int64 // bytes that it asks for, where it is a READ
	first     bool  // it opens a message of several packets
	firstNs   int64
	lastNs    int64
	firstSeen uint64 // frames
	lastSeen  uint64
}

// again counts a sending.
func (t *try) again(p *decode.Packet, size int64) {
	if t.size == 0 {
		t.firstNs, t.firstSeen = p.Time, p.Frame
	}
	t.psn, t.sendings, t.size, t.lastNs, t.lastSeen = p.PSN, t.sendings+1, size, p.Time, p.Frame
}

// sent takes a request; it reports whether the requester stepped back to it.
func (s *requestSizes) sent(p *decode.Packet) (back bool) {
	size := packetSize(p)
	if !p.PSN.Before(s.high) {
		s.high = p.PSN.Add(1)
		if p.Op.Is(ib.IsOnly) {
			s.only.sent(p.PSN, size)
		} else {
			s.part.sent(p.PSN, size)
		}
	}
	t := &s.try
	switch {
	case p.PSN == s.una:
		t.again(p, size)
		t.first, t.asks = p.Op.Is(ib.IsFirst), 0
		if p.Op.Is(ib.IsRead) {
			t.asks = int64(p.DMALen)
		}
	case t.size != 0 && p.PSN.After(s.una):
		t.lastNs = p.Time
		if t.behind == 0 || size < t.behind {
			t.behind = size
		}
	case p.PSN.After(s.una) && p.Op.Is(ib.IsLast):
		if s.tail.psn != p.PSN {
			s.tail = try{}
		}
		s.tail.again(p, size)
	case p.PSN.After(s.una) && p.Op.Is(ib.IsFirst|ib.IsMiddle):
		s.full = true
	}
	back = !p.PSN.After(s.previous)
	s.previous = p.PSN
	return back
}

// answered takes an answer to the requests. A packet that was refused for want of
// a buffer, or for what it asks, has arrived.
func (s *requestSizes) answered(p *decode.Packet) {
	end := p.PSN.Add(1)
	if p.Op.Is(ib.IsAck) {
		if !p.HasExt {
			return
		}
		if p.Syndrome&0x7F == ib.NAKPSNSequence {
			end = p.PSN
			if end == s.una {
				s.try.naks++
			}
		}
	}
	if !end.After(s.una) || end.Sub(s.high) > 1<<16 {
		return
	}
	s.una, s.try, s.tail, s.full = end, try{psn: end}, try{}, false
	if end.Before(s.high) {
		s.try.sendings = 1 // it is on its way already
	}
	s.answers, s.lastNs = s.answers+1, p.Time
	s.only.upTo(end)
	s.part.upTo(end)
}

// replySizes is the READ responses of a row by size.
type replySizes struct {
	list   [16]reply // to the newest READs: as many as adapters have under way
	next   uint8
	frames int64
	most   int64 // the largest that is no longer in the list
	try    try   // of the response that is asked for again and again
}

// reply is the responses to one READ, or to one that was asked again; it is
// empty while size is 0.
type reply struct {
	start, end ib.PSN
	size       int64
	frame      uint64
	ns         int64
}

func (s *replySizes) sent(p *decode.Packet) {
	s.frames++
	size := packetSize(p)
	if e := &s.list[(int(s.next)+len(s.list)-1)%len(s.list)]; e.size != 0 && e.end == p.PSN && !p.Op.Is(ib.IsFirst|ib.IsOnly) {
		e.end, e.size = p.PSN.Add(1), max(e.size, size)
		return
	}
	e := &s.list[s.next]
	s.most = max(s.most, e.size)
	*e = reply{p.PSN, p.PSN.Add(1), size, p.Frame, p.Time}
	s.next = (s.next + 1) % uint8(len(s.list))
}

// askedAgain forgets the responses from the PSN of a repeated READ on: they did
// not reach the requester. back tells that the requester stepped back to it, so
// that it is this response that is missing.
func (s *replySizes) askedAgain(p *decode.Packet, back bool) {
	var lost reply
	var tail int64 // the smallest that stands behind what never came by
	for i := range s.list {
		e := &s.list[i]
		if e.size == 0 || !e.end.After(p.PSN) {
			continue
		}
		if e.start.Before(p.PSN) {
			lost = *e
			e.end = p.PSN
			continue
		}
		if e.start == p.PSN {
			lost = *e
		} else if tail == 0 || e.size < tail {
			tail = e.size
		}
		*e = reply{}
	}
	if !back || lost.size == 0 && tail == 0 {
		return
	}
	if t := &s.try; t.sendings == 0 || t.psn != p.PSN {
		*t = try{psn: p.PSN, firstNs: lost.ns, firstSeen: lost.frame}
		if lost.size == 0 {
			t.firstNs, t.firstSeen = p.Time, p.Frame
		}
	}
	t := &s.try
	t.sendings, t.size, t.lastNs, t.lastSeen = t.sendings+1, lost.size, p.Time, p.Frame
	if lost.size == 0 {
		t.behind, t.naks = tail, t.naks+1 // it arrived, and the READ came again for what did not
	}
}

// arrived returns the largest response that was not asked for again.
func (s *replySizes) arrived() int64 {
	most := s.most
	for i := range s.list {
		if e := &s.list[i]; e.size != 0 && (s.try.sendings == 0 || e.start.Before(s.try.psn)) {
			most = max(most, e.size)
		}
	}
	return most
}
