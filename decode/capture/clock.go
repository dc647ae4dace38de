package capture

import (
	"math"
	"math/bits"
)

// A clock turns the times of one pcapng interface into nanoseconds.
type clock struct {
	mul    uint64 // 1 where div is above 1
	div    uint64
	shift  uint  // for binary resolutions, whose mul is 10^9
	offset int64 // nanoseconds
}

// newClock takes if_tsresol and if_tsoffset (seconds). Any value is valid; a
// unit so small that nothing of 64 bits reaches a nanosecond gives 0.
func newClock(resol uint8, offset int64) clock {
	c := clock{mul: 1, div: 1, offset: seconds(offset)}
	n := uint(resol & 0x7f)
	switch {
	case resol&0x80 != 0:
		c.mul, c.shift = 1e9, n
	case n <= 9:
		c.mul = pow10(9 - n)
	case n <= 9+19: // 10^19 is the last power of ten below 2^64
		c.div = pow10(n - 9)
	default:
		c.mul = 0
	}
	return c
}

// nanos converts a time, saturating at the ends of int64.
func (c *clock) nanos(t uint64) int64 {
	hi, lo := bits.Mul64(t, c.mul)
	if c.div > 1 {
		lo /= c.div
	}
	if c.shift > 0 {
		hi, lo = shiftRight(hi, lo, c.shift)
	}
	if hi != 0 || lo > math.MaxInt64 {
		lo = math.MaxInt64
	}
	return addSaturating(int64(lo), c.offset)
}

// shiftRight shifts the 128 bits hi:lo right by n.
func shiftRight(hi, lo uint64, n uint) (uint64, uint64) {
	if n >= 64 {
		return 0, hi >> (n - 64)
	}
	return hi >> n, lo>>n | hi<<(64-n)
}

func addSaturating(a, b int64) int64 {
	s := a + b
	if b > 0 && s < a {
		return math.MaxInt64
	}
	if b < 0 && s > a {
		return math.MinInt64
	}
	return s
}

// seconds converts seconds to nanoseconds, saturating.
func seconds(s int64) int64 {
	const most = math.MaxInt64 / 1_000_000_000
	switch {
	case s > most:
		return math.MaxInt64
	case s < -most:
		return math.MinInt64
	}
	return s * 1e9
}

// pow10 returns 10^n for n up to 19.
func pow10(n uint) uint64 {
	v := uint64(1)
	for range n {
		v *= 10
	}
	return v
}
