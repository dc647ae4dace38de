package ib

import "encoding/binary"

// The lengths of the atomic headers in bytes.
const (
	AtomicETHLen    = 28
	AtomicAckETHLen = 8
)

// AtomicETH is the header of CmpSwap and FetchAdd requests.
type AtomicETH struct {
	VA      uint64
	RKey    uint32
	SwapAdd uint64 // the value to store or to add
	Compare uint64 // unused by FetchAdd
}

// Parse reads an AtomicETH from the start of b.
func (h *AtomicETH) Parse(b []byte) bool {
	if len(b) < AtomicETHLen {
		return false
	}
	h.VA = binary.BigEndian.Uint64(b)
	h.RKey = binary.BigEndian.Uint32(b[8:])
	h.SwapAdd = binary.BigEndian.Uint64(b[12:])
	h.Compare = binary.BigEndian.Uint64(b[20:])
	return true
}

// Append adds the header's wire form to b.
func (h *AtomicETH) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, h.VA)
	b = binary.BigEndian.AppendUint32(b, h.RKey)
	b = binary.BigEndian.AppendUint64(b, h.SwapAdd)
	return binary.BigEndian.AppendUint64(b, h.Compare)
}

// AtomicAckETH answers an atomic request.
type AtomicAckETH struct {
	Original uint64 // the value before the operation
}

// Parse reads an AtomicAckETH from the start of b.
func (h *AtomicAckETH) Parse(b []byte) bool {
	if len(b) < AtomicAckETHLen {
		return false
	}
	h.Original = binary.BigEndian.Uint64(b)
	return true
}

// Append adds the header's wire form to b.
func (h *AtomicAckETH) Append(b []byte) []byte {
	return binary.BigEndian.AppendUint64(b, h.Original)
}
