package detect

import (
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// volley is WRITEs of 4 kB from hosts 1 to n towards host 100, each in turn, all
// within rounds; change may lose or mark one.
func (w *wire) volley(n byte, first, rounds ib.PSN, change func(src byte, psn ib.PSN, p *packet) (lost bool)) {
	for psn := first; psn < first+rounds; psn++ {
		for src := byte(1); src <= n; src++ {
			p := packet{src: src, dst: 100, op: writeOnly, qp: 0x20 + uint32(src), psn: psn, ext: reth(0x7000, 0x77, 4096), payload: 4096}
			if change != nil && change(src, psn, &p) {
				continue
			}
			w.send(p)
			w.now -= 700 // a microsecond apart is far below the rate of a link
		}
	}
}

// answers acknowledges the last packet of each sender of a volley.
func (w *wire) answers(n byte, psn ib.PSN) {
	for src := byte(1); src <= n; src++ {
		w.answer(100, src, 0x120+uint32(src), psn, 0x1F)
	}
}

// overflow is a burst of n senders in which each loses a run of packets behind
// the tenth; NAKs ask for them again.
func overflow(w *wire, n byte) {
	w.volley(n, 0, 10, nil)
	w.volley(n, 10, 6, func(src byte, psn ib.PSN, _ *packet) bool { return psn < 13 })
	for src := byte(1); src <= n; src++ {
		w.answer(100, src, 0x120+uint32(src), 10, ib.NAKPSNSequence)
	}
	w.wait(5 * usec)
	w.volley(n, 10, 6, nil)
	w.answers(n, 15)
}

// messages is WRITEs of 4 kB from five hosts to host 100, each of which sends some
// at a turn, at the speed of its link. Four hosts are asked for one of them again,
// and comply.
func messages(w *wire, turn ib.PSN) {
	const n = 8
	send := func(src byte, psn ib.PSN) {
		w.send(packet{src: src, dst: 100, op: writeOnly, qp: 0x20 + uint32(src), psn: psn, ext: reth(0x7000, 0x77, 4096), payload: 4096})
		w.now -= 700
	}
	each := func(from, to ib.PSN) {
		for ; from < to; from += turn {
			for src := byte(1); src <= 5; src++ {
				for k := range turn {
					send(src, from+k)
				}
			}
		}
	}
	each(0, n)
	w.answers(5, n-1)
	each(n, 3*n)
	for src := byte(1); src <= 4; src++ {
		w.answer(100, src, 0x120+uint32(src), 2*n, ib.NAKPSNSequence)
	}
	w.wait(5 * usec)
	each(2*n, 3*n)
	w.answers(5, 3*n-1)
}

func TestBurstsAndWhatTheyCost(t *testing.T) {
	for _, test := range []struct {
		desc string
		send func(*wire)
		want report.Severity
	}{
		{"eight senders at once, and nothing happens", func(w *wire) { w.volley(8, 0, 20, nil); w.answers(8, 19) }, ""},
		{"eight senders at once, each of which loses a run of packets", func(w *wire) { overflow(w, 8) }, report.Warning},
		{"packets are lost behind the tap, and what comes together is no more than one host sends", func(w *wire) { messages(w, 8) }, ""},
		{"they are, and it is much more", func(w *wire) { messages(w, 1) }, report.Warning},
		{"two senders lose packets at once", func(w *wire) { overflow(w, 2) }, ""},
		{"one of eight senders loses packets", func(w *wire) {
			w.volley(8, 0, 10, nil)
			w.volley(8, 10, 6, func(src byte, psn ib.PSN, _ *packet) bool { return src == 3 && psn < 13 })
			w.answer(100, 3, 0x123, 10, ib.NAKPSNSequence)
			w.volley(3, 10, 6, func(src byte, _ ib.PSN, _ *packet) bool { return src != 3 })
			w.answers(8, 15)
		}, ""},
		{"all lose their first packets, as behind a link that was down", func(w *wire) {
			w.volley(8, 0, 1, nil)
			w.answers(8, 0)
			w.wait(200 * usec)
			w.volley(8, 3, 10, nil)
			for src := byte(1); src <= 8; src++ {
				w.answer(100, src, 0x120+uint32(src), 1, ib.NAKPSNSequence)
			}
			w.volley(8, 1, 12, nil)
			w.answers(8, 12)
		}, ""},
		{"five of a hundred frames marked", func(w *wire) {
			w.volley(8, 0, 25, func(src byte, psn ib.PSN, p *packet) bool {
				if src < 6 && psn%12 == 11 {
					p.ecn = decode.CE
				}
				return false
			})
			w.answers(8, 24)
		}, ""},
		{"half of the frames of all marked", func(w *wire) {
			w.volley(8, 0, 25, func(_ byte, psn ib.PSN, p *packet) bool {
				if psn > 12 {
					p.ecn = decode.CE
				}
				return false
			})
			w.answers(8, 24)
		}, report.Warning},
		{"one sender marked before others join it", func(w *wire) {
			w.volley(1, 0, 200, func(_ byte, _ ib.PSN, p *packet) bool { p.ecn = decode.CE; return false })
			w.volley(8, 200, 20, nil)
			w.answers(8, 219)
		}, ""},
	} {
		w := newWire()
		test.send(w)
		got := report.Severity("")
		for _, f := range findings(t, w).Findings {
			if f.Rule == "incast.burst" {
				got = f.Severity
			}
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.desc, got, test.want)
		}
	}
}

