package ib

import "encoding/binary"

// DETHLen is the length of a DETH in bytes.
const DETHLen = 8

// DETH is the datagram extended transport header, the only one that names the
// sending queue pair.
type DETH struct {
	QKey     uint32
	Reserved uint8
	SrcQP    uint32 // 24 bits
}

// Parse reads a DETH from the start of b.
func (h *DETH) Parse(b []byte) bool {
	if len(b) < DETHLen {
		return false
	}
	h.QKey = binary.BigEndian.Uint32(b)
	h.Reserved = b[4]
	h.SrcQP = binary.BigEndian.Uint32(b[4:]) & PSNMask
	return true
}

// Append adds the header's wire form to b.
func (h *DETH) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, h.QKey)
	return binary.BigEndian.AppendUint32(b, uint32(h.Reserved)<<24|h.SrcQP&PSNMask)
}
