package decode

import "encoding/binary"

// erf reads an ERF record header: time (8 bytes), type, flags, record length,
// loss counter or colour, length on the wire. The highest bit of the type says
// that extension headers of 8 bytes follow, and that of their first byte that
// another does. The frame's time remains the file's.
func erf(d *Decoder, p *Packet, data []byte, off int) (step, int) {
	const fixed, extension, most, more = 16, 8, 8, 0x80
	b := data[off:]
	if len(b) < fixed {
		return end(p, Truncated)
	}
	n := fixed
	for flag, i := b[8], 0; flag&more != 0; i++ {
		if i == most {
			return end(p, Malformed)
		}
		if len(b) < n+extension {
			return end(p, Truncated)
		}
		flag = b[n]
		n += extension
	}
	next, pad := byRecord(b[8] &^ more)
	n += pad
	if next != nil && len(b) < n {
		return end(p, Truncated)
	}
	// Of a frame that the card cut, some writers tell the file the cut length.
	p.Len = max(p.Len, uint32(off+n)+uint32(binary.BigEndian.Uint16(b[14:])))
	return next, off + n
}

// byRecord leads on by the type of the record. It returns the bytes of padding
// too that stand before the frame.
func byRecord(kind uint8) (next step, pad int) {
	switch kind {
	case 2, 11, 16, 20: // plain, and with a colour in place of the loss counter
		return ethernet, 2
	case 21:
		return lrh, 0
	case 22:
		return ipv4, 0
	case 23:
		return ipv6, 0
	}
	return nil, 0
}
