package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis/report"
)

// cell is one column of the table of flows.
type cell struct {
	head string
	text func(*report.Flow) string
	// left columns start at the left; the others are numbers. A number column
	// in which every row shown is empty is left out.
	left bool
}

var flowCells = []cell{
	{"flow", func(f *report.Flow) string { return flowName(f) }, true},
	{"QP→QP", func(f *report.Flow) string { return queuePairs(f) }, true},
	{"", func(f *report.Flow) string { return f.Transport }, true},
	{"frames", func(f *report.Flow) string { return number(f.Frames) }, false},
	{"bytes", func(f *report.Flow) string { return report.Bytes(f.Bytes) }, false},
	{"lost", func(f *report.Flow) string { return number(f.Lost()) }, false},
	{"resent", func(f *report.Flow) string { return number(f.Resent()) }, false},
	{"NAKs", func(f *report.Flow) string { return number(f.NAKs()) }, false},
	{"CE", func(f *report.Flow) string { return number(f.CE) }, false},
	{"CNPs", func(f *report.Flow) string { return number(f.CNPs) }, false},
	{"bad ICRC", func(f *report.Flow) string { return number(f.ICRCBad) }, false},
	{"RTT p50", roundTrip, false},
}

// number leaves nothing where there is nothing, so that the eye finds what is.
func number(n int64) string {
	if n == 0 {
		return ""
	}
	return report.Short(n)
}

func roundTrip(f *report.Flow) string {
	if f.AckRTT.IsZero() {
		return ""
	}
	return report.Duration(f.AckRTT.Quantile(0.5))
}

func flowName(f *report.Flow) string {
	if f.Src == report.Other {
		return "all further flows"
	}
	name := f.Src + " → " + f.Dst
	if f.VLAN != nil {
		name += fmt.Sprintf(" VLAN %d", *f.VLAN)
	}
	if f.VNI != nil {
		name += fmt.Sprintf(" VNI %d", *f.VNI)
	}
	return name
}

// queuePairs names the sending and the receiving queue pair.
func queuePairs(f *report.Flow) string {
	from := "?"
	switch {
	case f.Src == report.Other:
		return ""
	case f.SrcQP != nil:
		from = fmt.Sprintf("%#x", *f.SrcQP)
	case f.PeerQP != nil:
		from = fmt.Sprintf("%#x", *f.PeerQP)
	}
	return fmt.Sprintf("%s→%#x", from, f.DestQP)
}

// flows writes the rows in trouble and then the largest, at most limit.
func (p *page) flows(r *report.Report, limit int) {
	if len(r.Flows) == 0 {
		return
	}
	rows := byTrouble(r)
	rows = rows[:min(len(rows), limit)]
	p.line("")
	p.table(flowCells, rows)
	if rest := int64(len(r.Flows) - len(rows)); rest > 0 {
		p.line(fmt.Sprintf("… and %s. All are in the JSON form.", report.Counted(rest, "further flow")))
	}
}

// byTrouble orders rows: first those with a critical finding, then a warning,
// then by what was lost, sent again, refused or damaged, then by size.
func byTrouble(r *report.Report) []*report.Flow {
	ranks := map[report.FlowRef]int{}
	none := report.Notice.Rank()
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Flow != nil && f.Severity.Rank() < none {
			known, ok := ranks[*f.Flow]
			if !ok || f.Severity.Rank() < known {
				ranks[*f.Flow] = f.Severity.Rank()
			}
		}
	}
	type row struct {
		flow                 *report.Flow
		rank, trouble, bytes int64
	}
	rows := make([]row, len(r.Flows))
	for i := range r.Flows {
		f := &r.Flows[i]
		rank, ok := ranks[*f.Ref()]
		if !ok {
			rank = none
		}
		rows[i] = row{f, int64(rank), f.Lost() + f.Resent() + f.NAKs() + f.ICRCBad, f.Bytes}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.trouble, a.trouble), cmp.Compare(b.bytes, a.bytes))
	})
	flows := make([]*report.Flow, len(rows))
	for i := range rows {
		flows[i] = rows[i].flow
	}
	return flows
}

// table writes rows in columns, closer together where that helps them to fit.
// Where they do not fit at all, as with IPv6, the first column gets a line of
// its own above the rows that share it.
func (p *page) table(cells []cell, rows []*report.Flow) {
	cells = slices.DeleteFunc(slices.Clone(cells), func(c cell) bool { return !c.left && empty(c, rows) })
	lines := tableLines(cells, rows)
	widths := widthsOf(lines)
	gap := 2
	if lineWidth(widths, gap) > p.width {
		gap = 1
	}
	split := lineWidth(widths, gap) > p.width
	for i, line := range lines {
		style := ""
		if i == 0 {
			style = bold
		}
		if !split {
			p.line(p.paint(style, aligned(cells, line, widths, gap)))
			continue
		}
		if i == 0 || line[0] != lines[i-1][0] {
			p.line(p.paint(style, line[0]))
		}
		p.line("  " + p.paint(style, aligned(cells[1:], line[1:], widths[1:], 2)))
	}
}

// tableLines returns the head and the rows as text.
func tableLines(cells []cell, rows []*report.Flow) [][]string {
	lines := make([][]string, 1+len(rows))
	for _, c := range cells {
		lines[0] = append(lines[0], c.head)
		for i, f := range rows {
			lines[i+1] = append(lines[i+1], clean(c.text(f)))
		}
	}
	return lines
}

func lineWidth(widths []int, gap int) int {
	total := -gap
	for _, w := range widths {
		total += w + gap
	}
	return total
}

func empty(c cell, rows []*report.Flow) bool {
	return !slices.ContainsFunc(rows, func(f *report.Flow) bool { return c.text(f) != "" })
}

func widthsOf(lines [][]string) []int {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, text := range line {
			widths[i] = max(widths[i], columns(text))
		}
	}
	return widths
}

func aligned(cells []cell, line []string, widths []int, gap int) string {
	var parts []string
	for i, text := range line {
		space := pad(text, widths[i])
		if cells[i].left {
			parts = append(parts, text+space)
		} else {
			parts = append(parts, space+text)
		}
	}
	return strings.TrimRight(strings.Join(parts, strings.Repeat(" ", gap)), " ")
}
