package detect

import (
	"strconv"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// Reaction follows the rate of senders that are told of congestion.
var Reaction = add(analysis.Analyzer{
	Name: "reaction",
	Doc: "Do senders slow down when CNPs tell them to?\n\n" +
		"A CNP travels towards the sender's queue pair, and DCQCN cuts the rate of that queue pair by up to half for each,\n" +
		"without raising it before its timer runs out. So CNPs that follow one another closely, a run, leave little of any\n" +
		"rate. Single CNPs tell nothing: a sender whose queue pair was not told for long cuts by a few percent and is\n" +
		"back within one timer.",
	Rules: reactionRules,
	New:   newReaction,
	Watch: watchReaction,
	Judge: judgeReaction,
})

// rateWindow is the time over which a rate is measured, as a power of two in ns:
// 33 µs, of which two or three hold dozens of packets of any fast flow and are
// shorter than the timer by which DCQCN raises a rate.
const rateWindow = 15

// The windows of a run that are compared: before its first CNP, or else right
// behind that; before its last CNP; and behind that, once the queue that drew
// it has drained.
const (
	earlyWindows = 2
	lateWindows  = 3
	drainWindows = 5 // left out behind the last CNP: 1 MiB below the marking threshold takes 84 µs at 100 Gbit/s
)

type reaction struct {
	flows  perRow[senderRate] // of the row of the data
	limits *analysis.Limits
}

// senderRate is the newest windows of a row's data.
type senderRate struct {
	window int64     // the number of the newest, its time divided by the length
	bytes  [4]uint32 // of the last four, by number
	runs   *cnpRuns  // nil while no CNP came
}

// cnpRuns is the runs of CNPs that a sender got.
type cnpRuns struct {
	now     cnpRun
	longest *cnpRun // nil while no run had two CNPs
	pending int64   // bytes since the last CNP
	cnps    int64   // of all runs
}

// cnpRun is CNPs that follow one another closely.
type cnpRun struct {
	cnps                 int64
	earlier              int64  // CNPs before the run
	first, last          int64  // time
	firstFrame           uint64 // of the CNPs
	lastFrame            uint64
	sent                 int64 // bytes between first and last CNP
	before, early        int64 // bytes in earlyWindows before, and behind the first CNP
	late                 int64 // bytes in lateWindows before the last CNP; 0 while the run is shorter
	after                int64 // bytes in lateWindows behind the last CNP
	firstWindow, lastWin int64
	fellAt               int64 // when lateWindows first held half the former rate or less; 0 never
	wentOn               bool  // data was seen behind those
	kept                 keptRate
}

// keptRate is the run up to the last CNP before which its sender still had its
// former rate. What it does behind that, when it may have sent all it had, takes
// nothing from that.
type keptRate struct {
	cnps, last, sent int64
	lastFrame        uint64
	late             int64
}

// former is the rate before the run, or where the row began with it the one at
// its begin, in earlyWindows.
func (r *cnpRun) former() int64 { return max(r.before, r.early) }

func (r *cnpRun) length() int64 { return r.last - r.first }

func newReaction(c *analysis.Config) analysis.Observer {
	return &reaction{limits: &c.Limits}
}

func (r *reaction) Observe(b *analysis.Batch) {
	r.flows.warm(b)
	for i := range b.Streaks {
		run := &b.Streaks[i]
		p := b.Head(run)
		switch {
		case !run.Counts():
		case p.Op == ib.CNP:
			if sender := run.Peer; sender != analysis.NoFlow {
				r.flows.at(sender).told(p, r.limits)
			}
		case p.MovesData():
			r.flows.at(run.Flow).sentAll(b, run)
		}
	}
}

// advance opens the window of a time. What comes late counts in the newest.
func (f *senderRate) advance(t int64) {
	w := t >> rateWindow
	if w <= f.window {
		return
	}
	defer f.fall(t)
	for n := max(f.window+1, w-int64(len(f.bytes))+1); n <= w; n++ {
		f.bytes[n&3] = 0
	}
	f.window = w
}

// fall notes when the rate is half of what it was. A new window has begun.
func (f *senderRate) fall(t int64) {
	if f.runs == nil {
		return
	}
	run := &f.runs.now
	if run.fellAt == 0 && run.former() > 0 && f.window-run.firstWindow > lateWindows && 2*f.last(lateWindows)*earlyWindows <= run.former()*lateWindows {
		run.fellAt = t
	}
}

// last adds the n windows before the newest, which is not over yet.
func (f *senderRate) last(n int64) (sum int64) {
	for w := f.window - n; w < f.window; w++ {
		sum += int64(f.bytes[w&3])
	}
	return sum
}

// sentAll takes data frames.
func (f *senderRate) sentAll(b *analysis.Batch, r *analysis.Streak) {
	if r.FirstNs>>rateWindow == r.LastNs>>rateWindow {
		f.sent(b.Head(r).Time, uint32(r.Wire))
		return
	}
	for i := r.From; i < r.To; i++ {
		p := &b.Packets[i]
		f.sent(p.Time, p.WireLen())
	}
}

// sent takes n bytes of a time.
func (f *senderRate) sent(t int64, n uint32) {
	if t>>rateWindow > f.window {
		f.advance(t)
	}
	f.bytes[f.window&3] += n
	if f.runs == nil {
		return
	}
	f.runs.pending += int64(n)
	run, w := &f.runs.now, f.window
	if d := w - run.firstWindow; d > 0 && d <= earlyWindows {
		run.early += int64(n)
	}
	switch d := w - run.lastWin - drainWindows; {
	case d <= 0:
	case d <= lateWindows:
		run.after += int64(n)
	default:
		run.wentOn = true
	}
}

// told takes a CNP for the sender.
func (f *senderRate) told(p *decode.Packet, l *analysis.Limits) {
	f.advance(p.Time)
	if f.runs == nil {
		f.runs = new(cnpRuns) // once in a row's life
	}
	run := &f.runs.now
	if run.cnps == 0 || p.Time-run.last > l.CNPGap {
		f.runs.close()
		*run = cnpRun{first: p.Time, firstFrame: p.Frame, firstWindow: f.window, before: f.last(earlyWindows), earlier: f.runs.cnps}
		f.runs.pending = 0
	}
	run.cnps++
	f.runs.cnps++
	run.last, run.lastFrame, run.lastWin = max(run.last, p.Time), p.Frame, f.window
	run.sent += f.runs.pending
	f.runs.pending, run.after, run.wentOn = 0, 0, false
	if f.window-run.firstWindow > lateWindows {
		run.late = f.last(lateWindows)
		if float64(run.late*earlyWindows) >= l.RateKept*float64(run.former()*lateWindows) {
			run.kept = keptRate{run.cnps, run.last, run.sent, run.lastFrame, run.late}
		}
	}
}

// close ends the run, and keeps it if it is the longest.
func (r *cnpRuns) close() {
	if r.now.cnps < 2 || r.now.length() <= 0 || r.longest != nil && r.now.length() <= r.longest.length() {
		return
	}
	longest := r.now // a few times in a row's life, and in the report's copy
	r.longest = &longest
}

// reactionColumns are the columns of the table of runs; a run is one row of it,
// so how they add hardly matters.
var reactionColumns = []report.Column{
	{Name: "cnps", Kind: report.Sum}, {Name: "last_ns", Kind: report.Peak},
	{Name: "first_frame", Kind: report.Floor}, {Name: "last_frame", Kind: report.Peak},
	{Name: "bytes", Unit: "bytes", Kind: report.Sum},
	{Name: "rate_before", Unit: "bytes", Kind: report.Peak}, {Name: "rate_late", Unit: "bytes", Kind: report.Peak},
	{Name: "rate_after", Unit: "bytes", Kind: report.Peak}, {Name: "went_on", Kind: report.Peak}, {Name: "halved_ns", Kind: report.Floor}, {Name: "cnps_before", Kind: report.Sum},
	{Name: "kept_cnps", Kind: report.Sum}, {Name: "kept_last_ns", Kind: report.Peak}, {Name: "kept_bytes", Unit: "bytes", Kind: report.Sum},
	{Name: "kept_last_frame", Kind: report.Peak}, {Name: "kept_rate", Unit: "bytes", Kind: report.Peak},
}

func (r *reaction) Report(rep *report.Report) {
	t := report.Table{
		Name: "runs", Help: "The longest run of CNPs that each sender's queue pair got, and its data in windows of 33 µs before, at the end of and behind it; kept is the run up to the last CNP before which its former rate still stood.",
		Keys: []string{"src", "dst", "dest_qp", "first_ns"}, Columns: reactionColumns,
	}
	for id, x := range r.flows.of(rep) {
		f := &rep.Flows[id]
		if x.runs == nil || f.Src == report.Other {
			continue
		}
		runs := *x.runs
		runs.close()
		if run := runs.longest; run != nil {
			t.Rows = append(t.Rows, report.Row{Key: []string{f.Src, f.Dst, qpText(f.DestQP), strconv.FormatInt(run.first, 10)},
				Values: []int64{run.cnps, run.last, int64(run.firstFrame), int64(run.lastFrame), run.sent,
					run.former() / earlyWindows, run.late / lateWindows, run.after / lateWindows, oneIf(run.wentOn), run.fellAt, run.earlier,
					run.kept.cnps, run.kept.last, run.kept.sent, int64(run.kept.lastFrame), run.kept.late / lateWindows}})
		}
	}
	addTable(rep, "reaction", t)
}

// fastest is how fast frames followed one another: all together in a window,
// and in trains of one host, which tell the rate of a link that is not filled. A link
// brought at least the latter, and where the tap sees one link, the former.
type fastest struct {
	window, bytes, most int64
	src                 int32                                               // of the train
	train               struct{ frames, first, bytes, longest, most int64 } // most is bytes in a window
}

// trainFrames is how many frames make a train: enough that two stamped alike do
// not make a rate of their own.
const trainFrames = 8

func watchReaction(*analysis.Config) analysis.Watcher { return &fastest{} }

func (w *fastest) Watch(ts []analysis.Train, _ analysis.Sorts) {
	f := *w // what changes with each frame stays in registers
	for i := range ts {
		if ts[i].Src != f.src { // frames of many links follow one another as they like
			f.src, f.train.frames = ts[i].Src, 0
		}
		for _, p := range ts[i].Packets {
			length := int64(p.WireLen())
			if n := p.Time >> rateWindow; n != f.window {
				f.most = max(f.most, f.bytes)
				f.window, f.bytes = n, 0
			}
			f.bytes += length
			if f.train.frames == 0 {
				f.train.first, f.train.bytes, f.train.longest = p.Time, 0, 0
			}
			f.train.frames++
			f.train.bytes += length
			f.train.longest = max(f.train.longest, length)
			if f.train.frames == trainFrames {
				f.arrived(p.Time)
			}
		}
	}
	f.most = max(f.most, f.bytes)
	*w = f
}

// arrived takes the time of a train's last frame. One frame came before that time
// began, which may have been the longest: a short one can wait for nothing.
func (w *fastest) arrived(ns int64) {
	t := &w.train
	if d := ns - t.first; d > 0 {
		t.most = max(t.most, (t.bytes-t.longest)<<rateWindow/d)
	}
	t.frames = 0
}

func (w *fastest) Report(r *report.Report) {
	if w.most > 0 {
		s := r.Section("reaction")
		s.Measures = append(s.Measures, report.Measure{Name: "fastest_window", Unit: "bytes", Kind: report.Peak,
			Help: "The most bytes in 33 µs: of all frames together, or of a train of eight of one host at its speed.", Value: max(w.most, w.train.most)})
	}
}
