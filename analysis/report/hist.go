package report

import (
	"math"
	"math/bits"
	"slices"
)

// Hist counts durations (or any non-negative values) in buckets of constant
// relative width, about 3 %: 32 to an octave. It adds up exactly, keeps the
// extremes exactly, and takes 8 bytes for each bucket in use. The zero value is
// empty and ready.
//
// A copy of a Hist shares its buckets with the original; use Clone to go on
// counting in both.
type Hist struct {
	Min, Max int64 // exact; 0 where the Hist is empty
	buckets  []bucket
}

// bucket is one range of values in use. Buckets are kept in the order of index,
// and none has count 0. A count stays at its largest value once it got there,
// which keeps Merge associative.
type bucket struct {
	index uint16
	count uint32
}

const subBits = 5

// bucketOf numbers values: below 64 one by one, then 32 to an octave.
func bucketOf(v int64) uint16 {
	if v < 1<<(subBits+1) {
		return uint16(max(v, 0))
	}
	shift := bits.Len64(uint64(v)) - subBits - 1
	return uint16(shift<<subBits) + uint16(v>>shift)
}

// lowOf returns the smallest value of a bucket, and the number of values in it.
func lowOf(i uint16) (low, width int64) {
	if i < 1<<(subBits+1) {
		return int64(i), 1
	}
	shift := int(i>>subBits) - 1
	return (int64(i&(1<<subBits-1)) + 1<<subBits) << shift, 1 << shift
}

// valueOf returns the middle of a bucket, which is within 1/64 of every value
// in it.
func valueOf(i uint16) int64 {
	low, width := lowOf(i)
	return low + width/2
}

// Add counts one value. A negative value counts as 0. It allocates only when a
// value falls into a bucket not used before.
func (h *Hist) Add(v int64) { h.AddN(v, 1) }

// AddN counts a value n times; it does nothing where n is not positive.
func (h *Hist) AddN(v, n int64) {
	if n <= 0 {
		return
	}
	v = max(v, 0)
	h.extremes(v, v)
	h.count(bucketOf(v), n)
}

// Merge adds what other counted. Other stays as it is.
func (h *Hist) Merge(other *Hist) {
	if other.IsZero() {
		return
	}
	h.extremes(other.Min, other.Max)
	for _, b := range other.buckets {
		h.count(b.index, int64(b.count))
	}
}

// extremes widens Min and Max; it is called before the first bucket is there.
func (h *Hist) extremes(low, high int64) {
	if h.IsZero() {
		h.Min, h.Max = low, high
		return
	}
	h.Min, h.Max = min(h.Min, low), max(h.Max, high)
}

// count adds n to a bucket, which it inserts where it is missing. Round trips
// fill some dozens of buckets, so insertion into a sorted list is cheap.
func (h *Hist) count(index uint16, n int64) {
	low, high := 0, len(h.buckets)
	for low < high {
		mid := int(uint(low+high) >> 1)
		if h.buckets[mid].index < index {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == len(h.buckets) || h.buckets[low].index != index {
		h.buckets = slices.Insert(h.buckets, low, bucket{index: index})
	}
	b := &h.buckets[low]
	b.count = uint32(min(n, math.MaxUint32-int64(b.count))) + b.count
}

// IsZero reports whether nothing was counted.
func (h *Hist) IsZero() bool { return len(h.buckets) == 0 }

// Count returns how many values were counted.
func (h *Hist) Count() int64 {
	var n int64
	for _, b := range h.buckets {
		n += int64(b.count)
	}
	return n
}

// Quantile returns the value below which the share q of all values lies, within
// 1.6 %: Quantile(0.5) is the median. Up to 0 it is Min, from 1 on Max, and 0
// where nothing was counted.
func (h *Hist) Quantile(q float64) int64 {
	switch {
	case q >= 1:
		return h.Max
	case !(q > 0): // not a number, too
		return h.Min
	}
	rank := int64(math.Ceil(q * float64(h.Count())))
	for _, b := range h.buckets {
		rank -= int64(b.count)
		if rank <= 0 {
			return min(max(valueOf(b.index), h.Min), h.Max)
		}
	}
	return h.Max
}

// Clone returns a copy that shares nothing with h.
func (h *Hist) Clone() Hist {
	return Hist{Min: h.Min, Max: h.Max, buckets: slices.Clone(h.buckets)}
}
