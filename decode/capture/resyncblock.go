package capture

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// resync searches for the next readable block after what the arguments say of
// the one that stands next, and jumps there. Its error is what block returns.
func (p *pcapng) resync(format string, args ...any) error {
	at := p.offset()
	fault := fmt.Sprintf(format, args...) // first, for args may be a part of the window
	i, searched := p.search(resyncWindow + classicRecord)
	if i == 0 {
		return p.giveUp(fault, "block", searched)
	}
	p.damage(at, "%s; skipped %d bytes to the next readable block", fault, i)
	p.jump(i)
	return errJumped
}

// overstated is called for a block of want bytes where only have are left. It
// tells a length that is false from a block that is cut: after the former there
// are others, which reading then goes on with.
func (p *pcapng) overstated(have, want int) error {
	at := p.offset()
	i, _ := p.search(resyncWindow + classicRecord)
	if i == 0 {
		return p.end("block", have, want)
	}
	p.damage(at, "block of %d bytes where %d are left; skipped %d bytes to the next readable block", want, have, i)
	p.jump(i)
	return errJumped
}

// enclosing reports whether readable blocks lie inside of one said to be of n
// bytes, longer than any that is known. Its length is false then, and it has
// jumped to the first of them.
func (p *pcapng) enclosing(n uint32) bool {
	at := p.offset()
	i, _ := p.search(windowSize / 2) // which fits the buffer as it is
	if i == 0 {
		return false
	}
	p.damage(at, "block of %d bytes with others inside; skipped %d bytes to the first of those", n, i)
	p.jump(i)
	return true
}

// search returns how far away the next readable block or file header is, 0 if
// there is none whole within the next most bytes, and how many were looked at.
func (p *pcapng) search(most int) (far, searched int) {
	// peek grows the buffer, but never beyond what was really read.
	b := p.peek(most)
	for i := 1; i < resyncWindow && i+blockMin <= len(b); i++ {
		if p.blockAt(b[i:]) {
			return i, i
		}
	}
	return 0, min(len(b), resyncWindow)
}

// blockAt reports whether b begins with a block that looks right: of a kind
// that captures hold, with the same length at both ends.
func (p *pcapng) blockAt(b []byte) bool {
	var least uint32
	kind, n := p.u32(b), p.u32(b[4:])
	switch kind {
	case blockSection:
		big, ok := orderOf(b)
		if !ok {
			return false
		}
		if big != p.big {
			n = bits.ReverseBytes32(n)
		}
		return n >= sectionMin && p.ends(b, n, big)
	case blockInterface:
		least = interfaceMin
	case blockPacket, blockEnhanced:
		least = packetMin
	case blockSimple:
		least = simpleMin
	case blockStats:
		least = statsMin
	case blockNames, blockSecrets:
		least = 16
	default:
		return isHeader(b)
	}
	if n < least || !p.ends(b, n, p.big) {
		return false
	}
	return least != packetMin || p.u32(b[20:]) <= n-packetMin
}

// ends reports whether a block of n bytes ends as it should.
func (p *pcapng) ends(b []byte, n uint32, big bool) bool {
	if n%4 != 0 || uint64(n) > uint64(len(b)) {
		return false
	}
	again := binary.LittleEndian.Uint32(b[n-4:])
	if big {
		again = bits.ReverseBytes32(again)
	}
	return again == n
}
