package render

import (
	"strings"

	"github.com/rocescope/rocescope/analysis/report"
)

// worst returns the first finding in the order of a reader that is more than
// info, or nil.
func worst(sorted []report.Finding) *report.Finding {
	if len(sorted) > 0 && sorted[0].Severity.Rank() < report.Info.Rank() {
		return &sorted[0]
	}
	return nil
}

// sorted returns the findings in the order of a reader; the report stays as it
// is.
func sorted(r *report.Report) []report.Finding {
	findings := append([]report.Finding(nil), r.Findings...)
	report.SortFindings(findings)
	return findings
}

// verdict says in one sentence what is wrong.
func (p *page) verdict(r *report.Report, f *facts) {
	w := worst(sorted(r))
	switch {
	case w == nil && r.Totals.RoCE == 0:
		p.entry(0, headLabel, "Verdict", "There is no RoCE in this capture, so nothing was judged.")
		return
	case w == nil && len(f.unchecked(r)) > 0:
		p.entry(0, headLabel, "Verdict", "No fault found in what could be checked.")
		return
	case w == nil:
		p.entry(0, headLabel, "Verdict", "No fault found.")
		return
	}
	word := shout(w.Severity)
	lines := wrap(word+": "+w.Summary, p.width-headLabel)
	lines[0] = p.paint(severityStyle(w.Severity), word) + strings.TrimPrefix(lines[0], word)
	p.lines(0, headLabel, "Verdict", lines)
	if tally := f.tally(); tally != "" {
		p.entry(0, headLabel, "", tally)
	}
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
