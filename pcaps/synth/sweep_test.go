package synth_test

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/pcaps/synth"
)

var sweep = flag.Bool("sweep", false, "play a fault at every place, and not only at some")

// TestSweep plays one fault at each place of a mixed workload and holds the
// analysis against the truth, which one fault alone leaves knowable: where a
// fault is counted must not depend on where in a message it strikes. The very
// first packet is left out, for nothing tells that it is missing.
func TestSweep(t *testing.T) {
	step := 7
	if *sweep {
		step = 1
	}
	faults := map[string]func(n int) synth.Fault{
		"request lost before":   func(n int) synth.Fault { return synth.Lose(synth.Requests(1).Number(n)) },
		"request lost behind":   func(n int) synth.Fault { return synth.Lose(synth.Requests(1).Number(n)).AfterTap() },
		"request missed":        func(n int) synth.Fault { return synth.Miss(synth.Requests(1).Number(n)) },
		"request doubled":       func(n int) synth.Fault { return synth.Double(synth.Requests(1).Number(n)) },
		"response lost before":  func(n int) synth.Fault { return synth.Lose(synth.ReadResponses(1).Number(n)) },
		"response lost behind":  func(n int) synth.Fault { return synth.Lose(synth.ReadResponses(1).Number(n)).AfterTap() },
		"response missed":       func(n int) synth.Fault { return synth.Miss(synth.ReadResponses(1).Number(n)) },
		"response doubled":      func(n int) synth.Fault { return synth.Double(synth.ReadResponses(1).Number(n)) },
		"acknowledgement taken": func(n int) synth.Fault { return synth.Miss(synth.Acks(1).Number(n)) },
	}
	taps := map[string]synth.Tap{"sender": synth.AtHost(1), "receiver": synth.AtHost(2), "middle": {}}
	for fault, make := range faults {
		for tap, at := range taps {
			for _, ipv6 := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/ipv6=%v", fault, tap, ipv6), func(t *testing.T) {
					for n := 2; n <= 90; n += step {
						s := mixed(at, make(n))
						s.Network.IPv6 = ipv6
						for _, diff := range differences(t, s) {
							t.Errorf("number %d: %s", n, diff)
						}
					}
				})
			}
		}
	}
}

// mixed is a connection with all kinds of messages, beside a plain one.
func mixed(tap synth.Tap, faults ...synth.Fault) *synth.Scenario {
	const us = time.Microsecond
	writes := synth.Write(1500).Times(20).Every(30 * us)
	return &synth.Scenario{
		Seed: 5, Tap: tap, Faults: faults,
		Connections: []synth.Connection{
			{From: 1, To: 2, AckTimeout: 8, Work: []synth.Work{writes, synth.Read(900).Times(10).Every(40 * us), synth.Send(300).Times(10).Every(35 * us)}},
			{From: 1, To: 2, Work: []synth.Work{writes}},
		},
	}
}

// differences runs a scenario and tells, by row and column, where the analysis
// differs from the truth.
func differences(t *testing.T, s *synth.Scenario) []string {
	c := synth.Run(s)
	r := analyze(t, s, c)
	rows := map[string]*report.Flow{}
	for i := range r.Flows {
		f := &r.Flows[i]
		rows[rowName(f.Src, f.Dst, f.DestQP)] = f
	}
	var out []string
	for _, row := range c.Truth.Rows {
		name := rowName(row.Src, row.Dst, row.DestQP)
		for _, column := range synth.Columns {
			got, want, open := count(rows[name], column), row.Counts[column], row.Opened(column)
			if got < want || got > want+open {
				out = append(out, fmt.Sprintf("%s: %s is %d, want %d and at most %d more", name, column, got, want, open))
			}
		}
	}
	return out
}
