package synth

import (
	"slices"
	"time"
)

// Scenarios returns all that is described: the samples, and then, by what they
// are about, those that need a fabric with queues, pauses and paths.
func Scenarios() []*Scenario {
	return slices.Concat(
		small(),
		healthyScenarios(),
		congestionScenarios(),
		pauseScenarios(),
		pathScenarios(),
		damageScenarios(),
		settingScenarios(),
		recoveryScenarios(),
		repairScenarios(),
		captureScenarios(),
		connectionScenarios(),
		signalScenarios(),
	)
}

const ms = time.Millisecond

// all changes each of some connections.
func all(conns []Connection, change func(*Connection)) []Connection {
	for i := range conns {
		change(&conns[i])
	}
	return conns
}

// wide gives connections a path MTU and a window that fill a fast link.
func wide(mtu, window int) func(*Connection) {
	return func(c *Connection) { c.PathMTU, c.Window = mtu, window }
}

// anyOrder lets receivers take packets in any order.
func anyOrder(c *Connection) { c.AnyOrder = true }

// numbers counts from one number to another.
func numbers(from, to int) []int {
	var out []int
	for n := from; n <= to; n++ {
		out = append(out, n)
	}
	return out
}
