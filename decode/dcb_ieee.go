package decode

import "encoding/binary"

// ieee reads a TLV of 802.1Qaz by its subtype (802.1Q-2018, D.2.8 to D.2.11).
func (d *DCB) ieee(subtype uint8, b []byte) {
	const table = 1 + 4 + 8 + 8
	switch {
	case subtype == 9 && len(b) >= table:
		d.Has |= DCBETS
		d.ETSWilling, d.ETSMax = b[0]&0x80 != 0, b[0]&7
		d.Class, d.Share, d.Schedule = nibbles(b[1:5]), [8]uint8(b[5:13]), [8]uint8(b[13:21])
	case subtype == 10 && len(b) >= table:
		d.Has |= DCBAdvised
		d.Advised = DCBAdvice{nibbles(b[1:5]), [8]uint8(b[5:13]), [8]uint8(b[13:21])}
	case subtype == 11 && len(b) >= 2:
		d.Has |= DCBPFC
		d.PFCWilling, d.PFCBypass, d.PFCCap = b[0]&0x80 != 0, b[0]&0x40 != 0, b[0]&0xF
		d.PFCEnabled = b[1]
	case subtype == 12 && len(b) >= 1:
		d.Has |= DCBApps
		for b = b[1:]; len(b) >= 3; b = b[3:] {
			d.app(DCBApp{DCBSelector(b[0] & 7), b[0] >> 5, binary.BigEndian.Uint16(b[1:])})
		}
	}
}

// nibbles spreads four bytes out, the upper half of the first one first.
func nibbles(b []byte) (v [8]uint8) {
	for i := range v {
		v[i] = b[i/2] >> (4 - i%2*4) & 0xF
	}
	return v
}

// app keeps an entry as long as there is room.
func (d *DCB) app(a DCBApp) {
	if int(d.NumApps) == len(d.Apps) {
		d.AppsCut = true
		return
	}
	d.Apps[d.NumApps] = a
	d.NumApps++
}
