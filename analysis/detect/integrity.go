package detect

import (
	"slices"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// Integrity counts packets whose invariant CRC is wrong.
var Integrity = add(analysis.Analyzer{
	Name: "integrity",
	Doc: "Which packets arrived damaged, and does the sender or the path damage them?\n\n" +
		"The invariant CRC (ICRC) covers a packet from end to end. It can be checked only where packets were captured\n" +
		"whole.",
	Rules: integrityRules,
	New:   newIntegrity,
	Judge: judgeIntegrity,
})

// integrity counts by row, and by addresses what has no row.
type integrity struct {
	states perRow[[3]int64] // by decode.ICRCState
	bad    perRow[*badRow]  // nil for rows without a bad ICRC
	strays map[addresses]*badFrames
}

// badRow is what is damaged of a row.
type badRow struct {
	copies badFrames // of frames that were right
	last   uint64    // frame, no copy
	recent [badRecent]wrong
	next   uint8 // the place in recent that is overwritten next
}

// A wrong names a damaged frame that is no copy.
type wrong struct {
	psn  ib.PSN
	op   ib.Opcode
	used bool
}

// badRecent is how many damaged frames of a row stay in memory for their copies.
// Taps stand microseconds apart, so that few are between a frame and its copy.
const badRecent = 16

// takes counts a damaged frame that is no copy.
func (x *badRow) takes(p *decode.Packet) {
	x.last = p.Frame
	x.recent[x.next%badRecent] = wrong{p.PSN, p.Op, true}
	x.next++
}

// was reports whether the frame that the packet is a copy of was damaged already.
func (x *badRow) was(p *decode.Packet) bool {
	return slices.Contains(x.recent[:], wrong{p.PSN, p.Op, true})
}

type addresses struct{ src, dst [16]byte }

// badFrames is damaged frames that stand in no column of a row.
type badFrames struct {
	count, answers        int64 // answers: ACKs, NAKs and READ responses
	firstFrame, lastFrame uint64
	firstNs, lastNs       int64
}

// straysMax bounds the pairs of addresses that strays are told apart by. A
// damaged address makes a pair of its own, so their number is the enemy's.
const straysMax = 4096

func newIntegrity(*analysis.Config) analysis.Observer {
	return &integrity{strays: map[addresses]*badFrames{}}
}

func (n *integrity) Observe(b *analysis.Batch) {
	n.states.warm(b)
	for i := range b.Streaks {
		r := &b.Streaks[i]
		p := b.Head(r)
		if p.Status != decode.RoCE {
			continue
		}
		if r.Counts() {
			n.states.at(r.Flow)[p.ICRC] += r.Len()
		}
		if p.ICRC == decode.ICRCBad {
			n.damaged(b, r)
		}
	}
}

// damaged takes a streak of packets with a bad ICRC.
func (n *integrity) damaged(b *analysis.Batch, r *analysis.Streak) {
	for i := r.From; i < r.To; i++ {
		p := &b.Packets[i]
		switch {
		case r.Flow == analysis.NoFlow:
			if r.Verdict&analysis.Stray != 0 {
				n.stray(p)
				b.Note(analysis.BadICRC, i)
			}
		case r.Verdict&analysis.Copy != 0:
			if x := n.row(r.Flow); !x.was(p) {
				x.copies.add(p)
			}
		default:
			n.row(r.Flow).takes(p)
			b.Note(analysis.BadICRC, i)
		}
	}
}

func (n *integrity) row(id analysis.FlowID) *badRow {
	x := n.bad.at(id)
	if *x == nil {
		*x = new(badRow) // once in a row's life
	}
	return *x
}

func (n *integrity) stray(p *decode.Packet) {
	k := addresses{p.Src, p.Dst}
	s := n.strays[k]
	if s == nil {
		if len(n.strays) >= straysMax {
			k = addresses{} // names nobody
		}
		if s = n.strays[k]; s == nil {
			s = new(badFrames)
		}
		n.strays[k] = s
	}
	s.add(p)
}

func (f *badFrames) add(p *decode.Packet) {
	if f.count == 0 {
		f.firstFrame, f.firstNs = p.Frame, p.Time
	}
	f.count++
	if p.Op.Is(ib.IsResponse) {
		f.answers++
	}
	f.firstNs = min(f.firstNs, p.Time)
	f.lastFrame, f.lastNs = p.Frame, max(f.lastNs, p.Time)
}

// join adds frames that came earlier or later.
func (f *badFrames) join(x *badFrames) {
	f.count += x.count
	f.answers += x.answers
	f.firstFrame, f.lastFrame = min(f.firstFrame, x.firstFrame), max(f.lastFrame, x.lastFrame)
	f.firstNs, f.lastNs = min(f.firstNs, x.firstNs), max(f.lastNs, x.lastNs)
}

func (n *integrity) Report(r *report.Report) {
	t := report.Table{
		Name: "damaged", Help: "Frames with a bad ICRC that no flow counts: of no flow, or further copies of a good one.",
		Keys: []string{"src", "dst", "what"},
		Columns: append(columns("frames", "frames", "answers"), report.Column{Name: "first_frame", Kind: report.Floor}, report.Column{Name: "last_frame", Kind: report.Peak},
			report.Column{Name: "first_ns", Kind: report.Floor}, report.Column{Name: "last_ns", Kind: report.Peak}),
	}
	row := func(src, dst, what string, x *badFrames) {
		t.Rows = append(t.Rows, report.Row{Key: []string{src, dst, what},
			Values: []int64{x.count, x.answers, int64(x.firstFrame), int64(x.lastFrame), x.firstNs, x.lastNs}})
	}
	strays := map[hosts]*badFrames{}
	stray := func(h hosts, x *badFrames) {
		if strays[h] == nil && len(strays) >= straysMax {
			h = hosts{report.Other, report.Other}
		}
		if strays[h] == nil {
			strays[h] = &badFrames{firstFrame: x.firstFrame, firstNs: x.firstNs}
		}
		strays[h].join(x)
	}
	for id, state := range n.states.of(r) {
		f := &r.Flows[id]
		f.ICRCUnchecked += state[decode.ICRCUnchecked]
		f.ICRCGood += state[decode.ICRCGood]
		f.ICRCBad += state[decode.ICRCBad]
		r.Totals.ICRCUnchecked += state[decode.ICRCUnchecked]
		r.Totals.ICRCGood += state[decode.ICRCGood]
		r.Totals.ICRCBad += state[decode.ICRCBad]
	}
	for id, x := range n.bad.of(r) {
		f := &r.Flows[id]
		if *x == nil || f.Src == report.Other {
			continue
		}
		if (*x).copies.count > 0 {
			row(f.Src, f.Dst, damagedCopy, &(*x).copies)
		}
		if f.Frames == 1 && n.states.at(id)[decode.ICRCBad] == 1 { // the engine leaves such a row out
			stray(hostsOf(f), &badFrames{count: 1, firstFrame: (*x).last, lastFrame: (*x).last, firstNs: f.FirstNs, lastNs: f.FirstNs})
		}
	}
	for k, x := range n.strays {
		r.Totals.ICRCBad += x.count
		h := hosts{report.Other, report.Other}
		if k != (addresses{}) {
			h = hosts{decode.Address(k.src), decode.Address(k.dst)}
		}
		stray(h, x)
	}
	for h, x := range strays {
		row(h.src, h.dst, damagedStray, x)
	}
	addTable(r, "integrity", t)
}
