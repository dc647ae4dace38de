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
	flows []congestionFlow
	pairs map[[2][16]byte]*pairCNPs // no more than pairs of hosts with rows
	near  int64                     // Limits.NearNAK
}

// congestionFlow is a row's marks and notifications.
type congestionFlow struct {
	ce, notECT, becn int64
	ect, ceData      int64 // data frames: not marked, marked
	cnps, nearNAK    int64
	lastNAK          int64 // time of the last sequence NAK
	lastCNP          int64 // time of the last CNP that no NAK is near

	marks    *markTimes // nil while nothing is marked
	cnpTimes *cnpTimes  // nil while there is no CNP
}

func newCongestion(c *analysis.Config) analysis.Observer {
	return &congestion{pairs: map[[2][16]byte]*pairCNPs{}, near: c.Limits.NearNAK}
}

func (c *congestion) Observe(b *analysis.Batch) {
	for i := range b.Streaks {
		r := &b.Streaks[i]
		if !r.Counts() {
			continue
		}
		p, f := b.Head(r), at(&c.flows, r.Flow)
		if p.ECN == decode.CE {
			f.ce += r.Len()
			for n := r.From; n < r.To; n++ {
				b.Note(analysis.CEMark, n)
			}
		}
		switch {
		case p.Op == ib.CNP:
			f.notified(p, c.near)
			c.told(b, r.From)
			b.Note(analysis.CNPSeen, r.From)
			continue
		case p.IsSequenceNAK():
			f.refused(p, c.near)
		case p.MovesData():
			f.data(b, r)
		}
		if p.BECN {
			f.becn += r.Len()
		}
	}
}

// told takes the time of a CNP.
func (c *congestion) told(b *analysis.Batch, i int) {
	p := &b.Packets[i]
	var m *markTimes
	if b.Peer[i] != analysis.NoFlow {
		m = at(&c.flows, b.Peer[i]).marks
	}
	f := at(&c.flows, b.Flow[i])
	if f.cnpTimes == nil {
		f.cnpTimes = new(cnpTimes) // once in a row's life
	}
	f.cnpTimes.notifies(p, m)
	k := [2][16]byte{p.Src, p.Dst}
	pair := c.pairs[k]
	if pair == nil {
		pair = new(pairCNPs)
		c.pairs[k] = pair
	}
	pair.other(p)
}

func (f *congestionFlow) notified(p *decode.Packet, near int64) {
	f.cnps++
	f.lastCNP = p.Time
	if f.lastNAK != 0 && p.Time-f.lastNAK <= near {
		f.nearNAK++
		f.lastCNP = 0
	}
}

func (f *congestionFlow) refused(p *decode.Packet, near int64) {
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
		f.ceData += n
	default:
		f.ect += n
	}
	if f.marks == nil && p.ECN == decode.CE {
		f.marks = &markTimes{shift: firstShift, base: p.Time >> firstShift} // once in a row's life
	}
	if f.marks != nil {
		f.marks.sentAll(b, r)
	}
}

func (c *congestion) Report(r *report.Report) {
	pairs := report.Table{
		Name: "hosts", Help: "Data frames by congestion codepoint, and CNPs, by direction between two hosts.",
		Keys:    []string{"src", "dst"},
		Columns: columns("frames", "ect_data", "ce_data", "not_ect_data", "cnps", "cnps_near_nak"),
	}
	var sums report.Tally[hosts]
	for id := range c.flows {
		x, f := &c.flows[id], &r.Flows[id]
		f.CE += x.ce
		f.NotECT += x.notECT
		f.CNPs += x.cnps
		f.BECN += x.becn
		r.Totals.CE += x.ce
		r.Totals.CNPs += x.cnps
		if f.Src == report.Other {
			continue
		}
		if x.ect+x.ceData+x.notECT+x.cnps > 0 {
			sums.Add(&pairs, hostsOf(f), []int64{x.ect, x.ceData, x.notECT, x.cnps, x.nearNAK}, func() []string { return []string{f.Src, f.Dst} })
		}
	}
	addTable(r, "congestion", pairs)
	c.times(r)
}
