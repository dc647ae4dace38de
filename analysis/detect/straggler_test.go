package detect

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// collective is steps of a ring: each host writes to the next, in an order that
// chance makes.
type collective struct {
	hosts, steps int
	slow         byte  // host; 0 none
	ack          int64 // its ACKs take longer by that
	late         int64 // it begins later by that
	after        int64 // a step's writes of the slow host come that much after the others'
	double       bool  // it sends twice as much
	messages     int   // of each host in a step; 0 stands for collectiveMessages
	pause        int64 // between steps; 0 stands for two milliseconds
	amid         bool  // all that a host sends is amid one message
}

const collectiveMessages = 4

// play puts the steps on the wire, in the order of time.
func (c *collective) play() *wire {
	w := newWire()
	d := rand.New(rand.NewPCG(7, 7))
	psns := map[byte]ib.PSN{}
	for range c.steps {
		start := w.now
		type send struct {
			at int64
			p  packet
		}
		var all []send
		for _, h := range d.Perm(c.hosts) {
			src, dst := byte(h+1), byte((h+1)%c.hosts+1)
			n := cmp.Or(c.messages, collectiveMessages)
			if c.double && src == c.slow {
				n *= 2
			}
			for i := range n {
				at := start + int64(i)*10*usec + d.Int64N(2*usec)
				if src == c.slow {
					at += c.late + c.after*int64(i)
				}
				psn := psns[src]
				psns[src]++
				rtt := 3*usec + d.Int64N(usec)
				if dst == c.slow {
					rtt += c.ack
				}
				write := packet{src: src, dst: dst, op: writeOnly, qp: 0x20 + uint32(src), psn: psn, ext: reth(1, 2, 64), payload: 64}
				if c.amid {
					write.op, write.ext = ib.Of(ib.RC, ib.WriteMiddle), nil
				}
				all = append(all, send{at, write},
					send{at + rtt, packet{src: dst, dst: src, op: ackOp, qp: 0x120 + uint32(src), psn: psn, ext: aeth(0x1F)}})
			}
		}
		for len(all) > 0 {
			first := 0
			for i := range all {
				if all[i].at < all[first].at {
					first = i
				}
			}
			w.now = all[first].at - usec
			w.send(all[first].p)
			all = append(all[:first], all[first+1:]...)
		}
		w.wait(cmp.Or(c.pause, 2_000*usec))
	}
	return w
}

func TestStragglersAndWhatLooksLikeThem(t *testing.T) {
	for _, test := range []struct {
		desc string
		play collective
		want bool
	}{
		{"eight hosts alike", collective{hosts: 8, steps: 12}, false},
		{"one that acknowledges very late", collective{hosts: 8, steps: 12, slow: 5, ack: 100 * usec}, true},
		{"one that acknowledges late to the one host that asks, or the way between", collective{hosts: 8, steps: 12, slow: 5, ack: 40 * usec}, false},
		{"one with twice the round trip, as on a longer way", collective{hosts: 8, steps: 12, slow: 5, ack: 4 * usec}, false},
		{"one that begins late in each step", collective{hosts: 8, steps: 12, slow: 5, late: 50 * usec}, true},
		{"one that is slower between its messages", collective{hosts: 8, steps: 12, slow: 5, after: 10 * usec}, true},
		{"one that sends twice as much", collective{hosts: 8, steps: 12, slow: 5, double: true}, false},
		{"one that begins late, in too few steps", collective{hosts: 8, steps: 3, slow: 5, late: 50 * usec}, false},
		{"one that is slower between its messages and acknowledges late, in three steps", collective{hosts: 8, steps: 3, slow: 5, messages: 8, after: 10 * usec, ack: 40 * usec}, true},
		{"the same, in two steps", collective{hosts: 8, steps: 2, slow: 5, messages: 12, after: 10 * usec, ack: 40 * usec}, false},
		{"one that begins when the others have long ended, and not much sooner than the next step", collective{hosts: 8, steps: 12, slow: 5, messages: 1, late: 18 * usec, pause: 21 * usec}, false},
		{"the same, where silence parts the steps clearly", collective{hosts: 8, steps: 12, slow: 5, messages: 1, late: 18 * usec, pause: 110 * usec}, true},
		{"one that begins late by a third of a silence that is longer than what cuts the steps", collective{hosts: 8, steps: 12, slow: 5, late: 400 * usec, pause: 1_800 * usec}, true},
		{"the same, late by more than half of the silence", collective{hosts: 8, steps: 12, slow: 5, late: 450 * usec, pause: 700 * usec}, false},
		{"one that begins late each time, but in no step of its own", collective{hosts: 8, steps: 12, slow: 5, late: 50 * usec, amid: true}, false},
		{"too few peers", collective{hosts: 3, steps: 12, slow: 2, ack: 60 * usec, late: 50 * usec}, false},
	} {
		r := findings(t, test.play.play())
		found := ""
		for _, f := range r.Findings {
			if f.Rule == "straggler.host" {
				found += f.Summary
			}
		}
		if test.want != strings.HasPrefix(found, "10.0.0.5 ") || !test.want && found != "" {
			t.Errorf("%s: found %q", test.desc, found)
		}
	}
}

