package wrapped

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// Each function puts one header before what it is given. They share nothing with
// package decode, nor with its tests, so that a layout understood wrongly there
// is not understood wrongly here as well.

var be = binary.BigEndian

// cat joins the parts of a packet.
func cat(parts ...[]byte) []byte { return slices.Concat(parts...) }

func u16(v uint16) []byte { return be.AppendUint16(nil, v) }
func u32(v uint32) []byte { return be.AppendUint32(nil, v) }

// The MACs of the two switches that tunnels run between.
var (
	leaf1 = [6]byte{2, 0, 0, 0, 0, 0x0A}
	leaf2 = [6]byte{2, 0, 0, 0, 0, 0x0B}
)

// hop is an Ethernet header between the switches, in the direction of x.
func (x inner) hop(etherType uint16, rest []byte) []byte {
	if x.back {
		return cat(leaf1[:], leaf2[:], u16(etherType), rest)
	}
	return cat(leaf2[:], leaf1[:], u16(etherType), rest)
}

// tagged puts tags between the addresses and the EtherType. Each is a TPID and a
// TCI, the outermost first.
func tagged(frame []byte, tags ...uint16) []byte {
	out := slices.Clone(frame[:12])
	for _, t := range tags {
		out = be.AppendUint16(out, t)
	}
	return append(out, frame[12:]...)
}

// labels is an MPLS stack; TTL 64, class 3.
func labels(rest []byte, of ...uint32) []byte {
	var out []byte
	for i, l := range of {
		v := l<<12 | 3<<9 | 64
		if i == len(of)-1 {
			v |= 1 << 8 // bottom of the stack
		}
		out = be.AppendUint32(out, v)
	}
	return append(out, rest...)
}

// tunnel4 is an IPv4 header between the switches: class 0, ID 0x0BAD, TTL 255,
// none of which may show in what is inside.
func (x inner) tunnel4(proto uint8, rest []byte) []byte {
	src, dst := []byte{192, 0, 2, 1}, []byte{192, 0, 2, 2}
	if x.back {
		src, dst = dst, src
	}
	return ip4(src, dst, proto, rest)
}

// mirrored4 is one to a collector: a mirror sends there whatever the direction.
func mirrored4(rest []byte) []byte {
	return cat(leaf2[:], leaf1[:], u16(0x0800), ip4([]byte{192, 0, 2, 1}, []byte{192, 0, 2, 99}, 47, rest))
}

func ip4(src, dst []byte, proto uint8, rest []byte) []byte {
	h := cat([]byte{0x45, 0}, u16(uint16(20+len(rest))), []byte{0x0B, 0xAD, 0x40, 0, 255, proto, 0, 0}, src, dst)
	return append(sum4(h), rest...)
}

// sum4 writes the checksum of an IPv4 header, which may have options.
func sum4(h []byte) []byte {
	be.PutUint16(h[10:], 0)
	be.PutUint16(h[10:], ^fold(h))
	return h
}

// fold is the sum of RFC 1071, the plain way.
func fold(parts ...[]byte) uint16 {
	var s uint32
	for _, b := range parts {
		for i, x := range b {
			s += uint32(x) << (8 * (1 - i%2))
		}
	}
	for s > 0xFFFF {
		s = s>>16 + s&0xFFFF
	}
	return uint16(s)
}

func (x inner) tunnel6(next uint8, rest []byte) []byte {
	src, dst := make([]byte, 16), make([]byte, 16)
	copy(src, []byte{0x20, 1, 0x0D, 0xB8})
	copy(dst, src)
	src[15], dst[15] = 1, 2
	if x.back {
		src, dst = dst, src
	}
	return cat([]byte{0x60, 0, 0, 0}, u16(uint16(len(rest))), []byte{next, 255}, src, dst, rest)
}

// udp leaves the checksum 0; the source port is a tunnel's entropy.
func udp(src, dst uint16, rest []byte) []byte {
	return cat(u16(src), u16(dst), u16(uint16(8+len(rest))), []byte{0, 0}, rest)
}

// overUDP is Ethernet, IPv4 and UDP of a tunnel, 42 bytes.
func (x inner) overUDP(port uint16, rest []byte) []byte {
	return x.hop(0x0800, x.tunnel4(17, udp(49999, port, rest)))
}

// overGRE is Ethernet, IPv4 and GRE, 34 bytes and those of gre.
func (x inner) overGRE(rest []byte) []byte { return x.hop(0x0800, x.tunnel4(47, rest)) }

// vxlan is VXLAN's header; of VXLAN-GPE, next says what follows.
func vxlan(flags, next uint8, vni uint32, rest []byte) []byte {
	return cat([]byte{flags, 0, 0, next}, u32(vni<<8), rest)
}

// geneve has options of 12 bytes: one of class 0x0103 and type 1 with 8 bytes.
func geneve(proto uint16, vni uint32, rest []byte) []byte {
	options := []byte{0x01, 0x03, 0x01, 2, 1, 2, 3, 4, 5, 6, 7, 8}
	return cat([]byte{uint8(len(options) / 4), 0}, u16(proto), u32(vni<<8), options, rest)
}

