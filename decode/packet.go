// Package decode reduces a frame to a flat Packet of the fields an analysis
// asks for, without allocating.
//
// Use one Decoder for each reader:
//
//	var d decode.Decoder
//	var p decode.Packet
//	for src.Read(&frame) == nil {
//		switch d.Decode(&frame, &p) {
//		case decode.RoCE: // every field of p that its doc comment says is valid
//		...
//		}
//	}
//
// Decode returns a status instead of an error and never drops a frame: what it
// does not understand it names, so that the caller can count it. It knows
// neither gopacket nor where frames come from.
package decode

import "github.com/rocescope/rocescope/decode/ib"

// Status says what a frame turned out to be.
type Status uint8

// The statuses. Each frame has exactly one.
const (
	RoCE      Status = iota // a BTH was read; Packet is valid as its fields say
	Other                   // well understood, and not RoCE
	PFC                     // 802.1Qbb priority flow control; Packet.Pause is valid
	Pause                   // 802.3x; Packet.Pause.Quanta[0] is valid
	UET                     // Ultra Ethernet, UDP port 4793
	Fragment                // an IP fragment: the transport header may be elsewhere
	Truncated               // the captured bytes end before the BTH does, or before what would tell another status
	Malformed               // a length or version contradicts the frame, or headers nest deeper than in any real one
	RoCEv15                 // IP protocol 254, which some adapters send RoCE over without UDP: named, not decoded
	IWARP                   // RDMA over TCP: one of the two MPA frames that open a connection (RFC 5044)
	LLDP                    // EtherType 0x88CC; Packet.PayloadOff is where its TLVs start, see ParseDCB
	NumStatus = iota
)

// ICRCState says what is known of a packet's invariant CRC.
type ICRCState uint8

// The states of an ICRC.
const (
	ICRCUnchecked ICRCState = iota // the captured bytes end before it, or it cannot be computed
	ICRCGood
	ICRCBad
)

// ECN is the congestion codepoint of an IP header or GRH.
type ECN uint8

// The codepoints.
const (
	NotECT ECN = 0
	ECT1   ECN = 1
	ECT0   ECN = 2
	CE     ECN = 3
)

