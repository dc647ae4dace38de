package ib

import "encoding/binary"

// XRCETHLen is the length of the XRCETH in bytes.
const XRCETHLen = 4

// XRCETH is the XRC extended transport header.
type XRCETH struct {
	Reserved uint8
	SRQ      uint32 // 24 bits: the shared receive queue's number
}

// Parse reads the header from the start of b.
func (h *XRCETH) Parse(b []byte) bool {
	if len(b) < XRCETHLen {
		return false
	}
	w := binary.BigEndian.Uint32(b)
	h.Reserved, h.SRQ = uint8(w>>24), w&PSNMask
	return true
}

// Append adds the header's wire form to b.
func (h *XRCETH) Append(b []byte) []byte {
	return binary.BigEndian.AppendUint32(b, uint32(h.Reserved)<<24|h.SRQ&PSNMask)
}
