package render

import (
	"cmp"
	"io"
	"strings"

	"github.com/rocescope/rocescope/analysis/report"
)

// Rules lists rules with a line each.
func Rules(w io.Writer, rules []report.Rule, opt Options) error {
	p := &page{width: max(40, cmp.Or(opt.Width, 80)), color: opt.Color}
	name, severity := 0, 0
	for i := range rules {
		name, severity = max(name, columns(rules[i].Name)), max(severity, columns(severities(&rules[i])))
	}
	for i := range rules {
		r := &rules[i]
		lead := r.Name + pad(r.Name, name+2) + severities(r)
		p.entry(0, name+severity+4, lead, r.Brief)
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// Rule writes the page of one rule.
func Rule(w io.Writer, r *report.Rule, opt Options) error {
	p := &page{width: max(40, cmp.Or(opt.Width, 80)), color: opt.Color}
	p.line(p.paint(bold, r.Name) + "  " + p.paint(severityStyle(r.Severities[0]), severities(r)))
	p.entry(2, 0, "", strings.ToUpper(r.Brief[:1])+r.Brief[1:]+".")
	for _, part := range []struct{ title, text string }{
		{"What it means", r.Means},
		{"How it is computed", r.Computed},
		{"What it is not", r.Not},
		{"What to do", r.Do},
	} {
		p.line("")
		p.line(p.paint(bold, part.title))
		for i, paragraph := range strings.Split(part.text, "\n\n") {
			if i > 0 {
				p.line("")
			}
			p.entry(2, 0, "", paragraph)
		}
	}
	_, err := io.WriteString(w, p.String())
	return err
}

func severities(r *report.Rule) string {
	var names []string
	for _, s := range r.Severities {
		names = append(names, string(s))
	}
	return strings.Join(names, " or ")
}
