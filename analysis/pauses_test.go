package analysis_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
)

// labelledPauses is what the model of a labelled capture knows of its pauses, by
// "mac prio3" or "mac 802.3x".
type labelledPauses struct {
	labelledTruth
	Counts struct {
		PFC map[string]map[string]int64 `json:"pfc"`
	} `json:"counts"`
}

func TestLabelledCapturesHaveTheirPauses(t *testing.T) {
	for _, path := range glob(t, labelled, "*.truth.json") {
		var truth labelledPauses
		readJSON(t, path, &truth)
		t.Run(truth.Case, func(t *testing.T) {
			got := pausesOf(analyze(t, filepath.Join(labelled, truth.File), truth.config()))
			for port, want := range truth.Counts.PFC {
				comparePauses(t, port, got[port], want)
			}
			for port := range got {
				if truth.Counts.PFC[port] == nil {
					t.Errorf("%s does not pause", port)
				}
			}
		})
	}
}

// comparePauses compares counts exactly and times to what a file can hold: the
// model knows fractions of the ns in which frames are stamped.
func comparePauses(t *testing.T, port string, got, want map[string]int64) {
	t.Helper()
	frames := want["xoff"] + want["xon"]
	for name, n := range want {
		within := map[string]int64{"paused_ns": frames, "longest_unbroken_ns": 2}[name]
		if d := got[name] - n; d < -within || d > within {
			t.Errorf("%s: %s is %d, want %d", port, name, got[name], n)
		}
	}
	if t.Failed() {
		t.Logf("%s has %v", port, got)
	}
}

func pausesOf(r *report.Report) map[string]map[string]int64 {
	out := map[string]map[string]int64{}
	for i := range r.Sections {
		if r.Sections[i].Name != "pfc" {
			continue
		}
		table := r.Sections[i].Table("pauses")
		for _, row := range table.Rows {
			port := row.Key[1] + " prio" + row.Key[2]
			port = strings.Replace(port, "priolink", "802.3x", 1)
			n := map[string]int64{}
			for c, column := range table.Columns {
				n[column.Name] = row.Values[c]
			}
			out[port] = map[string]int64{"xoff": n["xoff_frames"], "xon": n["xon_frames"], "paused_ns": n["paused_ns"],
				"longest_unbroken_ns": n["longest_ns"], "quanta_sum": n["quanta"]}
		}
	}
	return out
}
