package detect

import (
	"fmt"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

func judgeReorder(r *report.Report, c *analysis.Config) []report.Finding {
	timed := map[hosts][]report.Row{}
	for _, row := range r.Rows("reorder", "lateness") {
		h := hosts{row.Key[0], row.Key[1]}
		timed[h] = append(timed[h], row)
	}
	groups := groupBy(r, hostsOf)
	heard := map[hosts]bool{} // what comes back is in view
	for _, g := range groups {
		heard[g.key.back()] = true
	}
	var paths, naks []report.Finding
	for _, g := range groups {
		var late, naked []*report.Flow
		for _, f := range g.flows {
			switch {
			case f.ReorderPrevails():
				naked = append(naked, f)
			case lateIn(f) > 0:
				late = append(late, f)
			}
		}
		if len(late) > 0 {
			paths = append(paths, reorderPath(g, late, timed[g.key], heard[g.key]))
			if backward(r, &c.Limits) {
				doubtOrder(&paths[len(paths)-1])
			}
		}
		if len(naked) > 0 {
			naks = append(naks, reorderNAK(g, naked))
		}
	}
	naks = condense(naks, "host pair", "infiniband.aeth.syndrome.opcode == 3 && infiniband.aeth.syndrome.error_code == 0")
	return append(doubtSides(r, &c.Limits, naks), condense(paths, "host pair", "infiniband")...)
}

func lateIn(f *report.Flow) int64 { return f.Reordered + f.ResponseReordered }

// typicalLateness returns the bound below which at least half of the timed late
// packets of two hosts came, and the longest; 0 where none was timed.
func typicalLateness(steps []report.Row) (half, longest int64) {
	var all, sum int64
	for _, row := range steps { // ordered by bound
		all += row.Values[0]
		longest = max(longest, row.Values[1])
	}
	for _, row := range steps {
		if sum += row.Values[0]; 2*sum >= all {
			half = number(row.Key[2])
			break
		}
	}
	return half, longest
}

func reorderPath(g group[hosts], flows []*report.Flow, steps []report.Row, heard bool) report.Finding {
	late := total(flows, lateIn)
	of := total(flows, func(f *report.Flow) int64 { return f.RequestFrames + f.ResponseFrames })
	ev := evidence(flows, analysis.Reordered)
	responses := evidence(flows, analysis.ResponseReordered)
	if ev.Count == 0 {
		ev = responses
	}
	half, longest := typicalLateness(steps)
	out := report.Finding{
		Rule: "reorder.path", Severity: report.Notice, Confidence: report.Likely, Flow: only(flows), FirstNs: ev.FirstNs, LastNs: ev.LastNs, Count: late,
		Frames: fewFrames(append(ev.Frames, responses.Frames...)),
		Values: map[string]int64{"late": late, "packets": of, "queue_pairs": int64(len(flows)), "longest_ns": longest, "half_below_ns": half},
		Not:    "Not loss: each of them came on its own, without having been sent again, and drew no NAK.",
		Advice: "Several paths carry one queue pair: adaptive routing, packet spraying, or a path that changed. Harmless where the receiver places packets out of order" + placing(flows, heard) + "; " +
			"a receiver that goes back N would NAK. Compare with the fabric's load-balancing mode for this class.",
		Filter: between(g.key),
	}
	if !heard {
		out.Not = "Not loss: each of them came on its own, without having been sent again. Whether they drew NAKs is not in view, for the way back is not in the capture."
	}
	if len(flows) == 1 {
		out.Filter = toward(flows[0])
	}
	how := ""
	if longest > 0 {
		how = ", by up to " + report.Duration(longest)
	}
	if half < longest {
		how += " and half of them by less than " + report.Duration(half)
	}
	out.Summary = fmt.Sprintf("%s from %s to %s came late, %s of those in %s%s: packets overtake each other on the way.",
		report.Counted(late, "packet"), g.key.src, g.key.dst, report.Share(late, of), report.Counted(int64(len(flows)), "queue pair"), how)
	return out
}

// placing says that a receiver places packets out of order where that shows. A late
// packet that draws no NAK proves it only where nothing else was asked for again: a
// receiver that waits for a lost packet sends no second NAK for what comes late.
func placing(flows []*report.Flow, heard bool) string {
	if !heard || total(flows, func(f *report.Flow) int64 { return f.Retransmitted + f.ResponseRetransmitted }) > 0 {
		return ""
	}
	return ", as it does here"
}

// doubtOrder weakens what is said of lateness in a capture that does not stand
// in the order of time itself.
func doubtOrder(f *report.Finding) {
	doubt(f, "time runs backwards in this capture, so that its queues or interfaces may have swapped the frames: see capture.clock.")
}

func reorderNAK(g group[hosts], flows []*report.Flow) report.Finding {
	naks := total(flows, func(f *report.Flow) int64 { return f.NeedlessNAKs })
	late := total(flows, lateIn)
	resent := total(flows, func(f *report.Flow) int64 { return f.RetransmittedNAK })
	lost := total(flows, (*report.Flow).Lost)
	ev := evidence(flows, analysis.NeedlessNAK)
	out := report.Finding{
		Rule: "reorder.spurious-nak", Severity: report.Warning, Confidence: report.Likely, Flow: only(flows), FirstNs: ev.FirstNs, LastNs: ev.LastNs, Count: naks, Frames: ev.Frames,
		Values: map[string]int64{"needless_naks": naks, "late": late, "retransmitted_nak": resent, "lost": lost, "queue_pairs": int64(len(flows))},
		Not:    "Not loss: what these NAKs ask for was under way, and arrived without being sent again.",
		Advice: "Adaptive routing or packet spraying meets a receiver that goes back N. Enable out-of-order placement on " + g.key.dst +
			", or keep this class off adaptive routing. Its out_of_sequence and the sender's packet_seq_err (`ethtool -S`) rise while no port on the way counts drops.",
		Filter: between(g.key.back()) + " && infiniband.aeth.syndrome.opcode == 3 && infiniband.aeth.syndrome.error_code == 0",
	}
	waste := ""
	if resent > 0 {
		waste = fmt.Sprintf("; go-back-N then sent %s again", report.Counted(resent, "packet"))
		if lost > 0 {
			waste += ", those for real losses included"
		}
	}
	out.Summary = fmt.Sprintf("%s of %s were drawn by packets from %s that only came late%s.", report.Counted(naks, "NAK"), g.key.dst, g.key.src, waste)
	return out
}
