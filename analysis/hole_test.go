package analysis

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/decode/ib"
)

// text writes holes as "3-5 7" with a letter for a fate that is not open.
func (hs *holes) text(base ib.PSN) string {
	var out []string
	for i := range hs.list {
		h := &hs.list[i]
		w := fmt.Sprint(h.start.Sub(base))
		if h.len() != 1 {
			w += fmt.Sprintf("-%d", h.end.Sub(base)-1)
		}
		out = append(out, w+[]string{"", "L", "R", "A"}[h.fate])
	}
	return strings.Join(out, " ")
}

func TestCutTakesAPieceOutOfAHole(t *testing.T) {
	for _, base := range startPSNs {
		at := base.Add
		for _, c := range []struct {
			name     string
			from, to int32
			left     string
			piece    string
			open     int
		}{
			{"the middle leaves both sides", 4, 6, "2-3 6-8", "4-5", 2},
			{"the start leaves the end", 2, 4, "4-8", "2-3", 1},
			{"the end leaves the start", 7, 9, "2-6", "7-8", 1},
			{"all of it leaves nothing", 2, 9, "", "2-8", 0},
			{"more than all of it leaves nothing", 0, 20, "", "2-8", 0},
			{"what lies across its start is cut off", 0, 3, "3-8", "2", 1},
			{"what lies across its end is cut off", 8, 12, "2-7", "8", 1},
		} {
			var hs holes
			hs.add(hole{start: at(2), end: at(9)})
			piece := holes{list: []hole{hs.cut(0, at(c.from), at(c.to))}}
			if got := hs.text(base); got != c.left || hs.open != c.open {
				t.Errorf("%s from %#x: %q of %d open, want %q of %d", c.name, base, got, hs.open, c.left, c.open)
			}
			if got := piece.text(base); got != c.piece {
				t.Errorf("%s from %#x: the piece is %q, want %q", c.name, base, got, c.piece)
			}
		}
	}
}

func TestTakeRemovesOnePSNOfAClosedHole(t *testing.T) {
	for _, c := range []struct {
		psn  ib.PSN
		left string
	}{{2, "3-4A"}, {3, "2A 4A"}, {4, "2-3A"}} {
		var hs holes
		hs.add(hole{start: 2, end: 5, fate: fateAcked})
		hs.take(0, c.psn)
		if got := hs.text(0); got != c.left || hs.open != 0 {
			t.Errorf("without %d: %q of %d open, want %q", c.psn, got, hs.open, c.left)
		}
	}
	var hs holes
	hs.add(hole{start: 2, end: 3, fate: fateLost})
	if hs.take(0, 2); len(hs.list) != 0 {
		t.Errorf("without its only PSN a hole is %q", hs.text(0))
	}
}

func TestTheOldestHoleFallsOut(t *testing.T) {
	var hs holes
	for n := range ib.PSN(holesMax) {
		if _, full := hs.add(hole{start: n, end: n + 1}); full {
			t.Fatalf("full after %d", n)
		}
	}
	out, full := hs.add(hole{start: 1000, end: 1001})
	if !full || out.start != 0 || len(hs.list) != holesMax || hs.open != holesMax {
		t.Errorf("PSN %d fell out of %d, %d open", out.start, len(hs.list), hs.open)
	}
}

func TestKeepMakesRoomAmongTheClosedFirst(t *testing.T) {
	var hs holes
	for n := range ib.PSN(holesMax) {
		f := fateOpen
		if n == 5 {
			f = fateLost
		}
		hs.add(hole{start: n, end: n + 1, fate: f})
	}
	hs.keep(hole{start: 1000, end: 1001, fate: fateLate})
	hs.keep(hole{start: 1001, end: 1002, fate: fateLate})
	if got := hs.list[len(hs.list)-1].start; got != 1001 || hs.open != holesMax-1 || len(hs.list) != holesMax {
		t.Errorf("the last of %d is %d, %d open", len(hs.list), got, hs.open)
	}
}

func TestOpenAtFindsTheNewestOfItsPass(t *testing.T) {
	var hs holes
	hs.add(hole{start: 2, end: 5, pass: 0})
	hs.add(hole{start: 3, end: 6, pass: 1})
	hs.add(hole{start: 3, end: 6, pass: 2, fate: fateLost})
	for _, c := range []struct {
		psn  ib.PSN
		pass int
		want int // the pass of the hole, -1 none
	}{{3, -1, 1}, {2, -1, 0}, {3, 0, 0}, {2, 1, -1}, {6, -1, -1}, {3, 2, -1}, {1, -1, -1}} {
		h := hs.openAt(c.psn, c.pass)
		if got := h != nil; got != (c.want >= 0) || got && int(h.pass) != c.want {
			t.Errorf("PSN %d of pass %d: %v, want pass %d", c.psn, c.pass, h, c.want)
		}
	}
}

// TestCutsAgreeWithASet cuts at random and compares with a plain set of PSNs.
func TestCutsAgreeWithASet(t *testing.T) {
	for seed := range uint64(50) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			base := startPSNs[seed%2]
			var hs holes
			hs.add(hole{start: base, end: base.Add(40)})
			open := map[int32]bool{}
			for n := range int32(40) {
				open[n] = true
			}
			for range 30 {
				from := rng.Int32N(40)
				to := from + 1 + rng.Int32N(4)
				for i := range hs.list {
					if h := &hs.list[i]; h.start.Before(base.Add(to)) && base.Add(from).Before(h.end) {
						piece := hs.cut(i, base.Add(from), base.Add(to))
						for d := range piece.len() {
							delete(open, piece.start.Sub(base)+d)
						}
						break
					}
				}
				for n := range int32(40) {
					if got := hs.openAt(base.Add(n), -1) != nil; got != open[n] {
						t.Fatalf("%d open is %v, want %v: %s", n, got, open[n], hs.text(base))
					}
				}
			}
		})
	}
}
