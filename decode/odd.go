package decode

import (
	"encoding/binary"

	"github.com/rocescope/rocescope/decode/ib"
)

// Odd is a set of what is unusual about a packet, though it could be read. None
// of it is an error by itself. Where headers repeat, it tells of the innermost
// IP header and what follows.
type Odd uint16

// The oddities.
const (
	OddIPOptions    Odd = 1 << iota // IPv4 options
	OddIPv6Ext                      // IPv6 extension headers
	OddUDPChecksum                  // RoCEv2 with a UDP checksum that is neither 0 nor right; asked where all was captured
	OddTrimmed                      // the frame was shorter on the wire than its IP header or GRH says: a switch or a mirror cut it, no snap length
	OddFragment                     // Status Fragment: the first part of a RoCEv2 packet, which hardly any adapter puts together
	OddPort                         // Status Other: UDP to DstPort that reads as RoCEv2, and has a good ICRC where all was captured
	OddPKey                         // P_Key is not the default, 0xFFFF or 0x7FFF
	OddTVer                         // transport version is not 0
	OddReserved                     // a reserved bit of the BTH is set, as some adapters do in every packet
	OddDC                           // opcode 0x40-0x5F: RD, or more likely NVIDIA DC, whose further headers are not read
	OddManufacturer                 // opcode 0xC0-0xFF, which vendors define
	OddOpcode                       // an opcode nobody has assigned
)

var oddNames = []string{
	"IP options", "IPv6 extension headers", "UDP checksum wrong", "trimmed on the way", "RoCE in fragments",
	"RoCE on another port", "P_Key", "transport version", "reserved bits", "RD or NVIDIA DC",
	"manufacturer opcode", "unassigned opcode",
}

// String lists the oddities, as "trimmed on the way, P_Key"; the empty set is
// "none".
func (o Odd) String() string { return named(uint32(o), oddNames) }

// defaultPKey reports whether a P_Key is the default one, for full members or
// limited.
func defaultPKey(k uint16) bool { return k|0x8000 == 0xFFFF }

// oddBTH tells what is unusual about a BTH, whose opcode info describes.
func oddBTH(h *ib.BTH, info *ib.Info) (o Odd) {
	if !defaultPKey(h.PKey) {
		o |= OddPKey
	}
	if h.TVer != 0 {
		o |= OddTVer
	}
	if h.Reserved6|h.Reserved7 != 0 {
		o |= OddReserved
	}
	switch t := h.Opcode.Transport(); {
	case t == ib.RD:
		o |= OddDC
	case t == ib.Manufacturer:
		o |= OddManufacturer
	case !info.Known():
		o |= OddOpcode
	}
	return o
}

// rareOpcodes are the opcodes that are odd, and CNP.
var rareOpcodes = makeRareOpcodes()

func makeRareOpcodes() (rare [256]bool) {
	for i := range rare {
		op := ib.Opcode(i)
		odd := oddBTH(&ib.BTH{Opcode: op, PKey: 0xFFFF}, op.Info())
		rare[i] = odd != 0 || op == ib.CNP
	}
	return rare
}

// anyPort looks for RoCEv2 on a UDP port that nothing is known of. All that can
// be checked must fit, since any traffic comes here.
func anyPort(d *Decoder, p *Packet, data []byte, off int) (step, int) {
	size := int(binary.BigEndian.Uint16(data[off-4:])) - 8
	var h ib.BTH
	if size%4 != 0 || !h.Parse(data[off:]) || !likeBTH(&h, size) {
		return end(p, Other)
	}
	sure := false
	if at := off + size - ib.ICRCLen; off+size <= len(data) {
		var want uint32
		if want, sure = d.invariant(p, 2, data[d.net.off:at]); sure && ib.ReadICRC(data[at:]) != want {
			return end(p, Other)
		}
	}
	if sure || h.Reserved6|h.Reserved7 == 0 {
		p.Odd |= OddPort
	}
	return end(p, Other)
}

// likeBTH reports whether a header makes sense as the BTH of a packet of the
// given size, the ICRC included.
func likeBTH(h *ib.BTH, size int) bool {
	switch h.Opcode.Transport() {
	case ib.RC, ib.UC, ib.UD:
	default:
		return false
	}
	info := h.Opcode.Info()
	n := size - ib.BTHLen - int(info.Len) - int(h.PadCnt) - ib.ICRCLen
	switch {
	case !info.Known(), !defaultPKey(h.PKey), h.TVer != 0:
		return false
	case n < 0, n == 0 && h.PadCnt != 0, n != 0 && info.Kind&ib.HasPayload == 0:
		return false
	}
	return true
}
