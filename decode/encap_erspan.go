package decode

import "encoding/binary"

// erspan reads the header of ERSPAN II (8 bytes) or III (12 bytes, and 8 more
// where the O bit is set), which begin alike: version, VLAN, class, two bits of
// its own, T, session (draft-foschiano-erspan-03, 4). The version counts one
// less than the type. The VLAN is the switch's and may be no tag of the frame.
func erspan(_ *Decoder, p *Packet, data []byte, off int) (step, int) {
	b := data[off:]
	if len(b) < 4 {
		return end(p, Truncated)
	}
	h := binary.BigEndian.Uint32(b)
	encap, next, n := EncapERSPAN2, step(ethernet), 8
	switch h >> 28 {
	case 1:
	case 2:
		encap, n = EncapERSPAN3, 12
		if len(b) >= n {
			next, n = byFrameType(binary.BigEndian.Uint16(b[10:]))
		}
	default:
		return end(p, Other)
	}
	if len(b) < n {
		return end(p, Truncated)
	}
	p.Encap |= encap
	p.Session = uint16(h & 0x3FF)
	p.CutByMirror = p.CutByMirror || h>>10&1 != 0
	if p.HasGRESeq { // which counts up with each packet of a session
		p.Mirror = uint32(mix(uint64(p.Mirror), uint64(p.Session)))
	}
	return next, off + n
}

// byFrameType leads on behind ERSPAN III. v holds the P bit, the frame's type
// (0 Ethernet, 2 IP), the hardware's number, the direction, the granularity of
// the time, and the O bit. It returns the length of the header too.
func byFrameType(v uint16) (next step, n int) {
	n = 12 + int(v&1)*8
	switch v >> 10 & 0x1F {
	case 0:
		return ethernet, n
	case 2:
		return raw, n
	}
	return nil, n
}
