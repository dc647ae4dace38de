package main

import "sort"

// number tells IPv6 frames apart that bear the same, as their headers have no ID: each
// that passes the first tap behind its sender gets a number there. At a tap farther
// on, a frame is the one that passed the first of them last.
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
		for i := range frames {
			f := &frames[i]
			if !f.IPv6 || hostOf(f.Src) != from || hostOf(f.Dst) != to {
				continue
			}
			times := sent[f.key]
			f.key.id = uint16(sort.Search(len(times), func(i int) bool { return times[i] > f.Time }))
		}
	}
}
