package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
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
	atEachCollection(func() {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		n := live[0].Value.Uint64()
		percent := room(n)
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(int64(n + n/100*uint64(percent+idleShare) + idleRoom))
	})
}

// room is how much of a heap may be garbage, in percent of what is in use.
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