func TestStragglerSaysWhy(t *testing.T) {
	for _, test := range []struct {
		play  collective
		parts []string
	}{
		{collective{hosts: 8, steps: 12, slow: 5, late: 50 * usec}, []string{"last to finish in 12 of 12 steps", "it begins 49.4 µs", "after the median host"}},
		{collective{hosts: 8, steps: 12, slow: 5, ack: 100 * usec}, []string{"to acknowledge where the median of 7 peers takes 3.", "answers slowly itself"}},
		{collective{hosts: 8, steps: 12, slow: 5, after: 10 * usec}, []string{"12 of 12 steps", "do not show why"}},
	} {
		f := finding(t, findings(t, test.play.play()), "straggler.host")
		for _, part := range test.parts {
			if !strings.Contains(f.Summary, part) {
				t.Errorf("%q is not in: %s", part, f.Summary)
			}
		}
	}
}

// TestSlowAnswersOfOneHostToAll has eight hosts of which one is written to by all
// others. It counts as slow where it always is, and not where its answers wait in
// its queue, save the first, nor where one of those that ask gets them at once.
func TestSlowAnswersOfOneHostToAll(t *testing.T) {
	for _, test := range []struct {
		desc string
		wait func(asker byte, i int64) int64
		want bool
	}{
		{"always slow", func(byte, int64) int64 { return 30 * usec }, true},
		{"a queue that fills", func(_ byte, i int64) int64 { return min(i, 20) * 3 * usec }, false},
		{"slow to all but one", func(asker byte, _ int64) int64 { return int64(min(1, asker-2)) * 30 * usec }, false},
		{"alike", func(byte, int64) int64 { return 0 }, false},
	} {
		w := newWire()
		psns := map[[2]byte]ib.PSN{}
		write := func(src, dst byte, rtt int64) {
			k := [2]byte{src, dst}
			p := packet{src: src, dst: dst, op: writeOnly, qp: uint32(src)<<8 | uint32(dst), psn: psns[k], ext: reth(1, 2, 64), payload: 64}
			w.send(p)
			w.wait(rtt)
			w.answer(dst, src, 0x10000|p.qp, p.psn, 0x1F)
			psns[k]++
		}
		for i := range int64(30) {
			for h := byte(2); h <= 8; h++ {
				for other := byte(2); other <= 8; other++ {
					if other != h {
						write(h, other, 2*usec)
					}
				}
				write(h, 1, 2*usec+test.wait(h, i))
			}
		}
		found := slices.ContainsFunc(findings(t, w).Findings, func(f report.Finding) bool { return f.Rule == "straggler.host" })
		if found != test.want {
			t.Errorf("%s: found is %t", test.desc, found)
		}
	}
}

// writeAnswered sends a WRITE on the queue pair between two hosts that is answered after a time.
func (w *wire) writeAnswered(src, dst byte, psn ib.PSN, after int64) {
	p := packet{src: src, dst: dst, op: writeOnly, qp: uint32(src)<<8 | uint32(dst), psn: psn, ext: reth(1, 2, 64), payload: 64}
	w.send(p)
	w.wait(after)
	w.answer(dst, src, 0x10000|p.qp, psn, 0x1F)
}

// stragglers returns the hosts found to be some, one behind the other.
func stragglers(t *testing.T, w *wire) (found string) {
	t.Helper()
	for _, f := range findings(t, w).Findings {
		if f.Rule == "straggler.host" {
			found += f.Host
		}
	}
	return found
}

