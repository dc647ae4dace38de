package decode

import "encoding/binary"

// The outer headers have other addresses, classes and ports than the inner ones
// that build_test.go makes, to show whose are kept.

// outerFrame is an Ethernet frame between switches.
func outerFrame(etherType uint16, rest []byte) []byte {
	return with(ethernetFrame(etherType, rest), 0, 2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8)
}

// outer4 makes DSCP 0, Not-ECT, TTL 255, from 10.9.9.1 to 10.9.9.2.
func outer4(proto uint8, rest []byte) []byte {
	b := with(ip4(proto, nil, rest), 1, 0)
	return with(b, 8, 255, proto, 0, 0, 10, 9, 9, 1, 10, 9, 9, 2)
}

func outer6(next uint8, rest []byte) []byte {
	b := with(ip6(next, rest), 0, 0x60, 0)
	return with(with(b, 7, 255), 23, 0x91)
}

// labels is a label stack of n entries, all of them label 1000.
func labels(n int, rest []byte) (b []byte) {
	for i := range n {
		v := uint32(1000)<<12 | 64
		if i == n-1 {
			v |= 1 << 8
		}
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return append(b, rest...)
}

// vxlanOf is a VXLAN header; next means something for GPE alone.
func vxlanOf(flags, next uint8, vni uint32, rest []byte) []byte {
	b := binary.BigEndian.AppendUint32([]byte{flags, 0, 0, next}, vni<<8)
	return append(b, rest...)
}

func geneveOf(options []byte, proto uint16, vni uint32, rest []byte) []byte {
	b := []byte{uint8(len(options) / 4), 0}
	b = binary.BigEndian.AppendUint16(b, proto)
	b = binary.BigEndian.AppendUint32(b, vni<<8)
	return append(append(b, options...), rest...)
}

// greOf is a GRE header with what its flags ask for: checksum 0xC1C2, key
// 0x12345642, sequence number 77, one source route entry of four bytes.
func greOf(flags, proto uint16, rest []byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, flags)
	b = binary.BigEndian.AppendUint16(b, proto)
	if flags&(greChecksum|greRouting) != 0 {
		b = append(b, 0xC1, 0xC2, 0, 0)
	}
	if flags&greKey != 0 {
		b = binary.BigEndian.AppendUint32(b, 0x12345642)
	}
	if flags&greSequence != 0 {
		b = binary.BigEndian.AppendUint32(b, 77)
	}
	if flags&greRouting != 0 {
		b = append(b, 8, 0, 0, 4, 10, 9, 9, 7, 0, 0, 0, 0)
	}
	return append(b, rest...)
}

// erspan2 is VLAN 100, class 3, the given session.
func erspan2(session uint16, cut bool, rest []byte) []byte {
	v := uint32(1)<<28 | 100<<16 | 3<<13 | uint32(session)
	if cut {
		v |= 1 << 10
	}
	return append(binary.BigEndian.AppendUint32(nil, v), append([]byte{0, 0, 0, 5}, rest...)...)
}

// erspan3 ends with the given 16 bits: P, frame type, hardware, direction,
// granularity, O.
func erspan3(session, tail uint16, rest []byte) []byte {
	v := uint32(2)<<28 | 100<<16 | 3<<13 | uint32(session)
	b := binary.BigEndian.AppendUint32(nil, v)
	b = append(b, 0x11, 0x22, 0x33, 0x44, 0, 0)
	b = binary.BigEndian.AppendUint16(b, tail)
	if tail&1 != 0 {
		b = append(b, 4, 0, 0, 1, 0, 0, 0, 2)
	}
	return append(b, rest...)
}

// erfOf is an ERF record with n extension headers, and the pad where the type
// has one.
func erfOf(kind uint8, n int, rest []byte) []byte {
	b := []byte{0, 0, 0, 0x80, 0, 0xF1, 0x53, 0x65, kind, 4, 0, 0, 0, 0}
	b = binary.BigEndian.AppendUint16(b, uint16(len(rest)))
	if n > 0 {
		b[8] |= 0x80
	}
	for i := range n {
		b = append(b, 3, 0, 0, 0, 0, 0, 0, 0)
		if i < n-1 {
			b[len(b)-8] |= 0x80
		}
	}
	if kind == 2 || kind == 11 {
		b = append(b, 0, 0)
	}
	return append(b, rest...)
}

// lrhOf goes from LID 9 to LID 5; a VCRC ends the packet.
func lrhOf(next uint8, rest []byte) []byte {
	n := (8 + len(rest)) / 4
	b := []byte{0, next, 0, 5, uint8(n >> 8), uint8(n), 0, 9}
	return append(append(b, rest...), 0x5A, 0x5A)
}

func mpacketOf(seventh, eighth uint8, rest []byte) []byte {
	return append([]byte{0x55, 0x55, 0x55, 0x55, 0x55, 0x55, seventh, eighth}, rest...)
}
