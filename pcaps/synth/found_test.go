package synth_test

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/pcaps/synth"
)

// foundExactly says of scenarios which rules must be found above info, and no
// others, with how many findings of each where that is not one.
var foundExactly = map[string]map[string]int{
	"cm-rejected":          {"cm.rejected": 1},
	"cm-rejected-first":    {"cm.rejected": 1},
	"cm-declined":          {"cm.rejected": 2},
	"cm-unanswered":        {"cm.unanswered": 1},
	"cm-withdrawn":         {"cm.unanswered": 1},
	"cm-late-reply":        {},
	"cm-lost-messages":     {},
	"cnps-off":             {"cnp.missing": 1, "ecn.marked": 1, "incast.burst": 1},
	"cnps-off-everywhere":  {"cnp.missing": 2, "ecn.marked": 2, "incast.burst": 2},
	"cnps-lost":            {"ecn.marked": 1, "incast.burst": 1},
	"cnps-lost-before":     {"cnp.missing": 4, "ecn.marked": 4},
	"cnps-lost-all-taps":   {"cnp.no-reaction": 3},
	"xon-lost":             {"pfc.host": 1, "pfc.paused": 1},
	"rnr-exhausted":        {"rnr.exhausted": 3, "rnr.stall": 3},
	"rnr-exhausted-silent": {"rnr.exhausted": 3, "rnr.stall": 4},
	"pcp-wrong":            {"class.pcp-mismatch": 1, "loss.downstream": 2, "retransmit.timeout": 1},
	"dscp-wrong":           {"class.pcp-mismatch": 1},
}

func TestScenariosGiveExactlyTheirFindings(t *testing.T) {
	played := 0
	for _, s := range synth.Scenarios() {
		want, ok := foundExactly[s.Name]
		if !ok {
			continue
		}
		played++
		t.Run(s.Name, func(t *testing.T) {
			got := map[string]int{}
			for _, f := range withRate(t, s, synth.Run(s).Frames).Findings {
				if f.Severity.Rank() < report.Info.Rank() {
					got[f.Rule]++
				}
			}
			if !maps.Equal(got, want) {
				t.Errorf("found %v, want %v", got, want)
			}
		})
	}
	if played != len(foundExactly) {
		t.Errorf("%d of %d scenarios are in the catalogue", played, len(foundExactly))
	}
}

func TestEveryScenarioGivesWhatItsTruthSays(t *testing.T) {
	eachScenario(t, func(t *testing.T, s *synth.Scenario) {
		c := synth.Run(s)
		r := withRate(t, s, c.Frames)
		for _, rule := range c.Truth.MustFind {
			if !slices.ContainsFunc(r.Findings, func(f report.Finding) bool { return f.Rule == rule && f.Severity.Rank() < report.Info.Rank() }) {
				t.Errorf("%s is not found", rule)
			}
		}
	})
}

// TestConnectionsAreThoseOfTheTruth holds every count of connection management
// against the truth.
func TestConnectionsAreThoseOfTheTruth(t *testing.T) {
	eachScenario(t, func(t *testing.T, s *synth.Scenario) {
		c := synth.Run(s)
		compareConnections(t, c, analyze(t, s, c))
	})
}

func TestRandomConnectionsAreThoseOfTheTruth(t *testing.T) {
	for seed := uint64(1); seed <= 100; seed++ {
		for _, s := range []*synth.Scenario{newDraw(seed).troubled(seed), newDraw(seed).healthy(seed)} {
			s.File.SnapLen = 0
			c := synth.Run(s)
			compareConnections(t, c, analyze(t, s, c))
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
}

func compareConnections(t *testing.T, c *synth.Capture, r *report.Report) {
	t.Helper()
	columns := []string{"requests", "delays", "replies", "ready_to_use", "rejects_of_client", "rejects_of_server", "disconnect_requests", "disconnect_replies"}
	var got []synth.Exchange
	for _, table := range r.Section("connection").Tables {
		if table.Name != "connections" {
			continue
		}
		for _, row := range table.Rows {
			id, err := strconv.ParseUint(row.Key[4], 0, 32)
			if err != nil {
				t.Errorf("the ID is %q", row.Key[4])
			}
			e := synth.Exchange{Client: row.Key[0], Server: row.Key[1], CommID: uint32(id), Counts: map[string]int64{}}
			for i, column := range table.Columns {
				if n := row.Values[i]; slices.Contains(columns, column.Name) && n > 0 {
					e.Counts[column.Name] = n
				}
			}
			got = append(got, e)
		}
	}
	want := slices.Clone(c.Truth.Connections)
	for _, xs := range [][]synth.Exchange{got, want} {
		slices.SortFunc(xs, func(a, b synth.Exchange) int { return cmp.Compare(a.CommID, b.CommID) })
	}
	if !slices.EqualFunc(got, want, func(a, b synth.Exchange) bool {
		return a.Client == b.Client && a.Server == b.Server && a.CommID == b.CommID && maps.Equal(a.Counts, b.Counts)
	}) {
		t.Errorf("connections are %+v, want %+v", got, want)
	}
}
