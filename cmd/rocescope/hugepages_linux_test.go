package main

import (
	"runtime/metrics"
	"testing"
)

func TestHugePagesTakeNoMemory(t *testing.T) {
	if addresses() == 0 {
		t.Skip("addresses are limited here")
	}
	before := held()
	hugePages()
	if after := held(); after > before+8<<20 {
		t.Errorf("%d bytes are held, %d before", after, before)
	}
}

// held is how much memory the runtime has and has not given back.
func held() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}
