package ib

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// ServiceID names what a REQ wants to reach. RDMA-CM puts a port space and a
// port number into its low 32 bits.
type ServiceID uint64

// PortSpace is a port space of RDMA-CM.
type PortSpace uint16

// The port spaces.
const (
	PortSpaceIPoIB PortSpace = 0x0002
	PortSpaceTCP   PortSpace = 0x0106
	PortSpaceUDP   PortSpace = 0x0111
	PortSpaceIB    PortSpace = 0x013F
)

// String returns the name RDMA-CM gives the port space.
func (s PortSpace) String() string {
	switch s {
	case PortSpaceIPoIB:
		return "IPoIB"
	case PortSpaceTCP:
		return "TCP"
	case PortSpaceUDP:
		return "UDP"
	case PortSpaceIB:
		return "IB"
	}
	return fmt.Sprintf("0x%04X", uint16(s))
}

// ServiceIDOf returns the service ID that RDMA-CM uses for a port.
func ServiceIDOf(s PortSpace, port uint16) ServiceID {
	return ServiceID(s)<<16 | ServiceID(port)
}

// Split returns port space and port, and false where the service ID is none
// of RDMA-CM's.
func (id ServiceID) Split() (PortSpace, uint16, bool) {
	s := PortSpace(id >> 16)
	switch s {
	case PortSpaceIPoIB, PortSpaceTCP, PortSpaceUDP, PortSpaceIB:
		return s, uint16(id), id>>32 == 0
	}
	return s, uint16(id), false
}

// String returns the service ID as "TCP 20049", or as a number where it is none
// of RDMA-CM's.
func (id ServiceID) String() string {
	if s, port, ok := id.Split(); ok {
		return fmt.Sprintf("%v %d", s, port)
	}
	return fmt.Sprintf("0x%016X", uint64(id))
}

// RDMACMLen is the length of RDMA-CM's header in bytes.
const RDMACMLen = 36

// RDMACM is the header that RDMA-CM puts at the start of the private data of a
// REQ or SIDR_REQ whose service ID is one of its own.
type RDMACM struct {
	Version   uint8 // 0
	IPVersion uint8 // 4 bits: 4 or 6
	SrcPort   uint16
	Src, Dst  GID // an IPv4 address stands in the last four bytes, the others are zero
}

// Valid reports whether the versions are known ones; private data that starts
// otherwise does not hold this header.
func (h *RDMACM) Valid() bool { return h.Version == 0 && (h.IPVersion == 4 || h.IPVersion == 6) }

// Addrs returns the addresses the application asked for.
func (h *RDMACM) Addrs() (src, dst netip.Addr) {
	if h.IPVersion == 4 {
		return netip.AddrFrom4([4]byte(h.Src[12:])), netip.AddrFrom4([4]byte(h.Dst[12:]))
	}
	return netip.AddrFrom16(h.Src), netip.AddrFrom16(h.Dst)
}

// Parse reads the header from the start of the private data.
func (h *RDMACM) Parse(b []byte) bool {
	if len(b) < RDMACMLen {
		return false
	}
	h.Version, h.IPVersion = b[0], b[1]>>4
	h.SrcPort = binary.BigEndian.Uint16(b[2:])
	copy(h.Src[:], b[4:])
	copy(h.Dst[:], b[20:])
	return true
}

// Append adds the header's wire form to b.
func (h *RDMACM) Append(b []byte) []byte {
	b = append(b, h.Version, h.IPVersion<<4)
	b = binary.BigEndian.AppendUint16(b, h.SrcPort)
	b = append(b, h.Src[:]...)
	return append(b, h.Dst[:]...)
}
