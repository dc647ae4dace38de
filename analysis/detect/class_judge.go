package detect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// classRow is a row of the table of classes.
type classRow struct {
	hosts
	kind, dscp, pcp           string
	queuePairs, frames, bytes int64
}

type classView struct {
	r    *report.Report
	l    *analysis.Limits
	rows []classRow // without those of CNPs
	cnps []classRow
	pfc  string // the priorities that every port announces as lossless; empty where none speaks
	bits int64
}

func judgeClass(r *report.Report, c *analysis.Config) []report.Finding {
	v := &classView{r: r, l: &c.Limits}
	for _, row := range r.Rows("class", "classes") {
		k, x := row.Key, row.Values
		line := classRow{hosts{k[0], k[1]}, k[2], k[3], k[4], x[0], x[1], x[2]}
		if line.kind == classCNP {
			v.cnps = append(v.cnps, line)
		} else {
			v.rows = append(v.rows, line)
		}
	}
	v.readDCB()
	return slices.Concat(
		condense(v.outliers(), "host pair", "infiniband"), condense(v.directions(), "host pair", "infiniband"),
		condense(slices.Concat(v.mismatches(), v.offMap()), "sender", "infiniband && vlan"), v.application(), v.shared(), condense(v.ofCNPs(), "host pair", cnpFilter))
}

// readDCB takes what LLDP says of PFC where all ports that speak agree.
func (v *classView) readDCB() {
	for i, row := range v.r.Rows(report.WireSection, report.DCBTable) {
		if i > 0 && row.Values[0] != v.bits {
			v.pfc, v.bits = "", 0
			return
		}
		v.bits = row.Values[0]
		v.pfc = report.Priorities(v.bits)
	}
}

// lossless says whether a priority is protected, as far as LLDP tells.
func (v *classView) lossless(pcp string) string {
	n, err := strconv.Atoi(pcp)
	switch {
	case v.pfc == "" || err != nil:
		return ""
	case v.bits>>n&1 != 0:
		return fmt.Sprintf(" LLDP announces priority %s as lossless (PFC on %s).", pcp, v.pfc)
	}
	return fmt.Sprintf(" LLDP announces PFC on %s: priority %s is not protected.", v.pfc, pcp)
}

// data groups the data rows by direction, in order.
func (v *classView) data() (directions []hosts, by map[hosts][]classRow) {
	by = map[hosts][]classRow{}
	for _, x := range v.rows {
		if x.kind != classData {
			continue
		}
		if by[x.hosts] == nil {
			directions = append(directions, x.hosts)
		}
		by[x.hosts] = append(by[x.hosts], x)
	}
	return directions, by
}

// outliers speaks of queue pairs on another DSCP than their siblings.
func (v *classView) outliers() []report.Finding {
	var out []report.Finding
	siblings := int64(v.l.ClassSiblings)
	directions, by := v.data()
	for _, h := range directions {
		queuePairs := map[string]int64{}
		for _, x := range by[h] {
			queuePairs[x.dscp] += x.queuePairs
		}
		usual := most(queuePairs)
		if queuePairs[usual] < siblings {
			continue
		}
		for _, x := range by[h] {
			n := queuePairs[x.dscp]
			if x.dscp == usual || n == 0 || n*siblings > queuePairs[usual] {
				continue
			}
			delete(queuePairs, x.dscp) // told once, whatever the tags
			flows := v.flowsOn(h, x.dscp)
			if len(flows) > 0 {
				n = min(n, int64(len(flows))) // a queue pair with two tags counts twice in the table
			}
			lost := total(flows, (*report.Flow).Lost)
			first, last := span(flows)
			f := report.Finding{
				Rule: "class.dscp-outlier", Severity: report.Warning, Host: h.src, Toward: h.dst, Confidence: report.Certain, Flow: only(flows), FirstNs: first, LastNs: last, Count: n,
				Values: map[string]int64{"queue_pairs": n, "siblings": queuePairs[usual], "lost": lost, "lost_in_all": total(v.flowsOn(h, ""), (*report.Flow).Lost),
					"dscp": number(x.dscp)},
				Filter: "infiniband && " + between(h) + " && " + dscpField(h.src) + " == " + x.dscp,
				Not:    "Not CNPs or connection management, which have classes of their own.",
				Advice: "Find what sets the traffic class of this queue pair: NCCL_IB_TC, cma_roce_tos, the traffic_class of its address handle. Switches give DSCP " + x.dscp + " another queue, seldom a lossless one.",
			}
			losses := "none of them lost a packet"
			if all := f.Values["lost_in_all"]; all > 0 {
				losses = fmt.Sprintf("%s of the %s lost between the two %s on the odd one", report.Count(lost), report.Counted(all, "packet"), report.Are(lost))
			}
			f.Summary = fmt.Sprintf("%s from %s to %s %s on DSCP %s, while %s beside it use DSCP %s; %s.%s",
				report.Counted(n, "queue pair"), h.src, h.dst, report.Are(n), x.dscp, report.Count(queuePairs[usual]), usual, losses, v.lossless(x.pcp))
			out = append(out, f)
		}
	}
	return out
}

