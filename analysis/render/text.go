package render

import (
	"cmp"
	"io"
	"strings"

	"github.com/rocescope/rocescope/analysis/report"
)

// Text is for a person at a terminal: first what the capture is, then what is
// wrong, then why that is so and what to do, then the flows in trouble.
var Text = add(Format{
	Name:     "text",
	Doc:      "the triage report, for a terminal",
	Suffixes: []string{".txt"},
	Write:    writeText,
})

func writeText(w io.Writer, r *report.Report, opt Options) error {
	p := &page{width: max(40, cmp.Or(opt.Width, 80)), color: opt.Color}
	f := factsOf(r)
	p.head(r, &f)
	p.findings(r, &f, cmp.Or(opt.Findings, 12))
	p.counters(r)
	p.readings(r)
	p.unknown(r)
	p.flows(r, cmp.Or(opt.Flows, 10))
	_, err := io.WriteString(w, p.String())
	return err
}

// severityStyle returns the colour of a severity.
func severityStyle(s report.Severity) string {
	switch s {
	case report.Critical:
		return red
	case report.Warning:
		return yellow
	case report.Notice:
		return cyan
	}
	return dim
}

func shout(s report.Severity) string { return clean(strings.ToUpper(string(s))) }
