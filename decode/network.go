package decode

import "encoding/binary"

// The IP protocols that are told apart here.
const (
	protoHopByHop = 0
	protoIPv4     = 4
	protoTCP      = 6
	protoUDP      = 17
	protoIBA      = 0x1B // an IB transport header, in a GRH alone
	protoIPv6     = 41
	protoRouting  = 43
	protoFragment = 44
	protoGRE      = 47
	protoDestOpts = 60
	protoRoCEv15  = 254 // by default; a number for experiments (RFC 3692)
)

func byProto(proto uint8) step {
	switch proto {
	case protoUDP:
		return udp
	case protoTCP:
		return tcp
	case protoGRE:
		return gre
	case protoIPv4:
		return ipip4
	case protoIPv6:
		return ipip6
	case protoRoCEv15:
		return rocev15
	}
	return nil
}

func rocev15(_ *Decoder, p *Packet, _ []byte, _ int) (step, int) { return end(p, RoCEv15) }

// map4 writes the four bytes of b as ::ffff:a.b.c.d. Two stores of eight bytes
// are faster than a copy of the prefix and one of the address.
func map4(a *[16]byte, b []byte) {
	binary.LittleEndian.PutUint64(a[:8], 0)
	binary.LittleEndian.PutUint64(a[8:], 0xFFFF0000|uint64(binary.LittleEndian.Uint32(b))<<32)
}

// ipv4 reads an IPv4 header and skips its options.
func ipv4(d *Decoder, p *Packet, data []byte, off int) (step, int) {
	b := data[off:]
	if len(b) < 20 {
		return end(p, Truncated)
	}
	hdr, total, odd := 20, int(binary.BigEndian.Uint16(b[2:])), Odd(0)
	if b[0] != 0x45 {
		if hdr = int(b[0]&0xF) * 4; b[0]>>4 != 4 || hdr < 20 {
			return end(p, Malformed)
		}
		odd = OddIPOptions
	}
	// A host that leaves segmentation to its adapter captures TCP with length 0.
	if total < hdr && (total != 0 || b[9] != protoTCP) {
		return end(p, Malformed)
	}
	p.EtherType, p.IPv6 = etherIPv4, false
	p.IPID = binary.BigEndian.Uint16(b[4:])
	p.SrcPort, p.DstPort = 0, 0
	p.DSCP, p.ECN = b[1]>>2, ECN(b[1]&3)
	p.TTL, p.Proto = b[8], b[9]
	map4(&p.Src, b[12:16])
	map4(&p.Dst, b[16:20])
	if off+total > int(p.Len) {
		odd |= OddTrimmed
	}
	p.Odd = odd
	const moreOrOffset = 0x3FFF // all but the reserved and the DF flag
	if binary.BigEndian.Uint16(b[6:])&moreOrOffset != 0 {
		return fragment4, off
	}
	if len(b) < hdr {
		return end(p, Truncated)
	}
	d.net = network{off: off, hdr: hdr, room: total - hdr}
	return byProto(p.Proto), off + hdr
}

// ipv6 reads an IPv6 header and walks over its extension headers.
func ipv6(d *Decoder, p *Packet, data []byte, off int) (step, int) {
	b := data[off:]
	if len(b) < 40 {
		return end(p, Truncated)
	}
	if b[0]>>4 != 6 {
		return end(p, Malformed)
	}
	p.EtherType = etherIPv6
	header6(p, b)
	total := 40 + int(binary.BigEndian.Uint16(b[4:]))
	if off+total > int(p.Len) {
		p.Odd = OddTrimmed
	}
	proto, n, s := extensions6(b[6], b[40:])
	p.Proto = proto
	if n > 0 || s == Fragment {
		p.Odd |= OddIPv6Ext
	}
	hdr := 40 + n
	if s != Other {
		if s == Fragment && len(b) >= hdr+8 && binary.BigEndian.Uint16(b[hdr+2:])>>3 == 0 {
			d.fragment(p, b[hdr+8:])
		}
		return end(p, s)
	}
	d.net = network{off: off, hdr: hdr, room: total - hdr}
	return byProto(proto), off + hdr
}

// fragment4 reads an IPv4 header again that turned out to be a fragment's.
func fragment4(d *Decoder, p *Packet, data []byte, off int) (step, int) {
	const offset = 0x1FFF // in units of eight bytes
	b := data[off:]
	if hdr := int(b[0]&0xF) * 4; binary.BigEndian.Uint16(b[6:])&offset == 0 && len(b) >= hdr {
		d.fragment(p, b[hdr:])
	}
	return end(p, Fragment)
}

// fragment keeps what the first fragment, which holds b, tells of the rest: the
// ports. It is not decoded, for its lengths are the whole packet's.
func (d *Decoder) fragment(p *Packet, b []byte) {
	if p.Proto != protoUDP || len(b) < 8 {
		return
	}
	p.SrcPort, p.DstPort = binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	if p.DstPort == d.port() {
		p.Odd |= OddFragment
	}
}

// header6 keeps the fields that an IPv6 header and a GRH have in common. b
// must hold 40 bytes.
func header6(p *Packet, b []byte) {
	b = b[:40:40]
	class := b[0]<<4 | b[1]>>4
	p.IPv6, p.IPID, p.Odd = true, 0, 0
	p.SrcPort, p.DstPort = 0, 0
	p.DSCP, p.ECN = class>>2, ECN(class&3)
	p.Proto, p.TTL = b[6], b[7]
	p.Src, p.Dst = [16]byte(b[8:24]), [16]byte(b[24:40])
}

// extensions6 walks over the extension headers at the start of b, the first of
// type proto. It returns the protocol and the length it got to, and Other where
// nothing stopped it.
func extensions6(proto uint8, b []byte) (_ uint8, n int, _ Status) {
	const most = 8 // RFC 8200, 4.1: each at most once, destination options twice
	for range most {
		switch proto {
		default:
			return proto, n, Other
		case protoFragment:
			if len(b) > n { // say of what it is a fragment
				proto = b[n]
			}
			return proto, n, Fragment
		case protoHopByHop, protoRouting, protoDestOpts:
			if len(b) < n+8 {
				return proto, n, Truncated
			}
			proto, n = b[n], n+8+int(b[n+1])*8
			if len(b) < n {
				return proto, n, Truncated
			}
		}
	}
	return proto, n, Malformed
}

// grh reads the global route header of RoCEv1, which is laid out as IPv6, or
// that of native InfiniBand, where no EtherType stands before it.
func grh(d *Decoder, p *Packet, data []byte, off int) (step, int) {
	b := data[off:]
	if len(b) < 40 {
		return end(p, Truncated)
	}
	switch b[0] >> 4 {
	case 6:
	case 8: // usNIC, which has a header of its own
		return end(p, Other)
	default:
		return end(p, Malformed)
	}
	header6(p, b)
	if p.Proto != protoIBA {
		return end(p, Other) // not an IB transport
	}
	d.net = network{off: off, hdr: 40, room: int(binary.BigEndian.Uint16(b[4:]))}
	if off+40+d.net.room > int(p.Len) {
		p.Odd = OddTrimmed
	}
	version := uint8(1)
	if p.EtherType != etherRoCE {
		version = 0
	}
	return roce(d, p, data, off+40, d.net.room, version)
}
