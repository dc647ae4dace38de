package detect

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// plan is what several hosts send to 10.0.0.9, each at rates of its own.
type plan struct {
	packets []planned
	psn     [10]ib.PSN
	marked  bool // the data bears marks
}

type planned struct {
	at int64
	packet
}

// sends lets a host send from one time to another, in µs, so many Gbit/s.
func (p *plan) sends(src byte, from, to, gbits int64) {
	const size = 4096
	ecn := decode.ECT0
	if p.marked {
		ecn = decode.CE
	}
	for t := from * usec; t < to*usec; t += (size + 82) * 8 / gbits {
		p.packets = append(p.packets, planned{t, packet{src: src, dst: 9, op: writeOnly, qp: 0x10 + uint32(src), psn: p.psn[src], ext: reth(0, 1, size), payload: size, ecn: ecn}},
			planned{t + 700, packet{src: 9, dst: src, op: ackOp, qp: 0x110 + uint32(src), psn: p.psn[src], ext: aeth(0x1F)}})
		p.psn[src]++
	}
}

// told sends a host CNPs from one time to another, one every 50 µs.
func (p *plan) told(dst byte, from, to int64) {
	for t := from; t <= to; t += 50 {
		p.packets = append(p.packets, planned{t * usec, packet{src: 9, dst: dst, op: ib.CNP, qp: 0x110 + uint32(dst), payload: 16, dscp: 48}})
	}
}

// cuts halves a host's rate every 50 µs.
func (p *plan) cuts(src byte, from, to, gbits int64) {
	for t := from; t < to; t += 50 {
		p.sends(src, t, t+50, gbits)
		gbits = max(1, gbits/2)
	}
}

func (p *plan) wire() *wire {
	w := newWire()
	start := w.now
	slices.SortStableFunc(p.packets, func(a, b planned) int { return cmp.Compare(a.at, b.at) })
	for _, x := range p.packets {
		w.now = start + x.at - usec // send adds it
		w.send(x.packet)
	}
	return w
}

// Where none of several senders obeys one receiver, none of them is to blame
// before it is known that the CNPs reach them.
func TestCNPsThatNobodyObeysMayBeLost(t *testing.T) {
	for _, test := range []struct {
		desc  string
		other func(*plan)
		want  report.Confidence
		doubt bool
	}{
		{"one sender, and nobody to compare it with", func(*plan) {}, report.Likely, false},
		{"another one that slows down", func(p *plan) { p.sends(2, 0, 200, 12); p.cuts(2, 200, 800, 12); p.told(2, 200, 700) }, report.Likely, false},
		{"another one that does not", func(p *plan) { p.sends(2, 0, 800, 12); p.told(2, 200, 700) }, report.Possible, true},
		{"another one that was hardly told", func(p *plan) { p.sends(2, 0, 800, 12); p.told(2, 200, 300) }, report.Likely, false},
	} {
		var p plan
		p.sends(1, 0, 800, 80)
		p.told(1, 200, 700)
		test.other(&p)
		f := finding(t, findings(t, p.wire()), "cnp.no-reaction")
		if doubt := strings.Contains(f.Summary, "may well be lost on their way"); f.Confidence != test.want || doubt != test.doubt {
			t.Errorf("%s: %s, want %s: %s", test.desc, f.Confidence, test.want, f.Summary)
		}
		if !strings.Contains(f.Not, "lost between this tap and 10.0.0.1") {
			t.Errorf("%s: it is %q", test.desc, f.Not)
		}
	}
}

