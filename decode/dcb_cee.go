package decode

import "encoding/binary"

// cee reads the TLV of CEE DCBX, version 1.01, which holds TLVs of its own, one
// a feature: operating version, highest version, flags (enabled, willing,
// error), subtype, and the setting. A setting of another subtype is none of
// those defined.
func (d *DCB) cee(b []byte) {
	const head, common, willing = 2, 4, 0x40
	for len(b) >= head {
		v := binary.BigEndian.Uint16(b)
		n := int(v & 0x1FF)
		if len(b) < head+n {
			return
		}
		if body := b[head : head+n]; n >= common && body[3] == 0 {
			d.feature(uint8(v>>9), body[2]&willing != 0, body[common:])
		}
		b = b[head+n:]
	}
}

func (d *DCB) feature(kind uint8, willing bool, b []byte) {
	switch {
	case kind == 2 && len(b) >= 13: // priority groups
		d.Has |= DCBCEE | DCBETS
		d.ETSWilling, d.ETSMax = willing, b[12]&7
		d.Class, d.Share, d.Schedule = nibbles(b[0:4]), [8]uint8(b[4:12]), [8]uint8{}
	case kind == 3 && len(b) >= 2:
		d.Has |= DCBCEE | DCBPFC
		d.PFCWilling, d.PFCBypass, d.PFCCap = willing, false, b[1]
		d.PFCEnabled = b[0]
	case kind == 4:
		d.Has |= DCBCEE | DCBApps
		for ; len(b) >= 6; b = b[6:] {
			d.ceeApp(b)
		}
	}
}

// ceeApp reads an entry: protocol, the selector among the bits of an OUI, and a
// set of priorities, of which each becomes an entry of ours.
func (d *DCB) ceeApp(b []byte) {
	selector := ByEtherType
	switch b[2] & 3 {
	case 0:
	case 1:
		selector = ByPort
	default:
		return
	}
	for priority := range uint8(8) {
		if b[5]>>priority&1 != 0 {
			d.app(DCBApp{selector, priority, binary.BigEndian.Uint16(b)})
		}
	}
}
