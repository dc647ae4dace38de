package detect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
)

func judgeCongestion(r *report.Report, c *analysis.Config) []report.Finding {
	v := readCongestion(r)
	return slices.Concat(v.marked(c), v.notECT(), v.withoutCE(c), v.missing(c))
}

// marks is the table "hosts": one direction between two hosts.
type marks struct{ ect, ce, notECT, cnps, nearNAK int64 }

func (m marks) data() int64 { return m.ect + m.ce + m.notECT }

// congestionView is a report as the judge looks at it.
type congestionView struct {
	r      *report.Report
	pairs  map[hosts]marks
	toward []group[string] // rows by receiver
	told   []group[hosts]  // rows with CNPs, by direction
	rows   map[hosts][]*report.Flow
	ce     map[hosts]int64  // marked frames of any kind
	sent   map[string]int64 // CNPs by sender
	marks  allMarks
	spaced map[string][]report.Row // of the table "cnp_spacing", by sender
}

func readCongestion(r *report.Report) *congestionView {
	pairs, directions := r.Rows("congestion", "hosts"), groupBy(r, hostsOf)
	v := &congestionView{
		r: r, pairs: make(map[hosts]marks, len(pairs)),
		toward: groupBy(r, func(f *report.Flow) string { return f.Dst }),
		rows:   make(map[hosts][]*report.Flow, len(directions)), ce: make(map[hosts]int64, len(directions)),
		sent: map[string]int64{}, spaced: map[string][]report.Row{},
	}
	for _, row := range pairs {
		x := row.Values
		v.pairs[hosts{row.Key[0], row.Key[1]}] = marks{x[0], x[1], x[2], x[3], x[4]}
	}
	for _, g := range directions {
		v.rows[g.key] = g.flows
		v.ce[g.key] = total(g.flows, func(f *report.Flow) int64 { return f.CE })
		g.flows = slices.DeleteFunc(slices.Clone(g.flows), func(f *report.Flow) bool { return f.CNPs == 0 })
		if len(g.flows) > 0 {
			v.told = append(v.told, g)
			v.sent[g.key.src] += total(g.flows, func(f *report.Flow) int64 { return f.CNPs })
		}
	}
	v.sumMarks()
	return v
}

// marked speaks of each receiver of marked frames.
func (v *congestionView) marked(c *analysis.Config) []report.Finding {
	var out []report.Finding
	for _, g := range v.toward {
		flows := slices.DeleteFunc(slices.Clone(g.flows), func(f *report.Flow) bool { return f.CE == 0 })
		ce := total(flows, func(f *report.Flow) int64 { return f.CE })
		if ce == 0 {
			continue
		}
		able := max(ce, total(g.flows, func(f *report.Flow) int64 { return f.DataFrames - f.NotECT })) // marked ACKs and CNPs may add
		worst := slices.MaxFunc(flows, func(a, b *report.Flow) int { return int(a.CE - b.CE) })
		ev := evidence(flows, analysis.CEMark)
		f := report.Finding{
			Rule: "ecn.marked", Severity: report.Notice, Host: g.key, Confidence: report.Certain, Flow: only(flows), FirstNs: ev.FirstNs, LastNs: ev.LastNs, Count: ce, Frames: ev.Frames,
			Values: map[string]int64{"ce_frames": ce, "markable_frames": able, "flows": int64(len(flows)), "worst_flow_ce_frames": worst.CE},
			Summary: fmt.Sprintf("%s towards %s %s marked by congestion (%s of those that can be), in %s; most in %s: %s.",
				report.Counted(ce, "frame"), g.key, report.Are(ce), report.Share(ce, able), report.Counted(int64(len(flows)), "flow"), worst.Ref(), report.Count(worst.CE)),
			Not:    "Not loss: a marked frame has arrived at the tap. The queue that marked it lies before the tap.",
			Advice: "A few percent is how congestion control works. More means a queue that stays full: look for many senders to " + g.key + " at a time, at the switch's ECN thresholds and queue depth, and at np_ecn_marked_roce_packets and np_cnp_sent of " + g.key + ".",
			Filter: ecnFilter(g.key, decode.CE),
		}
		f.Confidence = report.Certain
		if what, why := v.place(g.key, flows, ce); what != "" {
			f.Summary += " Likely congested: " + what + "."
			f.Not += " Which port it is was concluded: " + why + "."
		}
		if text, ns := v.spacingOf(g.key); ns > 0 {
			f.Values["cnp_spacing_ns"] = ns
			f.Advice += " " + text
		}
		if float64(ce) >= c.Limits.CEWarn*float64(able) {
			f.Severity = report.Warning
		}
		out = append(out, f)
	}
	return condense(out, "receiver", "ip.dsfield.ecn == 3 || ipv6.tclass.ecn == 3")
}

