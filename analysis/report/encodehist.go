package report

import (
	"reflect"
	"strconv"
)

// hist returns the encoder of a Hist: the extremes and, for each bucket, the
// smallest value that it holds and its count.
func (n *node) hist(depth int) encoder {
	bucketLine, numberLine := line(depth+2), line(depth+3)
	return func(b []byte, v reflect.Value) []byte {
		h := v.Addr().Interface().(*Hist)
		b = appendNumber(append(b, '{'), n.open+`"min": `, h.Min)
		b = appendNumber(b, ","+n.open+`"max": `, h.Max)
		b = append(append(append(b, ','), n.open...), `"buckets": [`...)
		for i, x := range h.buckets {
			if i > 0 {
				b = append(b, ',')
			}
			low, _ := lowOf(x.index)
			b = append(append(b, bucketLine...), '[')
			b = append(strconv.AppendInt(append(b, numberLine...), low, 10), ',')
			b = strconv.AppendUint(append(b, numberLine...), uint64(x.count), 10)
			b = append(append(b, bucketLine...), ']')
		}
		if len(h.buckets) > 0 {
			b = append(b, n.open...)
		}
		return append(append(append(b, ']'), n.end...), '}')
	}
}

func appendNumber(b []byte, label string, v int64) []byte {
	return strconv.AppendInt(append(b, label...), v, 10)
}

// latencyOf returns the encoder of a row's columns of latency, which stand in
// the place of AckRTT: quantiles and, where it is not empty, the Hist.
func latencyOf(depth int) encoder {
	at := line(depth)
	p50, p99, most, all := at+`"ack_rtt_p50_ns": `, ","+at+`"ack_rtt_p99_ns": `, ","+at+`"ack_rtt_max_ns": `, ","+at+`"ack_rtt": `
	whole := nodeOf(reflect.TypeFor[Hist](), depth)
	return func(b []byte, v reflect.Value) []byte {
		h := v.Addr().Interface().(*Hist)
		b = appendNumber(b, p50, h.Quantile(0.50))
		b = appendNumber(b, p99, h.Quantile(0.99))
		b = appendNumber(b, most, h.Max)
		if h.IsZero() {
			return b
		}
		return whole.encode(append(b, all...), v)
	}
}
