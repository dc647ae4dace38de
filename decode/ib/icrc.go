package ib

import (
	"encoding/binary"
	"hash/crc32"
)

// ICRCLen is the length of the invariant CRC behind the pad, in bytes.
const ICRCLen = 4

// icrcStart is the CRC-32 of the eight bytes of ones that stand for the LRH,
// which RoCE does not have.
const icrcStart = 0x2144DF1C

// ICRC computes invariant CRCs. The zero value is ready; whoever keeps one and
// reuses it computes without allocating. It is not safe for use by several
// goroutines at a time.
//
// The CRC leaves out, by counting them as ones, the fields that a router may
// change: TOS or traffic class and flow label, TTL or hop limit, the checksums,
// and the byte of the BTH that holds FECN and BECN.
type ICRC struct {
	// head is where the headers are masked. It cannot be a local variable:
	// hash/crc32 calls through a function value, so it would escape.
	head [60 + 8 + BTHLen]byte
}

// IPv4 computes the ICRC of a RoCEv2 packet. ip runs from the IPv4 header
// through the pad, without the ICRC; hdr is the length of the IPv4 header, 20
// to 60. It reports false where ip ends before the BTH does.
func (c *ICRC) IPv4(ip []byte, hdr int) (uint32, bool) {
	n := hdr + 8 + BTHLen
	if hdr < 20 || hdr > 60 || len(ip) < n {
		return 0, false
	}
	h := c.head[:n]
	copy(h, ip)
	h[1], h[8], h[10], h[11] = 0xFF, 0xFF, 0xFF, 0xFF
	maskUDP(h[hdr:])
	return icrc(h, ip[n:]), true
}

// IPv6 computes the ICRC of a RoCEv2 packet over IPv6. ip runs from the IPv6
// header, which the UDP header follows at once, through the pad.
func (c *ICRC) IPv6(ip []byte) (uint32, bool) {
	const n = 40 + 8 + BTHLen
	if len(ip) < n {
		return 0, false
	}
	h := c.head[:n]
	copy(h, ip)
	maskIPv6(h)
	maskUDP(h[40:])
	return icrc(h, ip[n:]), true
}

// GRH computes the ICRC of a RoCEv1 packet. grh runs from the GRH, which the
// BTH follows, through the pad.
func (c *ICRC) GRH(grh []byte) (uint32, bool) {
	const n = 40 + BTHLen
	if len(grh) < n {
		return 0, false
	}
	h := c.head[:n]
	copy(h, grh)
	maskIPv6(h)
	h[40+4] = 0xFF
	return icrc(h, grh[n:]), true
}

// maskUDP covers the UDP checksum and the congestion bits of the BTH behind.
func maskUDP(h []byte) { h[6], h[7], h[8+4] = 0xFF, 0xFF, 0xFF }

// maskIPv6 covers traffic class, flow label and hop limit.
func maskIPv6(h []byte) {
	h[0] |= 0x0F
	h[1], h[2], h[3], h[7] = 0xFF, 0xFF, 0xFF, 0xFF
}

func icrc(head, rest []byte) uint32 {
	c := crc32.Update(icrcStart, crc32.IEEETable, head)
	return crc32.Update(c, crc32.IEEETable, rest)
}

// ReadICRC returns the ICRC that stands at the start of b. It is the one
// little-endian item of a packet.
func ReadICRC(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

// AppendICRC adds an ICRC's wire form to b.
func AppendICRC(b []byte, crc uint32) []byte { return binary.LittleEndian.AppendUint32(b, crc) }
