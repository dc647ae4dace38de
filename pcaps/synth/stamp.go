package synth

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/rocescope/rocescope/decode"
)

// stamping is how frames get their times where an adapter or its driver gives them
// later than the frames pass. It keeps their order.
type stamping struct {
	batch int
	lag   time.Duration
}

// Batched gives frames their times as drivers do that take them from the adapter
// in batches of up to n: all those of a batch the time of its last.
func (t Tap) Batched(n int) Tap { t.stamps.batch = n; return t }

// Lagging gives each frame its time up to so much later than it passed, and never
// earlier than that of the frame before.
func (t Tap) Lagging(most time.Duration) Tap { t.stamps.lag = most; return t }

// batchWait is how long a driver lets frames wait for more of them, in ns.
const batchWait = 20_000

// shot is a frame of the capture, and when it really passed.
type shot struct {
	decode.Frame
	passed int64
	of     *record // nil for copies and pauses
}

// exact reports whether frames have the times at which they passed.
func (s *stamping) exact() bool { return s.batch < 2 && s.lag == 0 }

// stamp gives frames other times where that is asked for.
func (s *stamping) stamp(shots []shot, chance *rand.Rand) {
	if s.exact() {
		return
	}
	slices.SortStableFunc(shots, func(a, b shot) int { return cmp.Compare(a.passed, b.passed) })
	if s.lag > 0 {
		latest := int64(0)
		for i := range shots {
			latest = max(latest, shots[i].Time+chance.Int64N(ns(s.lag)))
			shots[i].stamp(latest)
		}
	}
	for s.batch > 1 && len(shots) > 0 {
		n := s.first(shots)
		for i := range shots[:n] {
			shots[i].stamp(shots[n-1].Time)
		}
		shots = shots[n:]
	}
}

// first returns the length of the first batch.
func (s *stamping) first(shots []shot) int {
	for i := range shots[:min(s.batch, len(shots))] {
		if shots[i].passed-shots[0].passed > batchWait {
			return i
		}
	}
	return min(s.batch, len(shots))
}

func (x *shot) stamp(ns int64) {
	x.Time = ns
	if x.of != nil {
		x.of.time = ns
	}
}
