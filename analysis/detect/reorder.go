package detect

import (
	"strconv"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// Reorder measures how late packets come that were overtaken on the way.
var Reorder = add(analysis.Analyzer{
	Name: "reorder",
	Doc: "Between which hosts do packets overtake each other, how late do they come, and does the receiver mind?\n\n" +
		"A packet is late where it fills a gap without having been sent again. Its lateness runs from the packet that\n" +
		"revealed the gap.",
	Rules: reorderRules,
	New:   newReorder,
	Judge: judgeReorder,
})

type reorder struct{ flows perRow[*lateness] } // nil for rows in order

type lateness struct {
	longest int64
	steps   [len(lateSteps)]int32
}

func newReorder(*analysis.Config) analysis.Observer { return &reorder{} }

func (o *reorder) Observe(b *analysis.Batch) {
	for i := range b.Events {
		e := &b.Events[i]
		if e.Kind != analysis.Reordered && e.Kind != analysis.ResponseReordered || e.Value <= 0 {
			continue
		}
		f := o.flows.at(e.Flow)
		if *f == nil {
			*f = new(lateness) // once in a row's life
		}
		(*f).longest = max((*f).longest, e.Value)
		(*f).steps[lateStep(e.Value)]++
	}
}

func (o *reorder) Report(r *report.Report) {
	t := report.Table{
		Name: "lateness", Help: "Late packets by how late they came.",
		Keys:    []string{"src", "dst", "below_ns"},
		Columns: []report.Column{{Name: "packets", Unit: "frames", Kind: report.Sum}, {Name: "longest", Unit: "ns", Kind: report.Peak}},
	}
	for id, row := range o.flows.of(r) {
		f, x := &r.Flows[id], *row
		if x == nil || f.Src == report.Other {
			continue
		}
		for i, n := range x.steps {
			if n > 0 {
				t.Rows = append(t.Rows, report.Row{Key: []string{f.Src, f.Dst, strconv.FormatInt(lateSteps[i], 10)}, Values: []int64{int64(n), x.longest}})
			}
		}
	}
	addTable(r, "reorder", t)
}
