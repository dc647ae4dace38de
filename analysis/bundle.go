package analysis

import (
	"bytes"

	"github.com/rocescope/rocescope/decode"
)

// bundle is an unordered pair of addresses and all rows between them.
type bundle struct {
	id   uint32
	addr [2][16]byte // the lower one first
	rows [2][]*row   // by direction, the live ones
	// minRTT is the shortest time, by direction, from a request at the tap to
	// its answer at the tap: what no answer to a later packet can undercut.
	minRTT [2]int64
	rtts   [2]int // how many round trips minRTT is the least of
	// rising tells, by direction, that a sequence of that sender has shown IPv4
	// IDs that rise from packet to packet.
	rising [2]bool
	// turn is the shortest time, by direction of the requests, from a NAK at
	// the tap to the resend that it drew: the other part of the round trip. It
	// cannot be had from ACKs, since the next request may have been under way.
	// 0 unknown.
	turn   [2]int64
	conns  []conn // what CM said, oldest first, at most connsMax
	held   []heldPacket
	unsure int // rows whose responses may answer several rows
}

type bundleKey struct {
	lo, hi  [16]byte
	version uint8
}

// keyOf returns the packet's pair of addresses and its direction in it.
func keyOf(p *decode.Packet) (bundleKey, uint8) {
	if bytes.Compare(p.Src[:], p.Dst[:]) <= 0 {
		return bundleKey{p.Src, p.Dst, p.Version}, 0
	}
	return bundleKey{p.Dst, p.Src, p.Version}, 1
}
