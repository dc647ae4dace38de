package detect

import (
	"math"

	"github.com/rocescope/rocescope/decode"
)

// pfcStretch is a pause that frame after frame holds on to without a resume.
type pfcStretch struct {
	from, ns        int64
	frames          int64
	firstAt, lastAt uint64
	last            int64  // time of the last frame
	quanta          uint16 // of the last frame
	// unbroken is the rate in bits per second up to which a link sees no break
	// in it: on a faster one a time would run out before the next frame.
	unbroken float64
}

// stormsMax is how many storms of one port are kept, the first ones.
const stormsMax = 16

// storm follows the stretch in force, and keeps it where it gets too long. It is
// to be called before the frame counts.
func (x *pauser) storm(p *decode.Packet, quanta uint16, limit int64) {
	s := &x.open
	if s.frames > 0 && (quanta == 0 || p.Time > x.most.until) {
		if over, long := x.closed(p.Time, limit); long && len(x.storms) < stormsMax {
			x.storms = append(x.storms, over)
		}
		*s = pfcStretch{}
	}
	if quanta == 0 {
		return
	}
	if s.frames == 0 {
		*s = pfcStretch{from: p.Time, firstAt: p.Frame, unbroken: math.MaxInt64}
	} else if gap := p.Time - s.last; gap > 0 {
		s.unbroken = min(s.unbroken, float64(s.quanta)*512e9/float64(gap))
	}
	s.frames++
	s.lastAt, s.last, s.quanta = p.Frame, p.Time, quanta
}

// closed returns the stretch in force as it ends at a time, and whether it is a
// storm.
func (x *pauser) closed(t, limit int64) (pfcStretch, bool) {
	s := x.open
	s.ns = min(t, x.most.until) - s.from
	return s, s.frames > 0 && s.ns >= limit
}

// pfcSpreadKey names two pausing ports of which the second began while the first
// was pausing.
type pfcSpreadKey struct{ first, then pauserKey }

// pfcSpread is how pauses of one port draw those of another after them.
type pfcSpread struct {
	times, shortest int64 // how often, and ns from the start of the one to that of the other
	firstNs         int64
	firstAt         uint64
}

// The bounds of what is looked at for each new pause, and kept.
const (
	spreadPorts = 64
	spreadsMax  = 256
)

// spread looks for the port whose pause a new one may follow from: of those of
// other links that hold the same priority just then, the one that began last.
// Ports of one interface may be the two ends of one link, which tell nothing.
func (w *pfcWatch) spread(x *pauser, p *decode.Packet) {
	var from *pauser
	for _, y := range w.list[:min(len(w.list), spreadPorts)] {
		if y.iface == x.iface || y.priority != x.priority || !y.least.on || p.Time > y.least.until || y.least.run > p.Time {
			continue
		}
		if from == nil || y.least.run > from.least.run {
			from = y
		}
	}
	if from == nil {
		return
	}
	k := pfcSpreadKey{from.pauserKey, x.pauserKey}
	s := w.spreads[k]
	if s == nil {
		if len(w.spreads) == spreadsMax {
			return
		}
		s = &pfcSpread{shortest: math.MaxInt64, firstNs: p.Time, firstAt: p.Frame}
		w.spreads[k] = s
	}
	s.times++
	s.shortest = min(s.shortest, p.Time-from.least.run)
}
