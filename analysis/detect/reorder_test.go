package detect

import (
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode/ib"
)

func TestLatePacketsAreNoLoss(t *testing.T) {
	w := newWire()
	w.acked(0, 30)
	for psn := ib.PSN(30); psn < 40; psn += 2 {
		first := w.frame(packet{src: 1, dst: 2, op: writeOnly, qp: 0x12, psn: psn, ext: reth(0, 1, 64), payload: 64})
		w.request(psn + 1)
		w.wait(3 * usec)
		w.put(first)
		w.answer(2, 1, 0x112, psn+1, 0x1F)
	}
	r := findings(t, w)
	f := finding(t, r, "reorder.path")
	if f.Severity != report.Notice || f.Count != 5 || f.Values["longest_ns"] != 3*usec {
		t.Errorf("%s: %d, %v", f.Severity, f.Count, f.Values)
	}
	silent(t, r, "loss.upstream", "capture.missed", "reorder.spurious-nak")
}

func TestReorderingIsJudgedByItsNAKs(t *testing.T) {
	row := func(late, needless, lost int64) *report.Report {
		qp := uint32(1)
		return &report.Report{Flows: []report.Flow{{Src: "10.0.0.1", Dst: "10.0.0.2", DestQP: 2, Transport: "RC", PeerQP: &qp,
			RequestFrames: 100, Reordered: late, NeedlessNAKs: needless, LostDownstream: lost, RetransmittedNAK: 30}}}
	}
	for _, test := range []struct {
		desc                 string
		late, needless, lost int64
		want                 string
	}{
		{"late and nobody minds", 5, 0, 0, "reorder.path"},
		{"late and NAKed", 5, 4, 0, "reorder.spurious-nak"},
		{"NAKs for what overtook behind the tap", 0, 4, 1, "reorder.spurious-nak"},
		{"losses, of which some NAKs came early", 0, 2, 7, ""},
		{"in order", 0, 0, 0, ""},
	} {
		got := ""
		for _, f := range judgeReorder(row(test.late, test.needless, test.lost), analysis.Defaults(1)) {
			got += f.Rule
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.desc, got, test.want)
		}
	}
}

func TestOnlyAReceiverThatAskedForNothingPlacesOutOfOrder(t *testing.T) {
	for _, test := range []struct {
		desc              string
		requests, answers int64 // sent again
		back              string
		want              bool
	}{
		{"nothing was sent again", 0, 0, "10.0.0.1", true},
		{"a loss was repaired, and the receiver said nothing of the rest meanwhile", 7, 0, "10.0.0.1", false},
		{"READ responses came again", 0, 3, "10.0.0.1", false},
		{"nothing came back, but to another host", 0, 0, "10.0.0.3", false},
	} {
		r := &report.Report{Flows: []report.Flow{{Src: "10.0.0.1", Dst: "10.0.0.2", DestQP: 2, Transport: "RC",
			RequestFrames: 100, Reordered: 5, Retransmitted: test.requests, ResponseRetransmitted: test.answers},
			{Src: "10.0.0.2", Dst: test.back, DestQP: 3, Transport: "RC", ResponseFrames: 20}}}
		for _, f := range judgeReorder(r, analysis.Defaults(1)) {
			if got := strings.Contains(f.Advice, "as it does here"); got != test.want {
				t.Errorf("%s: %s", test.desc, f.Advice)
			}
			if got := strings.Contains(f.Not, "drew no NAK"); got != (test.back == "10.0.0.1") {
				t.Errorf("%s: %s", test.desc, f.Not)
			}
		}
	}
}

func TestHalfOfTheLatenesses(t *testing.T) {
	steps := []report.Row{
		{Key: []string{"a", "b", "1000"}, Values: []int64{2, 900}},
		{Key: []string{"a", "b", "2000"}, Values: []int64{2, 1900}},
		{Key: []string{"a", "b", "5000"}, Values: []int64{1, 4000}},
	}
	if half, longest := typicalLateness(steps); half != 2000 || longest != 4000 {
		t.Errorf("half below %d, longest %d", half, longest)
	}
}
