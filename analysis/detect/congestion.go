package detect

import (
	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// Congestion counts ECN marks and the notifications they draw.
var Congestion = add(analysis.Analyzer{
	Name: "congestion",
	Doc: "Which receivers get frames marked by congestion, and are their senders told?\n\n" +
		"A switch marks (CE), the receiver's adapter answers with a CNP towards the sender's queue pair, and the sender\n" +
		"slows down. Each link of that chain can be missing.",
	Rules: congestionRules,
	New:   newCongestion,
	Watch: watchCongestion,
	Judge: judgeCongestion,
})

type congestion struct {
	flows perRow[congestionFlow]
	becn  perRow[int64]             // BECN on packets that are no CNP
	pairs map[[2][16]byte]*pairCNPs // no more than pairs of hosts with rows
	near  int64                     // Limits.NearNAK
}

// congestionFlow is a row's marks and notifications.
type congestionFlow struct {
	ect, notECT int64      // data frames that could be marked and are not, and that could not
	marks       *rowMarks  // nil while nothing is marked
	notices     *rowNotice // nil while there is no CNP, and no sequence NAK
}

// rowMarks is the marked frames of a row.
type rowMarks struct {
	ce, data int64
	times    *markTimes // of the data; nil where none is marked
}

// rowNotice is the CNPs of a row, and the sequence NAKs.
type rowNotice struct {
	cnps, nearNAK int64
	lastNAK       int64 // time of the last sequence NAK
	lastCNP       int64 // time of the last CNP that no NAK is near
	times         cnpTimes
}

func (f *congestionFlow) notice() *rowNotice {
	if f.notices == nil {
		f.notices = new(rowNotice) // once in a row's life
	}
	return f.notices
}

func newCongestion(c *analysis.Config) analysis.Observer {
	return &congestion{pairs: map[[2][16]byte]*pairCNPs{}, near: c.Limits.NearNAK}
}

func (c *congestion) Observe(b *analysis.Batch) {
	c.flows.warm(b)
	for i := range b.Streaks {
		r := &b.Streaks[i]
		if !r.Counts() {
			continue
		}
		p, f := b.Head(r), c.flows.at(r.Flow)
		if p.ECN == decode.CE {
			if f.marks == nil {
				f.marks = new(rowMarks) // once in a row's life
			}
			f.marks.ce += r.Len()
			for n := r.From; n < r.To; n++ {
				b.Note(analysis.CEMark, n)
			}
		}
		switch {
		case p.Op == ib.CNP:
			f.notice().notified(p, c.near)
			c.told(b, r.From)
			b.Note(analysis.CNPSeen, r.From)
			continue
		case p.IsSequenceNAK():
			f.notice().refused(p, c.near)
		case p.MovesData():
			f.data(b, r)
		}
		if p.BECN {
			*c.becn.at(r.Flow) += r.Len()
		}
	}
}

// told takes the time of a CNP.
func (c *congestion) told(b *analysis.Batch, i int) {
	p := &b.Packets[i]
	var m *markTimes
	if data := c.flows.known(b.Peer[i]); data != nil && data.marks != nil {
		m = data.marks.times
	}
	c.flows.at(b.Flow[i]).notice().times.notifies(p, m)
	k := [2][16]byte{p.Src, p.Dst}
	pair := c.pairs[k]
	if pair == nil {
		pair = new(pairCNPs)
		c.pairs[k] = pair
	}
	pair.other(p)
}

func (f *rowNotice) notified(p *decode.Packet, near int64) {
	f.cnps++
	f.lastCNP = p.Time
	if f.lastNAK != 0 && p.Time-f.lastNAK <= near {
		f.nearNAK++
		f.lastCNP = 0
	}
}

func (f *rowNotice) refused(p *decode.Packet, near int64) {
	f.lastNAK = p.Time
	if f.lastCNP != 0 && p.Time-f.lastCNP <= near {
		f.nearNAK++
		f.lastCNP = 0
	}
}

// data takes data frames that are marked alike.
func (f *congestionFlow) data(b *analysis.Batch, r *analysis.Streak) {
	p, n := b.Head(r), r.Len()
	if p.Version != 2 {
		return // no switch marks a GRH
	}
	switch p.ECN {
	case decode.NotECT:
		f.notECT += n
	case decode.CE:
		f.marks.data += n
	default:
		f.ect += n
	}
	if f.marks == nil {
		return
	}
	if f.marks.times == nil && p.ECN == decode.CE {
		f.marks.times = &markTimes{shift: firstShift, base: p.Time >> firstShift} // once in a row's life
	}
	if f.marks.times != nil {
		f.marks.times.sentAll(b, r)
	}
}

func (c *congestion) Report(r *report.Report) {
	pairs := report.Table{
		Name: "hosts", Help: "Data frames by congestion codepoint, and CNPs, by direction between two hosts.",
		Keys:    []string{"src", "dst"},
		Columns: columns("frames", "ect_data", "ce_data", "not_ect_data", "cnps", "cnps_near_nak"),
	}
	var sums report.Tally[hosts]
	for id, x := range c.flows.of(r) {
		f := &r.Flows[id]
		var marks rowMarks
		var notices rowNotice
		if x.marks != nil {
			marks = *x.marks
		}
		if x.notices != nil {
			notices = *x.notices
		}
		f.CE += marks.ce
		f.NotECT += x.notECT
		f.CNPs += notices.cnps
		r.Totals.CE += marks.ce
		r.Totals.CNPs += notices.cnps
		if f.Src == report.Other {
			continue
		}
		if x.ect+marks.data+x.notECT+notices.cnps > 0 {
			sums.Add(&pairs, hostsOf(f), []int64{x.ect, marks.data, x.notECT, notices.cnps, notices.nearNAK}, func() []string { return []string{f.Src, f.Dst} })
		}
	}
	for id, n := range c.becn.of(r) {
		r.Flows[id].BECN += *n
	}
	addTable(r, "congestion", pairs)
	c.times(r)
}
