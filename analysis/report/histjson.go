package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
)

// histJSON is the JSON form of a Hist. A bucket stands as the smallest value it
// holds and its count, so that a reader need not know how values are numbered.
type histJSON struct {
	Min     int64      `json:"min"`
	Max     int64      `json:"max"`
	Buckets [][2]int64 `json:"buckets"`
}

var histNode = nodeOf(reflect.TypeFor[Hist](), 0)

// MarshalJSON writes the extremes and, for each bucket, its smallest value and
// its count.
func (h Hist) MarshalJSON() ([]byte, error) {
	return histNode.encode(nil, reflect.ValueOf(&h).Elem()), nil
}

// UnmarshalJSON reads what MarshalJSON wrote, and refuses what it could not
// have written.
func (h *Hist) UnmarshalJSON(data []byte) error {
	var in histJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	var out Hist
	for i, b := range in.Buckets {
		low, count := b[0], b[1]
		index := bucketOf(low)
		if start, _ := lowOf(index); start != low {
			return fmt.Errorf("histogram: no bucket starts at %d", low)
		}
		if count < 1 || count > math.MaxUint32 {
			return fmt.Errorf("histogram: bucket %d has count %d", low, count)
		}
		if i > 0 && index <= out.buckets[i-1].index {
			return fmt.Errorf("histogram: bucket %d is out of order", low)
		}
		out.buckets = append(out.buckets, bucket{index, uint32(count)})
	}
	if n := len(out.buckets); n > 0 {
		out.Min, out.Max = in.Min, in.Max
		if out.Min < 0 || out.Min > out.Max ||
			bucketOf(out.Min) != out.buckets[0].index || bucketOf(out.Max) != out.buckets[n-1].index {
			return errors.New("histogram: the extremes lie outside the buckets")
		}
	}
	*h = out
	return nil
}
