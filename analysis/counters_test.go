package analysis_test

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
)

func TestX(t *testing.T) {
	for _, path := range glob(t, labelled, "*.truth.json") {
		var truth struct {
			labelledTruth
			NIC map[string]map[string]int64 `json:"nic_counters_whole_run"`
		}
		readJSON(t, path, &truth)
		r := analyze(t, filepath.Join(labelled, truth.File), truth.config())
		got := map[string]map[string]report.Counter{}
		for _, h := range r.Counters {
			if got[h.Host] == nil {
				got[h.Host] = map[string]report.Counter{}
			}
			for _, c := range h.Counters {
				got[h.Host][c.Name] = c
			}
		}
		for _, h := range slices.Sorted(maps.Keys(got)) {
			for n, c := range got[h] {
				want := truth.NIC[h][n] + truth.NIC[h][c.With]
				ok := true
				switch c.Bound {
				case report.Exact:
					ok = c.Value == want
				case report.AtLeast:
					ok = c.Value <= want
				case report.AtMost:
					ok = c.Value >= want
				}
				if !ok || want > 0 {
					t.Logf("ok=%v %s %s %s: got %s %d want %d (%s)", ok, truth.Case, h, n, c.Bound, c.Value, want, c.Why)
				}
			}
		}
	}
}
