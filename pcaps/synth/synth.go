// Package synth simulates hosts and a fabric, and writes captures of a described
// scenario with their truth.
//
// A Scenario is a plain value: hosts that work with each other over queue
// pairs, what befalls which packets, and where the tap stands. Run plays it
// through and returns the frames that the tap saw, together with what really
// happened, counted under the names of the report's columns:
//
//	c := synth.Run(&synth.Scenario{
//		Tap: synth.AtHost(1),
//		Connections: []synth.Connection{
//			{From: 1, To: 2, Work: []synth.Work{synth.Write(1024).Times(20)}},
//		},
//		Faults: []synth.Fault{synth.Lose(synth.Requests(1).Number(30)).AfterTap()},
//	})
//	err := c.Write(file)
//
// Equal scenarios give equal captures, byte for byte, whatever machine they run
// on: all chance comes from the scenario's seed, and all time is simulated.
//
// The model is that of an adapter with go-back-N. It has no switch queues and no
// pauses, and its congestion control does no more than halve and recover.
package synth

import (
	"math/rand/v2"
	"time"

	"github.com/rocescope/rocescope/decode"
)

// Capture is what a tap saw of a scenario, and what happened in it.
type Capture struct {
	Frames []decode.Frame // in the order of time, whole; Write applies the snap length
	Truth  Truth

	file File
}

// epoch is when every scenario begins: 2026-01-01 00:00 UTC, in ns.
const epoch = 1_767_225_600_000_000_000

// processing is how long a host takes to look at a packet, in ns.
const processing = 600

// world is a scenario while it is played.
type world struct {
	scenario *Scenario
	clock    clock
	rand     *rand.Rand
	hosts    map[int]*host
	conns    []*conn
	fabric   fabric
	tap      *tap
}

// Run plays a scenario until nothing more happens.
func Run(s *Scenario) *Capture {
	w := &world{
		scenario: s,
		clock:    clock{now: epoch},
		rand:     rand.New(rand.NewPCG(s.Seed, 0x726F6365)),
		hosts:    map[int]*host{},
	}
	w.tap = newTap(w)
	w.fabric = fabric{world: w}
	for i := range s.Connections {
		w.conns = append(w.conns, newConn(w, i+1, &s.Connections[i]))
	}
	for _, c := range w.conns {
		w.clock.at(epoch+c.Start.Nanoseconds(), c.open)
	}
	w.clock.run()
	return w.tap.capture()
}

func ns(d time.Duration) int64 { return d.Nanoseconds() }
