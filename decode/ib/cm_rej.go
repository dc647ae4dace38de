package ib

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// The lengths of the messages that refuse or delay in bytes, without MAD
// header and private data.
const (
	REJLen = 84
	MRALen = 10
)

// CMInfo is the additional information of a REJ or SIDR_REP. How much of it
// counts stands in the message.
type CMInfo [72]byte

// String writes the information in hexadecimal without the zeros at its end.
func (i CMInfo) String() string {
	n := len(i)
	for n > 0 && i[n-1] == 0 {
		n--
	}
	return hex.EncodeToString(i[:n])
}

// REJ refuses a connection or gives it up.
type REJ struct {
	LocalCommID, RemoteCommID uint32
	Rejected                  uint8 // 2 bits: 0 REQ, 1 REP, 2 no message
	InfoLen                   uint8 // 7 bits: bytes of Info
	Reason                    REJReason
	Info                      CMInfo
}

// Parse reads a REJ from the start of b, which starts behind the MAD header.
func (h *REJ) Parse(b []byte) bool {
	if len(b) < REJLen {
		return false
	}
	h.Rejected, h.InfoLen = b[8]>>6, b[9]>>1
	h.Reason = REJReason(binary.BigEndian.Uint16(b[10:]))
	copy(h.Info[:], b[12:])
	return parseCommIDs(b, &h.LocalCommID, &h.RemoteCommID)
}

// Append adds the message's wire form to b.
func (h *REJ) Append(b []byte) []byte {
	b = appendCommIDs(b, h.LocalCommID, h.RemoteCommID)
	b = append(b, h.Rejected<<6, h.InfoLen<<1)
	b = binary.BigEndian.AppendUint16(b, uint16(h.Reason))
	return append(b, h.Info[:]...)
}

// MRA tells that a message arrived and that its answer will take longer.
type MRA struct {
	LocalCommID, RemoteCommID uint32
	Received                  uint8   // 2 bits: 0 REQ, 1 REP, 2 LAP
	ServiceTimeout            Timeout // within which the answer will come
}

// Parse reads an MRA from the start of b, which starts behind the MAD header.
func (h *MRA) Parse(b []byte) bool {
	if len(b) < MRALen {
		return false
	}
	h.Received, h.ServiceTimeout = b[8]>>6, Timeout(b[9]>>3)
	return parseCommIDs(b, &h.LocalCommID, &h.RemoteCommID)
}

// Append adds the message's wire form to b.
func (h *MRA) Append(b []byte) []byte {
	b = appendCommIDs(b, h.LocalCommID, h.RemoteCommID)
	return append(b, h.Received<<6, byte(h.ServiceTimeout)<<3)
}

// REJReason says why a REJ was sent. The zero value is no reason.
type REJReason uint16

// The reasons an analysis is likely to meet.
const (
	REJNoQP             REJReason = 1
	REJNoResources      REJReason = 3
	REJTimeout          REJReason = 4
	REJInvalidCommID    REJReason = 6
	REJInvalidServiceID REJReason = 8
	REJStaleConnection  REJReason = 10
	REJInvalidGID       REJReason = 12
	REJInvalidMTU       REJReason = 26
	REJConsumerDefined  REJReason = 28
)

// String returns the reason in words, an unassigned one as "reason 99".
func (r REJReason) String() string {
	if int(r) < len(rejReasons) && rejReasons[r] != "" {
		return rejReasons[r]
	}
	return fmt.Sprintf("reason %d", uint16(r))
}

var rejReasons = [...]string{
	1:  "no QP available",
	2:  "no EE context available",
	3:  "no resources available",
	4:  "timeout",
	5:  "unsupported request",
	6:  "invalid communication ID",
	7:  "invalid communication instance",
	8:  "invalid service ID",
	9:  "invalid transport service type",
	10: "stale connection",
	11: "RDC does not exist",
	12: "primary remote port GID rejected",
	13: "primary remote port LID rejected",
	14: "invalid primary SL",
	15: "invalid primary traffic class",
	16: "invalid primary hop limit",
	17: "invalid primary packet rate",
	18: "alternate remote port GID rejected",
	19: "alternate remote port LID rejected",
	20: "invalid alternate SL",
	21: "invalid alternate traffic class",
	22: "invalid alternate hop limit",
	23: "invalid alternate packet rate",
	24: "port and CM redirection",
	25: "port redirection",
	26: "invalid path MTU",
	27: "insufficient responder resources",
	28: "consumer reject",
	29: "RNR retry count reject",
	30: "duplicate local communication ID",
	31: "unsupported class version",
	32: "invalid primary flow label",
	33: "invalid alternate flow label",
	35: "vendor option not supported",
}
