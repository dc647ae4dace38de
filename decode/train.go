package decode

import (
	"encoding/binary"

	"github.com/rocescope/rocescope/decode/ib"
)

// train is what the frame before leaves for the next one. Data comes in trains:
// the frames of a message differ in lengths, IP ID and checksum, in PSN, place in
// the message, padding and the wish for an answer. A frame that has all other
// header bytes of the one before is read by taking over what that one said.
type train struct {
	words  int                // of the headers, eight bytes each; 0 where nothing can go on
	head   [trainWords]uint64 // the headers
	mask   [trainWords]uint64 // 0 where bits may differ, and behind the headers
	middle ib.Opcode          // what the message may go on with
	last   ib.Opcode
	shape  trainShape
	packet Packet // as a MIDDLE without payload
}

// trainWords is room for 96 bytes of headers: two tags, IPv6 and 14 bytes more.
const trainWords = 12

// trainShape is where the headers of a train stand, on which the mask depends.
type trainShape struct {
	net, hdr, bth int
	v6            bool
	version       uint8
	length        int // where the length of what follows stands
	beyond        int // how much of what that counts lies before what follows
}

func shapeOf(n *network, bth int, p *Packet) trainShape {
	s := trainShape{n.off, n.hdr, bth, p.IPv6, p.Version, n.off + 2, n.hdr}
	if s.v6 { // and the GRH, which count what is behind their 40 bytes
		s.length, s.beyond = n.off+4, n.hdr-40
	}
	return s
}

// GoOn reads frames into packets as Decode would, as long as each goes on with the
// message of the one before, to begin with the frame decoded last, and returns how many
// do: a MIDDLE or LAST of its kind that carries no extension header, with every field
// of Packet the same but Time, Frame, Len, CapLen, IPID, Op, AckReq, PadCnt, PSN,
// PayloadLen, PayloadOff and ICRCVal, and the extension headers that only the first
// packet of a message has. Its PSN may be any.
func (d *Decoder) GoOn(frames []Frame, ps []Packet) int {
	t := &d.train
	ps = ps[:min(len(frames), len(ps))]
	for i := range ps {
		if !t.next(d, &frames[i], &ps[i]) {
			return i
		}
	}
	return len(ps)
}

// begin keeps the headers of a packet that others of its message may follow.
func (t *train) begin(d *Decoder, p *Packet, data []byte, bth int) {
	if !goesOn[p.Op] || p.Version == 0 || p.Encap&EncapMPLS != 0 { // what MPLS carries depends on the frame's length
		return
	}
	shape := shapeOf(&d.net, bth, p)
	n := (bth + ib.BTHLen + 7) / 8
	if n > trainWords || len(data) < 8*n || p.Odd&OddTrimmed != 0 || p.Version == 2 && data[bth-2]|data[bth-1] != 0 {
		return
	}
	if shape != t.shape {
		t.shape = shape
		t.mask = shape.masks()
	}
	for i := range n {
		t.head[i] = binary.LittleEndian.Uint64(data[8*i:])
	}
	t.words = n
	t.middle, t.last = goesOnWith(p.Op)
	t.packet = *p
	q := &t.packet
	q.Status, q.HasExt, q.PayloadOff = RoCE, true, uint16(bth+ib.BTHLen)
	q.Syndrome, q.MSN, q.SrcQP, q.RKey, q.DMALen, q.Imm, q.VA = 0, 0, 0, 0, 0, 0, 0
}

