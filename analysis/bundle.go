package analysis

import (
	"bytes"

	"github.com/rocescope/rocescope/decode"
)

// bundle is an unordered pair of addresses and all rows between them.
type bundle struct {
	id     uint32
	addr   [2][16]byte // the lower one first
	names  [2]string   // of these, once they are reported
	first  int64       // time of the first frame
	rows   [2][]*row   // by direction, the live ones
	asking [2][]*row   // those of them that hold requests, in the order of the first
	asked  uint32      // how many rows have held requests
	room   *recentRoom // of its bucket
	times  *times      // of its shard
	tags   tags
	vni    uint32 // valid iff tenant
	tenant bool
	// minRTT is the shortest time, by direction, from a request at the tap to
	// its answer at the tap: what no answer to a later packet can undercut.
	minRTT [2]int64
	rtts   [2]int // how many round trips minRTT is the least of
	// prompt is the same by answers that are sent at once: an ACK may be kept
	// back for those behind it, a NAK or a response is not. 0 unknown.
	prompt  [2]int64
	prompts [2]int // how many prompt is the least of
	// repeats is when, by direction, a request of a row without a partner last
	// stepped back: it may be answered as often as it was sent. 0 never.
	repeats [2]int64
	// rising tells, by direction, that a sequence of that sender has shown IPv4
	// IDs that rise from packet to packet, and none since one that falls.
	rising [2]bool
	// certain tells, by direction, that prompt has a sample which is of no other packet.
	certain [2]bool
	// turn is the shortest time, by direction of the requests, from a NAK at
	// the tap to the resend that it drew: the other part of the round trip. It
	// cannot be had from ACKs, since the next request may have been under way.
	// 0 unknown.
	turn   [2]int64
	late   [2]int64 // requests that came late, by direction
	latest [2]int64 // by how much at most they came late, ns
	depth  [2]int32 // how many packets at most one overtook
	lost   [2]int64 // and that were lost before the tap
	conns  []conn   // what CM said, oldest first, at most connsMax
	held   []heldPacket
	early  []earlyNAK
	unsure int                  // rows whose responses may answer several rows
	far    map[*row][]candidate // of these, those ruled out as they were far from having asked for what one named
	copied bool                 // a frame stood there twice
	newest int64                // time of the latest packet, either way
	// resumed is when the last silence between the two hosts ended that was longer
	// than a round trip, so that nothing was under way; 0 there was none.
	resumed  int64
	silent   int64 // how long that one was
	shortest int64 // of all of them
	// longestEnd and longestSilent are the same of the longest of late: what was under
	// way when the capture paused may come behind a further silence.
	longestEnd, longestSilent int64
	silences                  uint8 // how many there were
}

// passed notes the time of a packet between the two hosts.
func (b *bundle) passed(t int64) {
	if silent := t - b.newest; silent > b.silence() && b.newest != 0 {
		b.fellSilent(t, silent)
	}
	b.newest = max(b.newest, t)
}

// fellSilent notes a silence that ends, and whether it is the longest of late.
func (b *bundle) fellSilent(t, silent int64) {
	b.resumed, b.silent = t, silent
	if silent >= b.longestSilent || t-b.longestEnd > unseenRTT {
		b.longestEnd, b.longestSilent = t, silent
	}
	b.silences, b.shortest = inc(b.silences), least(b.shortest, silent)
}

// passedOn notes those of a run. Where it is short no silence is within.
func (b *bundle) passedOn(ps []decode.Packet, u *run) {
	if u.last-u.first <= b.silence() {
		ps = ps[:1]
	}
	for i := range ps {
		b.passed(ps[i].Time)
	}
	b.newest = max(b.newest, u.last)
}

// silence is the time, ns, from which on nothing is under way where nothing passes.
func (b *bundle) silence() int64 { return max(leastSilence, b.minRTT[0], b.minRTT[1]) }

