package report

import (
	"cmp"
	"encoding/binary"
	"net/netip"
	"strconv"
	"strings"
)

// cell is what a text is in the order of a table, read once and not at each
// comparison: cells of different numbers are in the order of their texts, and of
// texts whose cells are equal compareCells knows the order.
type cell struct{ hi, lo uint64 }

// What a text is, in the highest byte of its cell: numbers stand before
// addresses, and these before the rest.
const (
	isNumber = iota
	isIPv4
	isIPv6
	isText
)

// cellOf reads a text as a cell of a table.
func cellOf(s string) cell {
	// What is no number is seen from outside: an error costs memory.
	if s != "" && strings.Trim(s, "-0123456789") == "" {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return cell{isNumber << 56, uint64(n) ^ 1<<63}
		}
	}
	return addrCell(s)
}

// addrCell does the same where numbers are no more than text.
func addrCell(s string) cell {
	addr := parseAddr(s)
	switch {
	case addr.Is4():
		b := addr.As4()
		return cell{isIPv4 << 56, uint64(binary.BigEndian.Uint32(b[:]))}
	case addr.IsValid():
		b := addr.As16() // its last byte finds no room
		hi, lo := binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])
		return cell{isIPv6<<56 | hi>>8, hi<<56 | lo>>8}
	}
	var b [16]byte
	b[0] = isText
	copy(b[1:], s)
	return cell{binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])}
}

// compare compares two cells, whose texts are a and b.
func (x cell) compare(y cell, a, b string) int {
	if x != y {
		if x.hi < y.hi || x.hi == y.hi && x.lo < y.lo {
			return -1
		}
		return 1
	}
	if x.hi>>56 == isIPv4 || a == b { // an IPv4 address has one text
		return 0
	}
	if x.hi>>56 == isIPv6 {
		return cmp.Or(parseAddr(a).Compare(parseAddr(b)), cmp.Compare(a, b))
	}
	return cmp.Compare(a, b)
}

// compareCells orders two cells of a key column as a reader expects: numbers
// by value, then addresses by value, then the rest as text.
func compareCells(a, b string) int { return cellOf(a).compare(cellOf(b), a, b) }

// parseAddr returns the zero Addr for what is no address.
func parseAddr(s string) netip.Addr {
	if !mayBeAddr(s) {
		return netip.Addr{}
	}
	addr, _ := netip.ParseAddr(s)
	return addr
}

// mayBeAddr is false for nearly all that is no address, MAC addresses included.
func mayBeAddr(s string) bool {
	colon := strings.IndexByte(s, ':')
	if colon < 0 {
		return strings.IndexByte(s, '.') >= 0
	}
	return strings.Contains(s[colon:], "::") || strings.Count(s, ":") >= 6
}
