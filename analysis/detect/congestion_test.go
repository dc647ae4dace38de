package detect

import (
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

func marked(p *packet) { p.ecn = decode.CE }
func notECT(p *packet) { p.notECT = true }

// writes sends some WRITEs from a host to another, ten microseconds apart.
func (w *wire) writes(src, dst byte, n int, change ...func(*packet)) {
	for i := range n {
		w.write(src, dst, uint32(src)<<4, ib.PSN(i), change...)
		w.wait(10 * usec)
	}
}

func TestMarksAndTheirNotification(t *testing.T) {
	congestionRules := []string{"ecn.marked", "ecn.not-ect", "cnp.missing", "cnp.without-ce", "cnp.class"}
	for _, test := range []struct {
		desc string
		send func(*wire)
		want map[string]report.Severity
	}{
		{"nothing marked, nothing lost, all Not-ECT", func(w *wire) { w.writes(1, 2, 40, notECT) }, nil},
		{"a few marks, and a CNP", func(w *wire) {
			w.writes(1, 2, 98)
			w.write(1, 2, 0x10, 98, marked)
			w.cnp(2, 1, 0x110)
		}, map[string]report.Severity{"ecn.marked": report.Notice}},
		{"many marks, and a CNP", func(w *wire) {
			w.writes(1, 2, 20, marked)
			w.cnp(2, 1, 0x110)
		}, map[string]report.Severity{"ecn.marked": report.Warning}},
		{"many marks, and no CNP", func(w *wire) { w.writes(1, 2, 20, marked) },
			map[string]report.Severity{"ecn.marked": report.Warning, "cnp.missing": report.Warning}},
		{"marks of which only the senders' direction is in view", func(w *wire) {
			for i := range ib.PSN(20) {
				w.send(packet{src: 1, dst: 2, op: writeOnly, qp: 0x10, psn: i, ext: reth(0, 1, 64), payload: 64, ecn: decode.CE})
				w.wait(10 * usec)
			}
		}, map[string]report.Severity{"ecn.marked": report.Warning}},
		{"a CNP in the class of the data", func(w *wire) {
			w.writes(1, 2, 98)
			w.write(1, 2, 0x10, 98, marked)
			w.send(packet{src: 2, dst: 1, op: ib.CNP, qp: 0x110, payload: 16, dscp: 26})
		}, map[string]report.Severity{"ecn.marked": report.Notice, "cnp.class": report.Notice}},
		{"a CNP and no mark", func(w *wire) { w.writes(1, 2, 20); w.cnp(2, 1, 0x110) },
			map[string]report.Severity{"cnp.without-ce": report.Info}},
		{"one sender Not-ECT beside another", func(w *wire) { w.writes(1, 2, 20); w.writes(3, 2, 20, notECT) },
			map[string]report.Severity{"ecn.not-ect": report.Notice}},
	} {
		w := newWire()
		test.send(w)
		r := findings(t, w)
		got := map[string]report.Severity{}
		for _, f := range r.Findings {
			for _, rule := range congestionRules {
				if f.Rule == rule {
					got[rule] = f.Severity
				}
			}
		}
		for _, rule := range congestionRules {
			if got[rule] != test.want[rule] {
				t.Errorf("%s: %s is %q, want %q", test.desc, rule, got[rule], test.want[rule])
			}
		}
	}
}

// A tap between the hosts does not tell a receiver that sends no CNPs from one
// whose CNPs are dropped before the tap.
func TestMissingCNPsAreLikelyOnlyOnTheLinkOfTheReceiver(t *testing.T) {
	for _, test := range []struct {
		desc   string
		beside func(*wire)
		want   report.Confidence
	}{
		{"all is about the receiver", func(w *wire) { w.writes(3, 2, 5) }, report.Likely},
		{"others speak with each other", func(w *wire) { w.writes(3, 4, 5) }, report.Possible},
	} {
		w := newWire()
		test.beside(w)
		w.writes(1, 2, 20, marked)
		if f := finding(t, findings(t, w), "cnp.missing"); f.Confidence != test.want || strings.Contains(f.Summary, "sent no CNP") {
			t.Errorf("%s: %s, want %s: %s", test.desc, f.Confidence, test.want, f.Summary)
		}
	}
}

func TestCNPsAndCopiesOfMarks(t *testing.T) {
	w := newWire()
	w.send(packet{src: 1, dst: 2, op: writeOnly, qp: 0x10, psn: 1, ext: reth(0, 1, 64), payload: 64, ecn: decode.CE})
	w.again()
	w.cnp(2, 1, 0x110)
	r := findings(t, w)
	if r.Totals.CE != 1 || r.Totals.CNPs != 1 {
		t.Errorf("%d marks and %d CNPs, want 1 and 1", r.Totals.CE, r.Totals.CNPs)
	}
	for i := range r.Flows {
		if r.Flows[i].BECN != 0 {
			t.Errorf("the BECN of a CNP counts in becn_frames")
		}
	}
}

func TestCNPNearNAKIsTriggeredByLoss(t *testing.T) {
	for _, order := range []string{"CNP first", "NAK first"} {
		w := newWire()
		w.writes(1, 2, 5)
		w.send(packet{src: 1, dst: 2, op: writeOnly, qp: 0x10, psn: 5, ext: reth(0, 1, 64), payload: 64})
		if order == "CNP first" {
			w.cnp(2, 1, 0x110)
		}
		w.answer(2, 1, 0x110, 5, ib.NAKPSNSequence)
		if order == "NAK first" {
			w.cnp(2, 1, 0x110)
		}
		f := finding(t, findings(t, w), "cnp.without-ce")
		if !strings.Contains(f.Summary, "loss triggers them") {
			t.Errorf("%s: %s", order, f.Summary)
		}
	}
}

// Where NAKs are many, CNPs stand near them by chance, too.
func TestCNPsAmongManyNAKsAreOnlyInfo(t *testing.T) {
	for _, test := range []struct {
		naks, cnps, near, ns int64
		want                 report.Severity
	}{
		{4, 3, 3, 190_000, report.Info},
		{4, 3, 3, 19_000_000, report.Notice},
		{4, 40, 40, 190_000, report.Notice}, // every single one, and there is room elsewhere
		{5, 40, 40, 190_000, report.Info},
		{0, 3, 3, 0, report.Notice}, // times that tell nothing
	} {
		peer, back := uint32(0x110), uint32(0x10)
		r := &report.Report{
			Totals: report.Totals{RoCE: 1},
			Flows: []report.Flow{
				{Src: "10.0.0.1", Dst: "10.0.0.2", DestQP: 0x10, PeerQP: &peer, Transport: "RC", Version: 2, DataFrames: 50},
				{Src: "10.0.0.2", Dst: "10.0.0.1", DestQP: 0x110, PeerQP: &back, Transport: "RC", Version: 2, CNPs: test.cnps, NAKSequence: test.naks, FirstNs: 1000, LastNs: 1000 + test.ns},
			},
		}
		addTable(r, "congestion", report.Table{Name: "hosts", Keys: []string{"src", "dst"}, Columns: columns("frames", "ect_data", "ce_data", "not_ect_data", "cnps", "cnps_near_nak"),
			Rows: []report.Row{{Key: []string{"10.0.0.1", "10.0.0.2"}, Values: []int64{50, 0, 0, 0, 0}}, {Key: []string{"10.0.0.2", "10.0.0.1"}, Values: []int64{0, 0, 0, test.cnps, test.near}}}})
		r.Findings = judgeCongestion(r, analysis.Defaults(1))
		if f := finding(t, r, "cnp.without-ce"); f.Severity != test.want {
			t.Errorf("%+v: %s", test, f.Severity)
		}
	}
}

// What the capture missed may have been marked, so that loss as the cause of CNPs
// is no more than a possibility.
func TestCNPsBesideMissedDataAreOnlyInfo(t *testing.T) {
	for _, missed := range []int64{0, 1} {
		peer, back := uint32(0x110), uint32(0x10)
		r := &report.Report{
			Totals: report.Totals{RoCE: 1},
			Flows: []report.Flow{
				{Src: "10.0.0.1", Dst: "10.0.0.2", DestQP: 0x10, PeerQP: &peer, Transport: "RC", Version: 2, DataFrames: 50, NotCaptured: missed},
				{Src: "10.0.0.2", Dst: "10.0.0.1", DestQP: 0x110, PeerQP: &back, Transport: "RC", Version: 2, CNPs: 4},
			},
		}
		addTable(r, "congestion", report.Table{Name: "hosts", Keys: []string{"src", "dst"}, Columns: columns("frames", "ect_data", "ce_data", "not_ect_data", "cnps", "cnps_near_nak"),
			Rows: []report.Row{{Key: []string{"10.0.0.1", "10.0.0.2"}, Values: []int64{50, 0, 0, 0, 0}}, {Key: []string{"10.0.0.2", "10.0.0.1"}, Values: []int64{0, 0, 0, 4, 4}}}})
		want := []report.Severity{report.Notice, report.Info}[missed]
		r.Findings = judgeCongestion(r, analysis.Defaults(1))
		if f := finding(t, r, "cnp.without-ce"); f.Severity != want {
			t.Errorf("%d packets missed: %s, want %s: %s", missed, f.Severity, want, f.Not)
		}
	}
}
