package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis/report"
)

const (
	headLabel   = 11 // columns of a label in the head
	maxCaptures = 4  // named one by one; of more only the first
)

// head says what the capture is, and the verdict.
func (p *page) head(r *report.Report, f *facts) {
	label := "Capture"
	for i := range r.Captures {
		if i == maxCaptures && len(r.Captures) > maxCaptures+1 {
			rest := int64(len(r.Captures) - maxCaptures)
			p.entry(0, headLabel, label, "and "+report.Counted(rest, "more file")+"; "+inAll(f))
			break
		}
		p.entry(0, headLabel, label, captureLine(&r.Captures[i]))
		label = ""
	}
	p.entry(0, headLabel, "Time", timeLine(f))
	p.entry(0, headLabel, "RoCE", roceLine(&r.Totals))
	p.entry(0, headLabel, "Wrapped", wrappedLine(r))
	p.entry(0, headLabel, "Unusual", wireLine(r, report.OddTable, ": "))
	p.entry(0, headLabel, "LLDP", dcbLine(r))
	p.entry(0, headLabel, "Flows", flowLine(r, f))
	p.entry(0, headLabel, "Managed", connectionLine(r))
	p.entry(0, headLabel, "Quality", qualityLine(r, f))
	p.entry(0, headLabel, "Latency", latencyLine(r))
	p.verdict(r, f)
	p.entry(0, headLabel, "Unchecked", strings.Join(narrowed(r), "; "))
}

func inAll(f *facts) string {
	return fmt.Sprintf("%s, %s in all", report.Counted(f.frames, "frame"), report.Bytes(f.bytes))
}

func captureLine(c *report.Capture) string {
	format := c.Format
	if c.Parts > 1 {
		format += fmt.Sprintf(" of %d captures", c.Parts)
	}
	parts := []string{format, strings.Join(c.LinkTypes, " and "), report.Counted(c.Frames, "frame"), report.Bytes(c.Bytes)}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return c.Name + ": " + strings.Join(parts, ", ")
}

func timeLine(f *facts) string {
	if f.frames == 0 {
		return ""
	}
	span := f.last - f.first
	from, to := report.Moment(f.first), report.Moment(f.last)
	if day := len("2006-01-02 "); from[:day] == to[:day] {
		to = to[day:]
	}
	text := from + " to " + to + " UTC, " + report.Duration(span)
	if rate := report.BitRate(f.bytes, span); rate != "" {
		text += ", " + rate
	}
	return text
}

// roceLine says what the frames are.
func roceLine(t *report.Totals) string {
	roce := counted(amount{t.RoCEv2, "RoCEv2 frame"}, amount{t.RoCEv1, "RoCEv1 frame"}, amount{t.NativeIB, "native InfiniBand frame"})
	if t.RoCE == 0 {
		roce = "none"
	}
	if marks := counted(amount{t.CE, "CE mark"}, amount{t.CNPs, "CNP"}); marks != "" {
		roce += " with " + marks
	}
	rest := counted(amount{t.PFC, "PFC frame"}, amount{t.Pause, "PAUSE frame"},
		amount{t.UET, "Ultra Ethernet frame"}, amount{t.Other, "other frame"})
	if rest != "" {
		roce += "; " + rest
	}
	return roce
}

// wireLine lists a table of the wire section, what is most first.
func wireLine(r *report.Report, table, lead string) string {
	var parts []string
	for _, row := range report.MostFirst(r.Rows(report.WireSection, table)) {
		n := report.Count(row.Values[0])
		if len(parts) == 0 {
			n = report.Counted(row.Values[0], "frame")
		}
		parts = append(parts, n+lead+row.Key[0])
	}
	return strings.Join(parts, ", ")
}

// wrappedLine says in what frames came, and in which virtual networks.
func wrappedLine(r *report.Report) string {
	text := wireLine(r, report.WrappedTable, " in ")
	var networks []uint32
	for i := range r.Flows {
		if v := r.Flows[i].VNI; v != nil && !slices.Contains(networks, *v) {
			networks = append(networks, *v)
		}
	}
	slices.Sort(networks)
	const few = 6
	for i, v := range networks[:min(few, len(networks))] {
		text += fmt.Sprintf("%s%d", []string{"; VNI ", ", "}[min(i, 1)], v)
	}
	if len(networks) > few {
		text += fmt.Sprintf(" and %d more", len(networks)-few)
	}
	return text
}

