package synth_test

import (
	"strings"
	"testing"

	"github.com/rocescope/rocescope/pcaps/synth"
)

// TestWhatFollowsPacketsInDoubtIsNoCopy plays requesters that send new packets just
// before a NAK makes them step back, and come to the same packets again within what
// passes for a copy, while a stray leaves those before them in doubt.
func TestWhatFollowsPacketsInDoubtIsNoCopy(t *testing.T) {
	for _, seed := range []uint64{427, 1251, 1403} {
		s := newDraw(seed).mixed(seed)
		c := synth.Run(s)
		sc := newScores()
		sc.score(seed, s, c, analyze(t, s, c))
		for _, note := range sc.notes {
			if strings.Contains(note, ", want") {
				t.Error(note)
			}
		}
	}
}
