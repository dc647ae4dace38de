package capture

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/rocescope/rocescope/decode"
)

func source1(t testing.TB, b []byte) *File {
	t.Helper()
	f, err := NewReader("x", bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// at builds a pcap with one frame for each of the times; its data is tag.
func at(t testing.TB, tag string, times ...int64) []byte {
	var fs []decode.Frame
	for _, v := range times {
		fs = append(fs, decode.Frame{Data: []byte(tag), Time: v, Link: decode.LinkEthernet})
	}
	return pcapOf(t, fs)
}

func TestMergeOrder(t *testing.T) {
	for _, c := range []struct {
		desc   string
		inputs [][]byte
		want   string
	}{
		{"no source", nil, ""},
		{"an empty source", [][]byte{at(t, "a")}, ""},
		{"one source", [][]byte{at(t, "a", 1, 2, 3)}, "aaa"},
		{"two that take turns", [][]byte{at(t, "a", 1, 3, 5), at(t, "b", 2, 4, 6)}, "ababab"},
		{"one after the other, named the other way round", [][]byte{at(t, "a", 7, 8), at(t, "b", 1, 2)}, "bbaa"},
		{"of equal times that of the source that began first", [][]byte{at(t, "a", 5, 6), at(t, "b", 2, 5), at(t, "c", 1, 2)}, "ccbbaa"},
		{"equal times keep the order of the sources", [][]byte{at(t, "a", 1, 1), at(t, "b", 1, 1), at(t, "c", 1)}, "aabbc"},
		{"a clock that steps back keeps its source's order", [][]byte{at(t, "a", 5, 1, 6), at(t, "b", 3, 5, 7)}, "bbaaab"},
		{"an empty one among others", [][]byte{at(t, "a"), at(t, "b", 1), at(t, "c")}, "b"},
	} {
		t.Run(c.desc, func(t *testing.T) {
			var in []Source
			for _, b := range c.inputs {
				in = append(in, source1(t, b))
			}
			got := ""
			for i, f := range drain(t, Merge(in...)) {
				got += string(f.Data)
				if f.Number != uint64(i+1) {
					t.Errorf("frame %d has number %d", i+1, f.Number)
				}
			}
			if got != c.want {
				t.Errorf("order is %q, want %q", got, c.want)
			}
		})
	}
}

func TestMergeOfManyIsSorted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var in []Source
	var all []int64
	for range 37 {
		var times []int64
		for range r.IntN(200) {
			times = append(times, r.Int64N(10_000))
		}
		slices.Sort(times)
		all = append(all, times...)
		in = append(in, source1(t, at(t, "x", times...)))
	}
	slices.Sort(all)
	var got []int64
	for _, f := range drain(t, Merge(in...)) {
		got = append(got, f.Time)
	}
	if !slices.Equal(got, all) {
		t.Errorf("%d frames, not the %d sorted ones", len(got), len(all))
	}
}

// TestMergeGoesOnWithInterfaces reads files that one capture was written to in turn, and
// others that only look like those.
func TestMergeGoesOnWithInterfaces(t *testing.T) {
	const s = 1_000_000_000
	o := orders[0]
	nano := func(times ...uint64) []byte { // its times are finer than those of a pcap
		b := join(section(o), ifaceBlock(o, 1, 0, opt(o, optIfResol, []byte{9})))
		for _, v := range times {
			b = join(b, epb(o, 0, v, []byte("n"), 0))
		}
		return b
	}
	for _, c := range []struct {
		desc   string
		inputs [][]byte
		want   []uint16 // the interfaces of the frames
	}{
		{"three in turn, named in another order", [][]byte{at(t, "c", 4*s, 5*s), at(t, "a", s, 2*s), at(t, "b", 2*s, 3*s)}, []uint16{0, 0, 0, 0, 0, 0}},
		{"one that begins later", [][]byte{at(t, "a", s, 2*s), at(t, "b", 3*s+1)}, []uint16{0, 0, 1}},
		{"one that begins before the end", [][]byte{at(t, "a", s, 2*s), at(t, "b", 2*s-1)}, []uint16{0, 1, 0}},
		{"one described otherwise", [][]byte{at(t, "a", s, 2*s), nano(2*s + 1)}, []uint16{0, 0, 1}},
		{"one that may go on with either of two", [][]byte{at(t, "a", s, 2*s), at(t, "b", s, 2*s), at(t, "c", 2*s+5)}, []uint16{0, 1, 0, 1, 2}},
		{"two that begin where one ends", [][]byte{at(t, "a", s, 2*s), at(t, "b", 2*s+5, 2*s+9), at(t, "c", 2*s+6)}, []uint16{0, 0, 0, 1, 0}},
	} {
		var in []Source
		for _, b := range c.inputs {
			in = append(in, source1(t, b))
		}
		var got []uint16
		for _, f := range drain(t, Merge(in...)) {
			got = append(got, f.Iface)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: interfaces %v, want %v", c.desc, got, c.want)
		}
	}
}

func TestMergeKeepsInterfacesApart(t *testing.T) {
	o := orders[0]
	ng := join(section(o), ifaceBlock(o, 1, 0, opt(o, optIfResol, []byte{9})), ifaceBlock(o, 1, 0, opt(o, optIfResol, []byte{9})),
		epb(o, 1, 20, []byte("n1"), 0), epb(o, 0, 40, []byte("n0"), 0), epb(o, 1, 50, []byte("n1"), 0))
	m := Merge(source1(t, at(t, "a", 10, 60)), source1(t, ng), source1(t, at(t, "b", 35)))
	want := []struct {
		data   string
		iface  uint16
		source int
		number uint64
	}{{"a", 0, 0, 1}, {"n1", 1, 1, 1}, {"b", 2, 2, 1}, {"n0", 3, 1, 2}, {"n1", 1, 1, 3}, {"a", 0, 0, 2}}
	for i, w := range want {
		var f decode.Frame
		if err := m.Read(&f); err != nil {
			t.Fatal(err)
		}
		source, number := m.Origin()
		if string(f.Data) != w.data || f.Iface != w.iface || source != w.source || number != w.number {
			t.Errorf("frame %d is %q of interface %d, number %d of source %d; want %+v", i+1, f.Data, f.Iface, number, source, w)
		}
	}
	if s, n, ok := m.Interface(3); s != 1 || n != 0 || !ok {
		t.Errorf("interface 3 is %d of source %d, %v", n, s, ok)
	}
	if _, _, ok := m.Interface(4); ok {
		t.Error("interface 4 is known")
	}
}

func TestMergeGoesOnAfterAnError(t *testing.T) {
	broken := errors.New("disk on fire")
	failing := func(b []byte) Source {
		f, err := NewReader("x", io.MultiReader(bytes.NewReader(b), iotest.ErrReader(broken)))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	m := Merge(failing(at(t, "a", 1, 3)), source1(t, at(t, "b", 2, 4, 5)), failing(at(t, "c")))
	got, errs := "", 0
	for {
		var f decode.Frame
		err := m.Read(&f)
		if err == io.EOF {
			break
		}
		if err != nil {
			if errs++; !errors.Is(err, broken) || errs > 2 {
				t.Fatal(err)
			}
			continue
		}
		got += string(f.Data)
	}
	if got != "ababb" || errs != 2 {
		t.Errorf("read %q, %d errors", got, errs)
	}
}

func TestMergeSharesTheLastNumberBeyondAllNumbers(t *testing.T) {
	m := Merge()
	a, b := &head{source: 0}, &head{source: 1}
	for n := range maxInterfaces {
		m.iface(a, uint16(n))
	}
	if got := m.iface(b, 0); got != maxInterfaces-1 {
		t.Errorf("number %d", got)
	}
	if got := m.iface(a, 7); got != 7 {
		t.Errorf("number %d", got)
	}
}

func TestMergeDoesNotAllocate(t *testing.T) {
	frames := sample(10_000)
	m := Merge(source1(t, pcapOf(t, frames)), source1(t, pcapngOf(t, frames)), source1(t, pcapOf(t, frames)))
	var f decode.Frame
	for range 10 {
		m.Read(&f)
	}
	if n := testing.AllocsPerRun(20, func() {
		for range 1000 {
			m.Read(&f)
		}
	}); n != 0 {
		t.Errorf("%v allocations in 1000 frames", n)
	}
}
