package ib_test

import (
	"testing"

	"github.com/rocescope/rocescope/decode/ib"
)

func TestPSN(t *testing.T) {
	for _, c := range []struct {
		desc string
		p, q ib.PSN
		sub  int32
	}{
		{"equal", 5, 5, 0},
		{"next", 6, 5, 1},
		{"previous", 5, 6, -1},
		{"next over the wrap", 0, 0xFFFFFF, 1},
		{"previous over the wrap", 0xFFFFFF, 0, -1},
		{"far over the wrap", 0x10, 0xFFFFF0, 0x20},
		{"the furthest ahead", 0x7FFFFF, 0, 1<<23 - 1},
		{"half the space counts as behind", 0x800000, 0, -1 << 23},
		{"half the space from the middle", 0, 0x800000, -1 << 23},
	} {
		if got := c.p.Sub(c.q); got != c.sub {
			t.Errorf("%s: Sub is %d, want %d", c.desc, got, c.sub)
		}
		if got := c.q.Add(c.sub); got != c.p {
			t.Errorf("%s: Add gives %06x, want %06x", c.desc, got, c.p)
		}
		if c.p.Before(c.q) != (c.sub < 0) || c.p.After(c.q) != (c.sub > 0) {
			t.Errorf("%s: Before %v, After %v", c.desc, c.p.Before(c.q), c.p.After(c.q))
		}
	}
}

func FuzzPSN(f *testing.F) {
	f.Add(uint32(0xFFFFFF), int32(1))
	f.Fuzz(func(t *testing.T, p uint32, n int32) {
		a := ib.PSN(p & ib.PSNMask)
		b := a.Add(n)
		if b > ib.PSNMask {
			t.Fatalf("%06x + %d = %x leaves the space", a, n, b)
		}
		if a.Add(b.Sub(a)) != b {
			t.Fatalf("%06x + (%06x - %06x) is not %06x", a, b, a, b)
		}
	})
}
