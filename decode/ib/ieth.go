package ib

import "encoding/binary"

// IETHLen is the length of IETH in bytes.
const IETHLen = 4

// IETH is the invalidate extended transport header.
type IETH struct {
	RKey uint32
}

// Parse reads the header from the start of b.
func (h *IETH) Parse(b []byte) bool {
	if len(b) < IETHLen {
		return false
	}
	h.RKey = binary.BigEndian.Uint32(b)
	return true
}

// Append adds the header's wire form to b.
func (h *IETH) Append(b []byte) []byte { return binary.BigEndian.AppendUint32(b, h.RKey) }
