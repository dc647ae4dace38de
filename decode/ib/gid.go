package ib

import "net/netip"

// GID is a global identifier, the IPv6-shaped address of a port. RoCE writes an
// IPv4 address as ::ffff:a.b.c.d. The zero value is "no GID".
type GID [16]byte

// Addr returns the GID as an address; an IPv4-mapped one as the IPv4 address.
func (g GID) Addr() netip.Addr { return netip.AddrFrom16(g).Unmap() }

// String writes the GID the way an IPv6 address is written.
func (g GID) String() string { return netip.AddrFrom16(g).String() }
