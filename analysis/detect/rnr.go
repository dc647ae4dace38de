package detect

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// RNR measures how long requesters waited for receivers that had no buffer.
var RNR = add(analysis.Analyzer{
	Name: "rnr",
	Doc: "Which receivers had no buffer posted, and how long did that stop the sender?\n\n" +
		"A receiver-not-ready NAK names a time to wait. The stall runs from the NAK to the resend; a NAK that no\n" +
		"resend follows while the capture goes on has used up the retries.",
	Rules: rnrRules,
	New:   newRNR,
	Judge: judgeRNR,
})

type rnr struct{ flows perRow[*rnrFlow] } // nil for rows without RNR NAKs

// rnrFlow is the RNR NAKs that travel in one row.
type rnrFlow struct {
	naks, stall int64
	longest     int64 // stall
	codes       [32]int32
	open        bool // the last NAK has no resend behind it yet
	psn         ib.PSN
	tries       int64 // NAKs in a row for psn
	last        int64 // time of the last NAK
	frame       uint64
	wait        int64 // what the last NAK asks for
}

func newRNR(*analysis.Config) analysis.Observer { return &rnr{} }

func (n *rnr) Observe(b *analysis.Batch) {
	for i := range b.Streaks {
		r := &b.Streaks[i]
		p := b.Head(r) // no acknowledgement goes on with a run
		switch {
		case !p.HasSyndrome() || !r.Counts():
		case p.Syndrome.Type() == ib.RNRNAK:
			n.row(r.Flow).refused(p)
			b.Note(analysis.RNRNAK, r.From)
		default:
			if f := n.flows.known(r.Flow); f != nil && *f != nil {
				(*f).answered(p)
			}
		}
	}
	for i := range b.Events {
		if e := &b.Events[i]; e.Kind == analysis.RNRStall {
			n.row(e.Flow).resumed(e)
		}
	}
}

func (n *rnr) row(id analysis.FlowID) *rnrFlow {
	f := n.flows.at(id)
	if *f == nil {
		*f = new(rnrFlow) // once in a row's life
	}
	return *f
}

func (f *rnrFlow) refused(p *decode.Packet) {
	f.naks++
	f.codes[p.Syndrome.Value()]++
	if f.tries == 0 || p.PSN != f.psn {
		f.tries = 0
	}
	f.tries++
	f.open, f.psn, f.last, f.frame, f.wait = true, p.PSN, p.Time, p.Frame, int64(p.Syndrome.RNRTimer())
}

// answered takes another answer of the row: what was refused has come again if
// it, or what follows it, is executed or refused for another reason.
func (f *rnrFlow) answered(p *decode.Packet) {
	if f.open && !p.PSN.Before(f.psn) && p.Syndrome&0x7F != ib.NAKPSNSequence {
		f.open = false
	}
}

func (f *rnrFlow) resumed(e *analysis.Event) {
	f.stall += e.Value
	f.longest = max(f.longest, e.Value)
	if e.Ref >= f.frame {
		f.open = false
	}
}

func (n *rnr) Report(r *report.Report) {
	stalls := report.Table{
		Name: "stalls", Help: "Receiver-not-ready NAKs by row and by the wait they ask for.",
		Keys:    append(slices.Clone(lifeKeys), "timer_code"),
		Columns: append(columns("frames", "rnr_naks"), report.Column{Name: "longest_stall", Unit: "ns", Kind: report.Peak}),
	}
	open := report.Table{
		Name: "open", Help: "Rows whose last receiver-not-ready NAK no resend follows.",
		Keys: []string{"src", "dst", "dest_qp", "psn"},
		Columns: []report.Column{{Name: "tries", Kind: report.Peak}, {Name: "wait", Unit: "ns", Kind: report.Peak},
			{Name: "nak_ns", Kind: report.Peak}, {Name: "nak_frame", Kind: report.Peak}},
	}
	for id, row := range n.flows.of(r) {
		f, x := &r.Flows[id], *row
		if x == nil {
			continue
		}
		f.RNRNAKs += x.naks
		f.RNRStallNs += x.stall
		r.Totals.RNRNAKs += x.naks
		if f.Src == report.Other {
			continue
		}
		for code, c := range x.codes {
			if c > 0 {
				stalls.Rows = append(stalls.Rows, report.Row{Key: append(lifeKey(f), strconv.Itoa(code)),
					Values: []int64{int64(c), x.longest}})
			}
		}
		if x.open {
			open.Rows = append(open.Rows, report.Row{Key: []string{f.Src, f.Dst, qpText(f.DestQP), fmt.Sprint(uint32(x.psn))},
				Values: []int64{x.tries, x.wait, x.last, int64(x.frame)}})
		}
	}
	addTable(r, "rnr", stalls)
	addTable(r, "rnr", open)
}
