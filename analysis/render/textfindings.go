package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rocescope/rocescope/analysis/report"
)

const (
	findingLabel = 8 // columns of a label below a finding
	fewOfRule    = 2 // findings of one rule that are all shown in full; of more only the first
	briefOfRule  = 8 // further ones shown with a line each
	shownFrames  = 6
)

// group is findings of one rule and severity that nothing explains, never none.
type group []*report.Finding

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

// findings writes all findings, the worst first: at most limit in full, then
// the rest by rule. What follows from a finding stands below it.
func (p *page) findings(r *report.Report, f *facts, limit int) {
	t := treeOf(r)
	for i, g := range t.groups {
		if limit <= 0 {
			p.furtherRules(t.groups[i:])
			return
		}
		limit -= p.group(g, f.first, limit)
		p.hence(&t, g)
	}
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

// group writes one rule and returns how many of its findings it wrote in full.
// What they all say alike about what to do is written once.
func (p *page) group(g group, start int64, limit int) int {
	p.line("")
	p.heading(g)
	if g[0].Severity.Rank() >= report.Info.Rank() {
		p.remarks(g)
		return 0
	}
	full := 1
	if len(g) <= min(fewOfRule, limit) {
		full = len(g)
	}
	for i := range g[:full] {
		p.finding(g[i], start)
		if i == 0 || g[i].Not != g[i-1].Not || g[i].Advice != g[i-1].Advice {
			p.help(g[i])
		}
	}
	p.brief(g[full:])
	return full
}

func (p *page) heading(g group) {
	text := p.paint(severityStyle(g[0].Severity), shout(g[0].Severity)) + "  " + p.paint(bold, clean(g[0].Rule))
	p.line(text + g.size("  "))
}

// size says how many findings there are, where there are several.
func (g group) size(space string) string {
	if len(g) == 1 {
		return ""
	}
	return space + "(" + report.Counted(int64(len(g)), "finding") + ")"
}

// remarks writes findings that ask for nothing, as their sentences alone.
func (p *page) remarks(g group) {
	for i := range g {
		if i == fewOfRule && len(g) > fewOfRule+1 {
			p.entry(2, 0, "", fmt.Sprintf("… and %s more", report.Count(int64(len(g)-i))))
			return
		}
		p.entry(2, 0, "", g[i].Summary)
	}
}

// finding writes the sentence of a finding, and where its evidence stands.
func (p *page) finding(f *report.Finding, start int64) {
	p.entry(2, 0, "", f.Summary)
	p.entry(4, findingLabel, "where", where(f, start))
	p.entry(4, findingLabel, "frames", frames(f.Frames))
	if f.Filter != "" {
		p.whole(4, findingLabel, "filter", f.Filter)
	}
}

// help writes what a finding is not, and what to do.
func (p *page) help(f *report.Finding) {
	p.entry(4, findingLabel, "not", f.Not)
	p.entry(4, findingLabel, "next", f.Advice)
}

// brief writes further findings of a rule with a line each.
func (p *page) brief(g group) {
	label := "also"
	for i := range g {
		if i == briefOfRule && len(g) > briefOfRule+1 {
			p.entry(4, findingLabel, label, fmt.Sprintf("… and %s more", report.Count(int64(len(g)-i))))
			return
		}
		p.entry(4, findingLabel, label, briefly(g[i]))
		label = ""
	}
}

// briefly names a finding by its flow, or by its sentence where it has none.
func briefly(f *report.Finding) string {
	if f.Flow == nil {
		return f.Summary
	}
	text := f.Flow.String()
	if f.Count > 0 {
		text += ", count " + report.Count(f.Count)
	}
	switch len(f.Frames) {
	case 0:
		return text
	case 1:
		return text + ", frame " + frames(f.Frames)
	}
	return text + ", frames " + frames(f.Frames[:2])
}

// furtherRules counts what is not shown.
func (p *page) furtherRules(groups []group) {
	p.line("")
	p.line(p.paint(bold, "Further findings"))
	for _, g := range groups {
		p.entry(2, 10, clean(string(g[0].Severity)), g[0].Rule+g.size(" "))
	}
}

// where names the flow of a finding and its time since the start of the
// capture, as Wireshark shows it.
func where(f *report.Finding, start int64) string {
	var parts []string
	if f.Flow != nil {
		parts = append(parts, f.Flow.String())
	}
	switch {
	case f.FirstNs == 0:
	case f.LastNs <= f.FirstNs:
		parts = append(parts, "at "+report.Offset(f.FirstNs-start))
	default:
		parts = append(parts, "from "+report.Offset(f.FirstNs-start)+" to "+report.Offset(f.LastNs-start))
	}
	return strings.Join(parts, ", ")
}

// frames lists frame numbers as they are typed into Wireshark, without commas.
func frames(numbers []uint64) string {
	var parts []string
	for i, n := range numbers {
		if i == shownFrames && len(numbers) > shownFrames+1 {
			return strings.Join(parts, ", ") + " … " + strconv.FormatUint(numbers[len(numbers)-1], 10)
		}
		parts = append(parts, strconv.FormatUint(n, 10))
	}
	return strings.Join(parts, ", ")
}
