package ib

import "fmt"

// CMAttr is the attribute ID of a communication management (CM) MAD: which
// message it is.
type CMAttr uint16

// The messages of communication management.
const (
	AttrREQ     CMAttr = 0x10 // ask for a connection
	AttrMRA     CMAttr = 0x11 // message received, the answer will take longer
	AttrREJ     CMAttr = 0x12 // refuse
	AttrREP     CMAttr = 0x13 // accept
	AttrRTU     CMAttr = 0x14 // ready to use
	AttrDREQ    CMAttr = 0x15 // ask to close
	AttrDREP    CMAttr = 0x16 // closed
	AttrSIDRREQ CMAttr = 0x17 // ask for the queue pair of a service
	AttrSIDRREP CMAttr = 0x18
	AttrLAP     CMAttr = 0x19 // load another alternate path
	AttrAPR     CMAttr = 0x1A
)

var cmNames = [...]string{"REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP", "SIDR_REQ", "SIDR_REP", "LAP", "APR"}

// Known reports whether the attribute is one of the messages above.
func (a CMAttr) Known() bool { return a >= AttrREQ && a <= AttrAPR }

// String returns the message's name, an unassigned one as "attribute 0x0020".
func (a CMAttr) String() string {
	if a.Known() {
		return cmNames[a-AttrREQ]
	}
	return fmt.Sprintf("attribute 0x%04X", uint16(a))
}

// CM is one message of communication management, reduced to what an analysis
// asks for. It holds no pointer and can be compared. Attr, TransactionID and
// LocalCommID are valid in every message; each other field in the messages its
// comment names, and zero elsewhere.
type CM struct {
	Attr          CMAttr
	TransactionID uint64
	LocalCommID   uint32 // of the sender; the request ID of SIDR_REQ and SIDR_REP
	RemoteCommID  uint32 // all but REQ, SIDR_REQ and SIDR_REP

	// QPN is the sender's queue pair in REQ, REP and SIDR_REP, the receiver's
	// in DREQ.
	QPN uint32
	// StartPSN (REQ, REP) is the PSN the sender expects first: that of the
	// first request to QPN.
	StartPSN PSN
	QKey     uint32 // REQ, REP, SIDR_REP

	ServiceID           ServiceID // REQ, SIDR_REQ, SIDR_REP
	Transport           Transport // REQ: RC, UC, RD or XRC
	PathMTU             MTU       // REQ
	AckTimeout          Timeout   // REQ: of the primary path; 0 is none
	RetryCount          uint8     // REQ
	RNRRetry            uint8     // REQ, REP; 7 retries for ever
	InitiatorDepth      uint8     // REQ, REP
	ResponderResources  uint8     // REQ, REP
	LocalGID, RemoteGID GID       // REQ: of the primary path
	FlowLabel           uint32    // REQ: of the primary path
	TrafficClass        uint8     // REQ: of the primary path
	SourcePort          uint16    // REQ, SIDR_REQ: of RDMA-CM; 0 where its header is not there

	TargetAckDelay Timeout    // REP
	ServiceTimeout Timeout    // MRA
	Reason         REJReason  // REJ
	Rejected       uint8      // REJ: what is refused: 0 the REQ, 1 the REP, 2 no message
	Status         SIDRStatus // SIDR_REP

	Cut bool // read by ParseCutCM: zero may also mean not captured
}

// ParseCM reads a communication management message from a MAD, of which mad
// holds what was captured, without what follows (pad, ICRC). It reports false
// where mad is no CM message that CMAttr names, or ends before the message's
// private data. LAP and APR are recognised, but only their communication IDs
// are read.
func ParseCM(mad []byte) (CM, bool) {
	var h MAD
	if !h.Parse(mad) || h.Class != ClassCM {
		return CM{}, false
	}
	c := CM{Attr: CMAttr(h.AttrID), TransactionID: h.TransactionID}
	if !c.parse(mad[MADHeaderLen:]) {
		return CM{}, false
	}
	return c, true
}

func (c *CM) parse(b []byte) bool {
	switch c.Attr {
	case AttrREQ:
		return c.parseREQ(b)
	case AttrREP:
		return c.parseREP(b)
	case AttrREJ:
		var h REJ
		ok := h.Parse(b)
		c.LocalCommID, c.RemoteCommID, c.Reason, c.Rejected = h.LocalCommID, h.RemoteCommID, h.Reason, h.Rejected
		return ok
	case AttrMRA:
		var h MRA
		ok := h.Parse(b)
		c.LocalCommID, c.RemoteCommID, c.ServiceTimeout = h.LocalCommID, h.RemoteCommID, h.ServiceTimeout
		return ok
	case AttrDREQ:
		var h DREQ
		ok := h.Parse(b)
		c.LocalCommID, c.RemoteCommID, c.QPN = h.LocalCommID, h.RemoteCommID, h.RemoteQPN
		return ok
	case AttrSIDRREQ:
		return c.parseSIDRREQ(b)
	case AttrSIDRREP:
		return c.parseSIDRREP(b)
	case AttrRTU, AttrDREP, AttrLAP, AttrAPR:
		return parseCommIDs(b, &c.LocalCommID, &c.RemoteCommID)
	}
	return false
}

func (c *CM) parseREQ(b []byte) bool {
	var h REQ
	if !h.Parse(b) {
		return false
	}
	c.LocalCommID = h.LocalCommID
	c.QPN, c.StartPSN, c.QKey = h.LocalQPN, h.StartPSN, h.LocalQKey
	c.ServiceID, c.Transport = h.ServiceID, h.Transport()
	c.PathMTU, c.AckTimeout = h.PathMTU, h.Primary.AckTimeout
	c.RetryCount, c.RNRRetry = h.RetryCount, h.RNRRetry
	c.InitiatorDepth, c.ResponderResources = h.InitiatorDepth, h.ResponderResources
	c.LocalGID, c.RemoteGID = h.Primary.LocalGID, h.Primary.RemoteGID
	c.FlowLabel, c.TrafficClass = h.Primary.FlowLabel, h.Primary.TrafficClass
	c.parseRDMACM(b[REQLen:])
	return true
}

func (c *CM) parseREP(b []byte) bool {
	var h REP
	ok := h.Parse(b)
	c.LocalCommID, c.RemoteCommID = h.LocalCommID, h.RemoteCommID
	c.QPN, c.StartPSN, c.QKey = h.LocalQPN, h.StartPSN, h.LocalQKey
	c.RNRRetry, c.TargetAckDelay = h.RNRRetry, h.TargetAckDelay
	c.InitiatorDepth, c.ResponderResources = h.InitiatorDepth, h.ResponderResources
	return ok
}

func (c *CM) parseSIDRREQ(b []byte) bool {
	var h SIDRREQ
	if !h.Parse(b) {
		return false
	}
	c.LocalCommID, c.ServiceID = h.RequestID, h.ServiceID
	c.parseRDMACM(b[SIDRREQLen:])
	return true
}

func (c *CM) parseSIDRREP(b []byte) bool {
	var h SIDRREP
	ok := h.Parse(b)
	c.LocalCommID, c.ServiceID, c.Status = h.RequestID, h.ServiceID, h.Status
	c.QPN, c.QKey = h.QPN, h.QKey
	return ok
}

// parseRDMACM looks for RDMA-CM's header at the start of the private data.
func (c *CM) parseRDMACM(private []byte) {
	var h RDMACM
	if _, _, ok := c.ServiceID.Split(); ok && h.Parse(private) && h.Valid() {
		c.SourcePort = h.SrcPort
	}
}