func TestBurstSaysWhoAndWhatFollowed(t *testing.T) {
	w := newWire()
	overflow(w, 8)
	f := finding(t, findings(t, w), "incast.burst")
	for _, part := range []string{"8 hosts sent to 10.0.0.100 at once", "packets of 8 of them were lost", "NAK", "behind the queue", "the link of 10.0.0.100"} {
		if !strings.Contains(f.Summary, part) {
			t.Errorf("%q is not in: %s", part, f.Summary)
		}
	}
	if f.Values["lost"] != 24 || f.Values["senders_hit"] != 8 || f.Values["naks"] != 8 {
		t.Errorf("values are %v", f.Values)
	}
	if len(f.Frames) == 0 || f.Frames[0] != 1 {
		t.Errorf("frames are %v, want the burst's first among them", f.Frames)
	}
}

func TestBurstAboveTheLinkRateWithoutHarmIsInformation(t *testing.T) {
	w := newWire()
	w.volley(8, 0, 20, nil)
	w.answers(8, 19)
	c := analysis.Defaults(1)
	c.LinkRate = 50e9
	if f := finding(t, analyze(t, w, c), "incast.burst"); f.Severity != report.Info {
		t.Errorf("severity is %s: %s", f.Severity, f.Summary)
	}
	w.next, c.LinkRate = 0, 100e9
	silent(t, analyze(t, w, c), "incast.burst")
}

// TestBurstByACoarseClock has hosts send to one, 109 Gbit/s in all, lose packets and
// repeat them, by clocks that put together what came one after the other.
func TestBurstByACoarseClock(t *testing.T) {
	for _, test := range []struct {
		desc   string
		rate   float64
		stamp  func(*wire)
		rounds ib.PSN // of the burst, ahead of those with losses
		want   report.Severity
		says   string
	}{
		{"the link carries that", 120e9, func(*wire) {}, 10, "", ""},
		{"it does not", 50e9, func(*wire) {}, 10, report.Warning, "in 10 µs"},
		{"it does, and 48 frames have one time", 120e9, func(w *wire) { w.batches(48) }, 10, "", ""},
		{"it does not, for longer than times are off by", 50e9, func(w *wire) { w.batches(48) }, 80, report.Warning, "in 100 µs (times"},
		{"it does, and the clock ticks every 100 µs", 120e9, func(w *wire) { w.ticks(100 * usec) }, 80, "", ""},
		{"it does not, and the clock ticks every 5 ms", 50e9, func(w *wire) { w.ticks(5_000 * usec) }, 80, "", ""},
	} {
		w := newWire()
		for n := range ib.PSN(40) { // so that the clock shows
			w.volley(8, n, 1, nil)
			w.wait(6_000 * usec)
		}
		w.volley(8, 40, test.rounds, nil)
		lost := 40 + test.rounds
		w.volley(8, lost, 6, nil)
		for src := byte(1); src <= 8; src++ {
			w.answer(100, src, 0x120+uint32(src), lost, ib.NAKPSNSequence)
		}
		w.wait(5 * usec)
		w.volley(8, lost, 6, nil)
		w.answers(8, lost+5)
		test.stamp(w)
		c := analysis.Defaults(1)
		c.LinkRate = test.rate
		got, says := report.Severity(""), ""
		for _, f := range analyze(t, w, c).Findings {
			if f.Rule == "incast.burst" {
				got, says = f.Severity, f.Summary
			}
		}
		if got != test.want || !strings.Contains(says, test.says) {
			t.Errorf("%s: %q, want %q: %s", test.desc, got, test.want, says)
		}
	}
}

