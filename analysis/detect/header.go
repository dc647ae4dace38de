package detect

import (
	"strconv"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// Header compares what is constant in the headers of the two directions.
var Header = add(analysis.Analyzer{
	Name: "header",
	Doc: "Do both ends of a connection fill in the constant bits of the BTH alike?\n\n" +
		"Transport version and partition key should be the same both ways, and a stack that finds them wrong drops the packet\n" +
		"without a word. MigReq differs between makes of adapters and harms nobody as a rule. CNPs and connection management\n" +
		"have habits of their own and do not count.",
	Rules: headerRules,
	New:   newHeader,
	Judge: judgeHeader,
})

type header struct{ flows []headerFlow }

// headerFlow is the constant bits of a row.
type headerFlow struct {
	headerBits
	tverVaries, pkeyVaries, migVaries bool
	frames                            int64
	first                             int64           // frame
	peer                              analysis.FlowID // of the way back, plus one; 0 unknown
}

type headerBits struct {
	pkey uint16
	tver uint8
	mig  bool
}

func newHeader(*analysis.Config) analysis.Observer { return &header{} }

func (h *header) Observe(b *analysis.Batch) {
	for i := range b.Streaks {
		r := &b.Streaks[i]
		p := b.Head(r)
		if !r.Counts() || p.QP <= 1 || p.Op == ib.CNP || p.ICRC == decode.ICRCBad {
			continue
		}
		if r.Peer != analysis.NoFlow {
			at(&h.flows, r.Peer).peer = r.Flow + 1
			at(&h.flows, r.Flow).peer = r.Peer + 1
		}
		f := at(&h.flows, r.Flow)
		bits := headerBits{p.PKey, p.TVer, p.MigReq}
		if f.frames == 0 {
			f.headerBits, f.first = bits, int64(p.Frame)
		}
		f.frames += r.Len()
		f.tverVaries = f.tverVaries || f.tver != bits.tver
		f.pkeyVaries = f.pkeyVaries || f.pkey != bits.pkey
		f.migVaries = f.migVaries || f.mig != bits.mig
	}
}

// cells are the bits as a table holds them: empty where they change, which an
// adapter does that moves to another path.
func (f *headerFlow) cells() [3]string {
	c := [3]string{"0x" + strconv.FormatUint(uint64(f.pkey), 16), strconv.Itoa(int(f.tver)), "0"}
	if f.mig {
		c[2] = "1"
	}
	for i, varies := range []bool{f.pkeyVaries, f.tverVaries, f.migVaries} {
		if varies {
			c[i] = ""
		}
	}
	return c
}

// unknownPeer stands in the columns of the way back where it is not known which
// row that is.
const unknownPeer = "?"

func (h *header) Report(r *report.Report) {
	t := report.Table{
		Name: "bits", Help: "Bits of the BTH that are constant in a queue pair, and those of the way back; empty where they change, ? where the way back is not known.",
		Keys: []string{"src", "dst", "transport", "p_key", "tver", "migreq", "back_p_key", "back_tver", "back_migreq"},
		Columns: append(columns("", "queue_pairs", "frames"), report.Column{Name: "first_frame", Kind: report.Floor},
			report.Column{Name: "first_ns", Unit: "ns", Kind: report.Floor}, report.Column{Name: "last_ns", Unit: "ns", Kind: report.Peak}),
	}
	index := map[[9]string]int{}
	for id := range h.flows {
		x, f := &h.flows[id], &r.Flows[id]
		if x.frames == 0 || f.Src == report.Other {
			continue
		}
		own, back := x.cells(), [3]string{unknownPeer, unknownPeer, unknownPeer}
		if x.peer > 0 && h.flows[x.peer-1].frames > 0 {
			back = h.flows[x.peer-1].cells()
		}
		k := [9]string{f.Src, f.Dst, f.Transport, own[0], own[1], own[2], back[0], back[1], back[2]}
		values := []int64{1, x.frames, x.first, f.FirstNs, f.LastNs}
		i, ok := index[k]
		if !ok {
			index[k] = len(t.Rows)
			t.Rows = append(t.Rows, report.Row{Key: k[:], Values: values})
			continue
		}
		v := t.Rows[i].Values
		v[headerQPs]++
		v[headerFrames] += x.frames
		v[headerFirstFrame], v[headerFirstNs] = min(v[headerFirstFrame], x.first), min(v[headerFirstNs], f.FirstNs)
		v[headerLastNs] = max(v[headerLastNs], f.LastNs)
	}
	addTable(r, "header", t)
}
