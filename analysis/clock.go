package analysis

import (
	"math/bits"
	"slices"

	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
)

// clock learns how exact the times of the capture are. Some drivers give all frames
// that they take from the adapter at once one time, and some clocks tick coarsely; what
// is told by a short time has to leave room for that. A lot is frames with one time.
type clock struct {
	limits *Limits
	last   int64 // time of the frame before
	begun  bool
	tick   int64 // what all times are whole multiples apart; 0 unknown

	src    [16]byte // who sent the first frame of the lot
	again  bool     // that one sent another frame of it, not at the same time in truth
	frames int
	bytes  int64
	step   int64 // from the time of the lot before; 0 unknown

	lots    int
	batches bool  // there are lots such as no link can carry within a tick
	spacing int64 // the longest step to one of these, as far as frames came meanwhile

	said  int64 // the noise that was noted last
	known []noiseFrom
}

// noiseFrom is how exact times are, as far as that is known from a frame on.
type noiseFrom struct {
	frame uint64
	ns    int64
}

// watch takes the next frames.
func (c *clock) watch(ps []*decode.Packet) {
	var head *decode.Packet // of the lot; nil while that began before
	for _, p := range ps {
		switch {
		case p.Time == c.last && c.begun:
			if head != nil {
				c.src, head = head.Src, nil
			}
			c.frames++
			c.bytes += int64(p.Len)
			c.again = c.again || p.Src == c.src
		case c.frames == 1 && c.tick == 1: // as most are: one frame, and a clock that ticks finely
			c.lots++
			c.step, c.last, c.bytes, head = p.Time-c.last, p.Time, int64(p.Len), p
		default:
			c.next(p)
			head = p
		}
	}
	if head != nil {
		c.src = head.Src
	}
}

// next begins a lot with a frame.
func (c *clock) next(p *decode.Packet) {
	c.end()
	c.step = 0
	if c.begun {
		c.step = p.Time - c.last
		c.tick = divisor(c.tick, max(0, c.step))
		c.learn(p.Frame)
	}
	c.last, c.begun, c.again, c.frames, c.bytes = p.Time, true, false, 1, int64(p.Len)
}

// divisor returns the greatest common one; 0 stands for any number.
func divisor(a, b int64) int64 {
	for b != 0 && a != 1 {
		a, b = b, a%b
	}
	return a
}

// end judges the lot: whether its frames cannot have come at one time. Few may have, from
// several hosts, or within a tick, which nothing has shown before the second time.
func (c *clock) end() {
	c.lots++
	if c.tick == 0 || c.frames < c.limits.ClockBatch || !c.again || float64(8*c.bytes) <= c.limits.FastestLink*float64(c.tick) {
		return
	}
	c.batches = true
	if c.step <= c.limits.ClockWait {
		c.spacing = max(c.spacing, c.step)
	}
}

// noise is by how much the time between two frames may be wrong, ns; 0 not at all.
func (c *clock) noise() int64 {
	noise := c.knownTick()
	switch {
	case !c.batches:
		return noise
	case c.spacing == 0: // all of them came after silence
		return max(noise, c.limits.ClockWait)
	}
	return max(noise, c.spacing)
}

// knownTick is the tick of the clock, ns, as far as it is known. Where all steps are
// multiples of the first one's divisor by chance, that has a chance of one in it to the
// others, so that a coarse clock shows itself within a few: a short capture holds no more
// times. Then it is no other than a power of ten, by which most are coarser than one that
// ticks in ns or µs anyhow.
func (c *clock) knownTick() int64 {
	steps := c.lots - 1
	if steps >= c.limits.ClockSteps {
		return c.tick
	}
	for tick := powerOfTen(c.tick); tick > 1; tick /= 10 {
		coarser := tick
		if tick > 1000 {
			coarser /= 1000
		}
		if unlikely(steps-1, tick) >= c.limits.ClockSteps && unlikely(steps-1, coarser) >= c.limits.ClockSteps/4 {
			return tick
		}
	}
	return 0
}

// unlikely is how unlikely it is, in bits, that so many times are multiples of a tick by chance.
func unlikely(n int, tick int64) int { return n * (bits.Len64(uint64(tick)) - 1) }

// powerOfTen returns the largest power of ten that divides n.
func powerOfTen(n int64) int64 {
	p := int64(1)
	for n > 0 && n%(10*p) == 0 && p < 1e9 {
		p *= 10
	}
	return p
}

// learn notes what is known of the noise from a frame on, where that is news: the tick
// only falls, and the spacing of batches only rises, so that there is little of it.
func (c *clock) learn(frame uint64) {
	now := c.noise()
	if now > c.said+c.said/8 || now < c.said-c.said/8 {
		c.said = now
		c.known = append(c.known, noiseFrom{frame, now})
	}
}

// times is what a shard knows of how exact times are, by the frame that it takes: what
// was known then, whatever has been seen since.
type times struct {
	known []noiseFrom
	frame uint64
}

// noise is by how much the time between two packets may be wrong, ns.
func (t *times) noise() int64 {
	if t == nil || len(t.known) == 0 {
		return 0
	}
	for _, k := range slices.Backward(t.known) {
		if k.frame <= t.frame {
			return k.ns
		}
	}
	return 0
}

// noise is by how much the time between two packets of a row's hosts may be wrong, ns.
func (r *row) noise() int64 { return r.bundle.times.noise() }

// atMost is how long, ns, the packet passed behind what has another time, at most. Where
// the two have one time, and it is not known how coarse the clock is, nothing tells.
func (r *row) atMost(p *decode.Packet, since int64) int64 {
	noise := r.noise()
	if d := p.Time - since; d != 0 || noise > 0 {
		return d + noise
	}
	return copyAtMost
}

// atLeast is how long, ns, the packet passed behind what has another time, at least.
func (r *row) atLeast(p *decode.Packet, since int64) int64 {
	return max(0, p.Time-since-r.noise())
}

// clockFine is the tick, ns, of a file that keeps microseconds, which nothing minds.
const clockFine = 1_000

func (c *clock) report(r *report.Report) {
	c.end()
	if ns := c.noise(); ns > clockFine {
		s := r.Section("capture")
		s.Measures = append(s.Measures, report.Measure{Name: "clock_noise", Unit: "ns", Kind: report.Peak,
			Help: "By how much times may be wrong: the tick of the clock, or the time from one batch of frames that have one time to the next.", Value: ns})
	}
}
