package report

import "testing"

func TestWaitsAddUpAsATable(t *testing.T) {
	var a, b Waits
	for ns := int64(1); ns <= 1000; ns++ {
		a.Add(ns * 1000)
	}
	b.Add(5_000_000_000)
	b.Add(-3)
	table := func(w *Waits) *Report {
		x := NewWaitTable(WaitTable, "help")
		x.AddWaits("10.0.0.1", "10.0.0.2", WaitMessage, w)
		return &Report{Schema: Schema, Sections: []Section{{Name: LatencySection, Tables: []Table{x}}}}
	}
	sum, err := Merge(table(&a), table(&b))
	if err != nil {
		t.Fatal(err)
	}
	h := sum.WaitsOf(LatencySection, WaitTable, WaitMessage)
	if h.Count() != 1002 || h.Max != 5_000_000_000 || h.Min != 0 {
		t.Errorf("%d waits from %d to %d ns", h.Count(), h.Min, h.Max)
	}
	for q, want := range map[float64]int64{0.25: 250_000, 0.5: 500_000, 0.99: 990_000} {
		if got := h.Quantile(q); got < want*85/100 || got > want*115/100 {
			t.Errorf("quantile %v is %d ns, want %d or so", q, got, want)
		}
	}
	if none := sum.WaitsOf(LatencySection, WaitTable, WaitNAK); !none.IsZero() {
		t.Error("a wait that nobody measured")
	}
	if n := len(sum.Rows(LatencySection, WaitTable)); n > 45 {
		t.Errorf("%d rows for ten octaves", n)
	}
}

func TestWaitsOfAStrangeTable(t *testing.T) {
	r := &Report{Sections: []Section{{Name: LatencySection, Tables: []Table{{Name: WaitTable, Rows: []Row{
		{Key: []string{"a"}, Values: []int64{1, 1}}, {Key: []string{"a", "b", WaitNAK, "soon"}, Values: []int64{1, 1}},
		{Key: []string{"a", "b", WaitNAK, "7"}, Values: []int64{1}}, {Key: []string{"a", "b", WaitNAK, "7"}, Values: []int64{-4, 9}},
	}}}}}}
	if h := r.WaitsOf(LatencySection, WaitTable, WaitNAK); !h.IsZero() {
		t.Errorf("%d waits in rows that hold none", h.Count())
	}
}
