package report

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// text is a report as bytes, in which equal reports are equal.
func text(t *testing.T, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func merged(t *testing.T, rs ...*Report) *Report {
	t.Helper()
	sum, err := Merge(rs...)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestMergeLaw(t *testing.T) {
	for seed := range uint64(100) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		a, b, c := randomReport(rnd), randomReport(rnd), randomReport(rnd)
		before := text(t, a) + text(t, b) + text(t, c)
		want := text(t, merged(t, a, b, c))
		for _, test := range []struct {
			desc string
			sum  *Report
		}{
			{"associative to the left", merged(t, merged(t, a, b), c)},
			{"associative to the right", merged(t, a, merged(t, b, c))},
			{"commutative", merged(t, c, b, a)},
			{"commutative and associative", merged(t, merged(t, c, a), nil, b)},
			{"stable when it is done", merged(t, merged(t, a, b, c))},
			{"stable over JSON", merged(t, again(t, a), again(t, b), again(t, c))},
		} {
			if got := text(t, test.sum); got != want {
				t.Fatalf("seed %d: merging is not %s:\n%s", seed, test.desc, firstDifference(got, want))
			}
		}
		if text(t, a)+text(t, b)+text(t, c) != before {
			t.Fatalf("seed %d: merging changed what was merged", seed)
		}
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return strings.Join(g[max(0, i-5):i+1], "\n") + "\nwant\n" + w[i]
		}
	}
	return "one is longer"
}

// again is a report after a way through JSON.
func again(t *testing.T, r *Report) *Report {
	t.Helper()
	back, err := Read(strings.NewReader(text(t, r)))
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func TestMergeOfNothing(t *testing.T) {
	if got, want := text(t, merged(t)), text(t, &Report{}); got != want {
		t.Errorf("got %s", got)
	}
}

func TestMergeDropsFindings(t *testing.T) {
	if sum := merged(t, &Report{Findings: []Finding{{Rule: "loss.upstream"}}}); len(sum.Findings) != 0 {
		t.Errorf("kept %v", sum.Findings)
	}
}

func TestRowsAddWhereTheyOverlap(t *testing.T) {
	row := func(qp uint32, first, last int64) Flow {
		return Flow{Src: "10.0.0.1", Dst: "10.0.0.2", DestQP: qp, FirstNs: first, LastNs: last, Frames: 1}
	}
	for _, test := range []struct {
		desc string
		rows []Flow
		want []int64 // frames of each row
	}{
		{"two taps see one connection", []Flow{row(1, 0, 10), row(1, 1, 11)}, []int64{2}},
		{"a number is used again later", []Flow{row(1, 20, 30), row(1, 0, 10)}, []int64{1, 1}},
		{"a number is used again within a tick", []Flow{row(1, 10, 20), row(1, 0, 10)}, []int64{1, 1}},
		{"two taps see one packet", []Flow{row(1, 5, 5), row(1, 5, 5)}, []int64{2}},
		{"one packet within a longer row", []Flow{row(1, 5, 5), row(1, 0, 10)}, []int64{2}},
		{"a third row joins two", []Flow{row(1, 0, 10), row(1, 20, 30), row(1, 5, 25)}, []int64{3}},
		{"a row ends before it starts", []Flow{row(1, 10, 0), row(1, 20, 0)}, []int64{1, 1}},
		{"two queue pairs", []Flow{row(1, 0, 10), row(2, 0, 10)}, []int64{1, 1}},
		{"what is beyond the cap is one row", []Flow{
			{Src: Other, Dst: Other, Frames: 1}, {Src: Other, Dst: Other, Frames: 1, FirstNs: 9, LastNs: 9},
		}, []int64{2}},
	} {
		var reports []*Report
		for _, f := range test.rows {
			reports = append(reports, &Report{Flows: []Flow{f}})
		}
		var got []int64
		for _, f := range merged(t, reports...).Flows {
			got = append(got, f.Frames)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: rows of %v frames, want %v", test.desc, got, test.want)
		}
	}
}

// Each column but the key's adds by its tag.
func TestEveryColumnMerges(t *testing.T) {
	typ := reflect.TypeFor[Flow]()
	for i := range typ.NumField() {
		field := typ.Field(i)
		tag := field.Tag.Get("merge")
		if _, ok := adders[tag]; !ok {
			t.Errorf("Flow.%s has no way to merge: its tag merge is %q", field.Name, tag)
		}
		if name := field.Tag.Get("json"); name == "" {
			t.Errorf("Flow.%s has no JSON name", field.Name)
		}
		want, ok := map[string]int64{"sum": 7, "min": 3, "max": 4}[tag]
		if !ok {
			continue
		}
		var a, b Flow
		reflect.ValueOf(&a).Elem().Field(i).SetInt(3)
		reflect.ValueOf(&b).Elem().Field(i).SetInt(4)
		flowPlan.add(&a, &b)
		if got := reflect.ValueOf(a).Field(i).Int(); got != want {
			t.Errorf("Flow.%s: 3 and 4 give %d, want %d", field.Name, got, want)
		}
	}
}

// The key of a row is made by hand; it must know each field of that tag.
func TestEveryKeyColumnIsInTheKey(t *testing.T) {
	typ := reflect.TypeFor[Flow]()
	for i := range typ.NumField() {
		var f Flow
		field := reflect.ValueOf(&f).Elem().Field(i)
		switch v := field.Addr().Interface().(type) {
		case *string:
			*v = "x"
		case **uint32:
			*v = new(uint32)
		case *uint32:
			*v = 1
		case *int:
			*v = 1
		}
		isKey := typ.Field(i).Tag.Get("merge") == "key"
		if inKey := f.key() != (&Flow{}).key(); inKey != isKey {
			t.Errorf("Flow.%s: its tag says key is %v, the key of a row says %v", typ.Field(i).Name, isKey, inKey)
		}
	}
}

func TestPlanRefusesAFieldWithoutTag(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a field that does not say how it merges was taken")
		}
	}()
	planOf(reflect.TypeFor[struct{ Frames int64 }]())
}

