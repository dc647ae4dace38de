package ib

import "encoding/binary"

// RDETHLen is the length of the RDETH in bytes.
const RDETHLen = 4

// RDETH is the reliable datagram extended transport header.
type RDETH struct {
	Reserved  uint8
	EEContext uint32 // 24 bits: the end-to-end context
}

// Parse reads the header from the start of b.
func (h *RDETH) Parse(b []byte) bool {
	if len(b) < RDETHLen {
		return false
	}
	w := binary.BigEndian.Uint32(b)
	h.Reserved, h.EEContext = uint8(w>>24), w&PSNMask
	return true
}

// Append adds the header's wire form to b.
func (h *RDETH) Append(b []byte) []byte {
	return binary.BigEndian.AppendUint32(b, uint32(h.Reserved)<<24|h.EEContext&PSNMask)
}
