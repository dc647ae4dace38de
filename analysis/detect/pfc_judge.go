package detect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

func judgePFC(r *report.Report, c *analysis.Config) []report.Finding {
	v := readPFC(r, c)
	return slices.Concat(v.paused(), v.global(), v.storms(), v.hosts(), v.sources(), v.afterPFC())
}

// paused speaks of each priority that a port paused.
func (v *pfcView) paused() []report.Finding {
	var out []report.Finding
	for _, x := range v.ports {
		if x.xoff > 0 && x.priority != pausePriority(wholeLink) {
			out = append(out, v.pausedFinding(x, "pfc.paused", x.severity(v.c)))
		}
	}
	return condense(out, "pausing port", pfcFilter)
}

// global speaks of ports that stop the whole link.
func (v *pfcView) global() []report.Finding {
	var out []report.Finding
	for _, x := range v.ports {
		if x.xoff == 0 || x.priority != pausePriority(wholeLink) {
			continue
		}
		f := v.pausedFinding(x, "pause.global", report.Warning)
		f.Not = "Not PFC, which stops one priority: an 802.3x PAUSE frame stops every class of the link, CNPs and what is not RoCE included. As to whose it is: " + x.role.how() + "."
		f.Advice = "Turn 802.3x off on both ends where PFC is meant (`ethtool -A DEV rx off tx off`, then `mlnx_qos -i DEV --pfc ...` or the switch's PFC settings). " + f.Advice
		out = append(out, f)
	}
	return condense(out, "pausing port", pauseFilter)
}

func (v *pfcView) pausedFinding(x *pausing, rule string, s report.Severity) report.Finding {
	f := report.Finding{
		Rule: rule, Severity: s, Confidence: report.Certain, Host: x.about(), FirstNs: x.firstNs, LastNs: x.lastNs, Count: x.xoff, Frames: x.frames(),
		Values: map[string]int64{
			"xoff_frames": x.xoff, "xon_frames": x.xon, "refresh_frames": x.refreshed, "quanta": x.quanta, "capture_ns": x.span,
			"paused_ns": x.least, "paused_most_ns": x.most, "longest_ns": x.longest, "longest_most_ns": x.longestMost, "worst_window_ns": x.worst,
			"quiet_flows": int64(len(x.quiet)),
		},
		Filter: x.filter(),
	}
	f.Summary = v.pausedText(x)
	if x.rate == 0 && s == report.Notice {
		f.Confidence = report.Possible
	}
	f.Not = "Not resumes alone: a time of 0 ends a pause and is not counted. As to whose it is: " + x.role.how() + "."
	f.Advice = x.advice()
	if len(v.edges) > 0 {
		f.Not += " Who came first rests on the clocks of the taps."
	}
	if o := v.origin(x); o != nil {
		f.Advice = "Look first at " + o.name() + ", where these pauses began. " + f.Advice
	}
	return f
}

func (v *pfcView) pausedText(x *pausing) string {
	if x.most == 0 {
		return fmt.Sprintf("%s asked for a pause of %s by %s (%s quanta) just where the capture ends: how long it lasted is not to be seen.",
			x.name(), x.what(), report.Counted(x.xoff, "frame"), report.Count(x.quanta))
	}
	share := func(ns int64) string { return report.Share(min(ns, x.span), x.span) }
	return fmt.Sprintf("%s paused %s for %s, %s of the time, by %s and %s, at most %s at a stretch%s%s%s%s.",
		x.name(), x.what(), bounds(x.least, x.most, report.Duration), bounds(x.least, x.most, share),
		report.Counted(x.xoff, "pause"), report.Counted(x.xon, "resume"), bounds(x.longest, x.longestMost, report.Duration),
		v.windowText(x), v.quietText(x), v.spreadText(x), rateText(x))
}

// bounds writes what lies between two values; of equal ones, one.
func bounds(least, most int64, text func(int64) string) string {
	a, b := text(least), text(most)
	if a == b {
		return a
	}
	return a + " to " + b
}

