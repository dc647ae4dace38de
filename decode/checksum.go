package decode

import (
	"encoding/binary"
	"math/bits"
)

// sum adds b to a ones' complement sum of 16-bit words (RFC 1071), eight bytes
// at a time: 2^64-1 is a multiple of 2^16-1, so the carries come out the same.
// Of several parts all but the last must be of even length.
func sum(s uint64, b []byte) uint64 {
	var c uint64
	for len(b) >= 8 {
		s, c = bits.Add64(s, binary.BigEndian.Uint64(b), c)
		b = b[8:]
	}
	s, c = bits.Add64(s, last(b), c)
	return s + c
}

// last returns the bytes of b, less than eight, as the start of eight.
func last(b []byte) (v uint64) {
	for i, x := range b {
		v |= uint64(x) << (56 - 8*i)
	}
	return v
}

// sumOK reports whether a sum over data and its checksum says that they agree.
func sumOK(s uint64) bool {
	for s > 0xFFFF {
		s = s>>16 + s&0xFFFF
	}
	return s == 0xFFFF
}

// udpOK holds the checksum of the n bytes of UDP at data[off] against them. It
// reports true where it cannot tell: where the capture ends before, and where
// options or extension headers may stand for another destination.
func (d *Decoder) udpOK(p *Packet, data []byte, off, n int) bool {
	if off+n > len(data) {
		return true
	}
	addrs := data[d.net.off+12 : d.net.off+20]
	if p.IPv6 {
		addrs = data[d.net.off+8 : d.net.off+40]
	}
	if d.net.hdr != 20 && !p.IPv6 || d.net.hdr != 40 && p.IPv6 {
		return true
	}
	s := sum(protoUDP+uint64(n), addrs)
	return sumOK(sum(s, data[off:off+n]))
}
