// Package diagnose says what the findings of several analyzers mean together:
// which of them follows from which, what one would say on the phone, and what
// the capture cannot answer.
//
// Apply works on a report whose findings have been judged. It adds no finding
// and takes none away: a consequence stays in the report, and names its cause.
package diagnose

import "github.com/rocescope/rocescope/analysis/report"

// Apply joins findings to their causes and fills Headline and NotKnowable. It
// may be called again on a report that it was applied to.
func Apply(r *report.Report) {
	for i := range r.Findings {
		r.Findings[i].ExplainedBy, r.Findings[i].Explanation = nil, ""
	}
	explain(r)
	r.NotKnowable = unknowns(r)
	r.Headline = headline(r)
}

// explain gives each finding the first cause on the list that covers it. A cause
// may have a cause in turn: the list is in such an order that no circle closes.
func explain(r *report.Report) {
	v := newView(r)
	for i := range r.Findings {
		effect := &r.Findings[i]
		for k := range causes {
			if c := &causes[k]; c.mayExplain(effect.Rule) {
				if by, ok := v.causeOf(c, i); ok {
					effect.ExplainedBy, effect.Explanation = &by, c.how
					break
				}
			}
		}
	}
}

// causeOf finds the finding of a cause's rule that covers finding i. One that is
// mere information explains nothing.
func (v *view) causeOf(c *cause, i int) (int, bool) {
	for j := range v.r.Findings {
		if f := &v.r.Findings[j]; i != j && f.Rule == c.rule && f.Severity != report.Info && c.covers(v, f, &v.r.Findings[i]) {
			return j, true
		}
	}
	return 0, false
}