// rateText says why times are a range.
func rateText(x *pausing) string {
	if x.rate != 0 || x.least == x.most {
		return ""
	}
	return fmt.Sprintf("; its %s quanta are a time only with --link-rate, and without it lie between those of 1.6 Tbit/s and 10 Gbit/s", report.Count(x.quanta))
}

// windowText tells of a window that was much worse than the whole.
func (v *pfcView) windowText(x *pausing) string {
	w := v.c.Limits.PauseWindow
	if w <= 0 || x.span < 2*w || float64(x.worstMost) < v.c.Limits.PauseShare*float64(w) || float64(x.worstMost)/float64(w) < 1.2*float64(x.most)/float64(x.span) {
		return ""
	}
	return fmt.Sprintf(", and in its worst %s %s of it", report.Duration(w), bounds(x.worst, x.worstMost, func(ns int64) string { return report.Share(min(ns, w), w) }))
}

func (v *pfcView) quietText(x *pausing) string {
	if len(x.quiet) == 0 {
		return ""
	}
	longest := quietName(x.quiet[0]) + " for " + report.Duration(x.quiet[0].Values[0]) + " in all"
	if len(x.quiet) == 1 {
		return "; 1 flow fell silent meanwhile, " + longest
	}
	return fmt.Sprintf("; %s fell silent meanwhile, longest %s", report.Counted(int64(len(x.quiet)), "flow"), longest)
}

func quietName(row report.Row) string {
	return row.Key[2] + " → " + row.Key[3] + " QP " + row.Key[4]
}

func (x *pausing) advice() string {
	n := x.priority
	if n == pausePriority(wholeLink) {
		n = "N"
	}
	switch x.role {
	case roleHost, roleMaybeHost:
		return fmt.Sprintf("Look at %s: PCIe width and speed, NUMA and IOMMU settings, a full receive buffer (`ethtool -S` tx_prio%s_pause, rx_prio%s_buf_discard, outbound_pci_stalled_wr; `lspci -vv` LnkSta).", x.addr, n, n)
	case roleUnknown, roleNobody:
		return fmt.Sprintf("Find the port with this MAC (`show mac`, `ip neigh`, LLDP). On a host `ethtool -S` tx_prio%s_pause should rise, on a switch the transmit column of `show pfc counters`.", n)
	}
	return fmt.Sprintf("The congestion lies behind that port, not on this link: follow `show pfc counters` and `show queue watermark` of the switch to the egress port that is full, and ask what many senders share there, or which host pauses it in turn. The sender here counts them in `ethtool -S` rx_prio%s_pause and rx_prio%s_pause_duration.", n, n)
}

// storms speaks of ports that held a priority longer than a watchdog waits.
func (v *pfcView) storms() []report.Finding {
	type storms struct {
		worst report.Row
		n     int64
	}
	of := map[[2]string]*storms{}
	for _, row := range v.r.Rows("pfc", "storms") {
		if row.Values[0] < v.c.Limits.StormAfter {
			continue
		}
		k := [2]string{row.Key[1], row.Key[2]}
		if of[k] == nil {
			of[k] = &storms{worst: row}
		}
		of[k].n++
		if row.Values[0] > of[k].worst.Values[0] {
			of[k].worst = row
		}
	}
	var out []report.Finding
	for _, x := range v.ports {
		if s := of[[2]string{x.mac, x.priority}]; s != nil {
			out = append(out, v.stormFinding(x, s.worst, s.n))
		}
	}
	return condense(out, "pausing port", pfcFilter+" || "+pauseFilter)
}

