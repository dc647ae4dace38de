package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/pcaps/synth"
)

// scenarioByName returns a scenario, or else says which ones have a name like
// that.
func scenarioByName(name string) (*synth.Scenario, error) {
	var names []string
	for _, s := range synth.Scenarios() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	hint := "rocescope generate --list names them all"
	if like := similar(name, names); len(like) > 0 {
		hint = "did you mean " + strings.Join(like, " or ") + "? " + hint
	}
	return nil, usage(hint, "there is no scenario %q", name)
}

// similar returns the names, three at most, that somebody may have meant: those
// that hold what was said, and those that differ in a few letters.
func similar(said string, names []string) []string {
	said = strings.ToLower(strings.ReplaceAll(said, "_", "-"))
	far := func(name string) int {
		if said != "" && strings.Contains(name, said) {
			return 0
		}
		return distance(said, name)
	}
	out := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return far(name) > max(1, len(name)/3) })
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(far(a), far(b)) })
	return out[:min(3, len(out))]
}

// distance counts the letters to add, to drop or to change that make one word
// of another (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1) // from the letters of a so far to each beginning of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := last
			if a[i] != b[j] {
				change++
			}
			last = row[j+1]
			row[j+1] = min(change, row[j]+1, last+1)
		}
	}
	return row[len(b)]
}
