package analysis_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/rocescope/rocescope/analysis"
)

func TestDbg2(t *testing.T) {
	for _, path := range glob(t, labelled, "*.truth.json") {
		var truth labelledTruth
		readJSON(t, path, &truth)
		l := truth.Frames["lost_after_tap"]
		seen, _ := eventFrames(t, &truth)
		got := map[uint64]bool{}
		maps.Copy(got, seen[analysis.LostDownstream])
		maps.Copy(got, seen[analysis.ResponseLostDownstream])
		var bad []uint64
		for _, f := range slices.Sorted(maps.Keys(got)) {
			if !slices.Contains(l, f) {
				bad = append(bad, f)
			}
		}
		if len(bad) > 0 {
			t.Log(truth.Case, "bad", bad, "good", len(got)-len(bad), "truth", len(l), l)
		}
		for k := range truth.Frames {
			if sameFrames[k] == nil && k != "lost_after_tap" {
				t.Log(k)
			}
		}
	}
}
