package synth_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/pcaps/synth"
)

// incast draws two to five senders to one receiver, seen at the receiver or before
// all queues. One of them may take no notice of CNPs.
func (d draw) incast(seed uint64, unmoved bool) *synth.Scenario {
	n, k := d.between(2, 5), d.between(1, 4)
	s := &synth.Scenario{
		Seed: seed, Tap: pick(d, synth.AtHost(n+1), synth.Tap{}),
		Network: synth.Network{Rate: pick(d, 25.0, 50, 100), Marking: synth.Marking{Kmin: 20_000 * k, Kmax: 120_000 * k, Pmax: pick(d, 0.05, 0.1, 0.2)}},
	}
	senders := make([]int, n)
	for i := range senders {
		senders[i] = i + 1
	}
	s.Connections = synth.Incast(n+1, senders, synth.Write(pick(d, 32<<10, 64<<10, 256<<10)).Times(d.between(60, 120)).Every(d.duration(5*us, 15*us)))
	for i := range s.Connections {
		s.Connections[i].PathMTU, s.Connections[i].Window = pick(d, 1024, 4096), 64
	}
	if who := d.IntN(n); unmoved {
		s.Connections[who].Unmoved = true
	}
	return s
}

// TestSendersThatTakeNoNoticeOfCNPs has one of several senders ignore CNPs, and then
// none in the same draw.
func TestSendersThatTakeNoNoticeOfCNPs(t *testing.T) {
	for _, test := range []struct {
		seed uint64
		sees string
	}{
		{2, "the others fall, in the queue that is seen"},
		{302, "a queue that marks few lets more through than it can hold"},
		{19, "the links of five senders are in view, before the queue"},
		{20, "the same, where the sender's rate rises"},
		{21, "its rate doubles while the only other one falls"},
	} {
		t.Run(fmt.Sprintf("%d: %s", test.seed, test.sees), func(t *testing.T) {
			for _, unmoved := range []bool{true, false} {
				s := newDraw(test.seed).incast(test.seed, unmoved)
				want := ""
				for _, c := range s.Connections {
					if c.Unmoved {
						want = fmt.Sprintf("10.0.0.%d does not slow down", c.From)
					}
				}
				got := ""
				for _, f := range analyze(t, s, synth.Run(s)).Findings {
					if f.Rule == "cnp.no-reaction" {
						got += f.Summary
					}
				}
				if !strings.HasPrefix(got, want) || want == "" && got != "" {
					t.Errorf("found %q, want %q", got, want)
				}
			}
		})
	}
}
