package report

import (
	"cmp"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"testing"
)

// slowCompare is the order of cells as it is meant: numbers by value, then
// addresses by value, then the rest as text.
func slowCompare(a, b string) int {
	rank := func(s string) (int, int64, netip.Addr) {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil && s[0] != '+' {
			return 0, n, netip.Addr{}
		}
		if addr, err := netip.ParseAddr(s); err == nil {
			return 1, 0, addr
		}
		return 2, 0, netip.Addr{}
	}
	rankA, numberA, addrA := rank(a)
	rankB, numberB, addrB := rank(b)
	return cmp.Or(cmp.Compare(rankA, rankB), cmp.Compare(numberA, numberB), addrA.Compare(addrB), cmp.Compare(a, b))
}

func TestCellsAreInOrder(t *testing.T) {
	texts := []string{
		"", "-", "0", "-0", "00", "7", "007", "+7", "-7", "10", "1767225600035061760", "-9223372036854775808", "9223372036854775807", "9223372036854775808",
		"10.0.0.2", "10.0.0.10", "10.0.0.010", "255.255.255.255", "10.0.0", "::", "::1", "::2", "fe80::1", "fe80::1%a", "fe80::1%b", "2001:db8::1", "2001:db8::ff",
		"2001:db8::100", "2001:DB8::1", "::ffff:10.0.0.1", "::ffff:a00:1", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:9", "1:2:3:4:5:6:7.8.9.0", "0c:42:a1:01:00:00",
		"0c:42:a1:01:00:01", "0c:42:a1:01:00:00:", "LID 7", "LID 10", "0x16091", "0x1609", "a text of some length 1", "a text of some length 2", "untagged", "é", "\x00", "a\x00", "a",
	}
	rnd := rand.New(rand.NewPCG(8, 9))
	for range 100 {
		texts = append(texts, netip.AddrFrom16([16]byte{0x20, 1, 15: byte(rnd.Uint32())}).String(), strconv.FormatInt(rnd.Int64N(99)-50, 10))
	}
	for _, a := range texts {
		for _, b := range texts {
			if got, want := compareCells(a, b), slowCompare(a, b); got != want {
				t.Errorf("%q against %q: %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestArrange(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for n := range 50 {
		s, order := make([]int, n), make([]int32, n)
		for i, v := range rnd.Perm(n) {
			s[v], order[i] = i, int32(v)
		}
		arrange(s, order)
		for i, v := range s {
			if v != i {
				t.Fatalf("%d stands at %d of %d", v, i, n)
			}
		}
	}
}

// Join gives what Merge gives, of one list of rows and of several.
func TestJoinIsMerge(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		parts := []*Report{merged(t, randomReport(rnd)), merged(t, randomReport(rnd)), merged(t, randomReport(rnd))}
		if seed%2 == 0 {
			parts[0].Flows, parts[2].Flows = nil, nil
			rnd.Shuffle(len(parts[1].Flows), func(i, j int) { f := parts[1].Flows; f[i], f[j] = f[j], f[i] })
		}
		want := text(t, merged(t, parts...))
		sum, err := Join(parts...)
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, sum); got != want {
			t.Fatalf("seed %d: %s", seed, firstDifference(got, want))
		}
	}
}
