package detect

import (
	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// climb finds the largest packet of a row that arrived, without a list of all
// that are under way: a packet that is not larger than one sent before it need not
// be kept, for where it arrived that one did as well.
type climb struct {
	arrived int64
	list    [6]sizeStep // under way: ascending by PSN, and by size
	n       uint8
}

type sizeStep struct {
	psn  ib.PSN
	size uint32
}

func (c *climb) sent(psn ib.PSN, size int64) {
	switch {
	case size <= c.arrived || c.n > 0 && size <= int64(c.list[c.n-1].size):
	case int(c.n) == len(c.list):
		c.list[c.n-1].size = uint32(size) // rather too much than too little has arrived
	default:
		c.list[c.n] = sizeStep{psn, uint32(size)}
		c.n++
	}
}

// upTo lets all before end arrive.
func (c *climb) upTo(end ib.PSN) {
	i := 0
	for i < int(c.n) && c.list[i].psn.Before(end) {
		c.arrived = int64(c.list[i].size)
		i++
	}
	c.n = uint8(copy(c.list[:], c.list[i:c.n]))
}

// requestSizes is the requests of a row by size: those that are a whole message
// (Only), and those that are part of one (First, Middle, Last).
type requestSizes struct {
	una, high  ib.PSN // all before una arrived; one past the highest sent
	previous   ib.PSN // of the request before
	full       bool   // First or Middle packets from una on came by
	only, part climb
	answers    int64      // that let something arrive
	lastNs     int64      // of the last of them
	head       sending    // of the packet at una, the first time
	again      *sentAgain // nil while nothing was sent or asked for again
}

// sentAgain is what a row has that went wrong once.
type sentAgain struct {
	try try
	nak asking
}

func (s *requestSizes) sentAgain() *sentAgain {
	if s.again == nil {
		s.again = new(sentAgain) // once in a row's life
	}
	return s.again
}

// sending is one packet as it was sent, asking what a sequence NAK wants.
type (
	sending struct {
		psn   ib.PSN
		frame uint64
		ns    int64
	}
	asking struct {
		psn ib.PSN
		n   int64
	}
)

// try is one packet that is sent again and again; it is empty while sendings is
// 0. The size is 0 of what did not come by itself.
type try struct {
	psn       ib.PSN
	sendings  int64
	size      int64
	behind    int64 // the smallest packet sent behind it, 0 none
	naks      int64 // that asked for it
	asks      int64 // bytes that it asks for, where it is a READ
	first     bool  // it opens a message of several packets
	last      bool  // it closes one
	firstNs   int64
	lastNs    int64
	firstSeen uint64 // frames
	lastSeen  uint64
}

// sent takes a request; it reports whether the requester stepped back to it.
func (s *requestSizes) sent(p *decode.Packet) (back bool) {
	size := packetSize(p)
	back = !p.PSN.After(s.previous)
	s.previous = p.PSN
	switch {
	case p.PSN.Before(s.high):
		s.resent(p, size, back)
	case p.Op.Is(ib.IsOnly):
		s.only.sent(p.PSN, size)
	default:
		s.part.sent(p.PSN, size)
	}
	if !p.PSN.Before(s.high) {
		s.high = p.PSN.Add(1)
		if p.PSN == s.una {
			s.head = sending{p.PSN, p.Frame, p.Time}
		}
	}
	s.full = s.full || p.Op.Is(ib.IsFirst|ib.IsMiddle) && !p.PSN.Before(s.una)
	return back
}

// sentAll takes requests of one message; it reports whether the requester stepped
// back to the first of them.
func (s *requestSizes) sentAll(ps []decode.Packet, r *analysis.Streak) (back bool) {
	const few = 3
	tail := len(ps) - 1
	skip := tail >= few && r.Dense && r.Even && !ps[0].PSN.Before(s.high) && !s.una.After(ps[0].PSN)
	back = s.sent(&ps[0])
	for i := 1; i <= tail; i++ {
		s.sent(&ps[i])
		if skip && i == 1 { // those between tell the same
			s.previous, s.high = ps[tail-1].PSN, ps[tail].PSN
			i = tail - 1
		}
	}
	return back
}

// resent follows the packet that the requester steps back to.
func (s *requestSizes) resent(p *decode.Packet, size int64, back bool) {
	if s.again == nil && (!back || p.PSN.Before(s.una)) {
		return
	}
	t := &s.sentAgain().try
	switch {
	case t.sendings > 0 && p.PSN == t.psn:
		t.sendings++
	case t.sendings > 0 && p.PSN.After(t.psn):
		t.lastNs = p.Time
		if t.behind == 0 || size < t.behind {
			t.behind = size
		}
		return
	case !back || p.PSN.Before(s.una):
		return
	default:
		*t = try{psn: p.PSN, sendings: 2, firstNs: p.Time, firstSeen: p.Frame, first: p.Op.Is(ib.IsFirst), last: p.Op.Is(ib.IsLast)}
		if s.head.frame != 0 && s.head.psn == p.PSN {
			t.firstNs, t.firstSeen = s.head.ns, s.head.frame
		}
		if p.Op.Is(ib.IsRead) {
			t.asks = int64(p.DMALen)
		}
	}
	t.size, t.lastNs, t.lastSeen = size, p.Time, p.Frame
}

// stuck returns the packet that was never answered, and whether only the end of
// its message came by, as where the tap lies behind a link that is too narrow for
// the rest.
func (s *requestSizes) stuck() (t try, ending bool) {
	if s.again == nil {
		return try{}, false
	}
	t = s.again.try
	ending = t.sendings > 0 && t.last && s.una.Before(t.psn) && !s.full
	if ending {
		t.psn, t.size, t.behind = s.una, 0, t.size
	}
	if s.again.nak.psn == t.psn {
		t.naks = s.again.nak.n
	}
	return t, ending
}

// answered takes an answer to the requests.
func (s *requestSizes) answered(p *decode.Packet) {
	end, ok := reached(p)
	if !ok {
		return
	}
	if end == p.PSN {
		nak := &s.sentAgain().nak
		if nak.psn != end {
			*nak = asking{psn: end}
		}
		nak.n++
	}
	s.reach(answer{end, 1, p.Time})
}

// answer lets all requests before end arrive, and stands for n of them.
type answer struct {
	end ib.PSN
	n   int64
	ns  int64
}

// reached returns up to where requests have arrived, as an answer says. A packet
// that was refused for want of a buffer, or for what it asks, has arrived.
func reached(p *decode.Packet) (end ib.PSN, ok bool) {
	switch {
	case !p.Op.Is(ib.IsAck):
		return p.PSN.Add(1), true
	case p.IsSequenceNAK():
		return p.PSN, true
	}
	return p.PSN.Add(1), p.HasSyndrome()
}

func (s *requestSizes) reach(a answer) {
	if a.n == 0 || !a.end.After(s.una) || a.end.Sub(s.high) > 1<<16 {
		return
	}
	s.una, s.full = a.end, false
	if s.again != nil && s.again.try.psn.Before(a.end) {
		s.again.try = try{}
	}
	s.answers, s.lastNs = s.answers+a.n, a.ns
	s.only.upTo(a.end)
	s.part.upTo(a.end)
}

// replySizes is the READ responses of a row by size.
type replySizes struct {
	list   []reply // to the newest READs, at most repliesMost
	next   uint8   // which one goes next, once there are so many
	frames int64
	most   int64 // the largest that is no longer in the list
	try    *try  // of the response that is asked for again and again; nil while there is none
}

// repliesMost is as many READs as adapters have under way.
const repliesMost = 16

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
	if n := len(s.list); n > 0 && !p.Op.Is(ib.IsFirst|ib.IsOnly) {
		if e := &s.list[(int(s.next)+n-1)%n]; e.size != 0 && e.end == p.PSN {
			e.end, e.size = p.PSN.Add(1), max(e.size, size)
			return
		}
	}
	next := reply{p.PSN, p.PSN.Add(1), size, p.Frame, p.Time}
	if len(s.list) < repliesMost {
		s.list = append(s.list, next)
		return
	}
	e := &s.list[s.next]
	s.most = max(s.most, e.size)
	*e = next
	s.next = (s.next + 1) % repliesMost
}

