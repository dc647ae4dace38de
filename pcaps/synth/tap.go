package synth

import (
	"cmp"
	"slices"

	"github.com/rocescope/rocescope/decode"
)

// Tap says where the capture is taken. The zero value is the middle of the
// fabric, where all packets pass.
type Tap struct{ host int }

// AtHost taps the link of a host: what it sends passes at once, what it receives
// at the end of its way, and what others send each other not at all.
func AtHost(number int) Tap { return Tap{number} }

// copyGap is how long after a frame its further copy is captured, in ns.
const copyGap = 350

// tap collects frames.
type tap struct {
	world  *world
	host   int
	frames []decode.Frame
	truth  *counter
}

func newTap(w *world) *tap {
	return &tap{world: w, host: w.scenario.Tap.host, truth: newCounter(w.scenario.File.SnapLen)}
}

// watches reports whether the packet passes the tap.
func (t *tap) watches(p *packet) bool {
	return t.host == 0 || p.from.number == t.host || p.to.number == t.host
}

// distances returns how long the packet travels before the tap and behind it.
func (t *tap) distances(p *packet) (before, behind int64) {
	const cable = 50 // ns, from a host to the tap on its link
	whole := t.world.delay()
	switch t.host {
	case 0:
		return whole / 2, whole - whole/2
	case p.from.number:
		return cable, whole - cable
	}
	return whole - cable, cable
}

// neverSaw notes a packet that was lost on its way to the tap.
func (t *tap) neverSaw(p *packet) {
	if t.watches(p) {
		t.truth.lostBefore(p)
	}
}

// see captures a packet that passes.
func (t *tap) see(p *packet, j *journey) {
	if !t.watches(p) {
		return
	}
	if j.missed {
		t.truth.missed(p)
	} else {
		data := p.frame()
		t.keep(data, 0)
		t.truth.seen(p, len(data), t.world.clock.now)
		for i := range j.copies {
			t.keep(data, int64(i+1)*copyGap)
			t.truth.copied(p, len(data))
		}
	}
	if j.lost[1] {
		t.truth.lostBehind(p)
	}
}

func (t *tap) keep(data []byte, later int64) {
	t.frames = append(t.frames, decode.Frame{Data: data, Len: len(data), Time: t.world.clock.now + later, Link: decode.LinkEthernet})
}

// capture returns what was seen, in the order of time.
func (t *tap) capture() *Capture {
	slices.SortStableFunc(t.frames, func(a, b decode.Frame) int { return cmp.Compare(a.Time, b.Time) })
	for i := range t.frames {
		t.frames[i].Number = uint64(i + 1)
	}
	return &Capture{Frames: t.frames, Truth: t.truth.truth(), file: t.world.scenario.File}
}
