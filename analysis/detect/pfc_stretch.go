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