// ecnFilter shows what carries a codepoint towards a host.
func ecnFilter(dst string, ecn decode.ECN) string {
	return fmt.Sprintf("infiniband && %s && %s == %d", address(dst, "dst"), ecnField(dst), ecn)
}

func ecnField(addr string) string {
	if strings.Contains(addr, ":") {
		return "ipv6.tclass.ecn"
	}
	return "ip.dsfield.ecn"
}

// notECT speaks of data that no switch can mark: beside data that can be, or
// where queues do overflow.
func (v *congestionView) notECT() []report.Finding {
	senders := groupBy(v.r, func(f *report.Flow) string { return f.Src })
	var ect, notECT, lost int64
	for _, m := range v.pairs {
		ect, notECT = ect+m.ect+m.ce, notECT+m.notECT
	}
	for _, g := range senders {
		for _, f := range g.flows {
			if f.Transport == "RC" || f.Transport == "XRC" {
				lost += f.Lost()
			}
		}
	}
	lost = max(0, lost-v.r.Totals.ICRCBad) // damaged packets are no sign of a full queue
	switch {
	case notECT == 0:
		return nil
	case ect > 0:
		return v.notECTBeside(senders, ect)
	case lost == 0 && v.r.Totals.PFC == 0:
		return nil
	}
	f := notECTFinding(nil, notECT, "all RoCE data")
	for i, g := range senders {
		first, last := span(g.flows)
		if i == 0 {
			f.FirstNs, f.LastNs = first, last
		}
		f.FirstNs, f.LastNs = min(f.FirstNs, first), max(f.LastNs, last)
	}
	f.Values["lost"], f.Values["pfc_frames"] = lost, v.r.Totals.PFC
	f.Summary = fmt.Sprintf("All %s of RoCE are Not-ECT, so no switch can mark them, while %s lost and %s seen: congestion shows only as loss or pause.",
		report.Counted(notECT, "data frame"), report.CountedWere(lost, "packet"), report.CountedWere(v.r.Totals.PFC, "PFC frame"))
	f.Filter = "infiniband && (ip.dsfield.ecn == 0 || ipv6.tclass.ecn == 0)"
	return []report.Finding{f}
}

func (v *congestionView) notECTBeside(senders []group[string], ect int64) []report.Finding {
	var out []report.Finding
	for _, g := range senders {
		flows := slices.DeleteFunc(slices.Clone(g.flows), func(f *report.Flow) bool { return f.NotECT == 0 })
		if len(flows) == 0 {
			continue
		}
		n := total(flows, func(f *report.Flow) int64 { return f.NotECT })
		f := notECTFinding(flows, n, g.key)
		lost := total(flows, (*report.Flow).Lost)
		f.Values["lost"], f.Host = lost, g.key
		f.Summary = fmt.Sprintf("%s of %s in %s %s Not-ECT, while %s beside them can be marked: a congested queue drops them where it marks the others (%s lost).",
			report.Counted(n, "data frame"), g.key, report.Counted(int64(len(flows)), "flow"), report.Are(n), report.Counted(ect, "data frame"), report.CountedWere(lost, "packet"))
		f.Filter = fmt.Sprintf("infiniband && %s && %s", address(g.key, "src"), ecnField(g.key)+" == 0")
		out = append(out, f)
	}
	return condense(out, "sender", "infiniband && (ip.dsfield.ecn == 0 || ipv6.tclass.ecn == 0)")
}

func notECTFinding(flows []*report.Flow, n int64, who string) report.Finding {
	first, last := span(flows)
	return report.Finding{
		Rule: "ecn.not-ect", Severity: report.Notice, Confidence: report.Certain, Flow: only(flows), FirstNs: first, LastNs: last, Count: n,
		Values: map[string]int64{"not_ect_data_frames": n},
		Not:    "Not itself a fault: where neither loss nor pause shows, data that is Not-ECT is left alone.",
		Advice: "Set the ECN bits of " + who + " (traffic class with ECT, for instance tclass 106; NCCL_IB_TC, cma_roce_tos, or the adapter's roce_np/roce_rp enable) and check that no device on the way clears them.",
	}
}