// batches gives each n frames the time of the last of them.
func (w *wire) batches(n int) {
	for i := range w.frames {
		w.frames[i].Time = w.frames[min(i-i%n+n, len(w.frames))-1].Time
	}
}

// ticks has the clock stand still between times.
func (w *wire) ticks(ns int64) {
	for i := range w.frames {
		w.frames[i].Time -= w.frames[i].Time % ns
	}
}

// pause puts a PFC frame on the wire that stops priority 3, or lets it go on.
func (w *wire) pause(mac byte, quanta uint16) {
	w.now += 100
	f := append([]byte{0x01, 0x80, 0xC2, 0, 0, 1, 0x0C, 0x42, 0xA1, 0xFF, 0, mac, 0x88, 0x08, 0x01, 0x01, 0, 1 << 3}, make([]byte, 42)...)
	f[18+6], f[18+7] = byte(quanta>>8), byte(quanta)
	w.put(f)
}

func TestPausesOfABurst(t *testing.T) {
	for _, test := range []struct {
		desc   string
		rate   float64
		before bool // the pause comes before the burst
		quanta uint16
		want   bool
	}{
		{"a pause within a burst above the link rate", 50e9, false, 0xFFFF, true},
		{"a burst that the link carries", 400e9, false, 0xFFFF, false},
		{"no link rate known", 0, false, 0xFFFF, false},
		{"a pause before the burst", 50e9, true, 0xFFFF, false},
		{"the end of a pause", 50e9, false, 0, false},
	} {
		w := newWire()
		if test.before {
			w.pause(1, test.quanta)
		}
		w.volley(8, 0, 12, nil)
		w.pause(1, test.quanta)
		w.volley(8, 12, 4, nil)
		w.answers(8, 15)
		c := analysis.Defaults(1)
		c.LinkRate = test.rate
		found := false
		for _, f := range analyze(t, w, c).Findings {
			found = found || f.Rule == "incast.burst" && f.Severity == report.Warning && strings.Contains(f.Summary, "1 pause frame followed after")
		}
		if found != test.want {
			t.Errorf("%s: found is %t", test.desc, found)
		}
	}
}

// TestBurstCopiesDoNotDoubleTheRate mirrors each frame twice.
func TestBurstCopiesDoNotDoubleTheRate(t *testing.T) {
	w := newWire()
	w.volley(8, 0, 20, nil)
	once := w.frames
	w.frames = nil
	for _, f := range once {
		w.now = f.Time
		w.put(f.Data)
		w.again()
	}
	c := analysis.Defaults(1)
	c.LinkRate = 100e9
	r := analyze(t, w, c)
	silent(t, r, "incast.burst")
	if n := r.Rows("incast", "receivers")[0].Values[recvPeak]; n < 200_000 {
		t.Errorf("the peak of the copies is %d bytes, so that this proves nothing", n)
	}
}

