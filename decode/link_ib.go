package decode

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// lrh reads the local route header of native InfiniBand: virtual lane and
// version, service level and next header, destination LID, length, source LID.
// The length counts words of four bytes from the LRH through the ICRC; a VCRC
// of two bytes follows.
func lrh(d *Decoder, p *Packet, data []byte, off int) (step, int) {
	const size, local, global = 8, 2, 3
	b := data[off:]
	if len(b) < size {
		return end(p, Truncated)
	}
	n := int(binary.BigEndian.Uint16(b[4:])&0x7FF) * 4
	if b[0]&0xF != 0 || n < size {
		return end(p, Malformed)
	}
	switch b[1] & 3 {
	case local:
		p.IPv6, p.Odd = true, 0
		p.Src, p.Dst = lid(b[6:8]), lid(b[2:4])
		if off+n > int(p.Len) {
			p.Odd = OddTrimmed
		}
		return roce(d, p, data, off+size, n-size, 0)
	case global:
		return grh, off + size
	}
	return end(p, Other) // a raw packet: no IB transport
}

// lidPrefix begins what stands for a LID among addresses: the prefix 100::/64 is
// for discarding (RFC 6666), so no host has such an address.
var lidPrefix = [14]byte{0: 1}

// lid is a local identifier in the place of an address.
func lid(b []byte) (a [16]byte) {
	copy(a[:], lidPrefix[:])
	copy(a[14:], b)
	return a
}

// Address names an address of a Packet as reports do: 192.0.2.1, 2001:db8::1, or
// "LID 9" for one end of a native InfiniBand packet without a GRH.
func Address(a [16]byte) string {
	if [14]byte(a[:14]) == lidPrefix {
		return fmt.Sprintf("LID %d", binary.BigEndian.Uint16(a[14:]))
	}
	return netip.AddrFrom16(a).Unmap().String()
}
