package ib

import "fmt"

// Opcode is the first byte of a BTH: the transport in the high three bits, the
// operation in the low five.
type Opcode uint8

// Transport is the service an opcode belongs to, as it stands in the high
// three bits of the opcode.
type Transport uint8

// The transports. CNP is no transport of the specification but shares the
// opcode space.
const (
	RC           Transport = 0x00 // reliable connection
	UC           Transport = 0x20 // unreliable connection
	RD           Transport = 0x40 // reliable datagram; NVIDIA DC reuses the range
	UD           Transport = 0x60 // unreliable datagram
	TransportCNP Transport = 0x80 // congestion notification
	XRC          Transport = 0xA0 // extended reliable connection
	Manufacturer Transport = 0xC0 // 0xC0-0xFF, vendor space
)

// String returns the usual abbreviation.
func (t Transport) String() string {
	switch t {
	case RC:
		return "RC"
	case UC:
		return "UC"
	case RD:
		return "RD"
	case UD:
		return "UD"
	case TransportCNP:
		return "CNP"
	case XRC:
		return "XRC"
	}
	return "MANUF"
}

// Op is what an opcode asks for: its low five bits.
type Op uint8

// The operations.
const (
	SendFirst          Op = 0x00
	SendMiddle         Op = 0x01
	SendLast           Op = 0x02
	SendLastImm        Op = 0x03
	SendOnly           Op = 0x04
	SendOnlyImm        Op = 0x05
	WriteFirst         Op = 0x06
	WriteMiddle        Op = 0x07
	WriteLast          Op = 0x08
	WriteLastImm       Op = 0x09
	WriteOnly          Op = 0x0A
	WriteOnlyImm       Op = 0x0B
	ReadRequest        Op = 0x0C
	ReadResponseFirst  Op = 0x0D
	ReadResponseMiddle Op = 0x0E
	ReadResponseLast   Op = 0x0F
	ReadResponseOnly   Op = 0x10
	Acknowledge        Op = 0x11
	AtomicAcknowledge  Op = 0x12
	CompareSwap        Op = 0x13
	FetchAdd           Op = 0x14
	Resync             Op = 0x15 // RD only
	SendLastInvalidate Op = 0x16
	SendOnlyInvalidate Op = 0x17
	Flush              Op = 0x1C
	AtomicWrite        Op = 0x1D
)

// CNP is the opcode of a congestion notification packet. It is 0x81: 0x80 is
// only the base of its range, although some tools list that as CNP.
const CNP Opcode = 0x81

// Of puts a transport and an operation together.
func Of(t Transport, o Op) Opcode { return Opcode(uint8(t) | uint8(o)) }

// Transport returns the opcode's service.
func (o Opcode) Transport() Transport {
	if o >= 0xC0 {
		return Manufacturer
	}
	return Transport(o & 0xE0)
}

// Op returns the opcode's operation; it means something only for the
// transports RC, UC, RD, UD and XRC.
func (o Opcode) Op() Op { return Op(o & 0x1F) }

// Headers is a set of extension headers. They follow the BTH in the order of
// the bits, lowest first.
type Headers uint16

// The extension headers, in the order in which they stand on the wire.
const (
	HasRDETH Headers = 1 << iota
	HasDETH
	HasXRCETH
	HasFETH
	HasRETH
	HasAtomicETH
	HasAETH
	HasAtomicAckETH
	HasImmDt
	HasIETH
)

// Kind says what role a packet plays, independent of its transport.
type Kind uint16

// The roles. A packet of an unassigned opcode has none.
const (
	IsRequest  Kind = 1 << iota // moves the requester's PSN
	IsResponse                  // carries the PSN of a request of its receiver
	IsFirst                     // opens a message of several packets
	IsMiddle
	IsLast // closes a message of several packets
	IsOnly // a message of one packet
	IsSend
	IsWrite
	IsRead // READ request
	IsReadResponse
	IsAtomic    // request
	IsAck       // ACKNOWLEDGE
	IsAtomicAck //
	HasPayload  // payload may follow the extension headers
	// AnsweredByRead marks the requests that a READ response answers: READ,
	// FLUSH, ATOMIC WRITE.
	AnsweredByRead
)

// Info is what the specification says of one opcode.
type Info struct {
	Headers Headers
	Kind    Kind
	Len     uint8 // bytes of all extension headers
	name    string
}

// Known reports whether the opcode is assigned.
func (i *Info) Known() bool { return i.name != "" }

// Info returns the opcode's row of the table. It never returns nil: an
// unassigned opcode has an empty row.
func (o Opcode) Info() *Info { return &opcodes[o] }

// Is reports whether the opcode plays any of the given roles.
func (o Opcode) Is(k Kind) bool { return kinds[o]&k != 0 }

// String names the opcode in the specification's words, as "RC RDMA WRITE
// First"; an unassigned one as "unknown 0xE1".
func (o Opcode) String() string {
	if n := opcodes[o].name; n != "" {
		return n
	}
	return fmt.Sprintf("unknown 0x%02X", uint8(o))
}

// opcodes is the one table of the house: 256 rows, made once from the short
// list of operations and what each transport puts before them.
var opcodes = makeOpcodes()

// kinds is the column that is asked for again and again, close together.
var kinds = func() (k [256]Kind) {
	for o := range opcodes {
		k[o] = opcodes[o].Kind
	}
	return k
}()

type operation struct {
	op      Op
	name    string
	headers Headers
	kind    Kind
}

