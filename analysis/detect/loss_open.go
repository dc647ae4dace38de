package detect

import (
	"fmt"
	"slices"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// judgeOpen judges losses that nothing repaired: fatal where the queue pair
// fell silent while the capture goes on, unresolved where the capture ends. What the
// receiver never asked for may be missing in the capture alone, as may the little that
// would show that the queue pair went on before it was closed: a capture that misses
// runs of packets between the two hosts may have missed the repair and all behind it.
func judgeOpen(r *report.Report, c *analysis.Config, flows named) []report.Finding {
	var dead, unresolved []report.Finding
	open := r.Rows("loss", "open")
	if len(open) == 0 {
		return nil
	}
	end, near := lastFrame(r), neighboursOf(r)
	for _, row := range open {
		f := flows.at(row.Key, row.Values[4])
		if f == nil {
			continue
		}
		wait := max(c.Limits.UnrecoveredWait, c.Limits.UnrecoveredRTTs*f.AckRTT.Quantile(0.5))
		lacks := row.Values[6] >= row.Values[3]
		switch silence := end - f.LastNs; {
		case f.LastNs-row.Values[3] > wait:
			// It went on behind the loss: the answers are not in view.
		case f.PeerQP != nil && (silence >= wait || row.Values[1] != int64(nakedNever) && hungUp(near[hostsOf(f)], f.LastNs) && !lacks):
			dead = append(dead, lossUnrecovered(f, row, silence, lacks))
		case row.Values[1] != int64(nakedSeen):
			unresolved = append(unresolved, lossUnresolved(f, row))
		}
	}
	return append(condense(dead, "queue pair", nakFilter), condense(unresolved, "queue pair", nakFilter)...)
}

// lastFrame returns when the last frame was captured.
func lastFrame(r *report.Report) int64 {
	var end int64
	for i := range r.Flows {
		end = max(end, r.Flows[i].LastNs)
	}
	for i := range r.Captures {
		end = max(end, r.Captures[i].LastNs)
	}
	return end
}

// hungUp reports whether, among the rows between two hosts, connection managers
// spoke after a time, as they do to disconnect a queue pair that failed.
func hungUp(flows []*report.Flow, ns int64) bool {
	return slices.ContainsFunc(flows, func(f *report.Flow) bool { return f.DestQP == 1 && f.LastNs > ns })
}

// openWords tells what is missing: a hole, or a packet that was asked for.
func openWords(f *report.Flow, row report.Row) string {
	if row.Values[1] == int64(nakedSeen) {
		return fmt.Sprintf("PSN %s from %s to %s %s was asked for in a NAK and not sent again", row.Key[3], f.Src, f.Dst, report.QP(f.DestQP))
	}
	return fmt.Sprintf("from %s to %s %s the tap misses %s, from PSN %s on, which did not come again",
		f.Src, f.Dst, report.QP(f.DestQP), report.Counted(row.Values[0], "packet"), row.Key[3])
}

func openFinding(f *report.Flow, row report.Row) report.Finding {
	return report.Finding{
		Severity: report.Info, Flow: f.Ref(), FirstNs: row.Values[3], LastNs: f.LastNs, Count: row.Values[0], Frames: []uint64{uint64(row.Values[5])},
		Values: map[string]int64{"missing": row.Values[0], "unanswered_requests": row.Values[2]},
		Filter: bothWays(f),
	}
}

func lossUnrecovered(f *report.Flow, row report.Row, silence int64, lacks bool) report.Finding {
	out := openFinding(f, row)
	out.Rule, out.Severity, out.Confidence = "loss.unrecovered", report.Critical, report.Likely
	out.Values["silence_ns"] = silence
	out.Summary = fmt.Sprintf("Never repaired: %s; then the queue pair fell silent for good with %s unanswered, while the capture goes on for %s.",
		openWords(f, row), report.Counted(row.Values[2], "request"), report.Duration(silence))
	out.Not = "Not the end of the capture, and not a slow repair: a NAK is served within a round trip."
	if lacks {
		doubt(&out, "the capture missed runs of packets between the two hosts from then on (capture.missed): the repair, and all behind it, may be among them.")
	}
	out.Advice = fmt.Sprintf("Look at the completion errors and the log of %s at that time: its queue pair failed, or all it sends is lost before the tap. "+
		"Check the link and the routes between the two; `rdma statistic` of %s counts local_ack_timeout_err if it still tries.", f.Src, f.Src)
	return out
}

func lossUnresolved(f *report.Flow, row report.Row) report.Finding {
	out := openFinding(f, row)
	out.Rule, out.Confidence = "loss.upstream", report.Possible
	out.Summary = "Unresolved at end of capture: " + openWords(f, row) + "."
	out.Not = "Not a dead queue pair: the repair may lie behind the last frame. Not counted as lost, for it may only be late."
	if row.Values[1] == int64(nakedNever) {
		out.Not += " No NAK asked for it, so that it may be missing in the capture alone."
	}
	out.Advice = "Capture for longer where this is the moment in question."
	return out
}
