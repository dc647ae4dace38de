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
// The adapters recover by go-back-N or by selective repeat and slow down as
// DCQCN has it; the switches have queues, mark, pause and drop, and choose among
// paths. Times are those of 25 Gbit/s to 800 Gbit/s.
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
	More   []*Capture // of the scenario's further taps

	file File
}

// epoch is when every scenario begins: 2026-01-01 00:00 UTC, in ns.
const epoch = 1_767_225_600_000_000_000

// world is a scenario while it is played.
type world struct {
	scenario *Scenario
	clock    clock
	rand     *rand.Rand
	hosts    map[int]*host
	conns    []*conn
	fabric   *fabric
	tap      *tap // the main one
	taps     []*tap
}

// Run plays a scenario until nothing more happens.
func Run(s *Scenario) *Capture {
	w := &world{
		scenario: s,
		clock:    clock{now: epoch},
		rand:     rand.New(rand.NewPCG(s.Seed, 0x726F6365)),
		hosts:    map[int]*host{},
	}
	w.tap = newTap(w, s.Tap)
	w.taps = []*tap{w.tap}
	for _, t := range s.MoreTaps {
		w.taps = append(w.taps, newTap(w, t))
	}
	w.fabric = newFabric(w)
	for i := range s.Connections {
		w.conns = append(w.conns, newConn(w, i+1, &s.Connections[i]))
	}
	for _, c := range w.conns {
		w.clock.at(epoch+c.Start.Nanoseconds(), c.open)
	}
	w.clock.run()
	c := w.tap.capture()
	for _, t := range w.taps[1:] {
		c.More = append(c.More, t.capture())
	}
	return c
}

// chance tells whether something of a probability happens, and draws only
// where that is open.
func (w *world) chance(p float64) bool { return p > 0 && w.rand.Float64() < p }

func ns(d time.Duration) int64 { return d.Nanoseconds() }
