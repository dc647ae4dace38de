package ib

import "encoding/binary"

// FETHLen is the length of a FETH in bytes.
const FETHLen = 4

// FETH is the FLUSH extended transport header.
type FETH struct {
	Reserved  uint32 // 26 bits, bits 31-6 of the word
	Selector  uint8  // 2 bits: 0 the range of the RETH, 1 the whole memory region
	Placement uint8  // 4 bits: bit 0 global visibility, bit 1 persistence
}

// Parse reads a FETH from the start of b.
func (h *FETH) Parse(b []byte) bool {
	if len(b) < FETHLen {
		return false
	}
	w := binary.BigEndian.Uint32(b)
	h.Reserved, h.Selector, h.Placement = w>>6, uint8(w>>4&3), uint8(w&0xF)
	return true
}

// Append adds the header's wire form to b.
func (h *FETH) Append(b []byte) []byte {
	return binary.BigEndian.AppendUint32(b, h.Reserved<<6|uint32(h.Selector&3)<<4|uint32(h.Placement&0xF))
}
