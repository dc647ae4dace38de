package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/decode"
)

// frames is a batch of frames with the numbers from first to last.
func frames(first, last uint64, events ...analysis.Event) *analysis.Batch {
	b := &analysis.Batch{Events: events}
	for n := first; n <= last; n++ {
		b.Packets = append(b.Packets, decode.Packet{Frame: n, Status: decode.Other})
	}
	return b
}

// collecting returns a window whose lines end up in the list.
func collecting(hold, most int) (*window, *[]string) {
	var got []string
	w := &window{hold: hold, most: most, only: &only{}, stop: func() {}}
	w.print = func(l *line) error {
		got = append(got, fmt.Sprint(l.packet.Frame, l.flagTexts()))
		return nil
	}
	return w, &got
}

func TestWindowHoldsFramesForTheirVerdicts(t *testing.T) {
	w, got := collecting(3, 0)
	w.take(frames(1, 4))
	w.take(frames(5, 5, analysis.Event{Kind: analysis.LostDownstream, Count: 1, Frame: 2, Ref: 5}))
	w.take(frames(6, 6, analysis.Event{Kind: analysis.Spurious, Count: 1, Frame: 1, Ref: 6})) // too late
	w.release(0)
	want := []string{"1 []", "2 [lost_downstream →#5]", "3 []", "4 []", "5 []", "6 []"}
	if !slices.Equal(*got, want) || w.late != 1 {
		t.Errorf("printed %q with %d late verdicts", *got, w.late)
	}
}

func TestWindowTakesVerdictsBack(t *testing.T) {
	w, got := collecting(100, 0)
	w.take(frames(1, 9,
		analysis.Event{Kind: analysis.NotCaptured, Count: 2, Flow: 7, PSN: 40, Frame: 3, Ref: 4},
		analysis.Event{Kind: analysis.LostUpstream, Count: 1, Flow: 7, PSN: 50, Frame: 6, Ref: 5},
		analysis.Event{Kind: analysis.LostUpstream, Count: 1, Flow: 8, PSN: 50, Frame: 7, Ref: 5},
		analysis.Event{Kind: analysis.NotCaptured, Count: -1, Flow: 7, PSN: 41, Frame: 8, Ref: 3},
		analysis.Event{Kind: analysis.LostUpstream, Count: -1, Flow: 7, PSN: 50, Frame: 9, Ref: 5}))
	w.release(0)
	if (*got)[2] != "3 [not_captured →#4]" || (*got)[5] != "6 []" || (*got)[6] != "7 [lost_upstream →#5]" {
		t.Errorf("printed %q", *got)
	}
}

func TestWindowStopsAfterTheLinesAskedFor(t *testing.T) {
	w, got := collecting(2, 3)
	stopped := 0
	w.stop = func() { stopped++ }
	w.take(frames(1, 10))
	w.release(0)
	if len(*got) != 3 || stopped != 1 {
		t.Errorf("printed %q, stopped %d times", *got, stopped)
	}
}

func TestWindowMemoryIsBounded(t *testing.T) {
	w, got := collecting(100, 0)
	for n := uint64(1); n < 100_000; n += 256 {
		w.take(frames(n, n+255))
	}
	if held := len(w.lines) - w.first; held != 100 || cap(w.lines) > 2048 {
		t.Errorf("%d frames are held, in room for %d", held, cap(w.lines))
	}
	if want := len(w.lines[w.first:]) + len(*got); want != 391*256 {
		t.Errorf("%d frames came out or are held", want)
	}
}
