package detect

import (
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
)

// otherTraffic counts frames that are no RoCE by sender and receiver: they show
// that a direction is in view although a queue pair says nothing in it.
type otherTraffic map[[2][16]byte]int64

// otherPairs bounds otherTraffic; a capture of RoCE holds few others.
const otherPairs = 1024

func (o otherTraffic) count(p *decode.Packet) {
	k := [2][16]byte{p.Src, p.Dst}
	if p.Status != decode.Other || p.Dst == [16]byte{} {
		return
	}
	if _, known := o[k]; known || len(o) < otherPairs {
		o[k]++
	}
}

func (o otherTraffic) table() report.Table {
	t := report.Table{Name: "others", Help: "Frames that are no RoCE, by sender and receiver.", Keys: []string{"src", "dst"}, Columns: columns("frames", "frames")}
	for k, n := range o {
		t.Rows = append(t.Rows, report.Row{Key: []string{decode.Address(k[0]), decode.Address(k[1])}, Values: []int64{n}})
	}
	return t
}
