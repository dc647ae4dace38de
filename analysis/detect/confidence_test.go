package detect

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode/ib"
)

// lostBeforeTap sends a WRITE that misses one before it, and both again after a NAK.
func (w *wire) lostBeforeTap(psn ib.PSN) {
	w.request(psn + 1)
	w.nak(psn)
	w.wait(20 * usec)
	w.request(psn)
	w.request(psn + 1)
	w.wait(20 * usec)
	w.answer(2, 1, 0x112, psn+1, 0x1F)
}

func TestHowSureFindingsAre(t *testing.T) {
	const timer = 16_777
	five := []int64{timer, timer, timer, timer, timer}
	for _, test := range []struct {
		desc, rule string
		send       func(*wire)
		want       report.Confidence
	}{
		{"a mark stands in the frame", "ecn.marked", func(w *wire) { w.write(1, 2, 0x10, 1, marked); w.cnp(2, 1, 0x110) }, report.Certain},
		{"a loss that the capture had no part in", "loss.upstream", func(w *wire) {
			w.acked(0, 30)
			w.lostBeforeTap(30)
			w.acked(32, 40)
		}, report.Likely},
		{"a loss beside what the capture lost", "loss.upstream", func(w *wire) {
			w.acked(0, 30)
			w.lostBeforeTap(30)
			w.acked(32, 40)
			w.acked(41, 50)
		}, report.Possible},
		{"datagrams have nothing to tell", "loss.datagram", func(w *wire) { w.datagrams(2) }, report.Possible},
		{"damaged packets of a sender whose others are right", "icrc.path", func(w *wire) {
			w.writes(1, 2, 20)
			w.send(packet{src: 1, dst: 2, op: writeOnly, qp: 0x10, psn: 20, ext: reth(0, 1, 64), payload: 64, bad: true})
		}, report.Certain},
		{"too few packets to tell the path from the sender", "icrc.path", func(w *wire) {
			w.writes(1, 2, 20)
			w.unanswered(3, 2, 4, damaged)
		}, report.Possible},
		{"a timer of which the way back is in view", "retransmit.timeout", func(w *wire) { w.acked(0, 30); w.tries(lastWrite, timer) }, report.Likely},
		{"a timer of which it is not", "retransmit.timeout", func(w *wire) {
			for psn := range ib.PSN(30) {
				w.request(psn)
			}
			w.tries(lastWrite, timer)
		}, report.Possible},
		{"retries that must be used up", "retransmit.exhausted", func(w *wire) { w.acked(0, 30); w.tries(lastWrite, append(five, timer, timer)...) }, report.Likely},
		{"retries of which more may follow", "retransmit.exhausted", func(w *wire) { w.acked(0, 30); w.tries(lastWrite, five...) }, report.Possible},
		{"a CNP near a NAK", "cnp.without-ce", func(w *wire) {
			w.acked(0, 30)
			w.lostBeforeTap(30)
			w.cnp(2, 1, 0x112)
			w.nak(32)
		}, report.Possible},
		{"a hole at the end", "loss.upstream", func(w *wire) { w.acked(0, 30); w.request(31) }, report.Possible},
	} {
		w := newWire()
		test.send(w)
		f := finding(t, findings(t, w), test.rule)
		if f.Confidence != test.want {
			t.Errorf("%s: %s is %s, want %s: %s %s", test.desc, test.rule, f.Confidence, test.want, f.Summary, f.Not)
		}
	}
}

// TestLatenessOfACaptureOutOfOrder has reordering doubted where the times of the
// frames say that the capture may have swapped them itself.
func TestLatenessOfACaptureOutOfOrder(t *testing.T) {
	c := analysis.Defaults(1)
	for _, test := range []struct {
		backward int64
		want     report.Confidence
	}{{0, report.Likely}, {1, report.Likely}, {500, report.Possible}} {
		r := &report.Report{Totals: report.Totals{Frames: 10_000, Backward: test.backward},
			Flows: []report.Flow{{Src: "a", Dst: "b", DestQP: 2, Transport: "RC", RequestFrames: 100, Reordered: 5}}}
		fs := judgeReorder(r, c)
		if len(fs) != 1 || fs[0].Confidence != test.want {
			t.Errorf("%d frames backward: %v", test.backward, fs)
		}
	}
}

// TestManyFindingsAreAsSureAsTheLeastSure condenses findings of which the worst,
// or another one, is less sure than the rest.
func TestManyFindingsAreAsSureAsTheLeastSure(t *testing.T) {
	const sure, unsure = "Not that.", "It may be that."
	for _, test := range []struct {
		desc  string
		doubt int // which is the less sure one: the last has the largest count
		says  []string
	}{
		{"all are alike", -1, []string{sure}},
		{"the worst", fewFindings, []string{unsure}},
		{"another one", 2, []string{sure, unsure}},
	} {
		var fs []report.Finding
		for i := range fewFindings + 1 {
			f := report.Finding{Rule: "a.b", Severity: report.Warning, Confidence: report.Likely, Count: int64(i), Not: sure, Summary: fmt.Sprintf("number %d.", i)}
			if i == test.doubt {
				f.Confidence, f.Not = report.Possible, unsure
			}
			fs = append(fs, f)
		}
		want := report.Likely
		if test.doubt >= 0 {
			want = report.Possible
		}
		sum := condense(fs, "flow", "infiniband")
		if len(sum) != 1 || sum[0].Confidence != want || !strings.HasSuffix(sum[0].Summary, "number 8.") {
			t.Errorf("%s: %+v", test.desc, sum)
			continue
		}
		for _, not := range []string{sure, unsure} {
			if got := strings.Count(sum[0].Not, not); got > 1 || got == 1 != slices.Contains(test.says, not) {
				t.Errorf("%s: %q", test.desc, sum[0].Not)
			}
		}
	}
}
