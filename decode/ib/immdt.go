package ib

import "encoding/binary"

// ImmDtLen is the length of ImmDt in bytes.
const ImmDtLen = 4

// ImmDt is the immediate data, opaque to the transport.
type ImmDt struct {
	Data uint32
}

// Parse reads the header from the start of b.
func (h *ImmDt) Parse(b []byte) bool {
	if len(b) < ImmDtLen {
		return false
	}
	h.Data = binary.BigEndian.Uint32(b)
	return true
}

// Append adds the header's wire form to b.
func (h *ImmDt) Append(b []byte) []byte { return binary.BigEndian.AppendUint32(b, h.Data) }
