package main

import (
	"maps"
	"slices"
)

// number tells IPv6 frames apart that bear the same, as their headers have no ID: each
// that passes the first tap behind its sender gets a number there. At a tap farther
// on, a frame is the last of them that had passed there and is not seen yet, or a copy.
func (r *recording) number() {
	for from := 1; from <= r.scenario.Net.Hosts; from++ {
		for to := 1; to <= r.scenario.Net.Hosts; to++ {
			if steps := r.tappedSteps(from, to); from != to && len(steps) > 0 {
				r.numberBy(r.sendings(steps[0], from, to), from, to)
			}
		}
	}
}

// sendings are the times at which equal IPv6 frames passed some taps, in order.
func (r *recording) sendings(points []string, from, to int) map[key][]int64 {
	out := map[key][]int64{}
	for _, f := range r.passing(points, from, to) {
		if f.IPv6 {
			out[f.key] = append(out[f.key], f.Time)
		}
	}
	return out
}

func (r *recording) numberBy(sent map[key][]int64, from, to int) {
	for _, frames := range r.seen {
		left := maps.Clone(sent) // of each, those that the frames behind have left over
		for i := range slices.Backward(frames) {
			f := &frames[i]
			if !f.IPv6 || hostOf(f.Src) != from || hostOf(f.Dst) != to {
				continue
			}
			k := f.key
			f.key.id = before(left[k], f.Time)
			if f.key.id == 0 { // one more than were sent
				f.key.id = max(1, before(sent[k], f.Time))
				continue
			}
			left[k] = left[k][:f.key.id-1]
		}
	}
}

// before is how many of the times are no later than t.
func before(times []int64, t int64) uint16 {
	n := 0
	for n < len(times) && times[n] <= t {
		n++
	}
	return uint16(n)
}
