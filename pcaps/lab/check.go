package main

import (
	"slices"
	"strings"
)

// check holds what tc counted against what the taps differ by, and notes where
// the two disagree.
func (r *recording) check(t *truth) {
	for _, f := range r.scenario.Faults {
		if f.At.Port == "mirror" || f.At.Port == "collector" {
			r.checkMirror(t, f.At)
			continue
		}
		r.checkFault(t, f.At)
	}
	for _, p := range r.scenario.Taps {
		if n := r.total[p.Point] - len(r.seen[p.Point]); n > 0 {
			t.note("tap %s: %d frames are no RoCE", p.Point, n)
		}
	}
}

// checkFault compares drops at a port with the losses between the taps before
// and behind it.
func (r *recording) checkFault(t *truth, at hook) {
	dropped, marks := t.dropped(at)
	lost, marked, around := r.lostAround(t, at)
	if marks {
		// netem counts what it marks as dropped, and it may do both.
		if dropped != lost+marked {
			t.note("%s: tc counts %d dropped or marked, the taps %d lost and %d marked", at, dropped, lost, marked)
		}
		return
	}
	switch {
	case !around && dropped > 0:
		t.note("%s: tc dropped %d, outside of what the taps see", at, dropped)
	case around && dropped != lost:
		t.note("%s: tc dropped %d, the taps differ by %d lost", at, dropped, lost)
	}
}

// checkMirror compares drops at a mirror with what the tap behind it misses.
func (r *recording) checkMirror(t *truth, at hook) {
	tap := "collector"
	if at.Port == "mirror" && r.scenario.tapped("mirror") {
		tap = "mirror"
	}
	dropped, _ := t.dropped(at)
	missing := 0
	for _, d := range t.Between {
		if d.To == tap {
			missing += d.LostTotal
		}
	}
	if dropped != missing {
		t.note("%s: tc dropped %d, the tap %s misses %d", at, dropped, tap, missing)
	}
}

// dropped is what tc says of a port: of its filters if packets come in there,
// of its outermost queue if they leave. The second result says whether that is
// netem, set to mark in place of dropping.
func (t *truth) dropped(at hook) (n int, marks bool) {
	if at.In {
		for _, f := range t.Filters {
			if f.Hook == at.String() && f.Action == "gact" {
				n += f.Dropped
			}
		}
		return n, false
	}
	for _, q := range t.Queues {
		if q.Port != at.Port {
			continue
		}
		n = max(n, q.Dropped) // tbf counts what the queue inside dropped as its own
		options, _ := q.Options.(map[string]any)
		if ecn, _ := options["ecn"].(bool); ecn && q.Kind == "netem" {
			marks = true
		}
	}
	return n, marks
}

// lostAround sums what was lost between the tap before a port and that behind
// it, over all hosts whose packets pass there.
func (r *recording) lostAround(t *truth, at hook) (lost, marked int, around bool) {
	for _, d := range t.Between {
		path := r.scenario.Net.path(d.from, d.to)
		place := stepOf(path, at.Port)
		before, behind := stepOf(path, first(d.From)), stepOf(path, first(d.To))
		if place < 0 || behind < 0 || !passes(before, behind, place, at) {
			continue
		}
		lost, marked, around = lost+d.LostTotal, marked+d.Marked, true
	}
	return lost, marked, around
}

// passes reports whether a packet on its way from one step to another meets a
// fault at a step. A tap hears what leaves a port behind the port's queue, and
// what comes in before the port's filters.
func passes(before, behind, place int, at hook) bool {
	if at.In != entered(place) {
		return false // the packets meet the port's other direction
	}
	if at.In {
		return before <= place && place < behind
	}
	return before < place && place <= behind
}

// entered reports whether packets come in at a step of their way, where they do
// not leave: a host is left, a port of the next switch entered, another left.
func entered(step int) bool { return step%2 == 1 }

func stepOf(path [][]string, point string) int {
	return slices.IndexFunc(path, func(step []string) bool { return slices.Contains(step, point) })
}

// first is one of the points that a difference names.
func first(points string) string {
	p, _, _ := strings.Cut(points, "+")
	return p
}