// Packet is one frame, reduced. It holds no pointer, so it can be copied and
// kept. A field is valid where Decode returned RoCE unless its comment says
// otherwise; a field that is not valid is zero. Of headers that repeat (tags,
// tunnels) the innermost is meant: addresses, DSCP, ECN and TTL are those of the
// packet inside, which are what its sender and its receiver see.
//
// The order of the fields keeps the struct free of holes: it is copied between
// goroutines by the million.
type Packet struct {
	Time   int64  // the frame's, ns since the Unix epoch; always valid
	Frame  uint64 // the frame's number; always valid
	Len    uint32 // bytes on the wire, those of a record header included; always valid
	CapLen uint32 // bytes captured; always valid
	Iface  uint16 // always valid
	Status Status // always valid

	Version uint8 // of RoCE, 1 or 2; 0 for native InfiniBand

	// The network header, down to TTL: valid, whatever the status, where an IP
	// header or a GRH was read; that is where Dst is not zero.
	//
	// Native InfiniBand without a GRH has its LIDs here, which Address names, and IPv6 set;
	// the rest is zero.
	Src [16]byte // IPv4 as ::ffff:a.b.c.d; the GRH's GIDs for RoCEv1
	Dst [16]byte // as Src

	IPID    uint16 // 0 for IPv6 and RoCEv1
	SrcPort uint16 // of UDP or TCP where that was read, whatever the status; 0 for RoCEv1
	DstPort uint16 // as SrcPort

	// The link header: valid, whatever the status, where it was read.
	EtherType uint16 // behind the tags, below 0x0600 an 802.3 length; 0x0800 or 0x86DD where the link has none; 0 for native InfiniBand
	VLAN      uint16 // VID of the innermost tag, valid iff Tagged
	SrcMAC    [6]byte
	DstMAC    [6]byte // zero where there is none, as in cooked captures
	PCP       uint8   // of the innermost tag, valid iff Tagged
	Tagged    bool

	// CutByMirror is the T bit of ERSPAN II and III: the mirror cut the frame
	// inside. Valid whatever the status.
	CutByMirror bool

	IPv6  bool  // the network header; true for RoCEv1
	Proto uint8 // IP protocol, behind IPv6 extension headers; 0x1B for RoCEv1
	DSCP  uint8
	ECN   ECN
	TTL   uint8 // or hop limit

	Op         ib.Opcode
	Solicited  bool
	MigReq     bool
	FECN       bool
	BECN       bool
	AckReq     bool
	PadCnt     uint8
	TVer       uint8
	PKey       uint16
	QP         uint32 // destination queue pair
	PSN        ib.PSN
	PayloadLen uint32 // bytes of payload as the lengths in the headers say, even where the capture cut it; 0 for a CNP; with OddDC all behind the BTH

	// PayloadOff is where the payload starts in Frame.Data: valid iff HasExt, or
	// for LLDP, until the source's next Read, and only up to CapLen.
	PayloadOff uint16

	// HasExt says that all extension headers of Op were captured, which is so
	// too where Op carries none, and never with OddDC; the fields down to VA are
	// valid iff it is set and Op carries their header.
	HasExt   bool
	Syndrome ib.Syndrome // AETH; valid without HasExt, too, where HasSyndrome says so
	MSN      uint32      // AETH; MSNCut where that was cut behind the syndrome of an acknowledgement
	SrcQP    uint32      // DETH; valid without HasExt, too, and 0 where it was cut
	RKey     uint32      // RETH, AtomicETH; IETH: the key to invalidate
	DMALen   uint32      // RETH
	Imm      uint32      // ImmDt
	VA       uint64      // RETH, AtomicETH

	ICRCVal uint32 // as it stands on the wire, read little-endian; valid iff ICRC is not ICRCUnchecked
	ICRC    ICRCState

	// What the frame was wrapped in: valid, whatever the status, as far as it
	// was read.
	HasGRESeq bool
	Odd       Odd    // what is unusual about the packet
	Encap     Encap  // every encapsulation that was taken off
	VNI       uint32 // 24 bits: of VXLAN, VXLAN-GPE and GENEVE, the VSID of NVGRE; valid iff Encap has one of these
	GRESeq    uint32 // sequence number of the innermost GRE header that has one, valid iff HasGRESeq: a gap says what the mirror lost
	Mirror    uint32 // what GRESeq counts within: a hash of the outer addresses, the GRE key and the ERSPAN session; valid iff HasGRESeq
	Session   uint16 // of ERSPAN II or III, 10 bits; valid iff Encap has one of these
	OuterVLAN uint16 // VID of the tag before another one: that of the service, where VLAN is the customer's; valid iff Encap has EncapQinQ

	Pause PauseInfo // valid for PFC and Pause
}

// PauseInfo is what a PFC or PAUSE frame asks for.
type PauseInfo struct {
	// Enabled is PFC's: bit i set means that Quanta[i] is meant. The bit of a
	// time that was not captured is cleared.
	Enabled uint8
	Quanta  [8]uint16 // of 512 bit times each; 0 ends a pause. PAUSE uses the first alone
}

// MSNCut stands in MSN, which has 24 bits, where a snap length left the syndrome
// of an acknowledgement and cut the message sequence number behind it.
const MSNCut = 1 << 24

// HasSyndrome reports whether the packet is an acknowledgement whose Syndrome was
// captured.
func (p *Packet) HasSyndrome() bool { return p.Op.Is(ib.IsAck) && (p.HasExt || p.MSN == MSNCut) }

// IsSequenceNAK reports whether the packet is a NAK for a PSN sequence error.
func (p *Packet) IsSequenceNAK() bool {
	return p.HasSyndrome() && p.Syndrome&0x7F == ib.NAKPSNSequence
}

// WireLen returns what the packet took of the wire, at least its payload where a
// mirror cut the frame.
func (p *Packet) WireLen() uint32 { return max(p.Len, p.PayloadLen) }

// MovesData reports whether the packet carries, asks for or returns user data
// (SEND, WRITE, READ response, atomics) outside the management queue pairs: the
// packets that fill links, and that hashing must spread.
func (p *Packet) MovesData() bool {
	return p.QP > 1 && p.Op.Is(ib.IsSend|ib.IsWrite|ib.IsReadResponse|ib.IsAtomic|ib.IsAtomicAck)
}
