package analysis

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// earlier holds sightings whose PSN came once more, as that of an ACK which is
// sent for each duplicate or that of a request sent again: the copy of the first
// may come behind both. It grows while more of them than it has room for came
// within the time in which a copy is likely.
type earlier struct {
	list []sighting
	next int    // where the next one goes
	last int64  // when the last one came
	high ib.PSN // of all that came
}

const (
	earlierMin = 8
	earlierMax = 256
)

// put keeps the sighting of a PSN that comes again at time t.
func (a *earlier) put(e *sighting, t int64) {
	if a.last = t; len(a.list) == 0 || e.psn().After(a.high) {
		a.high = e.psn()
	}
	switch n := len(a.list); {
	case n < earlierMin:
		a.list = append(a.list, *e)
		return
	case a.next == 0 && n < earlierMax && t-a.list[0].time < copyAtMost:
		a.list = append(make([]sighting, 0, 2*n), a.list...)[:2*n] // the oldest is still worth keeping
		a.next = n
	}
	a.list[a.next] = *e
	a.next = (a.next + 1) % len(a.list)
}

// like returns the one that the packet looks like, or nil.
func (a *earlier) like(p *decode.Packet) *sighting {
	if a == nil || p.PSN.After(a.high) || p.Time-a.last > copyAtMost {
		return nil
	}
	for i := range a.list {
		if e := &a.list[i]; e.psn() == p.PSN && e.flags&seenValid != 0 && e.isLike(p) {
			return e
		}
	}
	return nil
}
