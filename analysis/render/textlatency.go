package render

import (
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis/report"
)

// fewWaits is how many samples a high percentile needs to say something.
const fewWaits = 20

// latencyLine says how long answers took at the tap, all hosts together; what
// was not measured, or says no more than its neighbour, is left out.
func latencyLine(r *report.Report) string {
	var trips report.Hist
	for i := range r.Flows {
		trips.Merge(&r.Flows[i].AckRTT)
	}
	wait := func(name string) report.Hist { return r.WaitsOf(report.LatencySection, report.WaitTable, name) }
	message, read, first := wait(report.WaitMessage), wait(report.WaitReadCompletion), wait(report.WaitReadResponse)
	if !apart(trips.Quantile(0.5), message.Quantile(0.5)) {
		message = report.Hist{} // nearly all are of one packet
	}
	nak, resend := wait(report.WaitNAK), wait(report.WaitNAKReaction)
	parts := []string{percentiles("ACK", &trips), percentiles("message", &message), percentiles("READ", &read)}
	if apart(first.Quantile(0.5), read.Quantile(0.5)) {
		parts[2] += " (first response " + report.Duration(first.Quantile(0.5)) + ")"
	}
	parts = append(parts, percentiles("NAK", &nak), percentiles("NAK→resend", &resend))
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

// apart reports whether one duration is so much longer than another that it is
// worth saying.
func apart(short, long int64) bool { return 5*long > 6*short }

// percentiles writes the middle of what was measured, and its high end where
// that is far off.
func percentiles(name string, h *report.Hist) string {
	if h.IsZero() {
		return ""
	}
	p50, p99 := h.Quantile(0.5), h.Quantile(0.99)
	text := name + " p50 " + report.Duration(p50)
	if h.Count() < fewWaits {
		p99 = p50
	} else if apart(p50, p99) {
		text += ", p99 " + report.Duration(p99)
	}
	if h.Max > 2*p99 {
		text += ", max " + report.Duration(h.Max)
	}
	return text
}
