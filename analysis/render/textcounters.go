package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis/report"
)

// counterHosts is how many hosts are shown with their counters.
const counterHosts = 8

// counters writes what adapters should have counted, a line for each host that
// should have counted anything. Zeros stand in the JSON form alone.
func (p *page) counters(r *report.Report) {
	if len(r.Readings) > 0 {
		return // the same numbers stand beside those that were read
	}
	hosts := slices.DeleteFunc(slices.Clone(r.Counters), func(h report.HostCounters) bool { return troubles(&h) == 0 })
	if len(hosts) == 0 {
		return
	}
	if len(hosts) > counterHosts {
		slices.SortStableFunc(hosts, func(a, b report.HostCounters) int { return cmp.Compare(troubles(&b), troubles(&a)) })
	}
	shown := hosts[:min(len(hosts), counterHosts)]
	width := 0
	for i := range shown {
		width = max(width, columns(hostText(&shown[i]))+2)
	}
	width = min(width, p.width/2)
	p.countersTitle("Counters that the adapters should show for this traffic:")
	for i := range shown {
		p.beside(width, "", hostText(&shown[i]), counterList(&shown[i]))
	}
	if rest := int64(len(hosts) - len(shown)); rest > 0 {
		p.line("  … and " + report.Counted(rest, "more host") + ", see the JSON form")
	}
}

func (p *page) countersTitle(text string) {
	p.line("")
	for i, line := range wrap(text, p.width) {
		if rest, ok := strings.CutPrefix(line, "Counters"); ok && i == 0 {
			line = p.paint(bold, "Counters") + rest
		}
		p.line(line)
	}
}

// troubles is how much a host should have counted in all.
func troubles(h *report.HostCounters) (n int64) {
	for _, c := range h.Counters {
		if shown(&c) {
			n += min(c.Value, math.MaxInt64-n)
		}
	}
	return n
}

// shown reports whether a counter is worth a reader's time: that something may
// be above nothing is true of most.
func shown(c *report.Counter) bool { return c.Value > 0 && c.Bound != report.Unknown }

func hostText(h *report.HostCounters) string {
	name := h.Host
	if h.VLAN != nil {
		name += fmt.Sprintf(" VLAN %d", *h.VLAN)
	}
	if h.VNI != nil {
		name += fmt.Sprintf(" VNI %d", *h.VNI)
	}
	return clean(name)
}

func counterList(h *report.HostCounters) string {
	var parts []string
	for i := range h.Counters {
		if c := &h.Counters[i]; shown(c) {
			name := c.Name
			if c.With != "" {
				name += " + " + c.With
			}
			parts = append(parts, name+" "+bounded(c))
		}
	}
	return strings.Join(parts, ", ")
}

// bounded says an expected value: "at least 3".
func bounded(c *report.Counter) string {
	n := report.Count(c.Value)
	switch c.Bound {
	case report.AtLeast:
		return "at least " + n
	case report.AtMost:
		return "at most " + n
	case report.About:
		return "about " + n
	case report.Unknown:
		return "unknown"
	}
	return n
}

// readings writes the counters that were read beside what was expected, those
// that differ first. Those that stayed as they should are only counted.
func (p *page) readings(r *report.Report) {
	for i := range r.Readings {
		p.reading(&r.Readings[i])
	}
}

func (p *page) reading(d *report.Reading) {
	title := "Counters of " + strings.Join(d.Hosts, ", ")
	if len(d.Devices) > 0 {
		title += " (" + strings.Join(d.Devices, ", ") + ")"
	}
	p.countersTitle(title + ", as read and as this traffic should make them:")
	list := slices.Clone(d.Counters)
	slices.SortStableFunc(list, func(a, b report.ReadCounter) int { return cmp.Compare(verdictRank(&a), verdictRank(&b)) })
	still := int64(0)
	width := 0
	list = slices.DeleteFunc(list, func(c report.ReadCounter) bool {
		if c.Rise == 0 && c.Verdict == report.Fits && c.Expected.Value == 0 {
			still++
			return true
		}
		width = max(width, columns(c.Name)+2)
		return false
	})
	for i := range list {
		p.readCounter(&list[i], min(width, p.width/2))
	}
	if still > 0 {
		p.line("  " + report.Counted(still, "counter") + " did not rise, as expected")
	}
	if d.Others > 0 {
		p.line("  " + report.Counted(d.Others, "further counter") + " of which a capture tells nothing")
	}
}

// verdictRank orders what was read: first what contradicts the capture, last
// what cannot be judged.
func verdictRank(c *report.ReadCounter) int {
	order := []report.Verdict{report.Fewer, report.More, report.Rewound, report.Fits}
	if i := slices.Index(order, c.Verdict); i >= 0 {
		return i
	}
	return len(order)
}

func (p *page) readCounter(c *report.ReadCounter, width int) {
	numbers := fmt.Sprintf("%d → %d = %d", c.Before, c.After, c.Rise)
	switch {
	case c.Once:
		numbers = fmt.Sprintf("%d", c.After)
	case c.Verdict == report.Rewound:
		numbers = fmt.Sprintf("%d → %d", c.Before, c.After)
	}
	style := ""
	if c.Verdict == report.Fewer || c.Verdict == report.More {
		style = yellow
	}
	p.beside(width, style, c.Name, numbers+", expected "+bounded(&c.Expected)+": "+c.Text)
}

// beside writes a label and text behind it, or below where the label is wider
// than there is room.
func (p *page) beside(width int, style, label, text string) {
	label = clean(label)
	lines := wrap(text, p.width-2-width)
	if columns(label)+2 > width {
		lines = append([]string{""}, lines...)
	}
	for i, line := range lines {
		if i > 0 {
			label = ""
		}
		p.line("  " + p.paint(style, label) + pad(label, width) + line)
	}
}
