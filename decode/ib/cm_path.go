package ib

import "encoding/binary"

// pathLen is the length of a path in a REQ, in bytes.
const pathLen = 44

// Path is one of the two paths a REQ names. RoCE leaves the LIDs at 0xFFFF and
// puts the addresses into the GIDs. The alternate path is all zero where there
// is none.
type Path struct {
	LocalLID, RemoteLID uint16
	LocalGID, RemoteGID GID
	FlowLabel           uint32 // 20 bits
	PacketRate          uint8  // 6 bits, a code
	TrafficClass        uint8
	HopLimit            uint8
	SL                  uint8 // 4 bits; with RoCE the priority in the low three
	SubnetLocal         bool
	AckTimeout          Timeout // 0: the sender waits for ever
}

// parse reads a path; b holds at least pathLen bytes.
func (p *Path) parse(b []byte) {
	p.LocalLID = binary.BigEndian.Uint16(b)
	p.RemoteLID = binary.BigEndian.Uint16(b[2:])
	copy(p.LocalGID[:], b[4:])
	copy(p.RemoteGID[:], b[20:])
	w := binary.BigEndian.Uint32(b[36:])
	p.FlowLabel, p.PacketRate = w>>12, uint8(w&0x3F)
	p.TrafficClass, p.HopLimit = b[40], b[41]
	p.SL, p.SubnetLocal = b[42]>>4, b[42]&8 != 0
	p.AckTimeout = Timeout(b[43] >> 3)
}

func (p *Path) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, p.LocalLID)
	b = binary.BigEndian.AppendUint16(b, p.RemoteLID)
	b = append(b, p.LocalGID[:]...)
	b = append(b, p.RemoteGID[:]...)
	b = binary.BigEndian.AppendUint32(b, p.FlowLabel<<12|uint32(p.PacketRate&0x3F))
	return append(b, p.TrafficClass, p.HopLimit, p.SL<<4|bit(p.SubnetLocal)<<3, byte(p.AckTimeout)<<3)
}
