package detect

import (
	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// beside counts frames of other protocols from adapters that were asked for a
// connection to those that asked: where there are some, an answer would have
// been in view.
type beside struct {
	frames map[adapters]*int64
	last   adapters
	n      *int64 // of last; nil where its frames do not count
}

// adapters is who sends to whom.
type adapters struct{ src, dst [6]byte }

// besideMax is how many pairs of adapters are followed.
const besideMax = 4096

func newBeside(*analysis.Config) analysis.Watcher {
	return &beside{frames: map[adapters]*int64{}}
}

func (w *beside) Watch(ts []analysis.Train, sorts analysis.Sorts) {
	if !sorts.Has(analysis.Management) && (len(w.frames) == 0 || !sorts.Has(analysis.NoRoCE)) {
		return
	}
	for i := range ts {
		if s := ts[i].Sort; s != analysis.NoRoCE && s != analysis.Management {
			continue
		}
		for _, p := range ts[i].Packets {
			w.packet(p)
		}
	}
}

func (w *beside) packet(p *decode.Packet) {
	switch {
	case p.Status == decode.Other:
		if len(w.frames) == 0 {
			return
		}
		if k := (adapters{p.SrcMAC, p.DstMAC}); k != w.last {
			w.last, w.n = k, w.frames[k]
		}
		if w.n != nil {
			*w.n++
		}
	case p.Status == decode.RoCE && p.QP == ib.GSIQP:
		w.expect(adapters{p.DstMAC, p.SrcMAC})
	}
}

// expect begins to count what comes back.
func (w *beside) expect(k adapters) {
	if w.frames[k] != nil || len(w.frames) >= besideMax || adapterText(k.src) == "" || adapterText(k.dst) == "" {
		return
	}
	w.frames[k] = new(int64)
	w.last = adapters{}
	w.n = nil
}

func (w *beside) Report(r *report.Report) {
	t := report.Table{Name: "beside", Help: "Frames of other protocols between adapters that speak connection management.",
		Keys: []string{"src_mac", "dst_mac"}, Columns: columns("frames", "frames")}
	for k, n := range w.frames {
		if *n > 0 {
			t.Rows = append(t.Rows, report.Row{Key: []string{adapterText(k.src), adapterText(k.dst)}, Values: []int64{*n}})
		}
	}
	addTable(r, "connection", t)
}

// beside reports whether frames of other protocols go back the way a request
// came.
func (v *connectionsView) beside(h hosts) bool {
	back := map[[2]string]bool{}
	for _, row := range v.r.Rows("connection", "beside") {
		if len(row.Key) == 2 {
			back[[2]string{row.Key[1], row.Key[0]}] = true
		}
	}
	for _, row := range v.r.Rows("connection", "ends") {
		if len(row.Key) == 5 && row.Key[0] == h.src && row.Key[1] == h.dst && back[[2]string{row.Key[3], row.Key[4]}] {
			return true
		}
	}
	return false
}