// flowsOn returns the rows of a direction, those on one DSCP where it is given.
func (v *classView) flowsOn(h hosts, dscp string) []*report.Flow {
	var flows []*report.Flow
	n := number(dscp)
	for i := range v.r.Flows {
		f := &v.r.Flows[i]
		if hostsOf(f) == h && f.DestQP > 1 && (dscp == "" || slices.Contains(f.DSCPs, uint16(n))) {
			flows = append(flows, f)
		}
	}
	return flows
}

// directions speaks of data whose way back is another class.
func (v *classView) directions() []report.Finding {
	var out []report.Finding
	directions, by := v.data()
	back := map[hosts]map[string]int64{}
	for _, x := range v.rows {
		if back[x.hosts] == nil {
			back[x.hosts] = map[string]int64{}
		}
		back[x.hosts][x.dscp] += x.frames
	}
	for _, h := range directions {
		there := map[string]int64{}
		for _, x := range by[h] {
			there[x.dscp] += x.frames
		}
		here, answers := oneOf(there, v.l.ClassClear), oneOf(back[h.back()], v.l.ClassClear)
		if here == "" || answers == "" || here == answers || by[h.back()] != nil && h.src > h.dst {
			continue
		}
		flows := slices.Concat(v.flowsOn(h, ""), v.flowsOn(h.back(), ""))
		first, last := span(flows)
		out = append(out, report.Finding{
			Rule: "class.direction", Severity: report.Notice, Host: h.src, Toward: h.dst, Confidence: report.Certain, FirstNs: first, LastNs: last, Count: back[h.back()][answers],
			Values: map[string]int64{"frames": there[here], "frames_back": back[h.back()][answers]},
			Summary: fmt.Sprintf("Data from %s to %s rides on DSCP %s, what comes back on DSCP %s: the two directions queue, and may be dropped, in different classes.",
				h.src, h.dst, here, answers),
			Not:    "Not CNPs, which are meant to have a class of their own.",
			Advice: "Set the same traffic class on both hosts, unless answers are meant to have a queue of their own. A lost ACK costs a timeout: the class of the answers must not be the one that drops.",
			Filter: fmt.Sprintf("infiniband && (%s || %s)", "("+between(h)+")", "("+between(h.back())+")"),
		})
	}
	return out
}

// oneOf returns the DSCP of a share of all frames, empty where there is none.
func oneOf(frames map[string]int64, share float64) string {
	var all int64
	for _, n := range frames {
		all += n
	}
	if d := most(frames); all > 0 && float64(frames[d]) >= share*float64(all) {
		return d
	}
	return ""
}

