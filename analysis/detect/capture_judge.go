package detect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

func missed(f *report.Flow) int64 { return f.NotCaptured + f.ResponseNotCaptured }

func captureMissed(r *report.Report) []report.Finding {
	var flows []*report.Flow
	for i := range r.Flows {
		if f := &r.Flows[i]; missed(f) > 0 && f.Src != report.Other {
			flows = append(flows, f)
		}
	}
	n := total(flows, missed)
	if n == 0 {
		return nil
	}
	worst := slices.MaxFunc(flows, func(a, b *report.Flow) int { return int(missed(a) - missed(b)) })
	ev, responses := evidence(flows, analysis.NotCaptured), evidence(flows, analysis.ResponseNotCaptured)
	if ev.Count == 0 {
		ev = responses
	}
	f := report.Finding{
		Rule: "capture.missed", Severity: report.Notice, Confidence: report.Likely, Flow: only(flows), FirstNs: ev.FirstNs, LastNs: ev.LastNs, Count: n,
		Frames: fewFrames(append(ev.Frames, responses.Frames...)),
		Values: map[string]int64{"not_captured": n, "flows": int64(len(flows)), "roce_frames": r.Totals.RoCE},
		Not:    "Not network loss: the receiver acknowledged past them, and nobody sent them again.",
		Advice: "Look at the capturing side: drops of the mirror session or its port, of the capturing host's interface, ring and disk (`ethtool -S`, tcpdump's \"dropped by kernel\"). Counts of everything else are a little too low.",
		Filter: "infiniband",
	}
	if len(flows) == 1 {
		f.Filter = toward(flows[0])
	}
	f.Summary = fmt.Sprintf("The capture lost %s (%s of the RoCE frames it holds) in %s that the network delivered; most in %s: %s.",
		report.Counted(n, "packet"), report.Share(n, r.Totals.RoCE), report.Counted(int64(len(flows)), "flow"), worst.Ref(), report.Count(missed(worst)))
	return []report.Finding{f}
}

// overCapture gives a finding about no flow the time of the first capture.
func overCapture(r *report.Report, f report.Finding) report.Finding {
	if len(r.Captures) > 0 {
		f.FirstNs, f.LastNs = r.Captures[0].FirstNs, r.Captures[0].LastNs
	}
	return f
}

// mirrorLost says what the sequence numbers of a mirror show.
func mirrorLost(r *report.Report) []report.Finding {
	n := r.Totals.MirrorLost
	if n == 0 {
		return nil
	}
	f := report.Finding{
		Rule: "capture.missed", Severity: report.Notice, Confidence: report.Certain, Count: n,
		Values:  map[string]int64{"mirror_lost_frames": n, "frames": r.Totals.Frames},
		Summary: fmt.Sprintf("The mirror numbered %s that the capture does not hold: lost between the mirroring switch and here.", report.Counted(n, "frame")),
		Not:     "Not loss in the network: the GRE sequence numbers count mirrored frames, whether or not they carry RoCE.",
		Advice:  "Look at the way of the mirror session: drops and queue of the mirror port, the collector's interface and ring.",
		Filter:  "gre.sequence_number",
	}
	return []report.Finding{overCapture(r, f)}
}

// captureDropped repeats what the capturing host said of itself.
func captureDropped(r *report.Report) []report.Finding {
	var out []report.Finding
	for i := range r.Captures {
		c := &r.Captures[i]
		if c.Dropped == 0 {
			continue
		}
		out = append(out, report.Finding{
			Rule: "capture.missed", Severity: report.Notice, Confidence: report.Certain, FirstNs: c.FirstNs, LastNs: c.LastNs, Count: c.Dropped,
			Values:  map[string]int64{"dropped_frames": c.Dropped, "frames": c.Frames},
			Summary: fmt.Sprintf("The capturing host itself says that it dropped %s of %s.", report.Counted(c.Dropped, "frame"), name(c)),
			Not:     "Not network loss.",
			Advice:  "Capture with a larger buffer (tcpdump -B), a shorter snap length or a filter.",
		})
	}
	return out
}

func name(c *report.Capture) string {
	if c.Name == "" {
		return "the capture"
	}
	return c.Name
}

