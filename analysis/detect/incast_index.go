package detect

import (
	"slices"

	"github.com/rocescope/rocescope/analysis"
)

// burstIndex finds the receiver of a train and the number of its sender there, by
// the numbers of its hosts.
type burstIndex struct {
	places  []int32 // by host: place in burst.receivers, and one; 0 for who receives nothing
	numbers []uint8 // by pair: of the sender at its receiver, below 64, and one; 0 while it sent no data
}

// burstReceiversMost caps the receivers; one beyond is none.
const burstReceiversMost = 1 << 14

// receiver returns the place of the receiver of data, negative beyond the cap.
func (x *burstIndex) receiver(t *analysis.Train, rs *[]receiver) int32 {
	if t.Dst < 0 {
		return -1
	}
	if int(t.Dst) >= len(x.places) {
		x.places = slices.Grow(x.places, int(t.Dst)+1-len(x.places))[:t.Dst+1]
	}
	if x.places[t.Dst] == 0 {
		if len(*rs) == burstReceiversMost {
			return -1
		}
		*rs = append(*rs, receiver{addr: t.First().Dst})
		x.places[t.Dst] = int32(len(*rs))
	}
	return x.places[t.Dst] - 1
}

// sender returns the bit of the sender of data. Senders beyond 64 share bits.
func (x *burstIndex) sender(t *analysis.Train, r *receiver) uint64 {
	if t.Pair < 0 {
		return 1 << (t.Src & 63)
	}
	if int(t.Pair) >= len(x.numbers) {
		x.numbers = slices.Grow(x.numbers, int(t.Pair)+1-len(x.numbers))[:t.Pair+1]
	}
	n := &x.numbers[t.Pair]
	if *n == 0 {
		*n = uint8(r.senders&63) + 1
		r.senders++
	}
	return 1 << (*n - 1)
}

// refused returns the place of the receiver that sent a NAK, and the bit of the
// sender that it went to; the place is negative where that sent no data to it.
func (x *burstIndex) refused(t *analysis.Train) (int32, uint64) {
	if t.Back < 0 || int(t.Back) >= len(x.numbers) || x.numbers[t.Back] == 0 {
		return -1, 0
	}
	return x.places[t.Src] - 1, 1 << (x.numbers[t.Back] - 1)
}
