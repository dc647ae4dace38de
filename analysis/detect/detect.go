// Package detect holds the analyzers, one a file.
//
// An analyzer is an island: it names nothing that another analyzer's file
// declares. What two of them need to count belongs to analysis/internal/stat,
// and what two need to know about a packet belongs to the engine.
package detect

import (
	"cmp"
	"slices"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// all is filled while the package initializes and only read after.
var all []*analysis.Analyzer

// add puts an analyzer on the list. An analyzer's file calls it once, in the
// declaration of its variable.
func add(a analysis.Analyzer) *analysis.Analyzer {
	all = append(all, &a)
	return &a
}

// All returns every analyzer, ordered by name.
func All() []*analysis.Analyzer {
	out := slices.Clone(all)
	slices.SortFunc(out, func(a, b *analysis.Analyzer) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Rules returns the pages of all rules, by name.
func Rules() []report.Rule {
	var out []report.Rule
	for _, a := range all {
		out = append(out, a.Rules...)
	}
	slices.SortFunc(out, func(a, b report.Rule) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
