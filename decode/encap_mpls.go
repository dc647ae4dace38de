package decode

import "encoding/binary"

// mpls reads a label stack (RFC 3032): entries of four bytes, the last of which
// says so.
func mpls(d *Decoder, p *Packet, data []byte, off int) (step, int) {
	const most = 16 // labels; real stacks have up to about six
	p.Encap |= EncapMPLS
	for range most {
		if len(data) < off+4 {
			return end(p, Truncated)
		}
		bottom := data[off+2] & 1
		off += 4
		if bottom != 0 {
			return labelled(d, p, data, off)
		}
	}
	return end(p, Malformed)
}

// labelled guesses what the labels carry, which nothing says. A version nibble
// alone does not do: the address that an Ethernet frame starts with may have
// the same. So a header that is right as IP comes first, then one that is right
// as Ethernet, behind a control word (RFC 4448, 4.6) or not, and the nibble
// last. All of it looks at the first 20 bytes only, so that a frame cut shorter
// is never taken for something else.
func labelled(d *Decoder, p *Packet, data []byte, off int) (step, int) {
	b := data[off:]
	if len(b) < 20 {
		return end(p, Truncated)
	}
	nibble := b[0] >> 4
	switch {
	case b[0] == 0x45 && sumOK(sum(0, b[:20])):
		return ipv4, off
	case nibble == 6 && fills6(b, int(p.Len)-off):
		return ipv6, off
	case nibble == 0 && likeEthernet(b[4:]):
		return ethernet, off + 4
	case likeEthernet(b):
		return ethernet, off
	case nibble == 4:
		return ipv4, off
	case nibble == 6:
		return ipv6, off
	}
	return end(p, Other)
}

// fills6 reports whether an IPv6 packet of the length that b says takes up the
// rest of the frame, but for padding.
func fills6(b []byte, rest int) bool {
	const pad = 46
	n := 40 + int(binary.BigEndian.Uint16(b[4:]))
	return n <= rest && rest <= n+pad
}

// likeEthernet reports whether b, at least 15 bytes, reads as an Ethernet
// header: an EtherType that is known here, and behind that of IP its version.
func likeEthernet(b []byte) bool {
	t := binary.BigEndian.Uint16(b[12:])
	switch t {
	case etherIPv4:
		return b[14]>>4 == 4
	case etherIPv6:
		return b[14]>>4 == 6
	}
	return byEtherType(t) != nil
}