// The flags of GRE.
const (
	withSum   = 0x8000
	withRoute = 0x4000
	withKey   = 0x2000
	withSeq   = 0x1000
)

// gre writes what the flags ask for: the right checksum (RFC 2784), a source
// route of one hop (RFC 1701), key and sequence number (RFC 2890).
func gre(flags, proto uint16, key, seq uint32, rest []byte) []byte {
	b := cat(u16(flags), u16(proto))
	if flags&(withSum|withRoute) != 0 {
		b = append(b, 0, 0, 0, 0)
	}
	if flags&withKey != 0 {
		b = be.AppendUint32(b, key)
	}
	if flags&withSeq != 0 {
		b = be.AppendUint32(b, seq)
	}
	if flags&withRoute != 0 {
		b = append(b, 0x08, 0x00, 4, 4, 192, 0, 2, 7, 0, 0, 0, 0) // an IPv4 address, already passed, and the end
	}
	b = append(b, rest...)
	if flags&withSum != 0 {
		be.PutUint16(b[4:], ^fold(b))
	}
	return b
}

// erspan2 is VLAN 100, class 3, of a port index; t says that the mirror cut.
func erspan2(session, t uint32, rest []byte) []byte {
	return cat(u32(1<<28|100<<16|3<<13|t<<10|session), u32(0x00012), rest)
}

// erspan3 counts time in units of 100 ns; tail is P, frame type, hardware,
// direction, granularity and O, in 16 bits.
func erspan3(session, time uint32, tail uint16, sub, rest []byte) []byte {
	return cat(u32(2<<28|100<<16|3<<13|session), u32(time), u16(7), u16(tail), sub, rest)
}

// erf is an Endace record: a time in units of 2^-32 s, little endian, the kind,
// and lengths. Ethernet is padded by two bytes.
func erf(x inner, kind uint8, extensions [][8]byte, rest []byte) []byte {
	var body []byte
	for i, e := range extensions {
		if i < len(extensions)-1 {
			e[0] |= 0x80 // another follows
		}
		body = append(body, e[:]...)
	}
	wire := len(rest)
	switch kind {
	case 2, 11, 16, 20:
		rest = append([]byte{0, 0}, rest...)
	}
	body = append(body, rest...)
	if len(extensions) > 0 {
		kind |= 0x80
	}
	h := binary.LittleEndian.AppendUint64(nil, uint64(began/1_000_000_000)<<32|uint64(x.i)<<20)
	h = append(h, kind, 4) // flags: records of their own length
	return cat(h, u16(uint16(16+len(body))), u16(0), u16(uint16(wire)), body)
}

// lrh is native InfiniBand between LIDs 0x11 and 0x12, whose ICRC covers the LRH
// and whose VCRC follows.
func (x inner) lrh(next uint8, rest []byte) []byte {
	src, dst := uint16(0x11), uint16(0x12)
	if x.back {
		src, dst = dst, src
	}
	b := cat([]byte{0x30, 0x40 | next}, u16(dst), u16(uint16(8+len(rest))/4), u16(src), rest) // VL 3, SL 4
	bth := 8
	masked := slices.Clone(b[:len(b)-4])
	masked[0] |= 0xF0
	if next == 3 {
		bth += 40
		masked[8] |= 0x0F
		masked[9], masked[10], masked[11], masked[15] = 0xFF, 0xFF, 0xFF, 0xFF
	}
	masked[bth+4] = 0xFF
	binary.LittleEndian.PutUint32(b[len(b)-4:], crc32.ChecksumIEEE(masked))
	return binary.LittleEndian.AppendUint16(b, vcrc(b))
}

// vcrc is the CRC-16 with the polynomial 0x100B, bits reversed.
func vcrc(b []byte) uint16 {
	c := uint16(0xFFFF)
	for _, x := range b {
		c ^= uint16(x)
		for range 8 {
			c = c>>1 ^ c&1*0xD008
		}
	}
	return ^c
}

// fcs is the frame check sequence as it follows a frame.
func fcs(frame []byte) []byte {
	return binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(frame))
}

// sealed puts the right ICRC at the end of an IP packet whose header, or headers,
// end at hdr.
func sealed(ip []byte, hdr int) []byte {
	n := len(ip) - 4
	b := cat([]byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, ip[:n])
	h := b[8:]
	if h[0]>>4 == 4 {
		h[1], h[8], h[10], h[11] = 0xFF, 0xFF, 0xFF, 0xFF
	} else {
		h[0] |= 0x0F
		h[1], h[2], h[3], h[7] = 0xFF, 0xFF, 0xFF, 0xFF
	}
	h[hdr+6], h[hdr+7], h[hdr+8+4] = 0xFF, 0xFF, 0xFF
	return binary.LittleEndian.AppendUint32(slices.Clone(ip[:n]), crc32.ChecksumIEEE(b))
}
