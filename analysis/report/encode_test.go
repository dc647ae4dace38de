package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"testing"
)

// What is written are the bytes that encoding/json would write.
func TestWriteIsWhatEncodingJSONWrites(t *testing.T) {
	check := func(desc string, r *Report) {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		full := *r
		full.Schema = Schema
		noNil(reflect.ValueOf(&full).Elem())
		if err := enc.Encode(&full); err != nil {
			t.Fatal(err)
		}
		if got := text(t, r); got != want.String() {
			t.Fatalf("%s: %s", desc, firstDifference(got, want.String()))
		}
	}
	check("empty", &Report{})
	for seed := range uint64(200) {
		check(fmt.Sprint("seed ", seed), filledAtRandom(rand.New(rand.NewPCG(seed, 3))))
	}
	check("large", largeReport(1000))
}

// filledAtRandom is a random report with everything else that a report can hold.
func filledAtRandom(rnd *rand.Rand) *Report {
	r := randomReport(rnd)
	r.Headline = pick(rnd, "", "10.0.0.1 → 10.0.0.2 \"stops\"", "a\tb\\\x00\xff\u2028 && <b>")
	r.Findings, r.NotKnowable, r.Counters, r.Readings = nil, nil, nil, nil
	for range rnd.IntN(100) {
		f := Finding{Rule: "loss.upstream", Filter: "a && b > 3", Summary: r.Headline, Host: pick(rnd, "", "h"), Confidence: pick(rnd, "", Likely)}
		if rnd.IntN(2) == 0 {
			f.Flow, f.ExplainedBy, f.Frames = &FlowRef{"a", "b", 3}, new(int), []uint64{1, 1<<64 - 1}
			f.Values, f.Addresses = map[string]int64{"b": -1, "a→": 2, "c": 0}, []string{"x", "y"}
		}
		r.Findings = append(r.Findings, f)
	}
	for range rnd.IntN(3) {
		r.NotKnowable = append(r.NotKnowable, Question{What: "w", Narrows: rnd.IntN(2) == 0})
		r.Counters = append(r.Counters, HostCounters{Host: "h", VNI: randomQP(rnd)})
		r.Readings = append(r.Readings, withCounters().Readings...)
		r.Counters = append(r.Counters, withCounters().Counters...)
		r.Readings = append(r.Readings, Reading{})
		s := r.Section("more")
		s.Tables = append(s.Tables, Table{}, Table{Rows: make([]Row, rnd.IntN(200))})
	}
	return r
}

// noNil makes lists and maps that are nil empty ones, in copies.
func noNil(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Type() != reflect.TypeFor[Flow]() {
				noNil(v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v))
		for i := range v.Len() {
			noNil(v.Index(i))
		}
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
	}
}

// And so is that of a row, whose columns of latency encoding/json does not know.
func TestRowIsWhatEncodingJSONWrites(t *testing.T) {
	type latency struct {
		*flowRow
		P50      int64      `json:"ack_rtt_p50_ns"`
		P99      int64      `json:"ack_rtt_p99_ns"`
		Max      int64      `json:"ack_rtt_max_ns"`
		RTT      *histJSON  `json:"ack_rtt,omitempty"`
		Evidence []Evidence `json:"evidence,omitempty"`
	}
	for seed := range uint64(200) {
		f := randomFlow(rand.New(rand.NewPCG(seed, 4)))
		row := flowRow(f)
		noNil(reflect.ValueOf(&row).Elem())
		want := latency{&row, f.AckRTT.Quantile(0.5), f.AckRTT.Quantile(0.99), f.AckRTT.Max, nil, row.Evidence}
		if h := f.AckRTT; !h.IsZero() {
			want.RTT = &histJSON{Min: h.Min, Max: h.Max}
			for _, b := range h.buckets {
				low, _ := lowOf(b.index)
				want.RTT.Buckets = append(want.RTT.Buckets, [2]int64{low, int64(b.count)})
			}
		}
		if got, want := marshal(t, f), marshal(t, want); got != want {
			t.Fatalf("seed %d:\n%s\nwant\n%s", seed, got, want)
		}
	}
}

// failsAfter fails some bytes on.
type failsAfter int

func (n *failsAfter) Write(b []byte) (int, error) {
	if *n -= failsAfter(len(b)); *n < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestWriteEndsWhereTheDiskIsFull(t *testing.T) {
	for n := failsAfter(0); n < 1_000_000; n += 100_000 {
		left := n
		if err := Write(&left, largeReport(1000)); err != errFull {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

// largeReport has n rows, as many in two tables, and hosts.
func largeReport(n int) *Report {
	rnd := rand.New(rand.NewPCG(5, 6))
	r := &Report{Schema: Schema}
	perFlow := Table{Name: "flows", Keys: []string{"src", "dst", "qp"}, Columns: []Column{{Name: "a", Kind: Sum}, {Name: "b", Kind: Peak}, {Name: "c", Kind: Floor}}}
	perPair := Table{Name: "pairs", Keys: []string{"src", "dst"}, Columns: perFlow.Columns}
	for i := range n {
		f := randomFlow(rnd)
		f.Src, f.Dst = fmt.Sprintf("10.%d.%d.1", i%4, i/4%256), fmt.Sprintf("10.9.%d.2", i%97)
		f.DestQP = uint32(i)
		r.Flows = append(r.Flows, f)
		perFlow.Rows = append(perFlow.Rows, Row{[]string{f.Src, f.Dst, QP(f.DestQP)}, []int64{int64(i), 2, 3}})
		perPair.Rows = append(perPair.Rows, Row{[]string{f.Src, fmt.Sprintf("10.8.%d.2", i/1024)}, []int64{int64(i), 2, 3}})
	}
	for range n / 10 {
		r.Counters = append(r.Counters, withCounters().Counters...)
	}
	r.Sections = []Section{{Name: "loss", Tables: []Table{perFlow, perPair}}}
	return r
}

func BenchmarkWrite(b *testing.B) {
	r := largeReport(10_000)
	b.ReportAllocs()
	for b.Loop() {
		if err := Write(io.Discard, r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMerge(b *testing.B) {
	parts := []*Report{largeReport(10_000), {}, {}}
	all := parts[0]
	for i := range all.Flows {
		p := parts[1+i%2]
		p.Flows = append(p.Flows, all.Flows[i])
	}
	parts[1].Sections = all.Sections
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Merge(parts[1:]...); err != nil {
			b.Fatal(err)
		}
	}
}
