package ib

import "encoding/binary"

// BTHLen is the length of a BTH in bytes.
const BTHLen = 12

// BTH is the base transport header, which every packet starts with.
type BTH struct {
	Opcode    Opcode
	Solicited bool  // SE: raise an event at the receiver
	MigReq    bool  // M: path migration state
	PadCnt    uint8 // 0-3 bytes of padding behind the payload
	TVer      uint8 // transport version, 0
	PKey      uint16
	FECN      bool // congestion met on the way here
	BECN      bool // congestion met on the way there; set in a CNP
	Reserved6 uint8
	DestQP    uint32 // 24 bits
	AckReq    bool   // A: the receiver shall answer
	Reserved7 uint8
	PSN       PSN
}

// Parse reads a BTH from the start of b.
func (h *BTH) Parse(b []byte) bool {
	if len(b) < BTHLen {
		return false
	}
	h.Opcode = Opcode(b[0])
	h.Solicited = b[1]&0x80 != 0
	h.MigReq = b[1]&0x40 != 0
	h.PadCnt = b[1] >> 4 & 3
	h.TVer = b[1] & 0xF
	h.PKey = binary.BigEndian.Uint16(b[2:])
	h.FECN = b[4]&0x80 != 0
	h.BECN = b[4]&0x40 != 0
	h.Reserved6 = b[4] & 0x3F
	h.DestQP = binary.BigEndian.Uint32(b[4:]) & PSNMask
	h.AckReq = b[8]&0x80 != 0
	h.Reserved7 = b[8] & 0x7F
	h.PSN = PSN(binary.BigEndian.Uint32(b[8:]) & PSNMask)
	return true
}

// Append adds the header's wire form to b.
func (h *BTH) Append(b []byte) []byte {
	b = append(b, byte(h.Opcode),
		bit(h.Solicited)<<7|bit(h.MigReq)<<6|h.PadCnt&3<<4|h.TVer&0xF)
	b = binary.BigEndian.AppendUint16(b, h.PKey)
	b = binary.BigEndian.AppendUint32(b,
		uint32(bit(h.FECN)<<7|bit(h.BECN)<<6|h.Reserved6&0x3F)<<24|h.DestQP&PSNMask)
	return binary.BigEndian.AppendUint32(b,
		uint32(bit(h.AckReq)<<7|h.Reserved7&0x7F)<<24|uint32(h.PSN)&PSNMask)
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}
