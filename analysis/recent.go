package analysis

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// sighting is a packet as it passed, kept for a while under its PSN. There are
// more of them than of anything else, so they are packed into 24 bytes.
type sighting struct {
	time    int64
	frameID uint64 // the frame, above its IPv4 ID
	psnOp   uint32 // the PSN, above its opcode
	tag     copyTag
	flags   sightingFlag
}

func (s *sighting) frame() uint64 { return s.frameID >> 16 }
func (s *sighting) id() uint16    { return uint16(s.frameID) }
func (s *sighting) psn() ib.PSN   { return ib.PSN(s.psnOp >> 8) }
func (s *sighting) op() ib.Opcode { return ib.Opcode(s.psnOp) }

type sightingFlag uint8

const (
	seenResent sightingFlag = 1 << iota // the packet was a resend
	seenLate                            // it closed a hole, late
	seenBad                             // its ICRC was bad: no receiver takes it
	seenValid                           // the slot is in use
	seenCopied                          // no ID told so, but a copy came: one more is none
	seenAgain                           // a response like one before it, of which it is no copy
	seenNAK                             // of any kind: what it names has not arrived
)

// recent holds the last sightings of one sequence in slots picked by PSN. It
// starts small and doubles while packets that nobody acknowledged yet would
// fall out, so that a quiet queue pair takes little memory and a long window
// still finds its round trips and copies.
type recent struct {
	slots   []sighting // a power of two
	crossed bool       // some stand in their second place
	lacks   bool       // some have been given up for others
}

const (
	recentMin = 4
	recentMax = 256
	// recentFew is how many slots a sequence may have where there is no room for
	// more, and recentAll how much room the rows of a bucket have in common. Among
	// thousands of queue pairs few have many packets under way.
	recentFew = 16
	recentAll = 1 << 14
)

// recentRoom is how many slots more than recentFew each the sequences of a bucket
// may still take. A nil one is none.
type recentRoom int32

// take takes n slots, if there are as many.
func (r *recentRoom) take(n int) bool {
	if r == nil || int(*r) < n {
		return false
	}
	*r -= recentRoom(n)
	return true
}

// forget gives up all sightings, and the room they had.
func (c *recent) forget(room *recentRoom) {
	*room += recentRoom(max(0, len(c.slots)-recentFew))
	*c = recent{}
}

// get returns the last sighting of psn, or nil.
func (c *recent) get(psn ib.PSN) *sighting {
	if len(c.slots) == 0 {
		return nil
	}
	if s := &c.slots[c.first(psn)]; s.holds(psn) {
		return s
	}
	if !c.crossed {
		return nil
	}
	if s := &c.slots[c.second(psn)]; s.holds(psn) {
		return s
	}
	return nil
}

func (s *sighting) holds(psn ib.PSN) bool { return s.flags&seenValid != 0 && s.psn() == psn }

// first is the place of a PSN. Neighbours are neighbours, so that a train of
// packets stays in the cache and a window smaller than the slots fits.
func (c *recent) first(psn ib.PSN) uint32 { return uint32(psn) & uint32(len(c.slots)-1) }

// second is where a PSN goes whose first place is taken: READs step by powers
// of two, and would all meet in few places.
func (c *recent) second(psn ib.PSN) uint32 {
	return uint32(psn) * 0x9E3779B1 >> 16 & uint32(len(c.slots)-1)
}

// put records a sighting. Those of PSNs from una on are worth keeping, as far as
// there is room.
func (c *recent) put(p *decode.Packet, flags sightingFlag, una ib.PSN, room *recentRoom) {
	if len(c.slots) == 0 {
		c.slots = make([]sighting, recentMin)
	}
	if p.ICRC == decode.ICRCBad {
		flags |= seenBad
	}
	c.place(p.PSN, una, room).set(p, flags)
}

func (s *sighting) set(p *decode.Packet, flags sightingFlag) {
	s.time, s.frameID, s.psnOp = p.Time, p.Frame<<16|uint64(p.IPID), uint32(p.PSN)<<8|uint32(p.Op)
	s.tag, s.flags = tagOf(p), flags|seenValid
}

// next returns the slot that place returns for a PSN of which there is no sighting,
// where that is its first; nil where it is another, or there is one.
func (c *recent) next(psn, una ib.PSN) *sighting {
	i := c.first(psn)
	if int(i) >= len(c.slots) || c.crossed && c.slots[c.second(psn)].holds(psn) {
		return nil
	}
	s := &c.slots[i]
	if s.flags&seenValid == 0 {
		return s
	}
	if s.psn() != psn && s.psn().Before(una) {
		c.lacks = true
		return s
	}
	return nil
}

