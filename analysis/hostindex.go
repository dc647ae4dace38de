package analysis

import (
	"github.com/rocescope/rocescope/decode"
)

// The caps on what is numbered, whatever addresses frames say.
const (
	hostsMost = 1 << 15
	pairsMost = 1 << 16
)

// hostIndex numbers addresses and ordered pairs of them.
type hostIndex struct {
	hosts map[[16]byte]int32
	pairs []hostPair
	slots []int32 // by hash, one more than the number of the pair; 0 is free
	last  int32   // pair
}

type hostPair struct {
	src, dst       [16]byte
	from, to, back int32
}

func newHostIndex() hostIndex {
	return hostIndex{hosts: map[[16]byte]int32{}, slots: make([]int32, 1<<10), last: NoHost}
}

// number fills in the numbers of a train's hosts.
func (x *hostIndex) number(p *decode.Packet, t *Train) {
	if x.last == NoHost || x.pairs[x.last].src != p.Src || x.pairs[x.last].dst != p.Dst {
		i := x.find(&p.Src, &p.Dst)
		if i == NoHost {
			i = x.add(p)
		}
		if i == NoHost {
			t.Src, t.Dst = x.host(p.Src), x.host(p.Dst)
			return
		}
		x.last = i
	}
	h := &x.pairs[x.last]
	t.Pair, t.Back, t.Src, t.Dst = x.last, h.back, h.from, h.to
}

// slot returns where the search for a pair begins.
func (x *hostIndex) slot(src, dst *[16]byte) uint64 {
	return hashPair(hashSeed, src, dst) >> 32 & uint64(len(x.slots)-1)
}

// find returns the number of a pair, NoHost where it has none.
func (x *hostIndex) find(src, dst *[16]byte) int32 {
	for i := x.slot(src, dst); ; i = (i + 1) & uint64(len(x.slots)-1) {
		n := x.slots[i] - 1
		if n < 0 {
			return NoHost
		}
		if h := &x.pairs[n]; h.src == *src && h.dst == *dst {
			return n
		}
	}
}

func (x *hostIndex) add(p *decode.Packet) int32 {
	from, to := x.host(p.Src), x.host(p.Dst)
	if len(x.pairs) == pairsMost || from == NoHost || to == NoHost {
		return NoHost
	}
	n := int32(len(x.pairs))
	back := x.find(&p.Dst, &p.Src)
	if p.Src == p.Dst {
		back = n
	}
	x.pairs = append(x.pairs, hostPair{p.Src, p.Dst, from, to, back})
	if back != NoHost {
		x.pairs[back].back = n
	}
	if 2*len(x.pairs) > len(x.slots) {
		x.slots = make([]int32, 2*len(x.slots))
		for i := range x.pairs {
			x.put(int32(i))
		}
	} else {
		x.put(n)
	}
	return n
}

// put enters a pair into the slots.
func (x *hostIndex) put(n int32) {
	h := &x.pairs[n]
	i := x.slot(&h.src, &h.dst)
	for x.slots[i] != 0 {
		i = (i + 1) & uint64(len(x.slots)-1)
	}
	x.slots[i] = n + 1
}

// host returns the number of an address, NoHost beyond the cap.
func (x *hostIndex) host(a [16]byte) int32 {
	n, ok := x.hosts[a]
	if !ok {
		if len(x.hosts) == hostsMost {
			return NoHost
		}
		n = int32(len(x.hosts))
		x.hosts[a] = n
	}
	return n
}
