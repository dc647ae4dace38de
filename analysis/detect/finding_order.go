package detect

import (
	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// Whether the frames of a capture stand in the order of the wire. Where they do not, what
// is told by which of two directions came first is in doubt.

// backward reports whether time runs backwards in the capture more than now and then.
func backward(r *report.Report, l *analysis.Limits) bool {
	n := r.Totals.Backward
	return n > 0 && float64(n) >= l.Backward*float64(r.Totals.Frames)
}

// answeredFirst returns the rows of requests that passed behind their answers, nil where
// that happened too seldom to blame a clock: in a single queue pair among others, or now
// and then.
func answeredFirst(r *report.Report, l *analysis.Limits) []*report.Flow {
	var flows []*report.Flow
	n, asking := int64(0), 0
	for i := range r.Flows {
		f := &r.Flows[i]
		if f.RequestFrames == 0 || f.PeerQP == nil || f.Src == report.Other {
			continue
		}
		asking++
		if e := f.EvidenceOf(analysis.AnsweredFirst.String()); e.Count > 0 {
			flows = append(flows, f)
			n += e.Count
		}
	}
	if n == 0 || float64(n) < l.AnsweredFirst*float64(r.Totals.RoCE) || len(flows) < 2 && asking > 1 {
		return nil
	}
	return flows
}

// doubtSides weakens findings that rest on what came first, a request or an answer, in a
// capture where answers stand before their questions.
func doubtSides(r *report.Report, l *analysis.Limits, fs []report.Finding) []report.Finding {
	if len(fs) == 0 || len(answeredFirst(r, l)) == 0 {
		return fs
	}
	for i := range fs {
		doubt(&fs[i], "answers stand before their questions in this capture, so that it may be otherwise: see capture.clock.")
	}
	return fs
}

// doubt weakens a finding for a reason.
func doubt(f *report.Finding, why string) {
	f.Confidence = report.Possible
	f.Not += " But " + why
}
