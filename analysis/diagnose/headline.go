package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis/report"
)

// headline is the sentence of the finding that weighs most together with all
// that follows from it, and says what that is. It is empty where nothing is
// above info.
func headline(r *report.Report) string {
	i := r.Worst()
	if i < 0 {
		return ""
	}
	text := r.Findings[i].Summary
	if then := consequences(r, i); then != "" {
		text += " " + then
	}
	if beside := besides(r, i); beside != "" {
		text += " " + beside
	}
	return text
}

// consequences names the rules that follow from finding i.
func consequences(r *report.Report, i int) string {
	var rules []string
	n := map[string]int64{}
	for j := range r.Findings {
		if j != i && r.Root(j) == i {
			rule := r.Findings[j].Rule
			if n[rule]++; n[rule] == 1 {
				rules = append(rules, rule)
			}
		}
	}
	if len(rules) == 0 {
		return ""
	}
	return "That explains " + listed(rules, n) + "."
}

// besides names what else is as grave as finding i, and follows from nothing.
func besides(r *report.Report, i int) string {
	weights := r.Weights()
	var rules []string
	n := map[string]int64{}
	for j := range r.Findings {
		if f := &r.Findings[j]; j != i && r.Root(j) == j && weights[j] == weights[i] {
			if n[f.Rule]++; n[f.Rule] == 1 {
				rules = append(rules, f.Rule)
			}
		}
	}
	text := ""
	if alike := n[r.Findings[i].Rule]; alike > 0 {
		text = report.Counted(alike, "more finding") + " " + report.Are(alike) + " alike."
	}
	rules = slices.DeleteFunc(rules, func(rule string) bool { return rule == r.Findings[i].Rule })
	if len(rules) > 0 {
		text += " Besides: " + listed(rules, n) + "."
	}
	return strings.TrimSpace(text)
}

// listed writes rules with the numbers of their findings.
func listed(rules []string, n map[string]int64) string {
	out := slices.Clone(rules)
	for k, rule := range rules {
		if n[rule] > 1 {
			out[k] = fmt.Sprintf("%s (%s)", rule, report.Counted(n[rule], "finding"))
		}
	}
	if last := len(out) - 1; last > 0 {
		return strings.Join(out[:last], ", ") + " and " + out[last]
	}
	return out[0]
}
