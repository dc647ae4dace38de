package synth_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/pcaps/synth"
)

// steps is a collective of equal steps in which one host begins each step late.
func steps(work func([]int, synth.Work) []synth.Connection, late int, by, every time.Duration) *synth.Scenario {
	hosts := []int{1, 2, 3, 4, 5, 6, 7, 8}
	s := &synth.Scenario{Seed: 1, Network: synth.Network{Shape: synth.LeafSpine(2, 4, 4), Rate: 100, Delay: 2 * us}}
	s.Connections = work(hosts, synth.Write(20_000).Times(20).Every(every))
	for i := range s.Connections {
		if c := &s.Connections[i]; c.From == late {
			c.Start += by
		}
	}
	return s
}

// nextInRing has each host write to the next at a time, without waiting for what it gets.
func nextInRing(hosts []int, w synth.Work) (out []synth.Connection) {
	for i, from := range hosts {
		out = append(out, synth.Connection{From: from, To: hosts[(i+1)%len(hosts)], PathMTU: 1024, FirstPSN: synth.PSN(0), Work: []synth.Work{w}})
	}
	return out
}

// TestHostsThatBeginLate has one of eight hosts begin each step late by a part of the
// time between steps. Up to half of the silence it is late; beyond that it may as well be
// early for the next step, which nothing in the capture tells apart.
func TestHostsThatBeginLate(t *testing.T) {
	for name, work := range map[string]func([]int, synth.Work) []synth.Connection{"ring": nextInRing, "all to all": synth.AllToAll} {
		for _, every := range []time.Duration{200 * us, 1000 * us} {
			for _, share := range []float64{0, 0.15, 0.3, 0.6, 0.9, 1.5} {
				s := steps(work, 5, time.Duration(share*float64(every)), every)
				found := ""
				for _, f := range analyze(t, s, synth.Run(s)).Findings {
					if f.Severity.Rank() < report.Info.Rank() {
						found += f.Summary
					}
				}
				// An all-to-all begins over 39 us, so that a host has to be later than that.
				want := share > 0 && share < 0.5 && (name == "ring" || share != 0.3 || every > 200*us)
				if strings.HasPrefix(found, "10.0.0.5 is the last to finish in 20 of 20 steps") != want || !want && found != "" {
					t.Errorf("%s every %v, late by %v of it: found %q", name, every, share, found)
				}
			}
		}
	}
}
