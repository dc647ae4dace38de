package decode

import (
	"encoding/binary"
	"strconv"
)

// DCB is what a port says of its classes in an LLDP frame: data center bridging
// exchange (DCBX), in the form of 802.1Qaz or in the older one, CEE. A field is
// valid where Has says so, and zero where not. A frame that carries both forms
// is a matter of negotiation; what stands last counts.
//
// Priorities are those of the tag, 0 to 7.
type DCB struct {
	Has DCBPart

	// ETSWilling and PFCWilling say that the port takes its peer's settings in
	// place of its own.
	ETSWilling bool
	PFCWilling bool

	PFCBypass  bool  // MBC: PFC works without regard to MACsec; 802.1Qaz alone
	PFCCap     uint8 // how many traffic classes can have PFC at once
	PFCEnabled uint8 // bit i: priority i is paused by PFC and so may be lossless

	ETSMax   uint8     // number of traffic classes, 0 meaning 8
	Class    [8]uint8  // traffic class (CEE: priority group) of each priority; 15 of CEE is no group, but strict
	Share    [8]uint8  // percent of the bandwidth, by traffic class
	Schedule [8]uint8  // by traffic class, 802.1Qaz alone: 0 strict, 1 credit based, 2 ETS, 255 vendor's
	Advised  DCBAdvice // what the port recommends to its peer

	Apps    [8]DCBApp // the first of NumApps valid
	NumApps uint8     // at most 8
	AppsCut bool      // there were more
}

// DCBPart is a set of what a DCB holds.
type DCBPart uint8

// The parts.
const (
	DCBCEE     DCBPart = 1 << iota // the form: CEE, otherwise 802.1Qaz
	DCBETS                         // ETSWilling, ETSMax, Class, Share, Schedule
	DCBAdvised                     // Advised
	DCBPFC                         // PFCWilling, PFCBypass, PFCCap, PFCEnabled
	DCBApps                        // Apps, NumApps
)

// DCBAdvice is an ETS recommendation, laid out as the fields of DCB.
type DCBAdvice struct{ Class, Share, Schedule [8]uint8 }

// DCBApp assigns a priority to what Selector and Protocol name.
type DCBApp struct {
	Selector DCBSelector
	Priority uint8
	Protocol uint16 // a port as 4791, an EtherType as 0x8915, or a DSCP
}

// DCBSelector says what a DCBApp's protocol is.
type DCBSelector uint8

// The selectors, by the numbers of 802.1Q.
const (
	ByEtherType DCBSelector = 1
	ByTCP       DCBSelector = 2 // or SCTP
	ByUDP       DCBSelector = 3 // or DCCP
	ByPort      DCBSelector = 4 // of any of the four
	ByDSCP      DCBSelector = 5
)

// String names the selector in a word.
func (s DCBSelector) String() string {
	switch s {
	case ByEtherType:
		return "EtherType"
	case ByTCP:
		return "TCP"
	case ByUDP:
		return "UDP"
	case ByPort:
		return "port"
	case ByDSCP:
		return "DSCP"
	}
	return "selector " + strconv.Itoa(int(s))
}

func lldp(_ *Decoder, p *Packet, _ []byte, off int) (step, int) {
	p.PayloadOff = uint16(off)
	return end(p, LLDP)
}

// ParseDCB reads the TLVs of an LLDP frame, which start at Packet.PayloadOff. It
// reports whether any of them was of DCBX; what a capture cut is left out. It
// keeps no reference to b and allocates nothing.
func ParseDCB(b []byte) (d DCB, ok bool) {
	const organization, head, own = 127, 2, 4
	for len(b) >= head {
		v := binary.BigEndian.Uint16(b)
		kind, n := v>>9, int(v&0x1FF)
		if kind == 0 || len(b) < head+n {
			break
		}
		if body := b[head : head+n]; kind == organization && n >= own {
			switch tag := binary.BigEndian.Uint32(body); {
			case tag>>8 == 0x0080C2:
				d.ieee(uint8(tag), body[own:])
			case tag == 0x001B2102:
				d.cee(body[own:])
			}
		}
		b = b[head+n:]
	}
	return d, d.Has != 0
}
