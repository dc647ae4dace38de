package ib

import "encoding/binary"

// RETHLen is the length of a RETH in bytes.
const RETHLen = 16

// RETH is the RDMA extended transport header of WRITE and READ requests.
type RETH struct {
	VA     uint64
	RKey   uint32
	DMALen uint32 // of the whole message, at most 2^31
}

// Parse reads a RETH from the start of b.
func (h *RETH) Parse(b []byte) bool {
	if len(b) < RETHLen {
		return false
	}
	h.VA = binary.BigEndian.Uint64(b)
	h.RKey = binary.BigEndian.Uint32(b[8:])
	h.DMALen = binary.BigEndian.Uint32(b[12:])
	return true
}

// Append adds the header's wire form to b.
func (h *RETH) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, h.VA)
	b = binary.BigEndian.AppendUint32(b, h.RKey)
	return binary.BigEndian.AppendUint32(b, h.DMALen)
}