// place returns the slot for a PSN: its own, a free one, or else one that is
// worth least.
func (c *recent) place(psn, una ib.PSN, room *recentRoom) *sighting {
	for {
		a, b := &c.slots[c.first(psn)], &c.slots[c.second(psn)]
		switch {
		case b.holds(psn):
			return b
		case a.holds(psn) || a.flags&seenValid == 0 || a.psn().Before(una):
			c.lacks = c.lacks || !a.holds(psn) && a.flags&seenValid != 0
			return a
		case b.flags&seenValid == 0 || b.psn().Before(una):
			c.crossed = c.crossed || a != b
			c.lacks = c.lacks || b.flags&seenValid != 0
			return b
		case len(c.slots) >= recentMax || len(c.slots) >= recentFew && !room.take(len(c.slots)):
			c.lacks = true
			return a
		}
		c.grow()
	}
}

func (c *recent) grow() {
	old, room := c.slots, recentRoom(recentMax)
	c.slots, c.crossed = make([]sighting, 2*len(old)), false
	for i := range old {
		if old[i].flags&seenValid != 0 {
			*c.place(old[i].psn(), old[i].psn().Add(-1<<22), &room) = old[i] // worth keeping, all of them
		}
	}
}

// copyTag is 24 bits of what two copies of one packet must have in common beyond
// addresses, queue pair, opcode and PSN.
type copyTag [3]uint8

// tagOf folds what copies share. A switch may rewrite DSCP, ECN, TTL and tags
// between two taps, so those stay out; the ICRC covers all the rest.
func tagOf(p *decode.Packet) copyTag {
	t := p.PayloadLen<<8 ^ uint32(p.Syndrome) ^ p.MSN<<1
	if p.AckReq {
		t ^= 1 << 31
	}
	if p.ICRC != decode.ICRCUnchecked {
		t ^= p.ICRCVal
	}
	return copyTag{uint8(t), uint8(t >> 8), uint8(t>>16 ^ t>>24)}
}

// idOrder learns whether a sender's IPv4 IDs rise from packet to packet. Only
// where this capture shows that, IDs tell sending order from arrival order.
type idOrder struct {
	last  uint16 // of the packet sent last, as far as IDs tell
	rises uint8  // packets in a row whose ID rose
	same  uint8  // packets in a row whose ID stayed
	falls uint8  // packets in order whose ID fell
	near  uint8  // of those that rose, how many by little until they are believed
}

// risesNeeded is how many in-order packets must show rising IDs before they are
// believed, each by no more than a step: random IDs pass that many tests once in
// thirty thousand flows. A larger step is that of a sender which sent much
// elsewhere meanwhile, or chance; it proves nothing. Of steps as small as those of a
// sender which sent next to nothing elsewhere, nearNeeded prove more: once in a million.
const (
	risesNeeded = 5
	idStep      = 1 << 13
	nearNeeded  = 2
	closely     = 64
)

func (o *idOrder) rising() bool {
	return o.mayRise() && (o.rises >= risesNeeded || o.near >= nearNeeded)
}

// mayRise reports whether nothing speaks against rising IDs. One that falls now
// and then, among many that rise, was overtaken.
func (o *idOrder) mayRise() bool { return o.same == 0 && int(o.falls)*fallsRare <= int(o.rises) }

const fallsRare = 32

// tells reports whether this ID, standing on two frames, means one packet: the
// sender's IDs change from packet to packet, whether they rise or not. Zero is
// what senders write who number nothing.
func (o *idOrder) tells(id uint16) bool { return o.same == 0 && (id != 0 || o.rises > 0) }

// sentBefore reports whether the packet was sent before the one of its
// sequence that was sent last, as its ID tells where the sender's IDs rise.
func (r *row) sentBefore(o *idOrder, p *decode.Packet) bool {
	d := int16(p.IPID - o.last)
	return !p.IPv6 && -idStep < d && d < 0 && r.rises(o)
}

// rises reports whether the sender numbers its packets: shown by this
// sequence, or by another of the same sender with nothing here against it.
func (r *row) rises(o *idOrder) bool {
	return o.rising() || o.mayRise() && r.bundle.rising[r.dir]
}

func (r *row) idsRise() bool { return r.rises(&r.req.ids) }

// inOrder learns from a packet that follows its predecessor in sequence.
func (o *idOrder) inOrder(id uint16) {
	o.step(int16(id - o.last))
}

func (o *idOrder) step(d int16) {
	switch {
	case d == 0:
		o.same = inc(o.same)
	case d >= idStep:
		if !o.rising() {
			o.rises, o.near = 0, 0
		}
	case d > 0:
		if d < closely && !o.rising() {
			o.near = inc(o.near)
		}
		o.rises = inc(o.rises)
	default:
		o.falls = inc(o.falls)
	}
}

// learn takes the ID of a packet that follows its predecessor in one of the row's sequences:
// what it shows of the sender's IDs, it shows of those of its other sequences.
func (r *row) learn(o *idOrder, id uint16) {
	switch o.inOrder(id); {
	case o.rising():
		r.bundle.rising[r.dir] = true
	case int16(id-o.last) < 0:
		r.bundle.rising[r.dir] = false // until one shows it again
	}
}

// newest keeps the ID of the packet sent last.
func (o *idOrder) newest(id uint16, rises bool) {
	if !rises || int16(id-o.last) > 0 {
		o.last = id
	}
}

func inc(n uint8) uint8 {
	if n == 255 {
		return n
	}
	return n + 1
}
