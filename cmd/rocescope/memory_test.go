package main

import "testing"

func TestALargeHeapGetsLessRoom(t *testing.T) {
	for live, want := range map[uint64]int{0: 100, 1 << 20: 100, 24 << 20: 100, 48 << 20: 50, 72 << 20: 33, 1 << 40: 33} {
		if got := room(live); got != want {
			t.Errorf("%d bytes in use get room of %d %%, want %d", live, got, want)
		}
	}
}
