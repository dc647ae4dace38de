package main

import "testing"

func TestALargeHeapGetsLessRoom(t *testing.T) {
	for live, want := range map[uint64]int{0: 100, 1 << 20: 100, 24 << 20: 100, 48 << 20: 50, 72 << 20: 33, 1 << 40: 33} {
		if got := room(live); got != want {
			t.Errorf("%d bytes in use get room of %d %%, want %d", live, got, want)
		}
	}
}

func TestAHeapMayGrowToWhatItWasBefore(t *testing.T) {
	const mib = 1 << 20
	var h heap
	for i, c := range []struct {
		live, cycles uint64
		want         int
	}{
		{60 * mib, 1, 40},
		{72 * mib, 2, 33},
		{300 * mib, 3, 33}, // it grew to 72 and a third
		{100 * mib, 3, 33}, // asked for before it had grown to 400
		{300 * mib, 4, 33},
		{200 * mib, 5, 99}, // it had grown to 400 less what was cut off
		{390 * mib, 6, 33},
	} {
		if got := h.collected(c.live, c.cycles); got != c.want {
			t.Errorf("collection %d: %d MiB in use get room of %d %%, want %d", i, c.live/mib, got, c.want)
		}
	}
}
