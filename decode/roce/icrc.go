package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/rocescope/rocescope/decode/ib"
)

// ICRCState is what is known of a packet's invariant CRC.
type ICRCState uint8

// The states of an ICRC.
const (
	ICRCMissing   ICRCState = iota // the captured bytes end before it
	ICRCUnchecked                  // it is there, but the network header it covers is not known
	ICRCGood
	ICRCBad
)

// String returns "missing", "unchecked", "good" or "bad".
func (s ICRCState) String() string {
	if int(s) < len(icrcStates) {
		return icrcStates[s]
	}
	return "unknown"
}

var icrcStates = [...]string{"missing", "unchecked", "good", "bad"}

// icrc computes the ICRC of a packet that starts with a network header of type
// t and may go on behind the ICRC. It returns where the packet ends, and false
// where the bytes are no RoCE packet or end before it does.
func icrc(c *ib.ICRC, packet []byte, t gopacket.LayerType) (sum uint32, end int, ok bool) {
	hdr, end, ok := extent(packet, t)
	if !ok || end-ib.ICRCLen < hdr || end > len(packet) {
		return 0, 0, false
	}
	covered := packet[:end-ib.ICRCLen]
	switch t {
	case layers.LayerTypeIPv4:
		sum, ok = c.IPv4(covered, hdr)
	case layers.LayerTypeIPv6:
		sum, ok = c.IPv6(covered)
	default:
		sum, ok = c.GRH(covered)
	}
	return sum, end, ok
}

// extent returns the length of the network header and the end of what it
// carries, by the lengths in the headers.
func extent(packet []byte, t gopacket.LayerType) (hdr, end int, ok bool) {
	switch t {
	case layers.LayerTypeIPv4:
		if len(packet) < 20 || packet[9] != byte(layers.IPProtocolUDP) {
			return 0, 0, false
		}
		hdr = int(packet[0]&0xF) * 4
		// Of a fragment the rest is missing.
		ok = hdr >= 20 && binary.BigEndian.Uint16(packet[6:])&0x3FFF == 0
	case layers.LayerTypeIPv6:
		hdr, ok = 40, len(packet) >= 40 && packet[6] == byte(layers.IPProtocolUDP)
	case LayerTypeGRH:
		if len(packet) < grhLen {
			return 0, 0, false
		}
		return grhLen, grhLen + int(binary.BigEndian.Uint16(packet[4:])), packet[6] == grhNextBTH
	}
	if !ok || len(packet) < hdr+8 {
		return 0, 0, false
	}
	return hdr, hdr + int(binary.BigEndian.Uint16(packet[hdr+4:])), true
}

// join returns two neighbouring pieces of a packet as one. It copies only where
// they are not neighbours in memory, as in layers that were not decoded.
func join(a, b []byte) []byte {
	if n := len(a); len(b) > 0 && cap(a) >= n+len(b) && same(a[n:n+1], b) {
		return a[: n+len(b) : n+len(b)]
	}
	return append(append(make([]byte, 0, len(a)+len(b)), a...), b...)
}
