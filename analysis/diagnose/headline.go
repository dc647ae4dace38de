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
	for k, rule := range slices.Clone(rules) {
		if n[rule] > 1 {
			rules[k] = fmt.Sprintf("%s (%s)", rule, report.Counted(n[rule], "finding"))
		}
	}
	last := len(rules) - 1
	if last == 0 {
		return "That explains " + rules[0] + "."
	}
	return "That explains " + strings.Join(rules[:last], ", ") + " and " + rules[last] + "."
}
