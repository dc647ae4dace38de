package detect

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"

	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
)

// Report tells of the receivers, and of some bursts. It works on a copy, for
// what runs on must not end by it.
func (b *burst) Report(r *report.Report) {
	c := *b
	c.receivers, c.kept = slices.Clone(b.receivers), slices.Clone(b.kept)
	macs := map[[6]byte]int{}
	for id := range c.receivers {
		x := &c.receivers[id]
		x.roll(x.windows[0].at + burstWindows[len(burstWindows)-1].ns/burstWindows[0].ns)
		c.end(int32(id))
		macs[x.mac]++
	}
	addTable(r, "incast", c.receiverTable())
	addTable(r, "incast", c.burstTable(macs))
	if len(c.senders) == 0 {
		return
	}
	s := r.Section("incast")
	top := slices.MaxFunc(c.senders, func(a, b sender) int { return cmp.Compare(a.peak, b.peak) })
	s.Measures = append(s.Measures, report.Measure{Name: "peak_sent_10us", Unit: "bytes", Kind: report.Peak,
		Help: "The most data that any one host sent in 2 µs, wherever to, scaled to 10 µs.", Value: top.peak * (burstWindows[0].ns / sentWindow)})
	if c.beyond > 0 {
		s.Measures = append(s.Measures, report.Measure{Name: "untold_frames", Unit: "frames", Kind: report.Sum,
			Help: "Data frames towards receivers beyond the cap on their number.", Value: c.beyond})
	}
}

// The columns of the two tables, in their order.
const (
	recvFrames = iota
	recvBytes
	recvCE
	recvNAKs
	recvBursts
	recvHurt
	recvBurstFrames
	recvBurstCE
	recvBurstNAKs
	recvSenders
	recvPeak // bytes and senders for each window
)

func (b *burst) receiverTable() report.Table {
	t := report.Table{Name: "receivers", Help: "Data by receiver: how much, in bursts of several senders, and the most within a window.",
		Keys: []string{"dst"}, Columns: columns("frames", "frames")}
	t.Columns = append(t.Columns, columns("bytes", "bytes")...)
	t.Columns = append(t.Columns, columns("frames", "ce_frames", "naks")...)
	t.Columns = append(t.Columns, columns("", "bursts", "bursts_hurt")...)
	t.Columns = append(t.Columns, columns("frames", "burst_frames", "burst_ce_frames", "burst_naks")...)
	t.Columns = append(t.Columns, report.Column{Name: "senders", Kind: report.Peak})
	for _, w := range burstWindows {
		t.Columns = append(t.Columns, report.Column{Name: "peak_bytes_" + w.name, Unit: "bytes", Kind: report.Peak},
			report.Column{Name: "peak_senders_" + w.name, Kind: report.Peak})
	}
	t.Rows = make([]report.Row, 0, len(b.receivers))
	for i := range b.receivers {
		x := &b.receivers[i]
		values := []int64{x.frames, x.bytes, x.ce, x.naks, x.bursts, x.hurt, x.inBursts.frames, x.inBursts.ce, x.inBursts.naks, int64(x.senders)}
		for _, p := range x.peaks {
			values = append(values, p.bytes, p.senders)
		}
		t.Rows = append(t.Rows, report.Row{Key: []string{decode.Address(x.addr)}, Values: values})
	}
	return t
}

const (
	burstSendersAt = iota
	burstFramesAt
	burstBytesAt
	burstLengthAt
	burstCrowdAt // ns from the start, negative in a further piece of a long run; the next ones count from there
	burstCEAt
	burstMarkedAt // senders
	burstMarkAt
	burstMarkFrameAt
	burstNAKsAt
	burstRefusedAt
	burstNAKAt
	burstNAKFrameAt
	burstPausesAt
	burstPauseAt
	burstOwnAt
	burstFirstAt
	burstLastAt
)

// burstTable tells of each burst kept. Frames keep the smaller number where two
// captures have the same burst, everything else the larger.
func (b *burst) burstTable(macs map[[6]byte]int) report.Table {
	t := report.Table{Name: "bursts", Help: "Bursts of several senders towards one receiver: the first few of each receiver, with and without harm.",
		Keys: []string{"dst", "start_ns"}}
	for _, c := range []struct {
		name, unit string
		kind       report.Kind
	}{{"senders", "", report.Peak}, {"frames", "frames", report.Peak}, {"bytes", "bytes", report.Peak}, {"length", "ns", report.Peak}, {"crowd", "ns", report.Peak},
		{"ce_frames", "frames", report.Peak}, {"marked_senders", "", report.Peak}, {"first_mark", "ns", report.Peak}, {"mark_frame", "", report.Peak},
		{"naks", "frames", report.Peak}, {"refused_senders", "", report.Peak}, {"first_nak", "ns", report.Peak}, {"nak_frame", "", report.Peak},
		{"pauses", "frames", report.Peak}, {"first_pause", "ns", report.Peak}, {"pauses_of_receiver", "", report.Peak},
		{"first_frame", "", report.Floor}, {"last_frame", "", report.Floor}} {
		t.Columns = append(t.Columns, report.Column{Name: c.name, Unit: c.unit, Kind: c.kind})
	}
	for i := range b.kept {
		u, x := &b.kept[i].run, &b.receivers[b.kept[i].receiver]
		t.Rows = append(t.Rows, report.Row{Key: []string{decode.Address(x.addr), strconv.FormatInt(u.start, 10)}, Values: u.values(u.pauser == x.mac && macs[x.mac] == 1)})
	}
	return t
}

// values are the columns of a burst. Pauses before it are not its own.
func (u *run) values(own bool) []int64 {
	v := []int64{int64(bits.OnesCount64(u.senders)), u.frames, u.bytes, u.last - u.start, u.crowd - u.start,
		u.ce, int64(bits.OnesCount64(u.marked)), max(0, u.mark-u.crowd), int64(u.markAt),
		u.naks, int64(bits.OnesCount64(u.refused)), max(0, u.nak-u.crowd), int64(u.nakAt),
		u.pauses, max(0, u.pause-u.crowd), 0, int64(u.first), int64(u.end)}
	if u.pausedBefore {
		v[burstPausesAt] = 0
	}
	if u.pauses > 0 && own {
		v[burstOwnAt] = 1
	}
	return v
}
