package ib

import "encoding/binary"

// A management datagram (MAD) travels as a UD SEND Only between two GSI queue
// pairs and is always MADLen bytes long, of which the header takes the first
// MADHeaderLen.
const (
	MADHeaderLen = 24
	MADLen       = 256
)

// What marks a packet as a MAD of the general services interface.
const (
	GSIQP   = 1          // destination and source queue pair
	GSIQKey = 0x80010000 // Q_Key of the DETH
)

// The values of a MAD header that communication management uses.
const (
	ClassCM        = 0x07
	ClassVersionCM = 2
	MethodSend     = 0x03
)

// IsMAD reports whether a packet with this BTH and DETH carries a MAD of the
// general services interface, the one communication management uses.
func IsMAD(h *BTH, d *DETH) bool {
	return h.Opcode == Of(UD, SendOnly) && h.DestQP == GSIQP && d.QKey == GSIQKey
}

// MAD is the common header of management datagrams.
type MAD struct {
	BaseVersion   uint8 // 1
	Class         uint8 // management class, ClassCM for communication management
	ClassVersion  uint8
	Method        uint8
	Status        uint16
	ClassSpecific uint16
	TransactionID uint64 // the same in a retry and in its answer
	AttrID        uint16 // which message; its meaning depends on the class
	Reserved      uint16
	AttrMod       uint32
}

// Parse reads the header from the start of b.
func (h *MAD) Parse(b []byte) bool {
	if len(b) < MADHeaderLen {
		return false
	}
	h.BaseVersion, h.Class, h.ClassVersion, h.Method = b[0], b[1], b[2], b[3]
	h.Status = binary.BigEndian.Uint16(b[4:])
	h.ClassSpecific = binary.BigEndian.Uint16(b[6:])
	h.TransactionID = binary.BigEndian.Uint64(b[8:])
	h.AttrID = binary.BigEndian.Uint16(b[16:])
	h.Reserved = binary.BigEndian.Uint16(b[18:])
	h.AttrMod = binary.BigEndian.Uint32(b[20:])
	return true
}

// Append adds the header's wire form to b.
func (h *MAD) Append(b []byte) []byte {
	b = append(b, h.BaseVersion, h.Class, h.ClassVersion, h.Method)
	b = binary.BigEndian.AppendUint16(b, h.Status)
	b = binary.BigEndian.AppendUint16(b, h.ClassSpecific)
	b = binary.BigEndian.AppendUint64(b, h.TransactionID)
	b = binary.BigEndian.AppendUint16(b, h.AttrID)
	b = binary.BigEndian.AppendUint16(b, h.Reserved)
	return binary.BigEndian.AppendUint32(b, h.AttrMod)
}
