package ib

import (
	"encoding/binary"
	"fmt"
)

// The lengths of the service ID resolution messages in bytes, without MAD
// header and private data.
const (
	SIDRREQLen = 16
	SIDRREPLen = 96
)

// SIDRREQ (SIDR_REQ) asks for the UD queue pair behind a service ID.
type SIDRREQ struct {
	RequestID uint32
	PKey      uint16
	ServiceID ServiceID
}

// Parse reads a SIDR_REQ from the start of b, which starts behind the MAD
// header.
func (h *SIDRREQ) Parse(b []byte) bool {
	if len(b) < SIDRREQLen {
		return false
	}
	h.RequestID = binary.BigEndian.Uint32(b)
	h.PKey = binary.BigEndian.Uint16(b[4:])
	h.ServiceID = ServiceID(binary.BigEndian.Uint64(b[8:]))
	return true
}

// Append adds the message's wire form to b.
func (h *SIDRREQ) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, h.RequestID)
	b = binary.BigEndian.AppendUint32(b, uint32(h.PKey)<<16)
	return binary.BigEndian.AppendUint64(b, uint64(h.ServiceID))
}

// SIDRREP (SIDR_REP) answers a SIDR_REQ. QPN and QKey are valid iff Status is
// zero.
type SIDRREP struct {
	RequestID uint32
	Status    SIDRStatus
	InfoLen   uint8  // bytes of Info
	QPN       uint32 // 24 bits
	VendorID  uint32 // 24 bits: its high 16 stand before the QPN, its low 8 behind
	ServiceID ServiceID
	QKey      uint32
	Info      CMInfo
}

// Parse reads a SIDR_REP from the start of b, which starts behind the MAD
// header.
func (h *SIDRREP) Parse(b []byte) bool {
	if len(b) < SIDRREPLen {
		return false
	}
	h.RequestID = binary.BigEndian.Uint32(b)
	h.Status, h.InfoLen = SIDRStatus(b[4]), b[5]
	h.VendorID = uint32(b[6])<<16 | uint32(b[7])<<8 | uint32(b[11])
	h.QPN = uint24(b[8:])
	h.ServiceID = ServiceID(binary.BigEndian.Uint64(b[12:]))
	h.QKey = binary.BigEndian.Uint32(b[20:])
	copy(h.Info[:], b[24:])
	return true
}

// Append adds the message's wire form to b.
func (h *SIDRREP) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, h.RequestID)
	b = append(b, byte(h.Status), h.InfoLen, byte(h.VendorID>>16), byte(h.VendorID>>8))
	b = appendUint24(b, h.QPN, byte(h.VendorID))
	b = binary.BigEndian.AppendUint64(b, uint64(h.ServiceID))
	b = binary.BigEndian.AppendUint32(b, h.QKey)
	return append(b, h.Info[:]...)
}

// SIDRStatus is the outcome of a service ID resolution; zero is success.
type SIDRStatus uint8

var sidrStatus = [...]string{
	"QPN and Q_Key valid", "service ID not supported", "rejected by the service", "no QP available", "redirected", "class version not supported",
}

// String returns the status in words.
func (s SIDRStatus) String() string {
	if int(s) < len(sidrStatus) {
		return sidrStatus[s]
	}
	return fmt.Sprintf("status %d", uint8(s))
}
