package synth

import (
	"cmp"
	"slices"
	"time"

	"github.com/rocescope/rocescope/decode"
)

// Tap says where a capture is taken, and how well. The zero value is a mirror
// of all that comes into the switches from hosts: it sees every packet, before
// any queue.
type Tap struct {
	host     int
	from, to string
	oneWay   bool
	loses    float64
	doubles  float64
	offset   time.Duration
	jitter   time.Duration
	start    time.Duration
	stop     time.Duration // 0 never
	breaks   []interval
	stamps   stamping
}

// interval is a time from the beginning of the scenario to another.
type interval struct{ from, to time.Duration }

// AtHost taps the link of a host: what it sends passes at once, what it receives
// at the end of its way, and what others send each other not at all.
func AtHost(number int) Tap { return Tap{host: number} }

// AtLink taps the link between two devices, as "leaf1" and "spine2". What the
// fabric sends along other links does not come by.
func AtLink(from, to string) Tap { return Tap{from: from, to: to} }

// OneWay sees only what the host sends, or what goes from the first device to
// the second.
func (t Tap) OneWay() Tap { t.oneWay = true; return t }

// Losing captures each frame but with some probability.
func (t Tap) Losing(probability float64) Tap { t.loses = probability; return t }

// Doubling captures each frame a second time with some probability.
func (t Tap) Doubling(probability float64) Tap { t.doubles = probability; return t }

// Clock lets the tap's clock differ from the true time, and vary.
func (t Tap) Clock(offset, jitter time.Duration) Tap { t.offset, t.jitter = offset, jitter; return t }

// Between captures only what passes between two times after the beginning.
func (t Tap) Between(start, stop time.Duration) Tap { t.start, t.stop = start, stop; return t }

// Pausing captures nothing for a while, though the capture runs on: what passes
// meanwhile is missed.
func (t Tap) Pausing(at, length time.Duration) Tap {
	t.breaks = append(slices.Clone(t.breaks), interval{at, at + length})
	return t
}

// copyGap is how long after a frame its further copy is captured, in ns.
const copyGap = 350

// nearHost is how long a signal takes from a host to the tap on its link, in ns.
const nearHost = 50

// tap collects frames.
type tap struct {
	Tap
	world *world
	shots []shot
	truth *recorder
}

func newTap(w *world, t Tap) *tap {
	if t.host > 0 {
		t.from = hostName(t.host)
	}
	truth := newRecorder(w, !t.stamps.exact())
	truth.breaks = t.breaks
	return &tap{Tap: t, world: w, truth: truth}
}

// on reports whether the tap stands on the way out of a port.
func (t *tap) on(out *port) bool {
	near, far := out.of.name(), out.far.of.name()
	switch {
	case t.from == "":
		_, fromHost := out.of.(*host)
		return fromHost
	case near == t.from:
		return t.to == "" || far == t.to
	case far == t.from && !t.oneWay:
		return t.to == "" || near == t.to
	}
	return false
}

// hop returns on which of its cables the packet comes by; -1 on none.
func (t *tap) hop(p *packet) int { return slices.IndexFunc(p.path, t.on) }

// before returns how long the way is from a port to the tap on its cable.
func (t *tap) before(c *cable, from *port) int64 {
	switch _, fromHost := from.of.(*host); {
	case t.from == "" && fromHost:
		return c.delay // where it comes into the switch
	case t.host > 0 && fromHost && t.on(from):
		return min(nearHost, c.delay)
	case t.host > 0 && t.on(from):
		return max(0, c.delay-nearHost)
	}
	return c.delay / 2
}

// see captures a packet that passes on a cable.
func (t *tap) see(p *packet, c *cable, j *journey) {
	if !t.on(p.path[p.hop]) || p.path[p.hop].cable != c {
		return
	}
	if t.closed() {
		t.truth.outside(p, !t.begun())
		return
	}
	if t != t.world.tap {
		j = &journey{}
	}
	if j.missed || t.pausing() || t.world.chance(t.loses) {
		t.truth.missed(p)
		return
	}
	data := p.frame()
	copies := j.copies
	if t.world.chance(t.doubles) {
		copies++
	}
	x := t.truth.captured(p, len(data), copies)
	x.time = t.keep(data, 0, x)
	for i := range copies {
		t.keep(data, int64(i+1)*copyGap, nil)
	}
}

// seePause captures a pause frame, unless it was lost before.
func (t *tap) seePause(frame []byte, x *packet, j *journey) {
	seen := t.on(x.path[0]) && !j.lost[0] && !(j.missed && t == t.world.tap) && !t.closed() && !t.pausing() && !t.world.chance(t.loses)
	if seen {
		t.keep(frame, 0, nil)
		t.truth.pauses++
	}
	if j.lost[0] || j.lost[1] {
		t.truth.lostPause(x, seen)
	}
}

// begun reports whether the capture has begun.
func (t *tap) begun() bool { return t.world.clock.now-epoch >= ns(t.start) }

// closed reports whether the capture does not run now.
func (t *tap) closed() bool {
	return !t.begun() || t.stop > 0 && t.world.clock.now-epoch >= ns(t.stop)
}

// pausing reports whether nothing is captured now, although the capture runs.
func (t *tap) pausing() bool {
	now := t.world.clock.now - epoch
	return slices.ContainsFunc(t.breaks, func(b interval) bool { return ns(b.from) <= now && now < ns(b.to) })
}

// keep captures a frame, of a record or as a copy, and returns the time that the
// capture gives it.
func (t *tap) keep(data []byte, later int64, of *record) int64 {
	passed := t.world.clock.now + later
	time := passed + ns(t.offset)
	if t.jitter > 0 {
		time += t.world.rand.Int64N(ns(t.jitter))
	}
	t.shots = append(t.shots, shot{decode.Frame{Data: data, Len: len(data), Time: time, Link: decode.LinkEthernet}, passed, of})
	return time
}

// capture returns what was seen, in the order of time.
func (t *tap) capture() *Capture {
	t.stamps.stamp(t.shots, t.world.rand)
	slices.SortStableFunc(t.shots, func(a, b shot) int { return cmp.Compare(a.Time, b.Time) })
	frames := make([]decode.Frame, len(t.shots))
	for i := range t.shots {
		frames[i] = t.shots[i].Frame
		frames[i].Number = uint64(i + 1)
	}
	return &Capture{Frames: frames, Truth: t.truth.truth(), file: t.world.scenario.File}
}
