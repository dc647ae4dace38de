package detect

import (
	"math"

	"github.com/rocescope/rocescope/decode"
)

// pfcSpreadKey names two pausing ports of which the second joined the first.
type pfcSpreadKey struct{ first, then pauserKey }

// pfcSpread is how pauses of one port draw those of another after them.
type pfcSpread struct {
	times, shortest int64 // how often, and ns from the start of the one to that of the other
	firstNs         int64
	firstAt         uint64
}

// pfcEpisode is a time in which at each moment some port holds a priority. Ports
// join it one after the other, as pauses spread; that each of them pauses again
// and again meanwhile says nothing of who began.
type pfcEpisode struct {
	number   int64
	joined   *pauser // the last to join
	joinedNs int64
}

// The bounds of what is looked at for each new pause, and kept.
const (
	spreadPorts = 64
	spreadsMax  = 256
)

// spread takes a new pause, before which the port did not pause. Ports of one
// interface may be the two ends of one link, so which of them came first tells
// nothing.
func (w *pfcWatch) spread(x *pauser, p *decode.Packet) {
	e := &w.episodes[x.priority]
	if !w.pausedBy(x, p.Time) {
		e.number++
		e.joined, e.joinedNs, x.episode = x, p.Time, e.number
		return
	}
	if x.episode == e.number {
		return
	}
	if e.joined != nil && e.joined.iface != x.iface {
		w.follow(pfcSpreadKey{e.joined.pauserKey, x.pauserKey}, p, p.Time-e.joinedNs)
	}
	e.joined, e.joinedNs, x.episode = x, p.Time, e.number
}

// pausedBy reports whether another port holds the priority of one.
func (w *pfcWatch) pausedBy(x *pauser, t int64) bool {
	for _, y := range w.list[:min(len(w.list), spreadPorts)] {
		if y != x && y.priority == x.priority && y.least.on && t <= y.least.until {
			return true
		}
	}
	return false
}

func (w *pfcWatch) follow(k pfcSpreadKey, p *decode.Packet, after int64) {
	s := w.spreads[k]
	if s == nil {
		if len(w.spreads) == spreadsMax {
			return
		}
		s = &pfcSpread{shortest: math.MaxInt64, firstNs: p.Time, firstAt: p.Frame}
		w.spreads[k] = s
	}
	s.times++
	s.shortest = min(s.shortest, max(0, after))
}