// sentAll takes the packets of a response, one behind the other, all of the same
// size but for the ends.
func (s *replySizes) sentAll(ps []decode.Packet) {
	tail := &ps[len(ps)-1]
	s.sent(&ps[0])
	s.frames += int64(len(ps) - 1)
	e := &s.list[(int(s.next)+len(s.list)-1)%len(s.list)]
	e.end, e.size = tail.PSN.Add(1), max(e.size, packetSize(&ps[1]), packetSize(tail))
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
	if s.try == nil || s.try.psn != p.PSN {
		s.try = &try{psn: p.PSN, firstNs: lost.ns, firstSeen: lost.frame}
		if lost.size == 0 {
			s.try.firstNs, s.try.firstSeen = p.Time, p.Frame
		}
	}
	t := s.try
	t.sendings, t.size, t.lastNs, t.lastSeen = t.sendings+1, lost.size, p.Time, p.Frame
	if lost.size == 0 {
		t.behind, t.naks = tail, t.naks+1 // it arrived, and the READ came again for what did not
	}
}

// arrived returns the largest response that was not asked for again.
func (s *replySizes) arrived() int64 {
	most := s.most
	for i := range s.list {
		if e := &s.list[i]; e.size != 0 && (s.try == nil || e.start.Before(s.try.psn)) {
			most = max(most, e.size)
		}
	}
	return most
}
