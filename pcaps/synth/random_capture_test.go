package synth_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/rocescope/rocescope/pcaps/synth"
)

// capturing draws on its own how a capture is taken, so that the fabric of a seed
// stays as it was.
func capturing(seed uint64) draw { return draw{rand.New(rand.NewPCG(seed, 0x746170))} }

// oddHealthy draws a fabric that works, and a capture of it that is not as good as it
// could be.
func (d draw) oddHealthy(seed uint64) *synth.Scenario {
	s := d.fabric(seed)
	capturing(seed).odd(s)
	return s
}

// oddFaulty draws a fabric in which one thing goes wrong, and such a capture.
func (d draw) oddFaulty(seed uint64) *synth.Scenario {
	s := d.faulty(seed)
	capturing(seed).odd(s)
	return s
}

// odd spoils the capture in one way, and has RoCEv1, IPv6 and hosts that number
// nothing be more frequent than elsewhere: there nothing but the times tells.
func (d draw) odd(s *synth.Scenario) { d.oddBy(s, *oddity) }

// oddBy does so in one way; "" leaves that to chance.
func (d draw) oddBy(s *synth.Scenario, way string) {
	n := &s.Network
	n.IPv6, n.RoCEv1, n.IDs = d.often(0.3), d.often(0.25), pick(d, synth.RisingIDs, synth.ConstantIDs, synth.ConstantIDs, synth.RandomIDs)
	names := slices.Sorted(maps.Keys(oddities))
	name := names[d.IntN(len(names))]
	if way != "" {
		name = way
	}
	oddities[name](d, s)
}

// oddities are the ways to spoil a capture.
var oddities = map[string]func(draw, *synth.Scenario){
	"batches": draw.batches, "breaks": draw.breaks, "lags": draw.lags, "midstream": draw.midstream,
}

var oddity = flag.String("accuracy-odd", "", "spoil captures in this way alone: batches, breaks, lags or midstream")

// batches gives many frames one time.
func (d draw) batches(s *synth.Scenario) {
	n := d.between(16, 64)
	s.Tap = s.Tap.Batched(n)
	s.About = fmt.Sprintf("has one time for up to %d frames", n)
}

// breaks has the capture pause, once or twice: shortly, or for some milliseconds, over
// which the work is stretched.
func (d draw) breaks(s *synth.Scenario) {
	length := d.duration(10*us, 200*us)
	if d.often(0.3) {
		length = d.duration(time.Millisecond, 8*time.Millisecond)
		for i := range s.Connections {
			d.stretch(s.Connections[i].Work)
			d.stretch(s.Connections[i].Back)
		}
	}
	at := d.duration(20*us, 200*us)
	s.Tap = s.Tap.Pausing(at, length)
	s.About = fmt.Sprintf("pauses at %v for %v", at, length)
	if d.often(0.3) {
		again, length := at+length+d.duration(20*us, 200*us), d.duration(10*us, 100*us)
		s.Tap = s.Tap.Pausing(again, length)
		s.About += fmt.Sprintf(", and at %v for %v", again, length)
	}
}

// stretch has the same work go on for milliseconds.
func (d draw) stretch(work []synth.Work) {
	for i, w := range work {
		work[i] = w.Times(d.between(20, 40)).Every(d.duration(50*us, 800*us))
	}
}

// lags has the times lag behind by some microseconds.
func (d draw) lags(s *synth.Scenario) {
	most := d.duration(500*time.Nanosecond, 6*us)
	s.Tap = s.Tap.Lagging(most)
	s.About = fmt.Sprintf("has times up to %v late", most)
}

// midstream begins amid traffic, and mostly ends amid it.
func (d draw) midstream(s *synth.Scenario) {
	start, stop := d.duration(us, 120*us), time.Duration(0)
	s.About = fmt.Sprintf("begins after %v", start)
	if d.often(0.8) {
		stop = start + d.duration(100*us, 400*us)
		s.About += fmt.Sprintf(", and ends after %v", stop)
	}
	s.Tap = s.Tap.Between(start, stop)
}
