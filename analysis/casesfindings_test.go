package analysis_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
)

// labelledFindings is what a labelled capture says must and must not be found.
type labelledFindings struct {
	labelledTruth
	MustFind    []string          `json:"must_find"`
	MustFindAny [][]string        `json:"must_find_any"`
	MustNotFind []string          `json:"must_not_find"`
	MaxSeverity map[string]string `json:"max_severity"`
}

// noAnalyzerYet are the rules and families that nothing looks for.
var noAnalyzerYet = []string{"pfc.", "pause.", "mtu.", "cm.", "gid.", "ecmp.", "header.", "cnp.no-reaction", "capture.offload-blind"}

func TestLabelledCapturesGiveTheirFindings(t *testing.T) {
	for _, path := range glob(t, labelled, "*.truth.json") {
		var truth labelledFindings
		readJSON(t, path, &truth)
		t.Run(truth.Case, func(t *testing.T) {
			r := analyze(t, filepath.Join(labelled, truth.File), truth.config())
			found := map[string]report.Severity{}
			for _, f := range r.Findings {
				if was, ok := found[f.Rule]; !ok || f.Severity.Rank() < was.Rank() {
					found[f.Rule] = f.Severity
				}
			}
			truth.compare(t, found)
		})
	}
}

func (l *labelledFindings) compare(t *testing.T, found map[string]report.Severity) {
	t.Helper()
	missing := func(rule string) bool { return found[rule] == "" }
	for _, rule := range l.MustFind {
		if missing(rule) && !lookedForLater(rule) {
			t.Errorf("%s is not found", rule)
		}
	}
	for _, any := range l.MustFindAny {
		if !slices.ContainsFunc(any, func(rule string) bool { return !missing(rule) || lookedForLater(rule) }) {
			t.Errorf("none of %q is found", any)
		}
	}
	for rule, severity := range found {
		if slices.Contains(l.MustNotFind, rule) && severity.Rank() < report.Info.Rank() {
			t.Errorf("%s is found", rule)
		}
		if most := report.Severity(l.MaxSeverity[rule]); most != "" && severity.Rank() < most.Rank() {
			t.Errorf("%s is %s, at most %s is right", rule, severity, most)
		}
		if lookedForLater(rule) {
			t.Errorf("%s is found, so it is on the list of what nothing looks for by mistake", rule)
		}
	}
}

func lookedForLater(rule string) bool {
	return slices.ContainsFunc(noAnalyzerYet, func(x string) bool { return strings.HasPrefix(rule, x) })
}