func (v *pfcView) stormFinding(x *pausing, row report.Row, n int64) report.Finding {
	held, frames, unbroken := row.Values[0], row.Values[1], row.Values[2]
	from := number(row.Key[3])
	f := report.Finding{
		Rule: "pfc.storm", Severity: report.Critical, Confidence: report.Certain, Host: x.about(), FirstNs: from, LastNs: from + held, Count: n,
		Frames: fewFrames([]uint64{uint64(max(0, row.Values[3])), uint64(max(0, row.Values[4]))}),
		Values: map[string]int64{"held_ns": held, "xoff_frames": frames, "storms": n, "watchdog_ns": v.c.Limits.StormAfter},
		Summary: fmt.Sprintf("%s held %s paused for %s without a break, by %s: longer than the %s after which a PFC watchdog calls it a storm",
			x.name(), x.what(), report.Duration(held), report.Counted(frames, "pause"), report.Duration(v.c.Limits.StormAfter)),
		Not:    "Not resumes, and not many short pauses: each time was renewed before it ran out. As to whose it is: " + x.role.how() + ".",
		Advice: "Everything that waits for this port stands still, and what waits for that, in turn. Look whether the watchdog acted (`show pfcwd stats`), at a hung host or adapter behind the port (reset, firmware, PCIe errors), and disable PFC towards it until it is well.",
		Filter: x.filter(),
	}
	if n > 1 {
		f.Summary += fmt.Sprintf(" (the longest of %s)", report.Count(n))
	}
	if x.rate == 0 && float64(unbroken) < fastestLink {
		f.Severity, f.Confidence = report.Warning, report.Possible
		f.Values["unbroken_to_bits_per_second"] = unbroken
		f.Summary += fmt.Sprintf(", if the link runs at %s or less, which --link-rate would tell", report.BitRate(unbroken/8, 1e9))
		f.Not = "Not resumes: no frame with a time of 0 is among them. On a faster link each time runs out before the next frame, and it is no storm."
	}
	f.Summary += "."
	return f
}

// hosts speaks of end hosts that pause.
func (v *pfcView) hosts() []report.Finding {
	var out []report.Finding
	for _, mac := range v.macs() {
		ports := slices.DeleteFunc(slices.Clone(v.ports), func(x *pausing) bool { return x.mac != mac || !x.host() || x.xoff == 0 })
		if len(ports) == 0 {
			continue
		}
		x := slices.MaxFunc(ports, func(a, b *pausing) int { return int(a.least - b.least) })
		f := report.Finding{
			Rule: "pfc.host", Severity: report.Info, Confidence: report.Likely, Host: x.about(), FirstNs: x.firstNs, LastNs: x.lastNs, Frames: x.frames(),
			Values: map[string]int64{"paused_ns": x.least, "paused_most_ns": x.most},
			Not:    "Not back-pressure of a switch, as far as can be told: " + x.role.how() + ".",
			Advice: x.advice(), Filter: "(" + pfcFilter + " || " + pauseFilter + ") && eth.src == " + mac,
		}
		var what []string
		for _, p := range ports {
			f.Count += p.xoff
			f.FirstNs, f.LastNs = min(f.FirstNs, p.firstNs), max(f.LastNs, p.lastNs)
			what = append(what, p.what())
			switch {
			case p.severity(v.c) == report.Warning && p.role == roleHost:
				f.Severity = report.Warning
			case f.Severity == report.Info && (p.most >= v.c.Limits.PauseLeast || p.severity(v.c) != report.Info):
				f.Severity = report.Notice // for a host should not pause at all
			}
		}
		f.Values["xoff_frames"] = f.Count
		belongs := "belongs"
		if x.role == roleMaybeHost {
			f.Confidence, belongs = report.Possible, "seems to belong"
		}
		f.Summary = fmt.Sprintf("The pausing MAC %s %s to the end host %s: it cannot take data as fast as its link brings it, and stops its switch (%s, %s).",
			mac, belongs, x.addr, strings.Join(what, ", "), report.Counted(f.Count, "pause"))
		out = append(out, f)
	}
	return condense(out, "host", pfcFilter+" || "+pauseFilter)
}

// macs returns the pausing MACs, each once.
func (v *pfcView) macs() []string {
	var out []string
	for _, x := range v.ports {
		if !slices.Contains(out, x.mac) {
			out = append(out, x.mac)
		}
	}
	return out
}
