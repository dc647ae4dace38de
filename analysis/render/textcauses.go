package render

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rocescope/rocescope/analysis/report"
)

// tree is the findings of a report by what they follow from.
type tree struct {
	groups []group
	then   map[*report.Finding][]*report.Finding // what follows from a finding, all the way
}

// treeOf puts what weighs most first, itself or by what follows from it.
func treeOf(r *report.Report) tree {
	t := tree{then: map[*report.Finding][]*report.Finding{}}
	weights, roots := r.Weights(), []int{}
	for i := range r.Findings {
		if root := r.Root(i); root != i {
			t.then[&r.Findings[root]] = append(t.then[&r.Findings[root]], &r.Findings[i])
		} else {
			roots = append(roots, i)
		}
	}
	slices.SortStableFunc(roots, func(a, b int) int { return cmp.Compare(weights[a].Rank(), weights[b].Rank()) })
	for n, i := range roots {
		f := &r.Findings[i]
		if n == 0 || f.Rule != r.Findings[roots[n-1]].Rule || f.Severity != r.Findings[roots[n-1]].Severity {
			t.groups = append(t.groups, nil)
		}
		last := &t.groups[len(t.groups)-1]
		*last = append(*last, f)
	}
	return t
}

// hence writes what follows from the findings of a group, a line for each rule.
func (p *page) hence(t *tree, g group) {
	var all []*report.Finding
	for _, f := range g {
		all = append(all, t.then[f]...)
	}
	n := map[string]int64{}
	for _, f := range all {
		n[f.Rule]++
	}
	label := "hence"
	for _, f := range all {
		if n[f.Rule] == 0 {
			continue // told with the first of its rule
		}
		text := clean(f.Rule)
		if n[f.Rule] > 1 {
			text += fmt.Sprintf(" (%s, this the first)", report.Counted(n[f.Rule], "finding"))
		}
		text += ": " + f.Summary
		if len(f.Frames) > 0 {
			text += " Frames " + frames(f.Frames) + "."
		}
		if f.Explanation != "" {
			text += " " + f.Explanation
		}
		p.entry(4, findingLabel, label, text)
		n[f.Rule], label = 0, ""
	}
}
