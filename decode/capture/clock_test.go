package capture

import (
	"math"
	"math/big"
	"testing"
)

func TestClock(t *testing.T) {
	for _, c := range []struct {
		desc   string
		resol  uint8
		offset int64
		t      uint64
		want   int64
	}{
		{"seconds", 0, 0, 1_700_000_000, 1_700_000_000e9},
		{"microseconds", 6, 0, 1_700_000_000_000_001, 1_700_000_000_000_001_000},
		{"nanoseconds", 9, 0, 1_700_000_000_000_000_001, 1_700_000_000_000_000_001},
		{"tenths of nanoseconds round down", 10, 0, 19, 1},
		{"10^-19 s", 19, 0, math.MaxUint64, 1844674407},
		{"10^-28 s", 28, 0, math.MaxUint64, 1},
		{"10^-127 s is never a nanosecond", 127, 0, math.MaxUint64, 0},
		{"2^0 s", 0x80, 0, 3, 3e9},
		{"2^-20 s", 0x94, 0, 1<<20 + 1<<19, 15e8},
		{"2^-32 s, as NTP counts", 0xa0, 0, 1_700_000_000<<32 | 1<<31, 1_700_000_000_500_000_000},
		{"2^-63 s", 0xbf, 0, math.MaxUint64, 1_999_999_999},
		{"2^-64 s", 0xc0, 0, 1 << 63, 500_000_000},
		{"2^-127 s", 0xff, 0, math.MaxUint64, 0},
		{"an offset is added", 6, -10, 11_000_000, 1e9},
		{"beyond the year 2262 is the end of time", 0, 0, math.MaxUint64, math.MaxInt64},
		{"beyond it by its offset too", 9, math.MaxInt64, 1, math.MaxInt64},
		{"and before the year 1678 its beginning", 9, math.MinInt64, 0, math.MinInt64},
	} {
		k := newClock(c.resol, c.offset)
		if got := k.nanos(c.t); got != c.want {
			t.Errorf("%s: %d, want %d", c.desc, got, c.want)
		}
	}
}

// Every resolution is held against arithmetic of unlimited width.
func TestClockAgainstBigNumbers(t *testing.T) {
	times := []uint64{0, 1, 999, 1 << 31, 1 << 32, 1<<53 + 1, 1_700_000_000_123_456_789, 1 << 63, math.MaxUint64}
	for resol := range 256 {
		k := newClock(uint8(resol), 0)
		base := int64(10)
		if resol&0x80 != 0 {
			base = 2
		}
		unit := new(big.Int).Exp(big.NewInt(base), big.NewInt(int64(resol&0x7f)), nil)
		for _, v := range times {
			want := new(big.Int).SetUint64(v)
			want.Mul(want, big.NewInt(1e9)).Div(want, unit)
			if !want.IsInt64() {
				want.SetInt64(math.MaxInt64)
			}
			if got := k.nanos(v); got != want.Int64() {
				t.Errorf("resolution %#x: %d is %d ns, want %v", resol, v, got, want)
			}
		}
	}
}
