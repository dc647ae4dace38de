package synth

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// bulkConn is a connection of a Bulk. Side 0 asks, side 1 answers.
type bulkConn struct {
	addr [2][4]byte
	mac  [2][6]byte
	qp   [2]uint32
	port [2]uint16
	psn  uint32 // next of side 0
	msn  uint32
	busy int64 // a message is under way until then
	cnp  int64 // time of the last
	ids  [2]uint16
}

func (c *bulkConn) start(i, pairs int, r *rand.Rand) {
	pair := i % pairs
	for side := range 2 {
		host := uint16(2*pair + side)
		c.addr[side] = [4]byte{10, byte(side + 1), byte(host >> 8), byte(host)}
		c.mac[side] = [6]byte{0x0C, 0x42, 0xA1, byte(side + 1), byte(host >> 8), byte(host)}
		c.qp[side] = uint32(0x100 + 2*i + side)
		c.port[side] = 0xC000 | uint16(r.Uint32()&0x3FFF)
		c.ids[side] = uint16(r.Uint32())
	}
	c.psn = r.Uint32() & ib.PSNMask
}

// bulkHeaders is the length of what stands before the extension headers.
const bulkHeaders = 14 + 20 + 8 + 12

// bulkFrame is the frame being written; behind its headers stand zeros. It has
// room for whole acknowledgements, and for as much of the others as a Bulk that
// is cut as the links of its kind are.
type bulkFrame struct {
	bytes [256]byte
	icrc  ib.ICRC
}

// packet lays out a packet that a side of a connection sends, and returns how
// long it is on the wire.
func (f *bulkFrame) packet(c *bulkConn, from int, h *ib.BTH, ext []byte, payload int, ecn decode.ECN) (data []byte, size int) {
	to := 1 - from
	size = bulkHeaders + len(ext) + payload + ib.ICRCLen
	b := append(f.bytes[:0], c.mac[to][:]...)
	b = append(b, c.mac[from][:]...)
	dscp := byte(26)
	if h.Opcode == ib.CNP {
		dscp = 48
	}
	b = append(b, 0x08, 0x00, 0x45, dscp<<2|byte(ecn))
	b = binary.BigEndian.AppendUint16(b, uint16(size-14))
	b = binary.BigEndian.AppendUint16(b, c.ids[from])
	b = append(b, 0x40, 0, 64, 17, 0, 0)
	b = append(append(b, c.addr[from][:]...), c.addr[to][:]...)
	b = binary.BigEndian.AppendUint16(b, c.port[from])
	b = binary.BigEndian.AppendUint16(b, decode.DefaultPort)
	b = append(binary.BigEndian.AppendUint16(b, uint16(size-34)), 0, 0)
	h.PKey, h.DestQP, h.MigReq = 0xFFFF, c.qp[to], true
	b = append(h.Append(b), ext...)
	clear(f.bytes[len(b):])
	if size <= len(f.bytes) { // longer ones are cut before their ICRC
		crc, _ := f.icrc.IPv4(f.bytes[14:size-ib.ICRCLen], 20)
		ib.AppendICRC(f.bytes[:size-ib.ICRCLen], crc)
	}
	c.ids[from]++
	return f.bytes[:], size
}

// pause lays out a PFC frame of the switch for priority 3.
func (f *bulkFrame) pause(quanta uint16) (data []byte, size int) {
	b := append(f.bytes[:0], 0x01, 0x80, 0xC2, 0, 0, 1, 0x00, 0x02, 0xC9, 0, 0, 1, 0x88, 0x08, 0x01, 0x01, 0, 1<<3)
	b = append(b, 0, 0, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint16(b, quanta)
	clear(f.bytes[len(b):])
	return f.bytes[:], 64
}
