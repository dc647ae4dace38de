package decode

import "encoding/binary"

// The opcodes of MAC control frames that pause.
const (
	macPause = 0x0001
	macPFC   = 0x0101
)

// macControl reads what follows EtherType 0x8808: an opcode, and then one
// pause time (802.3x), or a vector of enabled priorities and eight times
// (802.1Qbb).
func macControl(_ *Decoder, p *Packet, data []byte, off int) (step, int) {
	b := data[off:]
	if len(b) < 2 {
		return end(p, Truncated)
	}
	switch binary.BigEndian.Uint16(b) {
	case macPFC:
		pfc(&p.Pause, b[2:])
		return end(p, PFC)
	case macPause:
		if len(b) < 4 { // a time of 0 would say that the pause ends
			return end(p, Truncated)
		}
		p.Pause.Quanta[0] = binary.BigEndian.Uint16(b[2:])
		return end(p, Pause)
	}
	return end(p, Other)
}

// pfc reads as many times as there are. A priority without a captured time is
// left alone, as if its bit were clear, rather than taken for resumed.
func pfc(i *PauseInfo, b []byte) {
	if len(b) < 2 {
		return
	}
	enabled := b[1] // the vector's upper byte is reserved
	b = b[2:]
	for q := range i.Quanta {
		if len(b) < 2 {
			break
		}
		i.Quanta[q] = binary.BigEndian.Uint16(b)
		i.Enabled |= enabled & (1 << q)
		b = b[2:]
	}
}