func TestTotalsAreCounters(t *testing.T) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Totals]()) {
		if f.Type.Kind() != reflect.Int64 {
			t.Errorf("Totals.%s is no int64, so it does not add", f.Name)
		}
	}
}

func TestCapturesHaveATotalOrder(t *testing.T) {
	typ := reflect.TypeFor[Capture]()
	for i := range typ.NumField() {
		var c Capture
		switch v := reflect.ValueOf(&c).Elem().Field(i).Addr().Interface().(type) {
		case *string:
			*v = "x"
		case *int64:
			*v = 1
		case *[]string:
			*v = []string{"x"}
		}
		if compareCaptures(c, Capture{}) == 0 {
			t.Errorf("captures that differ in %s alone have no order", typ.Field(i).Name)
		}
	}
}

func TestPeerIsKeptFromTheRowThatKnowsBest(t *testing.T) {
	one, two := uint32(1), uint32(2)
	for _, test := range []struct {
		desc string
		a, b Flow
		qp   *uint32
		by   string
	}{
		{"known wins over unknown", Flow{}, Flow{PeerQP: &one, PeerBy: "source-port"}, &one, "source-port"},
		{"surer wins", Flow{PeerQP: &one, PeerBy: "source-port"}, Flow{PeerQP: &two, PeerBy: "cm"}, &two, "cm"},
		{"alike stays", Flow{PeerQP: &one, PeerBy: "cm"}, Flow{PeerQP: &two, PeerBy: "cm"}, &one, "cm"},
	} {
		for _, f := range []*Report{
			merged(t, &Report{Flows: []Flow{test.a}}, &Report{Flows: []Flow{test.b}}),
			merged(t, &Report{Flows: []Flow{test.b}}, &Report{Flows: []Flow{test.a}}),
		} {
			if got := f.Flows[0]; *got.PeerQP != *test.qp || got.PeerBy != test.by {
				t.Errorf("%s: %d by %s", test.desc, *got.PeerQP, got.PeerBy)
			}
		}
	}
}

func TestEvidenceKeepsTheOutermostFrames(t *testing.T) {
	var a, b Evidence
	a.Kind, b.Kind = "gap", "gap"
	for i := range uint64(50) {
		a.Frames = append(a.Frames, 1+2*i)
		b.Frames = append(b.Frames, 2+2*i)
	}
	a.Count, b.Count = 50, 50
	sum := addEvidence([]Evidence{a}, []Evidence{b})
	want := []uint64{1, 2, 3, 4, 5, 6, 7, 8, 93, 94, 95, 96, 97, 98, 99, 100}
	if len(sum) != 1 || sum[0].Count != 100 || !slices.Equal(sum[0].Frames, want) {
		t.Errorf("got %v", sum)
	}
}

func TestMergeRefuses(t *testing.T) {
	measure := func(m Measure) *Report {
		return &Report{Sections: []Section{{Name: "pfc", Measures: []Measure{m}}}}
	}
	table := func(tab Table) *Report {
		return &Report{Sections: []Section{{Name: "pfc", Tables: []Table{tab}}}}
	}
	for _, test := range []struct {
		desc string
		rs   []*Report
		want string
	}{
		{"a report of another version", []*Report{{Schema: "rocescope.report/9"}}, "another version"},
		{"something that is no report", []*Report{{Schema: "x"}}, "no report"},
		{"a kind that is none", []*Report{measure(Measure{Name: "m", Kind: "mean"})}, "section pfc: measure m: unknown kind"},
		{"a sum and a peak", []*Report{measure(Measure{Name: "m", Kind: Sum}), measure(Measure{Name: "m", Kind: Peak})}, "do not add up"},
		{"tables of other columns", []*Report{table(Table{Name: "t"}), table(Table{Name: "t", Keys: []string{"host"}})}, "columns differ"},
		{"a column of no kind", []*Report{table(Table{Columns: []Column{{Name: "c"}}})}, "column c: unknown kind"},
		{"a row too short", []*Report{table(Table{Keys: []string{"host"}, Rows: []Row{{}}})}, "0 keys"},
	} {
		_, err := Merge(test.rs...)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.desc, err, test.want)
		}
	}
}