// TestSlowGroupsAreNoStragglers has five hosts write to each other, and beside them a
// group of two or three. It is slow as a whole, as another kind of host or tenant is, or one
// host of it alone.
func TestSlowGroupsAreNoStragglers(t *testing.T) {
	for _, test := range []struct {
		desc string
		last byte // host of the group, which begins with 6
		slow func(dst byte) bool
		want string
	}{
		{"two hosts that are both slow", 7, func(dst byte) bool { return dst > 5 }, ""},
		{"three that all are", 8, func(dst byte) bool { return dst > 5 }, ""},
		{"one of two", 7, func(dst byte) bool { return dst == 7 }, "10.0.0.7"},
		{"one of three", 8, func(dst byte) bool { return dst == 7 }, "10.0.0.7"},
		{"one of the others", 7, func(dst byte) bool { return dst == 2 }, "10.0.0.2"},
	} {
		w := newWire()
		for i := range ib.PSN(30) {
			for src := byte(1); src <= test.last; src++ {
				for dst := byte(1); dst <= test.last; dst++ {
					if src == dst || (src > 5) != (dst > 5) {
						continue
					}
					w.writeAnswered(src, dst, i, 2*usec+100*usec*oneIf(test.slow(dst)))
				}
			}
		}
		if found := stragglers(t, w); found != test.want {
			t.Errorf("%s: found %q", test.desc, found)
		}
	}
}

// TestHalfOfTheHostsAreNoStragglers has pairs of hosts, in each of which the first writes
// and then the second, which may be slow to answer: the second of one pair stands out,
// those of two pairs out of two are what is usual there.
func TestHalfOfTheHostsAreNoStragglers(t *testing.T) {
	for _, test := range []struct {
		pairs, slow byte
		want        string
	}{{2, 1, "10.0.0.2"}, {2, 2, ""}, {4, 1, "10.0.0.2"}, {4, 2, "10.0.0.210.0.0.4"}, {4, 3, ""}} {
		w := newWire()
		for i := range ib.PSN(30) {
			for src := byte(1); src <= 2*test.pairs; src++ {
				dst := (src - 1) ^ 1 + 1
				w.writeAnswered(src, dst, i, 2*usec+100*usec*oneIf(dst%2 == 0 && dst <= 2*test.slow))
			}
		}
		if found := stragglers(t, w); found != test.want {
			t.Errorf("%d slow in %d pairs: found %q, want %q", test.slow, test.pairs, found, test.want)
		}
	}
}

// TestAStragglerByACoarseClock has answers take 3 µs, and those of one host 7, by clocks
// that tick: between two ticks nobody is late.
func TestAStragglerByACoarseClock(t *testing.T) {
	for _, tick := range []int64{1, usec, 10 * usec, 50 * usec, 1000 * usec} {
		w := newWire()
		for i := range int64(3000) {
			src, dst := byte(1+i%8), byte(1+(i+1+i/8%7)%8)
			w.writeAnswered(src, dst, ib.PSN(i/56), 2*usec+4*usec*oneIf(dst == 5))
			w.wait(i * 7919 % 10_000)
		}
		w.ticks(tick)
		r := findings(t, w)
		silent(t, r, "straggler.host")
		if got := clockNoise(r); got != tick && tick > usec {
			t.Errorf("a clock that ticks every %d ns is off by %d", tick, got)
		}
	}
}

func TestStepHostsAreCapped(t *testing.T) {
	s := newStraggler(analysis.Defaults(1)).(*straggler)
	look := analysis.NewLookout(s)
	p := decode.Packet{Status: decode.RoCE, QP: 5, Op: writeOnly}
	for i := range stepHostsMost + 500 {
		p.Time += 1000
		p.Src[15], p.Src[14], p.Src[13] = byte(i), byte(i>>8), byte(i>>16)
		look.Add(&p)
		look.Show()
	}
	if len(s.hosts) != stepHostsMost {
		t.Errorf("%d hosts", len(s.hosts))
	}
}

// TestStepsWithOddTimes wants no more than that nothing breaks.
func TestStepsWithOddTimes(t *testing.T) {
	s := newStraggler(analysis.Defaults(1))
	look := analysis.NewLookout(s)
	p := decode.Packet{Status: decode.RoCE, QP: 5, Op: writeOnly}
	for _, ns := range []int64{1 << 62, 0, -1 << 62, 5, -1 << 63, 1<<63 - 1} {
		for src := range byte(5) {
			p.Src[15], p.Time = src, ns
			look.Add(&p)
			look.Show()
		}
	}
	r := &report.Report{}
	s.Report(r)
	judgeStraggler(r, analysis.Defaults(1))
}

func TestByChance(t *testing.T) {
	for _, test := range []struct {
		k, steps int64
		hosts    int
		least    float64
		most     float64
	}{{5, 5, 8, 2.4e-4, 2.5e-4}, {1, 1, 8, 1, 1}, {5, 8, 4, 0.2, 0.25}, {1, 1, 0, 1, 1}} {
		if p := byChance(test.k, test.steps, test.hosts); p < test.least*0.999 || p > test.most*1.001 {
			t.Errorf("%d of %d among %d: %v", test.k, test.steps, test.hosts, p)
		}
	}
}
