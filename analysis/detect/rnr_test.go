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

// TestRNRExhaustedByTheTearDown ends the capture soon behind the last NAK, so that
// only the end of the connection can tell.
func TestRNRExhaustedByTheTearDown(t *testing.T) {
	asks := func(retries uint8) func(*wire) {
		return func(w *wire) {
			w.cm(2, 1, ib.AttrREQ, 0x12, &ib.REQ{LocalCommID: 0x12, LocalQPN: 0x12, RNRRetry: retries, PathMTU: ib.MTUOf(1024)})
			w.rep(1, 2, 0x12)
			w.rtu(2, 1, 0x12)
		}
	}
	for _, test := range []struct {
		desc   string
		before func(*wire)
		then   func(*wire)
		want   report.Confidence // empty where nothing is to be said
	}{
		{"closed, and the retries are used up", asks(1), func(w *wire) { w.disconnect(2, 1, 0x12) }, report.Certain},
		{"closed, and more retries were left than are in view", asks(5), func(w *wire) { w.disconnect(2, 1, 0x12) }, report.Likely},
		{"closed, but retries never end", asks(7), func(w *wire) { w.disconnect(2, 1, 0x12) }, ""},
		{"not closed", asks(1), func(*wire) {}, ""},
		{"another connection of the two begins", asks(1), func(w *wire) { w.connect(1, 2, 0x33, 4420) }, ""},
		{"another connection of the two is closed", func(w *wire) { asks(1)(w); w.connect(2, 1, 0x33, 4420) }, func(w *wire) { w.disconnect(2, 1, 0x33) }, ""},
		{"nothing is known of the connection", func(*wire) {}, func(w *wire) { w.connect(2, 1, 0x33, 4420); w.disconnect(2, 1, 0x33) }, ""},
		{"retries never end, and yet it is silent for long", asks(7), func(w *wire) { w.wait(50_000 * usec); w.write(3, 4, 0x22, 1) }, report.Possible},
	} {
		w := newWire()
		test.before(w)
		w.write(1, 2, 0x12, 1)
		w.refused(2, 14)
		w.wait(2_000 * usec)
		w.refused(2, 14)
		w.wait(50 * usec)
		test.then(w)
		r := findings(t, w)
		if test.want == "" {
			for _, f := range r.Findings {
				if f.Rule == "rnr.exhausted" {
					t.Errorf("%s: %s", test.desc, f.Summary)
				}
			}
			continue
		}
		if f := finding(t, r, "rnr.exhausted"); f.Confidence != test.want {
			t.Errorf("%s: %s, want %s", test.desc, f.Confidence, test.want)
		}
	}
}
