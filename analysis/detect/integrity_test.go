package detect

import (
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode/ib"
)

func damaged(p *packet) { p.bad = true }

// unanswered sends WRITEs that nobody acknowledges, as damaged ones are.
func (w *wire) unanswered(src, dst byte, n int, change func(*packet)) {
	for i := range ib.PSN(n) {
		p := packet{src: src, dst: dst, op: writeOnly, qp: uint32(src) << 4, psn: i, ext: reth(0, 1, 64), payload: 64}
		change(&p)
		w.send(p)
	}
}

func TestICRC(t *testing.T) {
	for _, test := range []struct {
		desc string
		send func(*wire)
		want map[string]report.Severity
		bad  int64
	}{
		{"all good", func(w *wire) { w.writes(1, 2, 20) }, nil, 0},
		{"every packet of one sender", func(w *wire) { w.writes(1, 2, 20); w.unanswered(3, 2, 10, damaged) },
			map[string]report.Severity{"icrc.sender": report.Critical}, 10},
		{"too few to blame the sender", func(w *wire) { w.writes(1, 2, 20); w.unanswered(3, 2, 4, damaged) },
			map[string]report.Severity{"icrc.path": report.Warning}, 4},
		{"every packet of one sender, at two taps", func(w *wire) {
			w.writes(1, 2, 20)
			for i := range ib.PSN(10) {
				w.send(packet{src: 3, dst: 2, op: writeOnly, qp: 0x30, psn: i, ext: reth(0, 1, 64), payload: 64, bad: true})
				w.again()
			}
		}, map[string]report.Severity{"icrc.sender": report.Critical}, 10},
		{"some packets of a sender", func(w *wire) {
			w.writes(1, 2, 20)
			w.send(packet{src: 1, dst: 2, op: writeOnly, qp: 0x10, psn: 20, ext: reth(0, 1, 64), payload: 64, bad: true})
			w.writes(3, 2, 20)
		}, map[string]report.Severity{"icrc.path": report.Warning}, 1},
		{"no packet at all is right, and yet all are acknowledged", func(w *wire) {
			for i := range ib.PSN(20) {
				w.send(packet{src: 1, dst: 2, op: writeOnly, qp: 0x10, psn: i, ext: reth(0, 1, 64), payload: 64, bad: true})
				w.send(packet{src: 2, dst: 1, op: ackOp, qp: 0x110, psn: i, ext: aeth(0x1F), bad: true})
			}
		}, map[string]report.Severity{"icrc.path": report.Notice}, 40},
	} {
		w := newWire()
		test.send(w)
		r := findings(t, w)
		got := map[string]report.Severity{}
		for _, f := range r.Findings {
			got[f.Rule] = f.Severity
		}
		for _, rule := range []string{"icrc.sender", "icrc.path"} {
			if got[rule] != test.want[rule] {
				t.Errorf("%s: %s is %q, want %q", test.desc, rule, got[rule], test.want[rule])
			}
		}
		if r.Totals.ICRCBad != test.bad {
			t.Errorf("%s: %d bad, want %d", test.desc, r.Totals.ICRCBad, test.bad)
		}
	}
}

func TestCutFramesAreUncheckedNotBad(t *testing.T) {
	w := newWire()
	w.writes(1, 2, 5)
	for i := range w.frames {
		w.frames[i].Data = w.frames[i].Data[:len(w.frames[i].Data)-2]
	}
	r := findings(t, w)
	if r.Totals.ICRCUnchecked != 10 || r.Totals.ICRCBad != 0 {
		t.Errorf("%d unchecked and %d bad, want 10 and 0", r.Totals.ICRCUnchecked, r.Totals.ICRCBad)
	}
	silent(t, r, "icrc.sender", "icrc.path")
}

// A scan with made-up queue pairs, one damaged packet each: no flow is believed
// in, a cap on flows or none, and no packet is lost to the finding.
func TestDamagedPacketsOfMadeUpQueuePairsAreTold(t *testing.T) {
	for _, maxFlows := range []int{1, 64, 1 << 17} {
		w := newWire()
		for i := range 1000 {
			w.send(packet{src: byte(i), dst: byte(i >> 5), op: writeOnly, qp: uint32(i) + 100, psn: ib.PSN(i * 4711 & ib.PSNMask), ext: reth(0, 1, 64), payload: 64, bad: true})
		}
		cfg := analysis.Defaults(1)
		cfg.MaxFlows = maxFlows
		r, err := analysis.Run(t.Context(), w, All(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		analysis.Judge(r, All(), cfg)
		var told int64
		for _, f := range r.Findings {
			if f.Rule == "icrc.path" {
				told += f.Count
			}
		}
		if told != 1000 || r.Totals.ICRCBad != 1000 {
			t.Errorf("at most %d flows: findings tell of %d damaged packets and totals of %d, want 1000", maxFlows, told, r.Totals.ICRCBad)
		}
		for i := range r.Flows {
			if f := &r.Flows[i]; f.Src != report.Other {
				t.Errorf("at most %d flows: %s is taken for a flow", maxFlows, f.Ref())
			}
		}
	}
}
