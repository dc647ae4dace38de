package detect

import (
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode/ib"
)

// oneSided sends WRITEs of which no answer is captured.
func (w *wire) oneSided(n int) {
	for i := range ib.PSN(n) {
		w.send(packet{src: 1, dst: 2, op: writeOnly, qp: 0x12, psn: i, ext: reth(0, 1, 64), payload: 64})
	}
}

func TestOneDirectionIsNotASilentPeer(t *testing.T) {
	for _, test := range []struct {
		desc string
		send func(*wire)
		want bool
	}{
		{"requests that go on without an answer", func(w *wire) { w.oneSided(40) }, true},
		{"answers without a request", func(w *wire) {
			for psn := range ib.PSN(4) {
				w.answer(2, 1, 0x112, psn, 0x1F)
				w.wait(100 * usec)
			}
		}, true},
		{"one answer to what may have been asked before", func(w *wire) { w.answer(2, 1, 0x112, 5, 0x1F) }, false},
		{"both directions", func(w *wire) { w.writes(1, 2, 40) }, false},
		{"a window that is sent again and again", func(w *wire) {
			for range 4 {
				w.oneSided(20)
				w.wait(20_000 * usec)
			}
		}, false},
		{"too few to tell", func(w *wire) { w.oneSided(3) }, false},
	} {
		w := newWire()
		test.send(w)
		r := findings(t, w)
		if !test.want {
			silent(t, r, "capture.one-direction")
			continue
		}
		if f := finding(t, r, "capture.one-direction"); f.Severity != report.Notice {
			t.Errorf("%s: %s", test.desc, f.Severity)
		}
	}
}

func TestWhatTheFileSays(t *testing.T) {
	for _, test := range []struct {
		rule     string
		severity report.Severity
		capture  report.Capture
		totals   report.Totals
	}{
		{"capture.damaged", report.Warning, report.Capture{Damaged: "record cut"}, report.Totals{RoCE: 1}},
		{"capture.truncated", report.Info, report.Capture{Frames: 9, Truncated: 3}, report.Totals{RoCE: 1}},
		{"capture.missed", report.Notice, report.Capture{Frames: 9, Dropped: 3}, report.Totals{RoCE: 1}},
		{"capture.no-roce", report.Warning, report.Capture{Frames: 9}, report.Totals{Frames: 9, Other: 9}},
		{"capture.no-roce", report.Warning, report.Capture{}, report.Totals{}},
		{"capture.no-roce", report.Info, report.Capture{Frames: 9}, report.Totals{Frames: 9, Other: 2, CutShort: 7}},
		{"capture.no-roce", report.Warning, report.Capture{Frames: 9}, report.Totals{Frames: 9, Other: 7, CutShort: 2}},
		{"uet.present", report.Info, report.Capture{}, report.Totals{Frames: 2, RoCE: 1, UET: 1}},
	} {
		r := &report.Report{Captures: []report.Capture{test.capture}, Totals: test.totals}
		analysis.Judge(r, All(), analysis.Defaults(1))
		if f := finding(t, r, test.rule); f.Severity != test.severity || len(r.Findings) != 1 {
			t.Errorf("%s: %s among %q", test.rule, f.Severity, rulesOf(r))
		}
	}
}

func TestCopiesAreReportedOnce(t *testing.T) {
	w := newWire()
	for psn := range ib.PSN(20) {
		w.write(1, 2, 0x12, psn)
		w.again()
	}
	if f := finding(t, findings(t, w), "capture.duplicated"); f.Count != 20 {
		t.Errorf("%d copies, want 20", f.Count)
	}
}

// TestFewAnswersAlikeAreNoCopies has acknowledgements come twice that nothing but the time
// tells from those that duplicates draw.
func TestFewAnswersAlikeAreNoCopies(t *testing.T) {
	for _, test := range []struct {
		desc   string
		acks   ib.PSN // that come twice
		writes ib.PSN
		want   bool
	}{
		{"a single one", 1, 0, false},
		{"three", 3, 0, false},
		{"so many that they are a rule", 8, 0, true},
		{"one, and a request", 1, 1, true},
		{"a request alone", 0, 1, true},
	} {
		w := newWire()
		for psn := range ib.PSN(20) {
			w.id = 0xFFFF // none of all packets
			w.send(packet{src: 1, dst: 2, op: writeOnly, qp: 0x12, psn: psn, ext: reth(0, 1, 64), payload: 64})
			if psn < test.writes {
				w.again()
			}
			w.id = 0xFFFF
			w.answer(2, 1, 0x112, psn, 0x1F)
			if psn < test.acks {
				w.again()
			}
		}
		if r := findings(t, w); test.want {
			finding(t, r, "capture.duplicated")
		} else {
			silent(t, r, "capture.duplicated")
		}
	}
}

// TestAnswersBeforeTheirQuestions has the clocks of the two directions disagree in some of
// the queue pairs, of which one loses a packet.
func TestAnswersBeforeTheirQuestions(t *testing.T) {
	for _, test := range []struct {
		desc             string
		pairs, disagreed uint32
		want             bool
	}{
		{"nowhere", 4, 0, false},
		{"in one queue pair of several", 4, 1, false},
		{"in the only one", 1, 1, true},
		{"in several", 4, 2, true},
	} {
		w := newWire()
		for psn := range ib.PSN(20) {
			for qp := range test.pairs {
				p := packet{src: 1, dst: 2, op: writeOnly, qp: 0x12 + qp, psn: psn, ext: reth(0, 1, 64), payload: 64}
				if qp >= test.disagreed || psn < 10 {
					w.send(p)
				}
				w.answer(2, 1, 0x112+qp, psn, 0x1F)
				if qp < test.disagreed && psn >= 10 {
					w.send(p)
				}
			}
		}
		w.lostBeforeTap(20)
		r := findings(t, w)
		sure := report.Likely
		if test.want {
			sure = report.Possible
			if f := finding(t, r, "capture.clock"); f.Severity != report.Notice || f.Count != 10*int64(test.disagreed) {
				t.Errorf("%s: %s, of %d requests", test.desc, f.Severity, f.Count)
			}
		} else {
			silent(t, r, "capture.clock")
		}
		if f := finding(t, r, "loss.upstream"); f.Confidence != sure {
			t.Errorf("%s: the loss is %s, want %s", test.desc, f.Confidence, sure)
		}
	}
}
