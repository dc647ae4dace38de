package ib

import "encoding/binary"

// The lengths of the answers to a REQ in bytes, without MAD header and private
// data.
const (
	REPLen = 36
	RTULen = 8
)

// REP accepts a REQ. As in a REQ, StartPSN starts the flow towards LocalQPN.
// Reserved bits are not kept, Append writes them as zero.
type REP struct {
	LocalCommID        uint32
	RemoteCommID       uint32 // the REQ's LocalCommID
	LocalQKey          uint32
	LocalQPN           uint32 // 24 bits
	LocalEECN          uint32 // 24 bits; the queue pair of an XRC initiator
	StartPSN           PSN
	VendorID           uint32 // 24 bits, one byte behind each of the three fields before
	ResponderResources uint8
	InitiatorDepth     uint8
	TargetAckDelay     Timeout
	Failover           uint8 // 2 bits: 0 the alternate path is accepted
	FlowControl        bool
	RNRRetry           uint8 // 3 bits; 7 retries for ever
	SRQ                bool
	LocalCAGUID        uint64
}

// Parse reads a REP from the start of b, which starts behind the MAD header.
func (h *REP) Parse(b []byte) bool {
	if len(b) < REPLen {
		return false
	}
	h.LocalCommID = binary.BigEndian.Uint32(b)
	h.RemoteCommID = binary.BigEndian.Uint32(b[4:])
	h.LocalQKey = binary.BigEndian.Uint32(b[8:])
	h.LocalQPN = uint24(b[12:])
	h.LocalEECN = uint24(b[16:])
	h.StartPSN = PSN(uint24(b[20:]))
	h.VendorID = uint32(b[15])<<16 | uint32(b[19])<<8 | uint32(b[23])
	h.ResponderResources, h.InitiatorDepth = b[24], b[25]
	h.TargetAckDelay, h.Failover, h.FlowControl = Timeout(b[26]>>3), b[26]>>1&3, b[26]&1 != 0
	h.RNRRetry, h.SRQ = b[27]>>5, b[27]&0x10 != 0
	h.LocalCAGUID = binary.BigEndian.Uint64(b[28:])
	return true
}

// Append adds the message's wire form to b.
func (h *REP) Append(b []byte) []byte {
	b = appendCommIDs(b, h.LocalCommID, h.RemoteCommID)
	b = binary.BigEndian.AppendUint32(b, h.LocalQKey)
	b = appendUint24(b, h.LocalQPN, byte(h.VendorID>>16))
	b = appendUint24(b, h.LocalEECN, byte(h.VendorID>>8))
	b = appendUint24(b, uint32(h.StartPSN), byte(h.VendorID))
	b = append(b, h.ResponderResources, h.InitiatorDepth,
		byte(h.TargetAckDelay)<<3|h.Failover&3<<1|bit(h.FlowControl),
		h.RNRRetry<<5|bit(h.SRQ)<<4)
	return binary.BigEndian.AppendUint64(b, h.LocalCAGUID)
}

// RTU tells that the REP arrived: the connection stands.
type RTU struct {
	LocalCommID, RemoteCommID uint32
}

// Parse reads an RTU from the start of b, which starts behind the MAD header.
func (h *RTU) Parse(b []byte) bool { return parseCommIDs(b, &h.LocalCommID, &h.RemoteCommID) }

// Append adds the message's wire form to b.
func (h *RTU) Append(b []byte) []byte { return appendCommIDs(b, h.LocalCommID, h.RemoteCommID) }

// parseCommIDs reads the two identifiers most messages start with.
func parseCommIDs(b []byte, local, remote *uint32) bool {
	if len(b) < 8 {
		return false
	}
	*local = binary.BigEndian.Uint32(b)
	*remote = binary.BigEndian.Uint32(b[4:])
	return true
}

func appendCommIDs(b []byte, local, remote uint32) []byte {
	b = binary.BigEndian.AppendUint32(b, local)
	return binary.BigEndian.AppendUint32(b, remote)
}
