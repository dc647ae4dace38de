package detect

import (
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode/ib"
)

// refused sends a WRITE that draws an RNR NAK with a timer code.
func (w *wire) refused(psn ib.PSN, code ib.Syndrome) {
	w.send(packet{src: 1, dst: 2, op: writeOnly, qp: 0x12, psn: psn, ext: reth(0, 1, 64), payload: 64})
	w.answer(2, 1, 0x112, psn, 0x20|code)
}

func TestRNRStallIsMeasured(t *testing.T) {
	w := newWire()
	w.write(1, 2, 0x12, 1)
	w.refused(2, 14)
	w.wait(2_000 * usec)
	w.write(1, 2, 0x12, 2)
	w.wait(100_000 * usec)
	w.write(1, 2, 0x12, 3)
	r := findings(t, w)
	f := finding(t, r, "rnr.stall")
	if stall := f.Values["stall_ns"]; stall != 2_001*usec {
		t.Errorf("stall of %d ns", stall)
	}
	if f.Severity != report.Warning || !strings.Contains(f.Summary, "1.28 ms (code 14)") {
		t.Errorf("%s: %s", f.Severity, f.Summary)
	}
	silent(t, r, "rnr.exhausted", "rnr.timer-zero")
}

func TestShortRNRStallIsNoWarning(t *testing.T) {
	w := newWire()
	w.write(1, 2, 0x12, 1)
	w.refused(2, 1)
	w.wait(20 * usec)
	w.write(1, 2, 0x12, 2)
	w.wait(100_000 * usec)
	w.write(1, 2, 0x12, 3)
	if f := finding(t, findings(t, w), "rnr.stall"); f.Severity != report.Notice {
		t.Errorf("%s: %s", f.Severity, f.Summary)
	}
}

func TestRNRTimerZeroIsTheLongest(t *testing.T) {
	w := newWire()
	w.write(1, 2, 0x12, 1)
	w.refused(2, 0)
	w.wait(700_000 * usec)
	w.write(1, 2, 0x12, 2)
	if f := finding(t, findings(t, w), "rnr.timer-zero"); !strings.Contains(f.Summary, "655.36 ms") {
		t.Error(f.Summary)
	}
}

func TestRNRExhausted(t *testing.T) {
	for _, test := range []struct {
		desc string
		then func(*wire)
		want bool
	}{
		{"the capture ends with the NAK", func(*wire) {}, false},
		{"others go on, shorter than the wait", func(w *wire) { w.wait(500 * usec); w.write(3, 4, 0x22, 1) }, false},
		{"others go on for long", func(w *wire) { w.wait(50_000 * usec); w.write(3, 4, 0x22, 1) }, true},
		{"the request comes again", func(w *wire) {
			w.wait(2_000 * usec)
			w.write(1, 2, 0x12, 2)
			w.wait(50_000 * usec)
			w.write(3, 4, 0x22, 1)
		}, false},
		{"the capture missed the resend, not its answer", func(w *wire) {
			w.wait(2_000 * usec)
			w.answer(2, 1, 0x112, 2, 0x1F)
			w.wait(50_000 * usec)
			w.write(3, 4, 0x22, 1)
		}, false},
	} {
		w := newWire()
		w.write(1, 2, 0x12, 1)
		w.refused(2, 14)
		w.wait(2_000 * usec)
		w.refused(2, 14)
		test.then(w)
		r := findings(t, w)
		if !test.want {
			silent(t, r, "rnr.exhausted")
			continue
		}
		if f := finding(t, r, "rnr.exhausted"); f.Values["tries"] != 2 || f.Severity != report.Critical {
			t.Errorf("%s: %d tries, %s", test.desc, f.Values["tries"], f.Severity)
		}
	}
}
