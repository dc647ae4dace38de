package detect

import (
	"encoding/binary"

	"github.com/rocescope/rocescope/decode"
)

// burstIndex finds the receiver of a packet and the number of its sender there:
// by a small table of the pairs of hosts seen last, which is enough for most
// packets, and behind it by a map.
type burstIndex struct {
	near      [512]burstPair
	pairs     map[burstHosts]burstPair
	receivers map[[16]byte]int32
	senders   map[[16]byte]int32
}

type burstHosts struct{ src, dst [16]byte }

type burstPair struct {
	burstHosts
	receiver int32
	from     int32 // place in burst.senders
	sender   uint8 // below 64; senders beyond that share numbers
	used     bool
}

// The caps. A pair beyond is looked up each time; a receiver beyond is none, and
// senders beyond share the last place.
const (
	burstPairsMost     = 1 << 16
	burstReceiversMost = 1 << 14
)

func newBurstIndex() burstIndex {
	return burstIndex{pairs: map[burstHosts]burstPair{}, receivers: map[[16]byte]int32{}, senders: map[[16]byte]int32{}}
}

// hash spreads pairs over 64 bits. It takes the low halves of the addresses,
// where hosts differ.
func (h *burstHosts) hash() uint64 {
	a := binary.LittleEndian.Uint64(h.src[8:]) * 0x9E3779B97F4A7C15
	b := binary.LittleEndian.Uint64(h.dst[8:])
	return (a ^ a>>29 ^ b) * 0xD6E8FEB86659FD93
}

// pair returns the place of a packet's hosts, which it adds where they are new.
func (x *burstIndex) pair(p *decode.Packet, rs *[]receiver) (*burstPair, bool) {
	h := burstHosts{p.Src, p.Dst}
	n := &x.near[h.hash()>>55]
	if n.src == p.Src && n.dst == p.Dst && n.used {
		return n, true
	}
	pair, ok := x.pairs[h]
	if !ok {
		if pair, ok = x.add(h, rs); !ok {
			return nil, false
		}
	}
	*n = pair
	return n, true
}

func (x *burstIndex) add(h burstHosts, rs *[]receiver) (burstPair, bool) {
	id, ok := x.receivers[h.dst]
	if !ok {
		if len(*rs) == burstReceiversMost {
			return burstPair{}, false
		}
		id = int32(len(*rs))
		x.receivers[h.dst] = id
		*rs = append(*rs, receiver{addr: h.dst})
	}
	pair := burstPair{burstHosts: h, receiver: id, from: x.sender(h.src), used: true}
	if len(x.pairs) == burstPairsMost {
		pair.sender = uint8(h.hash() >> 32 & 63)
		return pair, true
	}
	r := &(*rs)[id]
	pair.sender = uint8(r.senders & 63)
	r.senders++
	x.pairs[h] = pair
	return pair, true
}

// sender returns the place of a sender, whoever it sends to.
func (x *burstIndex) sender(addr [16]byte) int32 {
	id, ok := x.senders[addr]
	if !ok {
		id = int32(min(len(x.senders), burstReceiversMost-1))
		if len(x.senders) < burstReceiversMost {
			x.senders[addr] = id
		}
	}
	return id
}

// find returns the place of two hosts that were seen before.
func (x *burstIndex) find(src, dst [16]byte) (burstPair, bool) {
	pair, ok := x.pairs[burstHosts{src, dst}]
	return pair, ok
}
