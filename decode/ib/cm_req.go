package ib

import "encoding/binary"

// REQLen is the length of a REQ in bytes, without the MAD header before it and
// the private data behind.
const REQLen = 140

// REQ asks for a connection. Its sender is "local": StartPSN is the PSN that
// the sender expects to receive first, so it starts the flow towards LocalQPN.
// Reserved bits are not kept, Append writes them as zero.
type REQ struct {
	LocalCommID        uint32
	ServiceID          ServiceID
	LocalCAGUID        uint64
	VendorID           uint32 // 24 bits, 0 unless enhanced connection establishment is used
	LocalQKey          uint32
	LocalQPN           uint32 // 24 bits
	ResponderResources uint8  // READs and atomics the sender serves at a time
	LocalEECN          uint32 // 24 bits
	InitiatorDepth     uint8  // READs and atomics the sender issues at a time
	RemoteEECN         uint32 // 24 bits
	RemoteCMTimeout    Timeout
	TransportType      uint8 // 2 bits: 0 RC, 1 UC, 2 RD, 3 see ExtTransport
	FlowControl        bool  // end-to-end credits are used
	StartPSN           PSN
	LocalCMTimeout     Timeout
	RetryCount         uint8 // 3 bits: retries of timeout and sequence errors
	PKey               uint16
	PathMTU            MTU
	RDCExists          bool
	RNRRetry           uint8 // 3 bits; 7 retries for ever
	MaxCMRetries       uint8 // 4 bits
	SRQ                bool
	ExtTransport       uint8 // 3 bits: 1 XRC; valid iff TransportType is 3
	Primary, Alternate Path
}

// Transport returns the service the connection will use.
func (h *REQ) Transport() Transport {
	switch {
	case h.TransportType == 1:
		return UC
	case h.TransportType == 2:
		return RD
	case h.TransportType == 3 && h.ExtTransport == 1:
		return XRC
	}
	return RC
}

// Parse reads a REQ from the start of b, which starts behind the MAD header.
func (h *REQ) Parse(b []byte) bool {
	if len(b) < REQLen {
		return false
	}
	h.LocalCommID = binary.BigEndian.Uint32(b)
	h.ServiceID = ServiceID(binary.BigEndian.Uint64(b[8:]))
	h.LocalCAGUID = binary.BigEndian.Uint64(b[16:])
	h.VendorID = uint24(b[24:])
	h.LocalQKey = binary.BigEndian.Uint32(b[28:])
	h.LocalQPN, h.ResponderResources = uint24(b[32:]), b[35]
	h.LocalEECN, h.InitiatorDepth = uint24(b[36:]), b[39]
	h.RemoteEECN = uint24(b[40:])
	h.RemoteCMTimeout = Timeout(b[43] >> 3)
	h.TransportType, h.FlowControl = b[43]>>1&3, b[43]&1 != 0
	h.StartPSN = PSN(uint24(b[44:]))
	h.LocalCMTimeout, h.RetryCount = Timeout(b[47]>>3), b[47]&7
	h.PKey = binary.BigEndian.Uint16(b[48:])
	h.PathMTU, h.RDCExists, h.RNRRetry = MTU(b[50]>>4), b[50]&8 != 0, b[50]&7
	h.MaxCMRetries, h.SRQ, h.ExtTransport = b[51]>>4, b[51]&8 != 0, b[51]&7
	h.Primary.parse(b[52:])
	h.Alternate.parse(b[52+pathLen:])
	return true
}

// Append adds the message's wire form to b.
func (h *REQ) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, h.LocalCommID)
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint64(b, uint64(h.ServiceID))
	b = binary.BigEndian.AppendUint64(b, h.LocalCAGUID)
	b = appendUint24(b, h.VendorID, 0)
	b = binary.BigEndian.AppendUint32(b, h.LocalQKey)
	b = appendUint24(b, h.LocalQPN, h.ResponderResources)
	b = appendUint24(b, h.LocalEECN, h.InitiatorDepth)
	b = appendUint24(b, h.RemoteEECN, byte(h.RemoteCMTimeout)<<3|h.TransportType&3<<1|bit(h.FlowControl))
	b = appendUint24(b, uint32(h.StartPSN), byte(h.LocalCMTimeout)<<3|h.RetryCount&7)
	b = binary.BigEndian.AppendUint16(b, h.PKey)
	b = append(b, byte(h.PathMTU)<<4|bit(h.RDCExists)<<3|h.RNRRetry&7,
		h.MaxCMRetries<<4|bit(h.SRQ)<<3|h.ExtTransport&7)
	b = h.Primary.append(b)
	return h.Alternate.append(b)
}

// uint24 reads the 24 bits at the start of b.
func uint24(b []byte) uint32 { return binary.BigEndian.Uint32(b) >> 8 }

// appendUint24 adds 24 bits and the byte that fills up the word.
func appendUint24(b []byte, v uint32, low byte) []byte {
	return binary.BigEndian.AppendUint32(b, v<<8|uint32(low))
}
