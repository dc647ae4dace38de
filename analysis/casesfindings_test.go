package analysis_test

import (
	"path/filepath"
	"slices"
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
		if missing(rule) {
			t.Errorf("%s is not found", rule)
		}
	}
	for _, any := range l.MustFindAny {
		if !slices.ContainsFunc(any, func(rule string) bool { return !missing(rule) }) {
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
	}
}