func TestSendersThatAreTold(t *testing.T) {
	for _, test := range []struct {
		desc string
		send func(*plan)
		want report.Confidence // empty where nothing is to be said
	}{
		{"a sender before the queue goes on at 90 of 100 Gbit/s", func(p *plan) { p.sends(1, 0, 800, 90); p.told(1, 200, 700) }, report.Likely},
		{"it halves its rate each time", func(p *plan) { p.sends(1, 0, 200, 90); p.cuts(1, 200, 800, 90); p.told(1, 200, 700) }, ""},
		{"it cuts a little, as after long silence", func(p *plan) {
			p.sends(1, 0, 200, 90)
			for i := int64(0); i < 12; i++ {
				p.sends(1, 200+50*i, 250+50*i, 90-2*i)
			}
			p.told(1, 200, 700)
		}, ""},
		{"it sends little and evenly", func(p *plan) { p.sends(1, 0, 800, 12); p.told(1, 200, 700) }, ""},
		{"it is told a few times only", func(p *plan) { p.sends(1, 0, 800, 90); p.told(1, 200, 350) }, ""},
		{"it is told now and then", func(p *plan) {
			p.sends(1, 0, 3000, 90)
			for at := int64(200); at < 3000; at += 300 {
				p.told(1, at, at)
			}
		}, ""},
		{"nobody tells it", func(p *plan) { p.sends(1, 0, 800, 90) }, ""},
		{"the queue before the tap may hide that it reacts", func(p *plan) { p.marked = true; p.sends(1, 0, 800, 90); p.told(1, 200, 700) }, ""},
		{"no queue takes so long to drain", func(p *plan) { p.marked = true; p.sends(1, 0, 2600, 90); p.told(1, 200, 2500) }, report.Likely},
		{"another one's fall came through that queue", func(p *plan) {
			p.marked = true
			p.sends(1, 0, 150, 45)
			p.sends(1, 150, 800, 90)
			p.sends(2, 0, 100, 45)
			p.cuts(2, 100, 1500, 20)
			p.told(1, 50, 750)
			p.told(2, 50, 500)
		}, report.Likely},
		{"another one's fall, but it was told long before", func(p *plan) {
			p.marked = true
			p.sends(1, 0, 1300, 45)
			p.sends(2, 0, 100, 45)
			p.cuts(2, 100, 1500, 20)
			p.told(1, 500, 1200)
			p.told(2, 50, 500)
		}, ""},
		{"a short run, and a rise where another one falls", func(p *plan) {
			p.marked = true
			p.sends(1, 0, 120, 40)
			p.sends(1, 120, 800, 60)
			p.sends(2, 0, 100, 40)
			p.cuts(2, 100, 1500, 20)
			p.told(1, 60, 260)
			p.told(2, 60, 260)
		}, report.Possible},
		{"the same, but it had been told before", func(p *plan) {
			p.marked = true
			p.sends(1, 0, 520, 40)
			p.sends(1, 520, 1200, 60)
			p.sends(2, 0, 500, 40)
			p.cuts(2, 500, 1900, 20)
			p.told(1, 100, 100)
			p.told(1, 460, 660)
			p.told(2, 460, 660)
		}, ""},
		{"a sender before the queue that has sent all before the last CNP", func(p *plan) { p.sends(1, 0, 650, 90); p.told(1, 200, 800) }, report.Likely},
		{"it has sent all long before the last CNP", func(p *plan) { p.sends(1, 0, 400, 90); p.told(1, 200, 800) }, ""},
		{"it takes what another one gives up, and has sent all", func(p *plan) {
			p.marked = true
			p.sends(1, 0, 200, 50)
			p.sends(1, 200, 420, 90)
			p.sends(2, 0, 150, 45)
			p.cuts(2, 150, 800, 20)
			p.told(1, 50, 400)
			p.told(2, 50, 500)
		}, report.Possible},
		{"the same, and the other one was told earlier", func(p *plan) {
			p.marked = true
			p.sends(1, 0, 200, 50)
			p.sends(1, 200, 520, 90)
			p.sends(2, 0, 150, 45)
			p.cuts(2, 150, 800, 20)
			p.told(1, 90, 490)
			p.told(2, 50, 500)
		}, report.Possible},
		{"it takes what another one leaves that has sent all", func(p *plan) {
			p.marked = true
			p.sends(1, 0, 200, 50)
			p.sends(1, 200, 420, 90)
			p.sends(2, 0, 150, 45)
			p.told(1, 50, 400)
			p.told(2, 50, 150)
		}, ""},
		{"all hold their share as long as the queue stands, and fall behind it", func(p *plan) {
			p.marked = true
			for src := byte(1); src <= 4; src++ {
				p.sends(src, 0, 450, 24)
				p.sends(src, 450, 1200, 2)
				p.told(src, 50, 440)
			}
		}, ""},
	} {
		t.Run(test.desc, func(t *testing.T) {
			var p plan
			test.send(&p)
			cfg := analysis.Defaults(1)
			cfg.LinkRate = 100e9
			cfg.Limits.LongestQueue = 2_000 * usec
			r := analyze(t, p.wire(), cfg)
			if test.want == "" {
				silent(t, r, "cnp.no-reaction")
				return
			}
			f := finding(t, r, "cnp.no-reaction")
			if f.Confidence != test.want || f.Flow.Src != "10.0.0.1" {
				t.Errorf("confidence %q of %v, want %q of 10.0.0.1", f.Confidence, f.Flow, test.want)
			}
			if v := f.Values; v["rate_behind_bps"] < v["rate_before_bps"]*9/10 || v["cnps"] != f.Count {
				t.Errorf("values %v, count %d", v, f.Count)
			}
		})
	}
}

func TestReactionWithoutTheOtherDirectionOrARate(t *testing.T) {
	var p plan
	p.sends(1, 0, 800, 90)
	p.told(1, 200, 700)
	p.packets = slices.DeleteFunc(p.packets, func(x planned) bool { return x.src == 1 })
	silent(t, findings(t, p.wire()), "cnp.no-reaction")

	var even plan // by itself, so that nothing tells what the link could bring
	even.sends(1, 0, 800, 90)
	even.told(1, 200, 700)
	if f := finding(t, findings(t, even.wire()), "cnp.no-reaction"); f.Confidence == report.Certain {
		t.Error("a rate that nothing compares with is held to be certain")
	}
}

// TestCopiesDoNotMakeTheLinkFaster mirrors every frame twice, with no rate given.
func TestCopiesDoNotMakeTheLinkFaster(t *testing.T) {
	var p plan
	p.sends(1, 0, 800, 40)
	p.told(1, 200, 700)
	w := p.wire()
	for _, f := range slices.Clone(w.frames) {
		f.Time += 100
		w.frames = append(w.frames, f)
	}
	slices.SortStableFunc(w.frames, func(a, b decode.Frame) int { return cmp.Compare(a.Time, b.Time) })
	finding(t, findings(t, w), "cnp.no-reaction") // at twice the rate its share would be small
}

func TestRunsDoNotMindOddTimes(t *testing.T) {
	var p plan
	p.sends(1, 0, 400, 90)
	p.told(1, 100, 300)
	w := p.wire()
	for i := range w.frames {
		w.frames[i].Time = []int64{0, -5, 1 << 62, w.frames[i].Time, -1 << 63}[i%5]
	}
	findings(t, w)
}
