package report

import "math/bits"

// Hist counts durations (or any non-negative values) in buckets of constant
// relative width, about 3 %: 32 to an octave. It adds up exactly, keeps the
// extremes exactly, and takes 6 bytes for each bucket in use. The zero value is
// empty and ready.
type Hist struct {
	Min, Max int64 // exact; 0 where the Hist is empty
	buckets  []bucket
}

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

// valueOf returns the middle of a bucket.
func valueOf(i uint16) int64 {
	if i < 1<<(subBits+1) {
		return int64(i)
	}
	shift := int(i>>subBits) - 1
	low := (int64(i&(1<<subBits-1)) + 1<<subBits) << shift
	return low + int64(1)<<shift/2
}
