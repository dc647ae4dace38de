package render

import "github.com/rocescope/rocescope/analysis/report"

// unknown writes what the capture cannot answer, and what could.
func (p *page) unknown(r *report.Report) {
	if len(r.NotKnowable) == 0 {
		return
	}
	p.line("")
	p.line(p.paint(bold, "Not to be known from this capture"))
	for _, u := range r.NotKnowable {
		p.entry(2, 2, "-", u.What+": "+u.Why+" "+u.Instead)
	}
}
