package render

import (
	"fmt"
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
	same := g.equallySure()
	for i := range g[:full] {
		p.finding(g[i], start, !same)
		if i == 0 || g[i].Not != g[i-1].Not || g[i].Advice != g[i-1].Advice {
			p.help(g[i])
		}
	}
	p.brief(g[full:], !same)
	return full
}

func (p *page) heading(g group) {
	text := p.paint(severityStyle(g[0].Severity), shout(g[0].Severity)) + "  " + p.paint(bold, clean(g[0].Rule))
	p.line(text + g.remark("  "))
}

// remark says how many findings there are, where there are several, and how sure
// they are, where that is said of all of them alike.
func (g group) remark(space string) string {
	var parts []string
	if len(g) > 1 {
		parts = append(parts, report.Counted(int64(len(g)), "finding"))
	}
	if g.equallySure() && doubt(g[0]) != "" {
		parts = append(parts, doubt(g[0]))
	}
	if len(parts) == 0 {
		return ""
	}
	return space + "(" + strings.Join(parts, ", ") + ")"
}

func (g group) equallySure() bool {
	for i := range g {
		if doubt(g[i]) != doubt(g[0]) {
			return false
		}
	}
	return true
}

// doubt names the confidence of a finding that is not certain. What is certain
// needs no word.
func doubt(f *report.Finding) string {
	if f.Confidence == report.Certain {
		return ""
	}
	return clean(string(f.Confidence))
}

// remarks writes findings that ask for nothing, as their sentences alone.
func (p *page) remarks(g group) {
	same := g.equallySure()
	for i := range g {
		if i == fewOfRule && len(g) > fewOfRule+1 {
			p.entry(2, 0, "", fmt.Sprintf("… and %s more", report.Count(int64(len(g)-i))))
			return
		}
		text := g[i].Summary
		if !same {
			text = doubtful(text, g[i])
		}
		p.entry(2, 0, "", text)
	}
}

// finding writes the sentence of a finding, where its evidence stands, and how
// sure it is where others of its rule are not as sure.
func (p *page) finding(f *report.Finding, start int64, doubted bool) {
	p.entry(2, 0, "", f.Summary)
	switch place := where(f, start); {
	case place == "" && doubted:
		p.entry(4, findingLabel, "sure", doubt(f))
	case doubted:
		p.entry(4, findingLabel, "where", doubtful(place, f))
	default:
		p.entry(4, findingLabel, "where", place)
	}
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
func (p *page) brief(g group, doubted bool) {
	label := "also"
	for i := range g {
		if i == briefOfRule && len(g) > briefOfRule+1 {
			p.entry(4, findingLabel, label, fmt.Sprintf("… and %s more", report.Count(int64(len(g)-i))))
			return
		}
		text := briefly(g[i])
		if doubted {
			text = doubtful(text, g[i])
		}
		p.entry(4, findingLabel, label, text)
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

// doubtful adds to a text how sure its finding is.
func doubtful(text string, f *report.Finding) string {
	if d := doubt(f); d != "" {
		return text + " (" + d + ")"
	}
	return text
}

// furtherRules counts what is not shown.
func (p *page) furtherRules(groups []group) {
	p.line("")
	p.line(p.paint(bold, "Further findings"))
	for _, g := range groups {
		p.entry(2, 10, clean(string(g[0].Severity)), g[0].Rule+g.remark(" "))
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
