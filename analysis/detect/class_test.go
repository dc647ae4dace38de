package detect

import (
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// classRows are rows of the table of classes as text: src dst kind dscp pcp, and
// how many queue pairs and frames.
type classRows []report.Row

func (c *classRows) add(key string, queuePairs, frames int64) {
	*c = append(*c, report.Row{Key: strings.Fields(key), Values: []int64{queuePairs, frames, 1000 * frames}})
}

func TestClassFindings(t *testing.T) {
	for _, test := range []struct {
		desc   string
		rows   func(*classRows)
		others []report.Row
		pfc    []int64           // as ports announce it
		app    int64             // priorities of UDP port 4791
		want   map[string]string // rule: a part of what it says
	}{
		{desc: "one class", rows: func(c *classRows) {
			c.add("a b data 26 untagged", 8, 800)
			c.add("b a control 26 untagged", 8, 100)
		}},
		{desc: "a queue pair beside its siblings", rows: func(c *classRows) {
			c.add("a b data 26 3", 8, 800)
			c.add("a b data 0 0", 1, 100)
			c.add("a b data 0 untagged", 1, 3)
			c.add("b a control 26 3", 9, 100)
		}, pfc: []int64{8, 8}, want: map[string]string{"class.dscp-outlier": "PFC on priority 3: priority 0 is not protected"}},
		{desc: "two queue pairs have no siblings", rows: func(c *classRows) {
			c.add("a b data 26 untagged", 1, 800)
			c.add("a b data 0 untagged", 1, 100)
		}},
		{desc: "half and half is a choice", rows: func(c *classRows) {
			c.add("a b data 26 untagged", 4, 800)
			c.add("a b data 0 untagged", 4, 800)
		}},
		{desc: "answers in another class", rows: func(c *classRows) {
			c.add("a b data 26 untagged", 2, 800)
			c.add("b a control 0 untagged", 2, 100)
		}, want: map[string]string{"class.direction": "DSCP 26, what comes back on DSCP 0"}},
		{desc: "data both ways in two classes is told once", rows: func(c *classRows) {
			c.add("a b data 26 untagged", 2, 800)
			c.add("b a data 0 untagged", 2, 800)
		}, want: map[string]string{"class.direction": "from a to b"}},
		{desc: "nothing comes back", rows: func(c *classRows) { c.add("a b data 26 untagged", 2, 800) }},
		{desc: "another priority than the rest", rows: func(c *classRows) {
			c.add("a z data 26 3", 1, 10)
			c.add("b z data 26 3", 1, 10)
			c.add("c z data 26 0", 1, 10)
		}, pfc: []int64{8}, want: map[string]string{"class.pcp-mismatch": "c tags 10 frames of DSCP 26 with priority 0, while 2 other senders tag them with 3"}},
		{desc: "another DSCP than the rest with their priority", rows: func(c *classRows) {
			c.add("a z data 26 3", 1, 10)
			c.add("b z data 26 3", 1, 10)
			c.add("c z data 8 3", 1, 10)
			c.add("z c control 8 1", 1, 10)
		}, want: map[string]string{"class.pcp-mismatch": "c tags 10 frames of DSCP 8 with priority 3, which 2 other senders keep for DSCP 26"}},
		{desc: "two DSCPs of one priority", rows: func(c *classRows) {
			c.add("a z data 26 3", 1, 10)
			c.add("b z data 26 3", 1, 10)
			c.add("c z data 24 3", 1, 10)
		}},
		{desc: "a map of one's own that all follow", rows: func(c *classRows) {
			c.add("a z data 26 5", 1, 10)
			c.add("b z data 26 5", 1, 10)
			c.add("c z data 8 5", 1, 10)
		}},
		{desc: "no map at all: every tag is 0", rows: func(c *classRows) {
			c.add("a z data 26 0", 1, 10)
			c.add("b z data 26 0", 1, 10)
			c.add("a z control 0 0", 1, 10)
			c.add("b z control 0 0", 1, 10)
			c.add("c z data 8 0", 1, 10)
		}},
		{desc: "one against one proves nothing", rows: func(c *classRows) {
			c.add("a z data 26 3", 1, 10)
			c.add("c z data 26 0", 1, 10)
		}},
		{desc: "another priority than LLDP assigns", rows: func(c *classRows) { c.add("a b data 26 0", 1, 10) }, pfc: []int64{8}, app: 8,
			want: map[string]string{"class.pcp-mismatch": "have priority 0, while LLDP assigns priority 3 to RoCE"}},
		{desc: "the priority that LLDP assigns", rows: func(c *classRows) { c.add("a b data 26 3", 1, 10) }, pfc: []int64{8}, app: 8},
		{desc: "TCP in the class", rows: func(c *classRows) { c.add("a b data 26 3", 1, 100) }, pfc: []int64{8},
			others: []report.Row{{Key: []string{"26", "3"}, Values: []int64{50, 50_000}}},
			want:   map[string]string{"class.shared": "33 % of the class) ride on DSCP 26, the class of RoCE data: they fill its queue, and no ECN or PFC setting made for RoCE fits them. LLDP announces priority 3 as lossless"}},
		{desc: "TCP where nobody chose a class", rows: func(c *classRows) { c.add("a b data 0 untagged", 1, 100) },
			others: []report.Row{{Key: []string{"0", "untagged"}, Values: []int64{50, 50_000}}}},
		{desc: "a few frames of TCP", rows: func(c *classRows) { c.add("a b data 26 untagged", 1, 10_000) },
			others: []report.Row{{Key: []string{"26", "untagged"}, Values: []int64{50, 5_000}}}},
	} {
		r := &report.Report{}
		var rows classRows
		test.rows(&rows)
		addTable(r, "class", report.Table{Name: "classes", Rows: rows})
		addTable(r, "class", report.Table{Name: "others", Rows: test.others})
		var dcb []report.Row
		for i, bits := range test.pfc {
			dcb = append(dcb, report.Row{Key: []string{string(rune('a' + i))}, Values: []int64{bits}})
		}
		addTable(r, report.WireSection, report.Table{Name: report.DCBTable, Rows: dcb})
		if test.app != 0 {
			addTable(r, report.WireSection, report.Table{Name: report.AppTable, Rows: []report.Row{{Key: []string{"a", "UDP 4791"}, Values: []int64{test.app}}}})
		}
		got := map[string]string{}
		for _, f := range judgeClass(r, analysis.Defaults(1)) {
			if got[f.Rule] != "" {
				t.Errorf("%s: %s is told twice", test.desc, f.Rule)
			}
			got[f.Rule] = f.Summary
		}
		for rule, part := range test.want {
			if !strings.Contains(got[rule], part) {
				t.Errorf("%s: %s says %q, want %q in it", test.desc, rule, got[rule], part)
			}
		}
		if len(got) != len(test.want) {
			t.Errorf("%s: %v, want %v", test.desc, got, test.want)
		}
	}
}
