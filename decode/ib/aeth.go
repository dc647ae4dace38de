package ib

import "encoding/binary"

// AETHLen is the length of an AETH in bytes.
const AETHLen = 4

// AETH is the ACK extended transport header.
type AETH struct {
	Syndrome Syndrome
	MSN      uint32 // 24 bits: messages the responder completed
}

// Parse reads an AETH from the start of b.
func (h *AETH) Parse(b []byte) bool {
	if len(b) < AETHLen {
		return false
	}
	w := binary.BigEndian.Uint32(b)
	h.Syndrome, h.MSN = Syndrome(w>>24), w&PSNMask
	return true
}

// Append adds the header's wire form to b.
func (h *AETH) Append(b []byte) []byte {
	return binary.BigEndian.AppendUint32(b, uint32(h.Syndrome)<<24|h.MSN&PSNMask)
}