// next reads a frame that goes on with the train, and reports false for any other.
func (t *train) next(d *Decoder, f *Frame, p *Packet) bool {
	data, s := f.Data, &t.shape
	if t.words == 0 || len(data) < 8*t.words || f.Iface != t.packet.Iface {
		return false
	}
	b := data[s.bth-4:][:4+ib.BTHLen] // from UDP's length on
	op := ib.Opcode(b[4])
	if op != t.middle && op != t.last || t.differs(data) {
		return false
	}
	length := binary.BigEndian.Uint32(data[s.length:]) // of IPv4, and its ID; or of IPv6 and the GRH
	size := int(length>>16) - s.beyond
	if s.net+s.hdr+size > f.Len {
		return false
	}
	if s.version == 2 {
		udp := int(binary.BigEndian.Uint16(b))
		if udp > size {
			return false
		}
		size = udp - 8
	}
	pad := b[5] >> 4 & 3
	n := size - ib.BTHLen - ib.ICRCLen - int(pad)
	if n < 0 {
		return false
	}
	*p = t.packet
	p.Time, p.Frame = f.Time, f.Number
	p.Len, p.CapLen = uint32(f.Len), uint32(len(data))
	if !s.v6 {
		p.IPID = uint16(length)
	}
	p.Op, p.PadCnt, p.AckReq = op, pad, b[12]&0x80 != 0
	p.PSN = ib.PSN(binary.BigEndian.Uint32(b[12:]) & ib.PSNMask)
	p.PayloadLen = uint32(n)
	if end := s.bth + size; end <= len(data) {
		d.net = network{off: s.net, hdr: s.hdr}
		d.check(p, data[:end])
	}
	if op == t.last && op != t.middle {
		t.words = 0
	}
	return true
}

// differs reports whether the headers of a frame differ where they must not. Those
// without many tags or IPv6 fit into 64 bytes, for which no lengths need checking.
func (t *train) differs(data []byte) bool {
	const few = 8
	if t.words <= few && len(data) >= 8*few {
		b := (*[8 * few]byte)(data)
		d := word(b, 0, t) | word(b, 1, t) | word(b, 2, t) | word(b, 3, t)
		return d|word(b, 4, t)|word(b, 5, t)|word(b, 6, t)|word(b, 7, t) != 0
	}
	var d uint64
	for i, head := range t.head[:t.words] {
		d |= (binary.LittleEndian.Uint64(data[8*i:]) ^ head) & t.mask[i]
	}
	return d != 0
}

// word returns the bits of a word that must not differ, and do.
func word(b *[64]byte, i int, t *train) uint64 {
	return (binary.LittleEndian.Uint64(b[8*i:8*i+8]) ^ t.head[i]) & t.mask[i]
}

// masks clears what may differ from frame to frame.
func (s *trainShape) masks() (mask [trainWords]uint64) {
	var m [8 * trainWords]byte
	for i := range min(s.bth+ib.BTHLen, len(m)) {
		m[i] = 0xFF
	}
	free := func(from, n int) { clear(m[from : from+n]) }
	if s.v6 {
		free(s.net+4, 2) // payload length
	} else {
		free(s.net+2, 4)  // total length and ID
		free(s.net+10, 2) // checksum
	}
	if s.version == 2 {
		free(s.bth-4, 2) // length of UDP
	}
	free(s.bth, 1)           // opcode
	m[s.bth+1] = ^byte(0x30) // PadCnt
	m[s.bth+8] = ^byte(0x80) // AckReq
	free(s.bth+9, 3)         // PSN
	for i := range mask {
		mask[i] = binary.LittleEndian.Uint64(m[8*i:])
	}
	return mask
}

// goesOn are the opcodes behind which a message goes on.
var goesOn = func() (set [256]bool) {
	for i := range set {
		switch op := ib.Opcode(i); op.Transport() {
		case ib.RC, ib.UC, ib.XRC:
			middle, _ := goesOnWith(op)
			set[i] = op.Is(ib.IsFirst|ib.IsMiddle) && middle.Info().Len == 0
		}
	}
	return set
}()

// goesOnWith returns the opcodes a message may go on with behind a packet, the
// MIDDLE and the LAST one, which is the MIDDLE one again where that of its kind has
// an extension header.
func goesOnWith(op ib.Opcode) (middle, last ib.Opcode) {
	middle = op
	if op.Is(ib.IsFirst) {
		middle++
	}
	if last = middle + 1; last.Info().Len != 0 {
		last = middle
	}
	return middle, last
}