// mismatches speaks of senders whose priority for a DSCP is not that of others.
func (v *classView) mismatches() []report.Finding {
	senders := map[string]map[string]map[string]int64{} // DSCP, priority, sender: frames
	for _, x := range v.rows {
		if x.pcp == pcpText(untagged) {
			continue
		}
		if senders[x.dscp] == nil {
			senders[x.dscp] = map[string]map[string]int64{}
		}
		if senders[x.dscp][x.pcp] == nil {
			senders[x.dscp][x.pcp] = map[string]int64{}
		}
		senders[x.dscp][x.pcp][x.src] += x.frames
	}
	var out []report.Finding
	for _, dscp := range sortedKeys(senders) {
		number := map[string]int64{}
		for pcp, s := range senders[dscp] {
			number[pcp] = int64(len(s))
		}
		usual := most(number)
		for _, pcp := range sortedKeys(senders[dscp]) {
			if pcp == usual || number[usual] < 2 || number[pcp] >= number[usual] {
				continue
			}
			for _, src := range sortedKeys(senders[dscp][pcp]) {
				out = append(out, v.mismatch(src, dscp, pcp, usual, senders[dscp][pcp][src], number[usual]))
			}
		}
	}
	return out
}

func (v *classView) mismatch(src, dscp, pcp, usual string, frames, others int64) report.Finding {
	var flows []*report.Flow
	for i := range v.r.Flows {
		if f := &v.r.Flows[i]; f.Src == src && len(f.VLANs) > 0 {
			flows = append(flows, f)
		}
	}
	first, last := span(flows)
	return report.Finding{
		Rule: "class.pcp-mismatch", Severity: report.Notice, Host: src, Confidence: report.Certain, Flow: only(flows), FirstNs: first, LastNs: last, Count: frames,
		Values: map[string]int64{"frames": frames, "senders_of_the_usual": others},
		Summary: fmt.Sprintf("%s tags %s of DSCP %s with priority %s, while %s tag them with %s: switches that trust the tag give them another queue.%s",
			src, report.Counted(frames, "frame"), dscp, pcp, report.Counted(others, "other sender"), usual, v.lossless(pcp)),
		Not:    "Not untagged frames, which have no priority of their own.",
		Advice: "Compare the maps from DSCP to priority (mlnx_qos, egress-qos-map of the VLAN device) of " + src + " and its peers, and what the switch port trusts.",
		Filter: "infiniband && vlan.priority == " + pcp + " && " + address(src, "src"),
	}
}

// application speaks of data on another priority than LLDP assigns to RoCE.
func (v *classView) application() []report.Finding {
	var want int64
	for _, row := range v.r.Rows(report.WireSection, report.AppTable) {
		if !report.IsRoCEv2App(row.Key[1]) {
			continue
		}
		if want != 0 && want != row.Values[0] {
			return nil // ports do not agree
		}
		want = row.Values[0]
	}
	var frames, all int64
	var wrong []string
	for _, x := range v.rows {
		n, err := strconv.Atoi(x.pcp)
		if err != nil || x.kind != classData {
			continue
		}
		all += x.frames
		if want>>n&1 == 0 {
			frames += x.frames
			if !slices.Contains(wrong, x.pcp) {
				wrong = append(wrong, x.pcp)
			}
		}
	}
	if want == 0 || frames == 0 {
		return nil
	}
	return []report.Finding{{
		Rule: "class.pcp-mismatch", Severity: report.Notice, Confidence: report.Certain, Count: frames, Values: map[string]int64{"frames": frames, "tagged_data_frames": all},
		Summary: fmt.Sprintf("%s of RoCE, %s of the tagged ones, have priority %s, while LLDP assigns %s to RoCE.",
			report.Counted(frames, "data frame"), report.Share(frames, all), strings.Join(wrong, " and "), report.Priorities(want)),
		Not:    "Not a guess from DSCP: the ports themselves announce the priority of UDP port 4791.",
		Advice: "Let the adapters take the switch's settings (DCBX willing), or set the traffic class of the applications to it.",
		Filter: "infiniband && vlan.priority == " + wrong[0],
	}}
}

