package detect

import (
	"fmt"
	"net"

	"github.com/rocescope/rocescope/analysis/report"
)

// sources speaks of MACs that no port can have.
func (v *pfcView) sources() []report.Finding {
	var out []report.Finding
	for _, mac := range v.macs() {
		why := impossibleMAC(mac)
		if why == "" {
			continue
		}
		f := report.Finding{
			Rule: "pfc.source", Severity: report.Notice, Confidence: report.Certain, Host: mac, Values: map[string]int64{},
			Not:    "Not a damaged capture: the frames are well formed in all else.",
			Advice: "Find the port that sends them by its counters (`show pfc counters`, `ethtool -S` tx_prioN_pause), and ask for newer firmware or switch software: links work on, for nobody looks at the source, but counters and watchdogs cannot name the culprit.",
			Filter: "(" + pfcFilter + " || " + pauseFilter + ") && eth.src == " + mac,
		}
		for _, x := range v.ports {
			if x.mac != mac {
				continue
			}
			if f.Count == 0 {
				f.FirstNs, f.LastNs = x.firstNs, x.lastNs
			}
			f.Count += x.xoff + x.xon
			f.FirstNs, f.LastNs = min(f.FirstNs, x.firstNs), max(f.LastNs, x.lastNs)
			f.Frames = fewFrames(append(f.Frames, x.frames()...))
			f.Values["xoff_frames"] += x.xoff
			f.Values["xon_frames"] += x.xon
		}
		f.Summary = fmt.Sprintf("%s have the source MAC %s, %s: who pauses cannot be told from them.", report.Counted(f.Count, "pause or resume frame"), mac, why)
		out = append(out, f)
	}
	return condense(out, "source MAC", pfcFilter+" || "+pauseFilter)
}

// impossibleMAC says why a source MAC can be nobody's; empty where it can.
func impossibleMAC(mac string) string {
	b, err := net.ParseMAC(mac)
	switch {
	case err != nil:
		return ""
	case mac == "00:00:00:00:00:00":
		return "which no device owns"
	case b[0]&1 != 0:
		return "a group address, which never is a source"
	}
	return ""
}

// afterPFC speaks of ports that paused a priority before anything was marked.
func (v *pfcView) afterPFC() []report.Finding {
	var out []report.Finding
	for _, x := range v.ports {
		if x.unmarked == 0 || x.ect < int64(v.c.Limits.ECTBeforePause) || !v.twoWays {
			continue // or no CNP could be seen
		}
		f := report.Finding{
			Rule: "ecn.after-pfc", Severity: report.Notice, Confidence: report.Possible, Host: x.about(), FirstNs: x.firstNs, LastNs: x.lastNs, Count: x.unmarked, Frames: x.frames(),
			Values: map[string]int64{"unmarked_xoff_frames": x.unmarked, "ect_data_frames": x.ect},
			Summary: fmt.Sprintf("%s paused priority %s by %s while none of %s that switches could mark was marked, nor was any CNP seen: the marking threshold lies above the pause threshold, or ECN is off on that queue.",
				x.name(), x.priority, report.Counted(x.unmarked, "pause"), report.Counted(x.ect, "data frame")),
			Not:    "Not data that cannot be marked: it is ECT. Where the full queue lies behind the tap its marks are not in view, but their CNPs would be, unless the receiver's notification point is off.",
			Advice: "Compare the queue's ECN thresholds with the XOFF threshold of its buffer (`show ecn`, `show buffer configuration`): marks should begin well below, so that senders slow down before the link stops. Check np_ecn_marked_roce_packets and np_cnp_sent of the receivers.",
			Filter: x.filter() + " || infiniband && (ip.dsfield.ecn == 3 || ipv6.tclass.ecn == 3) || " + cnpFilter,
		}
		if x.severity(v.c) == report.Info || x.role == roleNobody {
			f.Severity = report.Info // the odd short pause, or one of which nothing is sure
		}
		if x.host() {
			f.Severity = report.Info
			f.Summary = fmt.Sprintf("%s paused priority %s by %s while none of %s that switches could mark was marked, nor was any CNP seen: the full buffer is the host's own, and no switch marks for it.",
				x.name(), x.priority, report.Counted(x.unmarked, "pause"), report.Counted(x.ect, "data frame"))
			f.Advice = "ECN cannot slow senders down for a slow host before it pauses its switch. Look at the host first, as pfc.host says."
		}
		out = append(out, f)
	}
	return condense(out, "pausing port", pfcFilter)
}