var operations = []operation{
	{SendFirst, "SEND First", 0, IsRequest | IsSend | IsFirst | HasPayload},
	{SendMiddle, "SEND Middle", 0, IsRequest | IsSend | IsMiddle | HasPayload},
	{SendLast, "SEND Last", 0, IsRequest | IsSend | IsLast | HasPayload},
	{SendLastImm, "SEND Last with Immediate", HasImmDt, IsRequest | IsSend | IsLast | HasPayload},
	{SendOnly, "SEND Only", 0, IsRequest | IsSend | IsOnly | HasPayload},
	{SendOnlyImm, "SEND Only with Immediate", HasImmDt, IsRequest | IsSend | IsOnly | HasPayload},
	{WriteFirst, "RDMA WRITE First", HasRETH, IsRequest | IsWrite | IsFirst | HasPayload},
	{WriteMiddle, "RDMA WRITE Middle", 0, IsRequest | IsWrite | IsMiddle | HasPayload},
	{WriteLast, "RDMA WRITE Last", 0, IsRequest | IsWrite | IsLast | HasPayload},
	{WriteLastImm, "RDMA WRITE Last with Immediate", HasImmDt, IsRequest | IsWrite | IsLast | HasPayload},
	{WriteOnly, "RDMA WRITE Only", HasRETH, IsRequest | IsWrite | IsOnly | HasPayload},
	{WriteOnlyImm, "RDMA WRITE Only with Immediate", HasRETH | HasImmDt, IsRequest | IsWrite | IsOnly | HasPayload},
	{ReadRequest, "RDMA READ Request", HasRETH, IsRequest | IsRead | IsOnly | AnsweredByRead},
	{ReadResponseFirst, "RDMA READ Response First", HasAETH, IsResponse | IsReadResponse | IsFirst | HasPayload},
	{ReadResponseMiddle, "RDMA READ Response Middle", 0, IsResponse | IsReadResponse | IsMiddle | HasPayload},
	{ReadResponseLast, "RDMA READ Response Last", HasAETH, IsResponse | IsReadResponse | IsLast | HasPayload},
	{ReadResponseOnly, "RDMA READ Response Only", HasAETH, IsResponse | IsReadResponse | IsOnly | HasPayload},
	{Acknowledge, "Acknowledge", HasAETH, IsResponse | IsAck},
	{AtomicAcknowledge, "ATOMIC Acknowledge", HasAETH | HasAtomicAckETH, IsResponse | IsAtomicAck},
	{CompareSwap, "CmpSwap", HasAtomicETH, IsRequest | IsAtomic | IsOnly},
	{FetchAdd, "FetchAdd", HasAtomicETH, IsRequest | IsAtomic | IsOnly},
	{SendLastInvalidate, "SEND Last with Invalidate", HasIETH, IsRequest | IsSend | IsLast | HasPayload},
	{SendOnlyInvalidate, "SEND Only with Invalidate", HasIETH, IsRequest | IsSend | IsOnly | HasPayload},
	{Flush, "FLUSH", HasFETH | HasRETH, IsRequest | IsOnly | AnsweredByRead},
	{AtomicWrite, "ATOMIC WRITE", HasRETH, IsRequest | IsOnly | HasPayload | AnsweredByRead},
}

func makeOpcodes() [256]Info {
	var t [256]Info
	for _, o := range operations {
		for _, tr := range []Transport{RC, UC, RD, XRC} {
			if h, ok := o.on(tr); ok {
				t[Of(tr, o.op)] = Info{h, o.kind, h.size(), tr.String() + " " + o.name}
			}
		}
	}
	resync := HasRDETH | HasDETH
	t[Of(RD, Resync)] = Info{resync, IsRequest, resync.size(), "RD RESYNC"}
	for op, h := range map[Op]Headers{SendOnly: HasDETH, SendOnlyImm: HasDETH | HasImmDt} {
		t[Of(UD, op)] = Info{h, IsRequest | IsSend | IsOnly | HasPayload, h.size(), "UD " + operations[op].name}
	}
	t[CNP] = Info{0, 0, 0, "CNP"}
	return t
}

// on returns the headers the operation carries on a transport, and whether
// that transport has the operation at all.
func (o *operation) on(t Transport) (Headers, bool) {
	request := o.kind&IsRequest != 0
	switch t {
	case RC:
		return o.headers, true
	case UC:
		return o.headers, o.op <= WriteOnlyImm
	case RD:
		switch {
		case o.op == Flush: // RDETH FETH RETH, no DETH
			return HasRDETH | o.headers, true
		case o.op > FetchAdd:
			return 0, false
		case request:
			return HasRDETH | HasDETH | o.headers, true
		}
		return HasRDETH | o.headers, true
	case XRC:
		if o.op == AtomicWrite {
			return 0, false
		}
		if request {
			return HasXRCETH | o.headers, true
		}
		return o.headers, true
	}
	return 0, false
}

// sizes holds each extension header's length, by the position of its bit.
var sizes = [...]uint8{RDETHLen, DETHLen, XRCETHLen, FETHLen, RETHLen, AtomicETHLen, AETHLen, AtomicAckETHLen, ImmDtLen, IETHLen}

func (h Headers) size() uint8 {
	n := uint8(0)
	for i, s := range sizes {
		if h&(1<<i) != 0 {
			n += s
		}
	}
	return n
}

// Offset returns where header one (a single bit) starts, counted from the end
// of the BTH, in a packet that carries the headers h.
func (h Headers) Offset(one Headers) int { return int((h & (one - 1)).size()) }
