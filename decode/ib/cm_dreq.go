package ib

// The lengths of the messages that end a connection in bytes, without MAD
// header and private data.
const (
	DREQLen = 12
	DREPLen = 8
)

// DREQ asks to close a connection.
type DREQ struct {
	LocalCommID, RemoteCommID uint32
	RemoteQPN                 uint32 // 24 bits: the receiver's queue pair
}

// Parse reads a DREQ from the start of b, which starts behind the MAD header.
func (h *DREQ) Parse(b []byte) bool {
	if len(b) < DREQLen {
		return false
	}
	h.RemoteQPN = uint24(b[8:])
	return parseCommIDs(b, &h.LocalCommID, &h.RemoteCommID)
}

// Append adds the message's wire form to b.
func (h *DREQ) Append(b []byte) []byte {
	b = appendCommIDs(b, h.LocalCommID, h.RemoteCommID)
	return appendUint24(b, h.RemoteQPN, 0)
}

// DREP answers a DREQ: the connection is closed.
type DREP struct {
	LocalCommID, RemoteCommID uint32
}

// Parse reads a DREP from the start of b, which starts behind the MAD header.
func (h *DREP) Parse(b []byte) bool { return parseCommIDs(b, &h.LocalCommID, &h.RemoteCommID) }

// Append adds the message's wire form to b.
func (h *DREP) Append(b []byte) []byte { return appendCommIDs(b, h.LocalCommID, h.RemoteCommID) }
