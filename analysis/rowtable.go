package analysis

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// rowTable finds the live row of a packet with one look-up: open addressing,
// where a slot keeps the hash beside the row, so that the wrong ones are passed
// over without a look at them. A Go map of the pair and one of the row took a
// quarter of all time.
type rowTable struct {
	slots []rowSlot // a power of two, at most three quarters in use
	n     int       // in use, those of removed rows included
}

// rowSlot is free where its hash is 0; its row is nil where that was removed.
type rowSlot struct {
	hash uint32
	row  *row
}

// hashSeed differs from run to run, so that no capture can be made whose rows
// all meet. Nothing depends on the order of rows in the table.
var hashSeed = rand.Uint64() | 1

// hashOf hashes what tells a packet's row, but for its tags.
func hashOf(p *decode.Packet) uint32 {
	h := hashPair(uint64(p.QP)^hashSeed, &p.Src, &p.Dst)
	if p.Op.Transport() == ib.UD {
		h = hashOn(h, uint64(p.SrcQP))
	}
	return uint32(h>>32) | 1
}

// hashPair goes on with a hash by an ordered pair of addresses.
func hashPair(h uint64, src, dst *[16]byte) uint64 {
	le := binary.LittleEndian
	h = hashOn(h, le.Uint64(src[8:])^bits.RotateLeft64(le.Uint64(src[:8]), 23))
	return hashOn(h, le.Uint64(dst[8:])^bits.RotateLeft64(le.Uint64(dst[:8]), 23))
}

// hashOn goes on with a hash by one value.
func hashOn(h, v uint64) uint64 {
	hi, lo := bits.Mul64(h^v, hashSeed^0x9E3779B97F4A7C15)
	return hi ^ lo
}

// find returns the row of a packet, nil where it has none yet.
func (t *rowTable) find(hash uint32, p *decode.Packet) *row {
	if len(t.slots) == 0 {
		return nil
	}
	mask := uint32(len(t.slots) - 1)
	for i := hash >> 1 & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.hash == hash && s.row != nil && s.row.takes(p) {
			return s.row
		}
		if s.hash == 0 {
			return nil
		}
	}
}

// likely returns the first row with a hash, nil where there is none. It asks for
// no key, which the packet that is next in order alone may do: that numbers tags.
func (t *rowTable) likely(hash uint32) *row {
	if len(t.slots) == 0 {
		return nil
	}
	mask := uint32(len(t.slots) - 1)
	for i := hash >> 1 & mask; t.slots[i].hash != 0; i = (i + 1) & mask {
		if s := &t.slots[i]; s.hash == hash && s.row != nil {
			return s.row
		}
	}
	return nil
}

// takes reports whether a packet has the key of a row.
func (r *row) takes(p *decode.Packet) bool {
	b := r.bundle
	return r.qp == p.QP && b.addr[r.dir] == p.Src && b.addr[1-r.dir] == p.Dst && r.version == p.Version &&
		r.transport == rowTransport(p.Op) && (r.transport != ib.UD || r.srcQP == p.SrcQP) &&
		b.tenantKey() == tenantOf(p) && (!b.tags.split || r.vlan == b.tags.number(p, r.dir))
}

// rowTransport returns the transport of the row that an opcode belongs to.
func rowTransport(op ib.Opcode) ib.Transport {
	if t := op.Transport(); t != ib.TransportCNP {
		return t
	}
	return ib.RC
}

// add puts a row in that find did not find.
func (t *rowTable) add(r *row) {
	if 4*(t.n+1) > 3*len(t.slots) {
		t.grow()
	}
	t.n++
	t.put(rowSlot{r.hash, r})
}

func (t *rowTable) put(s rowSlot) {
	mask := uint32(len(t.slots) - 1)
	i := s.hash >> 1 & mask
	for t.slots[i].hash != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = s
}

// grow makes room, and drops what was removed.
func (t *rowTable) grow() {
	old, live := t.slots, 0
	for i := range old {
		if old[i].row != nil {
			live++
		}
	}
	size := 64
	for size < 2*(live+1) {
		size *= 2
	}
	t.slots, t.n = make([]rowSlot, size), live
	for i := range old {
		if old[i].row != nil {
			t.put(old[i])
		}
	}
}

// remove takes a row out.
func (t *rowTable) remove(r *row) {
	mask := uint32(len(t.slots) - 1)
	for i := r.hash >> 1 & mask; t.slots[i].hash != 0; i = (i + 1) & mask {
		if t.slots[i].row == r {
			t.slots[i].row = nil
			return
		}
	}
}
