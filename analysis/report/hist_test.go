package report

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func histOf(values ...int64) Hist {
	var h Hist
	for _, v := range values {
		h.Add(v)
	}
	return h
}

// randomValue covers every octave alike.
func randomValue(rnd *rand.Rand) int64 { return rnd.Int64() >> rnd.IntN(63) }

func randomHist(rnd *rand.Rand) Hist {
	var h Hist
	for range rnd.IntN(20) {
		h.AddN(randomValue(rnd), 1+rnd.Int64N(5))
	}
	return h
}

func TestBucketsTileTheValues(t *testing.T) {
	next := int64(0)
	for i := range bucketOf(math.MaxInt64) {
		low, width := lowOf(i)
		if low != next {
			t.Fatalf("bucket %d starts at %d, want %d", i, low, next)
		}
		if bucketOf(low) != i || bucketOf(low+width-1) != i {
			t.Fatalf("bucket %d does not hold its own first and last value", i)
		}
		next = low + width
	}
}

func TestQuantileIsCloseToTheExactOne(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		values := make([]int64, 1+rnd.IntN(300))
		for i := range values {
			values[i] = randomValue(rnd)
		}
		h := histOf(values...)
		slices.Sort(values)
		for _, q := range []float64{0.001, 0.25, 0.5, 0.99, 0.999} {
			exact := values[int(math.Ceil(q*float64(len(values))))-1]
			got := h.Quantile(q)
			if diff := math.Abs(float64(got - exact)); diff > float64(exact)/64 {
				t.Errorf("quantile %v of %d values: %d, exactly %d", q, len(values), got, exact)
			}
		}
	}
}

func TestHist(t *testing.T) {
	for _, test := range []struct {
		desc                     string
		h                        Hist
		low, high, count, median int64
	}{
		{"empty", Hist{}, 0, 0, 0, 0},
		{"one value is known exactly", histOf(1_234_567), 1_234_567, 1_234_567, 1, 1_234_567},
		{"zero is a value", histOf(0, 0, 5), 0, 5, 3, 0},
		{"a negative value counts as zero", histOf(-7), 0, 0, 1, 0},
		{"small values are known exactly", histOf(1, 61, 62), 1, 62, 3, 61},
		{"the largest value", histOf(math.MaxInt64), math.MaxInt64, math.MaxInt64, 1, math.MaxInt64},
	} {
		h := test.h
		if h.Min != test.low || h.Max != test.high || h.Count() != test.count || h.Quantile(0.5) != test.median {
			t.Errorf("%s: min %d max %d count %d median %d", test.desc, h.Min, h.Max, h.Count(), h.Quantile(0.5))
		}
		if h.Quantile(0) != h.Min || h.Quantile(1) != h.Max || h.Quantile(math.NaN()) != h.Min {
			t.Errorf("%s: the outermost quantiles are not the extremes", test.desc)
		}
	}
}

func TestHistCountStaysAtItsLargest(t *testing.T) {
	var h Hist
	h.AddN(5, math.MaxInt64)
	h.AddN(5, 3)
	h.AddN(5, -3)
	if h.Count() != math.MaxUint32 {
		t.Errorf("count %d", h.Count())
	}
}

func TestHistMergeLaw(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	sum := func(hs ...Hist) string {
		var out Hist
		for i := range hs {
			out.Merge(&hs[i])
		}
		return marshal(t, out)
	}
	for range 200 {
		a, b, c := randomHist(rnd), randomHist(rnd), randomHist(rnd)
		before := marshal(t, a)
		ab, bc := a.Clone(), b.Clone()
		ab.Merge(&b)
		bc.Merge(&c)
		want := sum(a, b, c)
		if sum(ab, c) != want || sum(a, bc) != want {
			t.Fatal("merging is not associative")
		}
		if sum(c, b, a) != want || sum(b, a, c) != want {
			t.Fatal("merging is not commutative")
		}
		if marshal(t, a) != before {
			t.Fatal("merging changed what was merged")
		}
	}
}

func TestHistJSON(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		h := randomHist(rnd)
		var back Hist
		if err := json.Unmarshal([]byte(marshal(t, h)), &back); err != nil {
			t.Fatal(err)
		}
		if back.Min != h.Min || back.Max != h.Max || !slices.Equal(back.buckets, h.buckets) {
			t.Fatalf("%v came back as %v", h, back)
		}
	}
	for _, test := range []struct{ desc, text string }{
		{"no object", `[]`},
		{"a value at which no bucket starts", `{"min":65,"max":65,"buckets":[[65,1]]}`},
		{"a bucket of nothing", `{"min":1,"max":1,"buckets":[[1,0]]}`},
		{"a count beyond the range", `{"min":1,"max":1,"buckets":[[1,4294967296]]}`},
		{"buckets out of order", `{"min":1,"max":2,"buckets":[[2,1],[1,1]]}`},
		{"a bucket twice", `{"min":1,"max":1,"buckets":[[1,1],[1,1]]}`},
		{"a negative value", `{"min":-1,"max":-1,"buckets":[[-1,1]]}`},
		{"extremes outside", `{"min":1,"max":9,"buckets":[[1,1]]}`},
	} {
		var h Hist
		if err := json.Unmarshal([]byte(test.text), &h); err == nil {
			t.Errorf("%s was taken", test.desc)
		}
	}
}

func TestHistAddDoesNotAllocate(t *testing.T) {
	h := histOf(10, 1000, 100000)
	other := h.Clone()
	allocs := testing.AllocsPerRun(100, func() {
		h.Add(1000)
		h.Merge(&other)
		_ = h.Quantile(0.99)
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkHistAdd(b *testing.B) {
	rnd := rand.New(rand.NewPCG(7, 8))
	var values [1024]int64
	for i := range values {
		values[i] = 5000 + rnd.Int64N(100000) // round trips of a data centre
	}
	var h Hist
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		h.Add(values[i&1023])
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