func TestBurstWindowsAndSenders(t *testing.T) {
	w := newWire()
	w.now = 1_700_000_000_000_000_000 // on the edge of all windows
	for i := range ib.PSN(100) {      // 10 to a window of 10 µs
		w.write(byte(1+i%4), 100, 0x20+uint32(i%4), i/4)
		w.now -= usec
	}
	row := report.Row{}
	for _, r := range findings(t, w).Rows("incast", "receivers") {
		if r.Key[0] == "10.0.0.100" {
			row = r
		}
	}
	// A frame has 138 bytes. The first lies a microsecond behind the edge.
	want := []int64{10 * 138, 4, 99 * 138, 4, 100 * 138, 4}
	for i, n := range want {
		if got := row.Values[recvPeak+i]; got != n {
			t.Errorf("peak %d is %d, want %d", i, got, n)
		}
	}
}

func TestBurstReceiversAreCapped(t *testing.T) {
	b := newBurst(analysis.Defaults(1)).(*burst)
	look := analysis.NewLookout(b)
	p := decode.Packet{Status: decode.RoCE, QP: 5, Op: writeOnly, Len: 100}
	for i := range burstReceiversMost + 500 {
		p.Time += 1000
		p.Dst[15], p.Dst[14], p.Dst[13] = byte(i), byte(i>>8), byte(i>>16)
		look.Add(&p)
		look.Show()
	}
	if len(b.receivers) != burstReceiversMost || b.beyond != 500 {
		t.Errorf("%d receivers, %d frames beyond them", len(b.receivers), b.beyond)
	}
	const burstPairsMost = 1 << 16 // of the engine
	for i := range burstPairsMost + 500 {
		p.Src[15], p.Src[14], p.Src[13] = byte(i), byte(i>>8), byte(i>>16)
		p.Dst = b.receivers[0].addr
		look.Add(&p)
		look.Show()
	}
	if n := len(b.index.numbers); n > burstPairsMost || len(b.receivers) != burstReceiversMost {
		t.Errorf("%d pairs, %d receivers", n, len(b.receivers))
	}
}

// TestBurstTimeRunsBackwards wants no more than that nothing breaks.
func TestBurstTimeRunsBackwards(t *testing.T) {
	b := newBurst(analysis.Defaults(1))
	look := analysis.NewLookout(b)
	p := decode.Packet{Status: decode.RoCE, QP: 5, Op: writeOnly, Len: 100}
	for _, ns := range []int64{1 << 62, 0, -1 << 62, 5, -1 << 63, 1<<63 - 1} {
		for src := range byte(5) {
			p.Src[15], p.Time = src, ns
			look.Add(&p)
			look.Show()
		}
	}
	b.Report(&report.Report{})
}

func TestMostLossesOfAFullQueueMeetMostSenders(t *testing.T) {
	const sender = "abcdefg"
	for _, c := range []struct {
		name           string
		at             string // senders in the order of their losses, 2 µs apart; a dot is 50 µs without any
		crowds, alone  int
		senders, limit int
	}{
		{"all lose at once", "abcdefg", 7, 0, 7, 3},
		{"all lose at once, time and again", "abcd..bcde..cdef", 12, 0, 7, 2},
		{"three of seven at once are not most", "abc..def", 0, 6, 7, 3},
		{"chance has three at once, and more all over the burst", "a..b..cda..e..f..g..a", 3, 6, 6, 3},
		{"one sender that loses time and again is no crowd", "aaaa", 0, 4, 4, 3},
	} {
		b := burstRow{values: make([]int64, burstOwnAt+1)}
		b.values[burstSendersAt], b.values[burstLengthAt] = int64(c.senders), 1_000_000
		var all []lossAt
		ns := int64(0)
		for _, r := range c.at {
			if r == '.' {
				ns += 50_000
				continue
			}
			if !strings.ContainsRune(sender, r) {
				t.Fatalf("%c is no sender", r)
			}
			all = append(all, lossAt{src: string(r), ns: ns, lost: 1})
			ns += 2_000
		}
		l := analysis.Defaults(1).Limits
		l.IncastSenders = c.limit
		if b.losses(all, &l); b.crowds != c.crowds || b.alone != c.alone {
			t.Errorf("%s: %d in crowds, %d alone, want %d and %d", c.name, b.crowds, b.alone, c.crowds, c.alone)
		}
	}
}
