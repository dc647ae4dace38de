package decode

import "encoding/binary"

// mpacket reads the preamble of an 802.3br frame, eight bytes. Its last says
// whether a frame starts here; where the last but one is no preamble any more,
// the rest of a frame follows that gave way to another.
func mpacket(_ *Decoder, p *Packet, data []byte, off int) (step, int) {
	const size, preamble = 8, 0x55
	b := data[off:]
	if len(b) < size {
		return end(p, Truncated)
	}
	switch b[6] {
	case preamble:
		switch b[7] {
		case 0xD5, 0xE6, 0x4C, 0x7F, 0xB3: // express, and what may give way
			return ethernet, off + size
		}
	case 0x61, 0x52, 0x9E, 0x2A:
		return end(p, Fragment)
	}
	return end(p, Other)
}

// loopback reads the address family of a BSD loopback capture, in whichever
// byte order it makes sense. Each system has a number of its own for IPv6.
func loopback(_ *Decoder, p *Packet, data []byte, off int) (step, int) {
	b := data[off:]
	if len(b) < 4 {
		return end(p, Truncated)
	}
	family := min(binary.BigEndian.Uint32(b), binary.LittleEndian.Uint32(b))
	switch family {
	case 2:
		return ipv4, off + 4
	case 23, 24, 28, 30: // Windows, NetBSD and OpenBSD, FreeBSD, macOS
		return ipv6, off + 4
	}
	return end(p, Other)
}