// dcbLine says which priorities ports announce as lossless.
func dcbLine(r *report.Report) string {
	ports := map[string]int64{} // by what they announce
	for _, row := range r.Rows(report.WireSection, report.DCBTable) {
		ports["PFC on "+report.Priorities(row.Values[0])]++
	}
	for _, row := range r.Rows(report.WireSection, report.AppTable) {
		if app := row.Key[1]; report.IsRoCEv2App(app) || app == "EtherType 0x8915" {
			ports["RoCE ("+app+") on "+report.Priorities(row.Values[0])]++
		}
	}
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(ports)) {
		parts = append(parts, fmt.Sprintf("%s announced by %s", what, report.Counted(ports[what], "port")))
	}
	return strings.Join(parts, "; ")
}

// amount is a number of something.
type amount struct {
	n    int64
	noun string
}

// counted lists amounts, except those of nothing.
func counted(amounts ...amount) string {
	var parts []string
	for _, a := range amounts {
		if a.n > 0 {
			parts = append(parts, report.Counted(a.n, a.noun))
		}
	}
	return strings.Join(parts, ", ")
}

func flowLine(r *report.Report, f *facts) string {
	if len(r.Flows) == 0 {
		return ""
	}
	text := fmt.Sprintf("%s to %s, %s", report.Counted(int64(len(r.Flows)), "flow"),
		report.Counted(f.queuePairs, "queue pair"), report.Counted(f.hostPairs, "host pair"))
	switch {
	case f.connected == 0:
	case f.oneWay == 0:
		text += "; both directions seen"
	case f.oneWay == f.connected:
		text += "; ONE DIRECTION ONLY"
	default:
		text += fmt.Sprintf("; %d of %s one way only", f.oneWay, report.Counted(f.connected, "connected host pair"))
	}
	return text
}

// qualityLine says how far the frames can be trusted.
func qualityLine(r *report.Report, f *facts) string {
	if f.frames == 0 {
		return damageOf(r)
	}
	parts := []string{"frames whole"}
	if f.truncated > 0 {
		parts[0] = fmt.Sprintf("%s of %s cut%s", report.Count(f.truncated), report.Counted(f.frames, "frame"), cutAt(r))
	}
	if f.dropped > 0 {
		parts = append(parts, report.Count(f.dropped)+" dropped while capturing")
	}
	if icrc := icrcPart(&r.Totals); icrc != "" {
		parts = append(parts, icrc)
	}
	if damage := damageOf(r); damage != "" {
		parts = append(parts, damage)
	}
	return strings.Join(parts, "; ")
}

// wholeFrames is a snap length that no frame reaches, as capturing programs set
// it when nothing is to be cut: something else cut the frame.
const wholeFrames = 65535

// cutAt names the snap length where all captures share one.
func cutAt(r *report.Report) string {
	var length int64
	for _, c := range r.Captures {
		if c.Truncated == 0 {
			continue
		}
		if length != 0 && c.SnapLen != length {
			return ""
		}
		length = c.SnapLen
	}
	if length == 0 || length >= wholeFrames {
		return ""
	}
	return fmt.Sprintf(" at %d bytes", length)
}

func icrcPart(t *report.Totals) string {
	switch checked := t.ICRCGood + t.ICRCBad; {
	case checked+t.ICRCUnchecked == 0:
		return ""
	case checked == 0:
		return "ICRC unchecked"
	case t.ICRCBad == 0 && t.ICRCUnchecked == 0:
		return "ICRC all good"
	case t.ICRCUnchecked == 0:
		return fmt.Sprintf("ICRC %s good, %s BAD", report.Count(t.ICRCGood), report.Count(t.ICRCBad))
	case t.ICRCBad == 0:
		return fmt.Sprintf("ICRC %s good, %s unchecked", report.Count(t.ICRCGood), report.Count(t.ICRCUnchecked))
	}
	return fmt.Sprintf("ICRC %s good, %s BAD, %s unchecked",
		report.Count(t.ICRCGood), report.Count(t.ICRCBad), report.Count(t.ICRCUnchecked))
}

func damageOf(r *report.Report) string {
	var parts []string
	for _, c := range r.Captures {
		if c.Damaged != "" {
			parts = append(parts, fmt.Sprintf("%s is DAMAGED: %s", c.Name, c.Damaged))
		}
	}
	return strings.Join(parts, "; ")
}
