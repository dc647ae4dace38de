package detect

import (
	"slices"
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

type header struct{ flows perRow[headerFlow] }

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
	h.flows.warm(b)
	for i := range b.Streaks {
		r := &b.Streaks[i]
		p := b.Head(r)
		if !r.Counts() || p.QP <= 1 || p.Op == ib.CNP || p.ICRC == decode.ICRCBad {
			continue
		}
		if r.Peer != analysis.NoFlow {
			h.flows.at(r.Peer).peer = r.Flow + 1
			h.flows.at(r.Flow).peer = r.Peer + 1
		}
		f := h.flows.at(r.Flow)
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

// headerConstant is the bits of one way, less those that change, which an adapter does
// that moves to another path. The zero value is of a way that is not known.
type headerConstant struct {
	headerBits
	tverVaries, pkeyVaries, migVaries, known bool
}

func (f *headerFlow) constant() headerConstant {
	c := headerConstant{f.headerBits, f.tverVaries, f.pkeyVaries, f.migVaries, true}
	if c.tverVaries {
		c.tver = 0
	}
	if c.pkeyVaries {
		c.pkey = 0
	}
	if c.migVaries {
		c.mig = false
	}
	return c
}

// cells are the bits as a table holds them: empty where they change.
func (c *headerConstant) cells() []string {
	if !c.known {
		return []string{unknownPeer, unknownPeer, unknownPeer}
	}
	out := []string{"0x" + strconv.FormatUint(uint64(c.pkey), 16), strconv.Itoa(int(c.tver)), strconv.FormatInt(oneIf(c.mig), 10)}
	for i, varies := range []bool{c.pkeyVaries, c.tverVaries, c.migVaries} {
		if varies {
			out[i] = ""
		}
	}
	return out
}

// headerKey is a row of the table.
type headerKey struct {
	hosts
	transport string
	own, back headerConstant
}

func (k *headerKey) cells() []string {
	return slices.Concat([]string{k.src, k.dst, k.transport}, k.own.cells(), k.back.cells())
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
	var sums report.Tally[headerKey]
	for id, x := range h.flows.of(r) {
		f := &r.Flows[id]
		if x.frames == 0 || f.Src == report.Other {
			continue
		}
		k := headerKey{hosts: hostsOf(f), transport: f.Transport, own: x.constant()}
		if x.peer > 0 {
			if back := h.flows.at(x.peer - 1); back.frames > 0 {
				k.back = back.constant()
			}
		}
		sums.Add(&t, k, []int64{1, x.frames, x.first, f.FirstNs, f.LastNs}, func() []string { return k.cells() })
	}
	addTable(r, "header", t)
}