// leastSilence is taken for longer than a round trip where none is known, ns.
const leastSilence = 20_000

// overtaken reports whether requests of a direction overtake each other time and
// again: more than twice as many came late as were lost before the tap.
func (b *bundle) overtaken(dir uint8) bool { return b.late[dir] > 2*b.lost[dir]+1 }

// overtakes reports whether a request of a direction may have overtaken so many: others
// have, of which more than twice as many came late as were lost before the tap.
func (b *bundle) overtakes(dir uint8, n int32) bool {
	return b.late[dir] > 2*b.lost[dir] && n <= max(straysMax, b.depth[dir])
}

// name returns the text of an address, made once for all rows.
func (b *bundle) name(i uint8) string {
	if b.names[i] == "" {
		b.names[i] = decode.Address(b.addr[i])
	}
	return b.names[i]
}

type bundleKey struct {
	lo, hi  [16]byte
	version uint8
	tenant  uint32 // VNI + 1 where the packet had one, else 0
}

// keyOf returns the packet's pair of addresses and its direction in it.
func keyOf(p *decode.Packet) (bundleKey, uint8) {
	k := bundleKey{lo: p.Src, hi: p.Dst, version: p.Version, tenant: tenantOf(p)}
	if bytes.Compare(p.Src[:], p.Dst[:]) <= 0 {
		return k, 0
	}
	k.lo, k.hi = p.Dst, p.Src
	return k, 1
}

// tenantOf returns what tells a packet's tenant apart: its VNI + 1, 0 without.
func tenantOf(p *decode.Packet) uint32 {
	if p.Encap&hasVNI != 0 {
		return p.VNI + 1
	}
	return 0
}

// tenantKey is tenantOf of the bundle's packets.
func (b *bundle) tenantKey() uint32 {
	if b.tenant {
		return b.vni + 1
	}
	return 0
}

// hasVNI are the encapsulations that tell tenants apart by a number.
const hasVNI = decode.EncapVXLAN | decode.EncapVXLANGPE | decode.EncapGENEVE | decode.EncapNVGRE

// tags are the VLAN tags between two addresses. A tag does not tell two
// connections apart where each direction has its own, or where a mirror shows a
// frame with and without: then both continue one sequence. It does from when two
// tags carry unlike sequences towards one queue pair, since then two tenants use
// the same addresses.
type tags struct {
	list  [tagsMax]tag
	n     uint8
	split bool // tags belong to the keys of rows
}

type tag struct {
	vid  uint16 // noTag for untagged
	dirs uint8  // a bit for each direction it was seen in
}

const (
	tagsMax = 8
	noTag   = 0xFFFF
)

// number returns the packet's place in the list. Tags beyond its length count
// as the first one.
func (t *tags) number(p *decode.Packet, dir uint8) uint8 {
	vid := uint16(noTag)
	if p.Tagged && p.VLAN != 0 { // VID 0 is a priority alone
		vid = p.VLAN
	}
	i := uint8(0)
	for i < t.n && t.list[i].vid != vid {
		i++
	}
	if i == t.n {
		if i == tagsMax {
			return 0
		}
		t.list[i] = tag{vid: vid}
		t.n++
	}
	t.list[i].dirs |= 1 << dir
	return i
}

// key returns what of a tag belongs to the key of a row. The first tag keeps
// the rows that stood before another showed itself.
func (t *tags) key(number uint8) uint8 {
	if t.split {
		return number
	}
	return 0
}

// apart reports whether rows with these tags in their keys cannot be the two
// directions of a connection.
func (t *tags) apart(a, b uint8) bool {
	return a != b && (t.list[a].dirs == 3 || t.list[b].dirs == 3)
}

// splitTags lets tags tell rows apart from now on.
func (s *shard) splitTags(b *bundle) {
	b.tags.split = true
	for _, rows := range b.rows {
		for _, r := range rows {
			r.vlan = r.tag
		}
	}
}
