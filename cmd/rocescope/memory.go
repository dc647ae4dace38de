package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// By default the garbage collector lets as much garbage pile up as memory is in
// use. An analysis of 100,000 flows has hundreds of megabytes in use, so that a
// large heap gets less room: a third of what is in use, and at least leastRoom,
// so that small ones are collected as seldom as ever. What lies idle beyond that,
// as it does when pieces of one size go and others come, returns to the system.
const (
	leastRoom  = 24 << 20
	mostRoom   = 100 // percent of what is in use
	largeShare = 33  // percent
	idleRoom   = 16 << 20
	idleShare  = 5 // percent of what is in use, beside idleRoom
)

// frugal keeps the memory of the program near what it needs, until it ends.
func frugal() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return // somebody knows better
	}
	var h heap
	large := sync.OnceFunc(hugePages) // what ends before the first collection is small
	atEachCollection(func() {
		large()
		now := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/cycles/automatic:gc-cycles"}}
		metrics.Read(now)
		n := now[0].Value.Uint64()
		percent := h.collected(n, now[1].Value.Uint64())
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(int64(n + n/100*uint64(percent+idleShare) + idleRoom))
	})
}

// heap is how the heap has been collected.
type heap struct {
	goal, most uint64 // what it may grow to before the next collection, and has grown to
	cycles     uint64 // collections that came when it had
}

// collected takes note of a collection, which left live bytes in use, and returns
// how much more may be garbage before the next, in percent of them. What has been
// needed once may be used again: a report is made of what an analysis gave up.
func (h *heap) collected(live, cycles uint64) int {
	if cycles != h.cycles {
		h.most, h.cycles = max(h.most, h.goal), cycles
	}
	percent := max(room(live), int(100*(max(h.most, live)-live)/max(1, live)))
	h.goal = live + live/100*uint64(percent)
	return percent
}

// room is how much of a heap may be garbage that has not been larger before, in
// percent of what is in use.
func room(live uint64) int {
	return int(min(mostRoom, max(largeShare, 100*leastRoom/max(1, live))))
}

// collected is an object that nothing refers to: its finalizer runs once a
// collection has found that.
type collected struct{ again func() }

func atEachCollection(do func()) {
	runtime.SetFinalizer(&collected{do}, func(c *collected) {
		c.again()
		atEachCollection(c.again)
	})
}
