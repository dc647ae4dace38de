package detect

import (
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode/ib"
)

// TestNumbersUsedAgain plays faults on a queue pair whose number is used again, by a
// connection that works or by one with the same fault: each is found as often as it was
// there, whatever stood in the other row of these numbers.
func TestNumbersUsedAgain(t *testing.T) {
	write := func(psn ib.PSN) packet {
		return packet{src: 1, dst: 2, op: writeOnly, qp: 0x12, psn: psn, ext: reth(0, 1, 64), payload: 64}
	}
	const timer = 16_777
	works := func(w *wire, psn ib.PSN) { w.acked(psn, psn+30) }
	for _, fault := range []struct {
		rule string
		play func(w *wire, psn ib.PSN)
	}{
		{"retransmit.timeout", func(w *wire, psn ib.PSN) {
			w.acked(psn, psn+30)
			w.tries(write(psn+30), timer, timer, timer, timer)
			w.answer(2, 1, 0x112, psn+30, 0x1F)
			w.acked(psn+31, psn+40)
		}},
		{"retransmit.adaptive", func(w *wire, psn ib.PSN) {
			w.acked(psn, psn+30)
			w.tries(write(psn+30), 2_000, 4_000, 8_000, 16_000)
			w.answer(2, 1, 0x112, psn+30, 0x1F)
			w.acked(psn+31, psn+40)
		}},
		{"retransmit.exhausted", func(w *wire, psn ib.PSN) {
			w.acked(psn, psn+30)
			w.tries(write(psn+30), timer, timer, timer, timer, timer, timer, timer)
		}},
		{"loss.unrecovered", func(w *wire, psn ib.PSN) {
			w.acked(psn, psn+30)
			w.send(write(psn + 31))
			w.nak(psn + 30)
		}},
		{"rnr.stall", func(w *wire, psn ib.PSN) {
			w.acked(psn, psn+30)
			w.refused(psn+30, 14)
			w.wait(2_000 * usec)
			w.acked(psn+30, psn+40)
		}},
		{"rnr.exhausted", func(w *wire, psn ib.PSN) {
			w.acked(psn, psn+30)
			for range 3 {
				w.refused(psn+30, 14)
				w.wait(2_000 * usec)
			}
		}},
		{"nak.remote-access", func(w *wire, psn ib.PSN) {
			w.acked(psn, psn+30)
			w.send(write(psn + 30))
			w.answer(2, 1, 0x112, psn+30, ib.NAKRemoteAccess)
		}},
	} {
		for _, order := range []struct {
			desc  string
			plays []func(*wire, ib.PSN)
			want  int64
		}{
			{"alone", []func(*wire, ib.PSN){fault.play}, 1},
			{"before one that works", []func(*wire, ib.PSN){fault.play, works}, 1},
			{"behind one that works", []func(*wire, ib.PSN){works, fault.play}, 1},
			{"twice", []func(*wire, ib.PSN){fault.play, fault.play}, 2},
		} {
			w := newWire()
			for i, play := range order.plays {
				play(w, ib.PSN(i)*0x400000)
				w.wait(1_000_000 * usec)
			}
			w.write(3, 4, 0x22, 1)
			var found []report.Finding
			for _, f := range findings(t, w).Findings {
				if f.Rule == fault.rule {
					found = append(found, f)
				}
			}
			n := int64(len(found))
			if n == 1 {
				n = max(1, found[0].Values["queue_pairs"]) // one finding tells of all that died between two hosts
			}
			if n != order.want {
				t.Errorf("%s %s: found %d times, want %d", fault.rule, order.desc, n, order.want)
			}
			for i := range found[min(1, len(found)):] {
				if a, b := found[0].Summary, found[i+1].Summary; fault.rule[:3] == "ret" && a != b {
					t.Errorf("%s %s: %q, and %q", fault.rule, order.desc, a, b)
				}
			}
		}
	}
}
