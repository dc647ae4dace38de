package decode

import "encoding/binary"

// The flags of a GRE header, of which each adds four bytes but the routing's,
// which shares those of the checksum and adds a list at the end.
const (
	greChecksum = 0x8000
	greRouting  = 0x4000 // RFC 1701 alone
	greKey      = 0x2000
	greSequence = 0x1000
	greVersion  = 0x0007
)

// gre reads a GRE header of version 0 (RFC 2784, 2890, 1701): flags, protocol,
// and what the flags add, in their order. Version 1 is PPTP's.
func gre(_ *Decoder, p *Packet, data []byte, off int) (step, int) {
	b := data[off:]
	if len(b) < 4 {
		return end(p, Truncated)
	}
	flags, proto := binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	if flags&greVersion != 0 {
		return end(p, Other)
	}
	n := 4
	if flags&(greChecksum|greRouting) != 0 {
		n += 4
	}
	var key uint32
	if flags&greKey != 0 {
		if len(b) < n+4 {
			return end(p, Truncated)
		}
		key = binary.BigEndian.Uint32(b[n:])
		n += 4
	}
	if flags&greSequence != 0 {
		if len(b) < n+4 {
			return end(p, Truncated)
		}
		p.HasGRESeq, p.GRESeq = true, binary.BigEndian.Uint32(b[n:])
		p.Mirror = outer(p, key)
		n += 4
	}
	if len(b) < n {
		return end(p, Truncated)
	}
	if flags&greRouting != 0 {
		var s Status
		if n, s = sourceRoute(b, n); s != Other {
			return end(p, s)
		}
	}
	return byGRE(p, proto, flags, key), off + n
}

// byGRE leads on by protocol and tells the kinds of GRE apart. What Linux calls
// a gretap with a key looks the same as NVGRE and is taken for it.
func byGRE(p *Packet, proto, flags uint16, key uint32) step {
	switch {
	case proto == etherERSPAN && flags&greSequence == 0:
		p.Encap |= EncapERSPAN1
		return ethernet
	case proto == etherERSPAN || proto == etherERSPAN3:
		return erspan
	case proto == etherTEB && flags&(greChecksum|greKey|greSequence) == greKey: // RFC 7637, 3.2
		p.Encap |= EncapNVGRE
		p.VNI = key >> 8
		return ethernet
	}
	p.Encap |= EncapGRE
	return byTunnel(proto)
}

// sourceRoute walks over the source route entries that start at b[n]: address
// family, offset, length, and so many bytes; family and length 0 end the list.
// It returns where they end, and Other where nothing stopped it.
func sourceRoute(b []byte, n int) (int, Status) {
	const most = 8 // entries
	for range most {
		if len(b) < n+4 {
			return n, Truncated
		}
		family, size := binary.BigEndian.Uint16(b[n:]), int(b[n+3])
		n += 4 + size
		if family == 0 && size == 0 {
			return n, Other
		}
		if len(b) < n {
			return n, Truncated
		}
	}
	return n, Malformed
}

// outer hashes the addresses read last and a GRE key. It depends on nothing
// else, so that the sequences of several captures can be put together.
func outer(p *Packet, key uint32) uint32 {
	h := mix(uint64(key), binary.BigEndian.Uint64(p.Src[:]))
	h = mix(h, binary.BigEndian.Uint64(p.Src[8:]))
	h = mix(h, binary.BigEndian.Uint64(p.Dst[:]))
	h = mix(h, binary.BigEndian.Uint64(p.Dst[8:]))
	return uint32(h)
}

func mix(h, v uint64) uint64 {
	h = (h ^ v) * 0x9E3779B97F4A7C15
	return h ^ h>>32
}