func captureDuplicated(r *report.Report) []report.Finding {
	var flows []*report.Flow
	for i := range r.Flows {
		if f := &r.Flows[i]; f.MirrorDuplicates > 0 {
			flows = append(flows, f)
		}
	}
	n := total(flows, func(f *report.Flow) int64 { return f.MirrorDuplicates })
	if n == 0 || onlyAlike(r, n) {
		return nil
	}
	ev := evidence(flows, analysis.MirrorDuplicate)
	f := report.Finding{
		Rule: "capture.duplicated", Severity: report.Notice, Confidence: report.Likely, Flow: only(flows), FirstNs: ev.FirstNs, LastNs: ev.LastNs, Count: n, Frames: ev.Frames,
		Values: map[string]int64{"mirror_duplicates": n, "roce_frames": r.Totals.RoCE, "flows": int64(len(flows))},
		Not:    "Not retransmission: a copy has the same IP identification and ICRC as its original, or comes sooner than any resend can. Copies count in no other number.",
		Advice: "Mirror one direction of each port only, or keep taps apart in files of their own.",
		Filter: "infiniband",
	}
	f.Summary = fmt.Sprintf("%s %s copied from frames seen before (%s of all RoCE frames), as a mirror of ingress and egress, or two taps in one file, make them.",
		report.Counted(n, "frame"), report.Are(n), report.Share(n, r.Totals.RoCE))
	return []report.Finding{f}
}

// onlyAlike reports whether all of so many copies are acknowledgements that came soon behind
// one alike, and few: duplicates whose first sending nobody saw may have drawn these.
func onlyAlike(r *report.Report, copies int64) bool {
	const few = 4
	alike := int64(0)
	for _, row := range r.Rows("capture", "alike") {
		alike += row.Values[0]
	}
	return copies < few && copies == alike
}

func captureTruncated(r *report.Report) []report.Finding {
	var out []report.Finding
	for i := range r.Captures {
		c := &r.Captures[i]
		if c.Truncated == 0 {
			continue
		}
		f := report.Finding{
			Rule: "capture.truncated", Severity: report.Info, Confidence: report.Certain, FirstNs: c.FirstNs, LastNs: c.LastNs, Count: c.Truncated,
			Values: map[string]int64{"truncated_frames": c.Truncated, "frames": c.Frames, "snaplen": c.SnapLen, "icrc_unchecked": r.Totals.ICRCUnchecked, "cut_before_bth": r.Totals.CutShort},
			Not:    "Not malformed frames: their lengths on the wire are right.",
			Advice: "Capture with a snap length of 0 where payload damage is the question.",
			Filter: "frame.cap_len < frame.len",
		}
		f.Summary = fmt.Sprintf("The snap length cuts %s of %s (%s of its frames): the ICRC of %s cannot be checked, nor can payloads be read",
			report.Counted(c.Truncated, "frame"), name(c), report.Share(c.Truncated, c.Frames), report.Counted(r.Totals.ICRCUnchecked, "packet"))
		if n := r.Totals.CutShort; n > 0 {
			f.Summary += fmt.Sprintf("; %s may hide a RoCE header and go unanalysed", report.Counted(n, "frame"))
		}
		f.Summary += "."
		out = append(out, f)
	}
	return out
}

func captureDamaged(r *report.Report) []report.Finding {
	var out []report.Finding
	for i := range r.Captures {
		c := &r.Captures[i]
		if c.Damaged == "" {
			continue
		}
		out = append(out, report.Finding{
			Rule: "capture.damaged", Severity: report.Warning, Confidence: report.Certain, FirstNs: c.FirstNs, LastNs: c.LastNs, Count: 1,
			Values:  map[string]int64{"frames": c.Frames},
			Summary: fmt.Sprintf("The file is damaged: %s; %s could be read.", damage(c), report.Counted(c.Frames, "frame")),
			Not:     "Not damage on the wire: the file itself is broken.",
			Advice:  "Copy the file again, or let the capturing program end before its file is taken. What was read is analysed.",
		})
	}
	return out
}

// damage tells what is broken, and of which file.
func damage(c *report.Capture) string {
	text := strings.TrimSuffix(c.Damaged, ".")
	if strings.Contains(text, c.Name) {
		return text
	}
	return c.Name + ": " + text
}

