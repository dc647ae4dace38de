package render

import (
	"cmp"
	"strings"

	"github.com/rocescope/rocescope/analysis/report"
)

// verdict says in one sentence what is wrong.
func (p *page) verdict(r *report.Report, f *facts) {
	i := r.Worst()
	switch {
	case i < 0 && r.Totals.RoCE == 0:
		p.entry(0, headLabel, "Verdict", "There is no RoCE in this capture, so nothing was judged.")
		return
	case i < 0 && len(narrowed(r)) > 0:
		p.entry(0, headLabel, "Verdict", "No fault found in what could be checked.")
		return
	case i < 0:
		p.entry(0, headLabel, "Verdict", "No fault found.")
		return
	}
	severity := r.Weights()[i]
	word := shout(severity)
	lines := wrap(word+": "+cmp.Or(r.Headline, r.Findings[i].Summary), p.width-headLabel)
	lines[0] = p.paint(severityStyle(severity), word) + strings.TrimPrefix(lines[0], word)
	p.lines(0, headLabel, "Verdict", lines)
	if tally := f.tally(); tally != "" {
		p.entry(0, headLabel, "", tally)
	}
}

// narrowed names what of the capture could not be judged.
func narrowed(r *report.Report) []string {
	var out []string
	for _, u := range r.NotKnowable {
		if u.Narrows {
			out = append(out, u.What)
		}
	}
	return out
}

// tally counts findings by severity, where there are more than the one that is
// the verdict.
func (f *facts) tally() string {
	var parts []string
	var n int64
	for rank, s := range []report.Severity{report.Critical, report.Warning, report.Notice, report.Info} {
		count := f.severities[rank]
		n += count
		switch {
		case count == 0:
		case s == report.Critical || s == report.Info: // words without a plural here
			parts = append(parts, report.Count(count)+" "+string(s))
		default:
			parts = append(parts, report.Counted(count, string(s)))
		}
	}
	if n < 2 {
		return ""
	}
	return "In all: " + strings.Join(parts, ", ") + "."
}
