package detect

import (
	"fmt"
	"math"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// withoutCE speaks of CNPs for which no mark is in view.
func (v *congestionView) withoutCE(c *analysis.Config) []report.Finding {
	var out []report.Finding
	for _, g := range v.told {
		m, data := v.pairs[g.key], v.pairs[g.key.back()]
		if data.data() == 0 || v.ce[g.key.back()] > 0 {
			continue // what they answer is not captured, or there is a mark
		}
		ev := evidence(g.flows, analysis.CNPSeen)
		f := report.Finding{
			Rule: "cnp.without-ce", Severity: report.Notice, Host: g.key.src, Toward: g.key.dst, Confidence: report.Likely, Flow: only(g.flows), FirstNs: ev.FirstNs, LastNs: ev.LastNs, Count: m.cnps, Frames: ev.Frames,
			Values: map[string]int64{"cnps": m.cnps, "cnps_near_nak": m.nearNAK},
			Filter: cnpFilter + " && " + between(g.key),
		}
		f.Summary = fmt.Sprintf("%s sent %s to %s, and not one of the %s it got from there is marked: ",
			g.key.src, report.Counted(m.cnps, "CNP"), g.key.dst, report.Counted(data.data(), "data frame"))
		if 3*m.nearNAK >= 2*m.cnps {
			if m.nearNAK < int64(c.Limits.CNPsNearNAK) || nearByChance(g.flows, m, c.Limits.NearNAK) > c.Limits.NearNAKChance {
				f.Severity, f.Confidence = report.Info, report.Possible
			}
			f.Summary += fmt.Sprintf("%s of them stand within %s of a NAK, so loss triggers them, not ECN.", report.Count(m.nearNAK), report.Duration(c.Limits.NearNAK))
			f.Not = "Not a sign of congestion that ECN saw: no frame is marked."
			if f.Confidence == report.Possible {
				f.Not += " So few, or among so many NAKs, they may stand near one by chance, and their marks be set behind the tap."
			}
			if missed := total(v.rows[g.key.back()], func(f *report.Flow) int64 { return f.NotCaptured + f.ResponseNotCaptured }); missed > 0 {
				f.Severity = report.Info
				doubt(&f, fmt.Sprintf("%s of that data not captured, and may have been marked.", report.CountedWere(missed, "packet")))
			}
			f.Advice = "Look for the loss behind the NAKs first. On " + g.key.dst + " roce_slow_restart_cnps counts such CNPs; np_ecn_marked_roce_packets of " + g.key.src + " should stand still."
		} else {
			f.Severity = report.Info // which is what congestion control looks like from a tap before the queue
			f.Summary += "the marks are set behind the tap."
			f.Not = "Not loss-triggered: no NAK is near them."
			f.Advice = "The congested queue lies between the tap and " + g.key.src + ": look at the switch ports on that side; np_ecn_marked_roce_packets of " + g.key.src + " should rise."
		}
		out = append(out, f)
	}
	return condense(out, "host pair", cnpFilter)
}

// nearByChance bounds the probability that so many CNPs stand near a NAK of their
// queue pair although the two have nothing to do with each other.
func nearByChance(flows []*report.Flow, m marks, near int64) float64 {
	covered, cnps := 0.0, 0.0 // time near a NAK, in the mean over the CNPs
	for _, f := range flows {
		if time := f.LastNs - f.FirstNs; f.NAKSequence > 0 && time > 0 {
			covered += float64(f.CNPs) * min(1, 2*float64(near)*float64(f.NAKSequence)/float64(time))
		}
		cnps += float64(f.CNPs)
	}
	p, share := covered/max(cnps, 1), float64(m.nearNAK)/float64(m.cnps)
	if share <= p {
		return 1
	}
	log := share * math.Log(share/p) // Chernoff's bound
	if share < 1 {
		log += (1 - share) * math.Log((1-share)/(1-p))
	}
	return math.Exp(-log * float64(m.cnps))
}

// missing speaks of receivers that get marks and tell nobody.
func (v *congestionView) missing(c *analysis.Config) []report.Finding {
	var out []report.Finding
	for _, g := range v.toward {
		var flows, back []*report.Flow
		var ce int64
		for _, f := range g.flows {
			if answers := v.rows[hostsOf(f).back()]; f.CE > 0 && len(answers) > 0 {
				flows, back = append(flows, f), append(back, answers...)
			}
		}
		for src := range v.senders(flows) {
			ce += v.pairs[hosts{src, g.key}].ce
		}
		if ce < int64(c.Limits.MarksWithoutCNP) || v.sent[g.key] > 0 {
			continue
		}
		ev := evidence(flows, analysis.CEMark)
		if _, last := span(back); last-ev.FirstNs < c.Limits.CNPWait {
			continue // too short to wait for one
		}
		f := report.Finding{
			Rule: "cnp.missing", Severity: report.Warning, Host: g.key, Confidence: report.Likely, Flow: only(flows), FirstNs: ev.FirstNs, LastNs: ev.LastNs, Count: ce, Frames: ev.Frames,
			Values: map[string]int64{"ce_data_frames": ce, "cnps": 0, "senders": int64(len(v.senders(flows)))},
			Summary: fmt.Sprintf("%s received %s marked by congestion from %s, and not one CNP of it is in the capture: nobody is told to slow down.",
				g.key, report.Counted(ce, "data frame"), report.Counted(int64(len(v.senders(flows))), "sender")),
			Not:    "Not a tap that sees one direction only: other frames from " + g.key + " to these senders are in the capture. But CNPs have a class and often a UDP port of their own: they may be dropped before this tap or take another path, unless it is on the link of " + g.key + ".",
			Advice: "Check that " + g.key + " has its notification point on for this priority (mlnx_qos, roce_np/enable, `ethtool -S` np_cnp_sent against np_ecn_marked_roce_packets). Software RoCE (rxe) never sends CNPs. If np_cnp_sent rises, look for drops of their class (DSCP 48 mostly) between it and the tap.",
			Filter: "(" + ecnFilter(g.key, 3) + ") || (" + cnpFilter + " && " + address(g.key, "src") + ")",
		}
		if !v.onlyAbout(g.key) {
			f.Confidence = report.Possible // the tap is somewhere between
		}
		out = append(out, f)
	}
	return condense(out, "receiver", cnpFilter+" || ip.dsfield.ecn == 3 || ipv6.tclass.ecn == 3")
}

// onlyAbout reports whether every row has a host at one of its ends, as on the
// host's own link.
func (v *congestionView) onlyAbout(host string) bool {
	for h := range v.rows {
		if h.src != host && h.dst != host {
			return false
		}
	}
	return true
}

func (v *congestionView) senders(flows []*report.Flow) map[string]bool {
	out := map[string]bool{}
	for _, f := range flows {
		out[f.Src] = true
	}
	return out
}