// noRoCE says what is there instead.
func noRoCE(r *report.Report) []report.Finding {
	t := &r.Totals
	if t.RoCE > 0 || len(r.Captures) == 0 && t.Frames == 0 {
		return nil
	}
	var there []string
	for _, k := range []struct {
		n          int64
		what, more string
	}{{t.Other, "frame", " of other protocols"}, {t.UET, "Ultra Ethernet frame", ""}, {t.PFC, "PFC frame", ""}, {t.Pause, "PAUSE frame", ""},
		{t.Fragments, "IP fragment", ""}, {t.CutShort, "frame", " cut too short to tell"}, {t.Malformed, "malformed frame", ""}} {
		if k.n > 0 {
			there = append(there, report.Counted(k.n, k.what)+k.more)
		}
	}
	if most := mostOf(r); len(most) > 0 && t.Other > 0 {
		there[0] += " (" + strings.Join(most, ", ") + ")"
	}
	f := report.Finding{
		Rule: "capture.no-roce", Severity: report.Warning, Confidence: report.Certain, Count: t.Frames,
		Values:  map[string]int64{"frames": t.Frames, "other_frames": t.Other},
		Summary: "There is no RoCE in this capture; there is: " + strings.Join(there, ", ") + ".",
		Not:     "Not proof that no RDMA ran: an adapter hides offloaded traffic from an ordinary capture on its host.",
		Advice:  "Capture on the RDMA device (tcpdump -i mlx5_0 with libpcap 1.9 or later, or `ethtool --set-priv-flags IFACE sniffer on`), or mirror a switch port. RoCEv2 is UDP port 4791; another port is set with --port.",
		Filter:  "infiniband || udp.dstport == 4791 || eth.type == 0x8915",
	}
	if 2*t.CutShort > t.Frames {
		f.Severity, f.Confidence = report.Info, report.Possible
		f.Summary = "No RoCE can be seen in this capture: the snap length may hide it; there is: " + strings.Join(there, ", ") + "."
		f.Not = "Not proof of anything: what is cut off may be RoCE throughout."
		f.Advice = "Capture again with a snap length that leaves the headers behind all tunnels and tags: 128 bytes for IPv4, 192 for IPv6 inside VXLAN or ERSPAN."
	}
	if len(there) == 0 {
		f.Summary = "There is no RoCE in this capture: it holds no frame at all."
	}
	if port := likelyPort(r); port != "" {
		f.Summary += " UDP port " + port + " carries what reads as RoCEv2: try --port " + port + "."
	}
	for i, c := range r.Captures {
		if i == 0 || c.FirstNs < f.FirstNs {
			f.FirstNs = c.FirstNs
		}
		f.LastNs = max(f.LastNs, c.LastNs)
	}
	return []report.Finding{f}
}

// mostOf names the protocols that most of the other frames carry.
func mostOf(r *report.Report) []string {
	var out []string
	for i, row := range report.MostFirst(r.Rows(report.WireSection, report.OthersTable)) {
		if i == 4 {
			break
		}
		out = append(out, fmt.Sprintf("%s × %s", report.Count(row.Values[0]), row.Key[0]))
	}
	return out
}

// likelyPort returns the UDP port on which most of what reads as RoCEv2 stands
// that was not on the expected one.
func likelyPort(r *report.Report) string {
	port, most := "", int64(0)
	for _, row := range r.Rows(report.WireSection, report.PortTable) {
		if row.Values[0] > most {
			port, most = row.Key[0], row.Values[0]
		}
	}
	return port
}

func uetPresent(r *report.Report) []report.Finding {
	n := r.Totals.UET
	if n == 0 {
		return nil
	}
	return []report.Finding{{
		Rule: "uet.present", Severity: report.Info, Confidence: report.Certain, Count: n, Values: map[string]int64{"uet_frames": n},
		Summary: fmt.Sprintf("%s of Ultra Ethernet (UDP port 4793) are counted and not analysed.", report.Counted(n, "frame")),
		Not:     "Not RoCE: another transport, with headers of its own.",
		Advice:  "It shares links and queues with RoCE: keep it in mind where classes are full.",
		Filter:  "udp.port == 4793",
	}}
}
