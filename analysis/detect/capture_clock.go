package detect

import (
	"fmt"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// captureClock says that the frames do not stand in the order of the wire.
func captureClock(r *report.Report, c *analysis.Config) []report.Finding {
	var out []report.Finding
	if n := r.Totals.Backward; backward(r, &c.Limits) {
		out = append(out, overCapture(r, report.Finding{
			Rule: "capture.clock", Severity: report.Notice, Confidence: report.Certain, Count: n,
			Values:  map[string]int64{"backward_frames": n, "frames": r.Totals.Frames},
			Summary: fmt.Sprintf("Time runs backwards at %s (%s): the order of the capture is not the order on the wire.", report.Counted(n, "frame"), report.Share(n, r.Totals.Frames)),
			Not:     "Not reordering in the network: each queue pair's packets carry their numbers in order, only the times of different interfaces or queues disagree. Counts stand; times between the two directions do not.",
			Advice:  "Merge by time (rocescope takes several files at once and does), or synchronise the clocks of the capturing interfaces (PTP, hardware timestamps).",
			Filter:  "frame.time_delta < 0",
		}))
	}
	flows := answeredFirst(r, &c.Limits)
	if len(flows) == 0 {
		return out
	}
	ev := evidence(flows, analysis.AnsweredFirst)
	f := report.Finding{
		Rule: "capture.clock", Severity: report.Notice, Confidence: report.Likely, Flow: only(flows), FirstNs: ev.FirstNs, LastNs: ev.LastNs, Count: ev.Count, Frames: ev.Frames,
		Values: map[string]int64{"answered_first": ev.Count, "flows": int64(len(flows)), "roce_frames": r.Totals.RoCE},
		Summary: fmt.Sprintf("Answers stand before their questions: %s of %s passed behind the acknowledgement or READ response that covers them. What saw the two directions disagrees about the time.",
			report.Counted(ev.Count, "request"), report.Counted(int64(len(flows)), "flow")),
		Not:    "Not packets that the capture lost: these requests are here. Counts of one direction stand; round trips, and what a loss or a resend is told by, need both directions in their order.",
		Advice: "Synchronise the clocks of the capturing interfaces or hosts (PTP, hardware timestamps), or shift one capture before joining them: `editcap -t SECONDS`. On one host, capture on a single receive queue (`ethtool -L IFACE combined 1`).",
		Filter: "infiniband",
	}
	if len(flows) == 1 {
		f.Filter = toward(flows[0])
	}
	return append(out, f)
}