// ofCNPs speaks of CNPs that queue behind the data they report on.
func (v *classView) ofCNPs() []report.Finding {
	cnps, data := map[hosts]map[string]bool{}, map[hosts]map[string]bool{}
	note := func(m map[hosts]map[string]bool, x classRow) {
		if m[x.hosts] == nil {
			m[x.hosts] = map[string]bool{}
		}
		m[x.hosts]["dscp "+x.dscp] = true
		if x.pcp == pcpText(untagged) {
			m[x.hosts][x.pcp] = true
		} else {
			m[x.hosts]["pcp "+x.pcp] = true
		}
	}
	for _, x := range v.rows {
		if x.kind == classData {
			note(data, x)
		}
	}
	for _, x := range v.cnps {
		note(cnps, x)
	}
	var out []report.Finding
	for _, g := range groupBy(v.r, hostsOf) {
		of, behind := sortedKeys(cnps[g.key]), data[g.key.back()]
		if len(of) == 0 || len(behind) == 0 || slices.ContainsFunc(of, func(c string) bool { return !behind[c] }) {
			continue
		}
		flows := slices.DeleteFunc(slices.Clone(g.flows), func(f *report.Flow) bool { return f.CNPs == 0 })
		ev := evidence(flows, analysis.CNPSeen)
		n := total(flows, func(f *report.Flow) int64 { return f.CNPs })
		out = append(out, report.Finding{
			Rule: "cnp.class", Severity: report.Notice, Confidence: report.Certain, Flow: only(flows), FirstNs: ev.FirstNs, LastNs: ev.LastNs, Count: n, Frames: ev.Frames,
			Values: map[string]int64{"cnps": n},
			Summary: fmt.Sprintf("%s from %s to %s ride the class of the data they report on (%s): they queue behind the congestion that they should end.",
				report.Counted(n, "CNP"), g.key.src, g.key.dst, strings.Join(of, ", ")),
			Not:    "Not a class mismatch of the data: the data's class is only compared with that of the CNPs.",
			Advice: "Give CNPs a class of their own with strict priority: DSCP 48, priority 6 by the usual maps (cnp_dscp and cnp_802p_prio of the adapter).",
			Filter: cnpFilter + " && " + between(g.key),
		})
	}
	return out
}

// shared speaks of other protocols in a class that RoCE has been given.
func (v *classView) shared() []report.Finding {
	roce := map[string]int64{}
	pcps := map[string]map[string]int64{}
	for _, x := range v.rows {
		if x.kind == classData {
			roce[x.dscp] += x.bytes
			if pcps[x.dscp] == nil {
				pcps[x.dscp] = map[string]int64{}
			}
			pcps[x.dscp][x.pcp] += x.bytes
		}
	}
	frames, bytes := map[string]int64{}, map[string]int64{}
	for _, row := range v.r.Rows("class", "others") {
		frames[row.Key[0]] += row.Values[0]
		bytes[row.Key[0]] += row.Values[1]
	}
	var out []report.Finding
	for _, dscp := range sortedKeys(roce) {
		// DSCP 0 is where everything is that nobody has given a class.
		if dscp == "0" || frames[dscp] < int64(v.l.ClassSharedFrames) || float64(bytes[dscp]) < v.l.ClassShared*float64(roce[dscp]+bytes[dscp]) {
			continue
		}
		first, last := span(pointers(v.r.Flows))
		out = append(out, report.Finding{
			Rule: "class.shared", Severity: report.Warning, Confidence: report.Likely, FirstNs: first, LastNs: last, Count: frames[dscp],
			Values: map[string]int64{"frames": frames[dscp], "bytes": bytes[dscp], "roce_bytes": roce[dscp]},
			Summary: fmt.Sprintf("%s that are no RoCE (%s, %s of the class) ride on DSCP %s, the class of RoCE data: they fill its queue, and no ECN or PFC setting made for RoCE fits them.%s",
				report.Counted(frames[dscp], "frame"), report.Bytes(bytes[dscp]), report.Share(bytes[dscp], bytes[dscp]+roce[dscp]), dscp, v.lossless(most(pcps[dscp]))),
			Not:    "Not CNPs or connection management, and not traffic of DSCP 0, which nobody has given a class.",
			Advice: "Find the sender and take the marking from it, or let the switch rewrite DSCP " + dscp + " of all that is not UDP port 4791.",
			Filter: fmt.Sprintf("!infiniband && (ip.dsfield.dscp == %s || ipv6.tclass.dscp == %s)", dscp, dscp),
		})
	}
	return out
}

func dscpField(addr string) string {
	if strings.Contains(addr, ":") {
		return "ipv6.tclass.dscp"
	}
	return "ip.dsfield.dscp"
}
