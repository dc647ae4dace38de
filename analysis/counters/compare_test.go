package counters

import (
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
)

func compared(t *testing.T, r *report.Report, text string) ([]report.Reading, error) {
	t.Helper()
	var d Dumps
	if err := d.Read("dump", strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	return Compare(Expect(r), d.Devices())
}

func TestCompare(t *testing.T) {
	lossy := pair(report.Flow{Retransmitted: 9, RetransmittedNAK: 9}, report.Flow{NAKSequence: 3, CNPs: 4})
	waited := pair(report.Flow{Retransmitted: 9, RetransmittedTimeout: 9, Evidence: timeout(2)}, report.Flow{NAKSequence: 3})
	for _, test := range []struct {
		desc    string
		report  *report.Report
		dump    string
		verdict report.Verdict
		text    string
	}{
		{"as many", lossy, "# host 10.0.0.2\nout_of_sequence 10\nout_of_sequence 13\n", report.Fits, "as the capture says"},
		{"more", lossy, "# host 10.0.0.2\nout_of_sequence 10\nout_of_sequence 15\n", report.More, "2 more"},
		{"fewer", lossy, "# host 10.0.0.2\nout_of_sequence 10\nout_of_sequence 11\n", report.Fewer, "2 fewer"},
		{"fewer than none", lossy, "# host 10.0.0.2\nout_of_sequence 10\nout_of_sequence 9\n", report.Rewound, "it fell"},
		{"one reading, much from before", lossy, "# host 10.0.0.2\nout_of_sequence 1000\n", report.Untold, "since the driver"},
		{"one reading that contradicts", lossy, "# host 10.0.0.2\nout_of_sequence 2\n", report.Fewer, "1 fewer"},
		{"one reading that fits", lossy, "# host 10.0.0.2\nout_of_sequence 3\n", report.Fits, "as the capture says"},
		{"only afterwards", lossy, "# host 10.0.0.2\n# after\nout_of_sequence 3\n", report.Untold, "first reading"},
		{"another driver", lossy, "# host 10.0.0.2\nresponder_oos 1\nresponder_oos 4\n", report.Fits, "as the capture says"},
		{"Soft-RoCE counts fewer NAKs", lossy, "# host 10.0.0.1\nrcvd_seq_err 0\nrcvd_seq_err 1\n", report.Fits, "Soft-RoCE"},
		{"but never more", lossy, "# host 10.0.0.1\nrcvd_seq_err 0\nrcvd_seq_err 4\n", report.More, "1 more"},
		{"CNPs of both kinds", lossy, "# host 10.0.0.1\nrp_cnp_handled 0\nrp_cnp_ignored 5\n---\nrp_cnp_handled 3\nrp_cnp_ignored 6\n", report.Fits, "as the capture says"},
		{"CNPs of one kind", lossy, "# host 10.0.0.1\nrp_cnp_handled 0\nrp_cnp_handled 3\n", report.Fits, "rp_cnp_ignored was not read"},
		{"two ports", lossy, "# host 10.0.0.2\nlink m/1 out_of_sequence 1\nlink m/2 out_of_sequence 1\n---\nlink m/1 out_of_sequence 3\nlink m/2 out_of_sequence 2\n", report.Fits, "as the capture says"},
		{"above a lower bound", waited, "# host 10.0.0.2\nout_of_sequence 0\nout_of_sequence 9\n", report.Fits, "6 more, which fits: a NAK"},
		{"below a lower bound", waited, "# host 10.0.0.2\nout_of_sequence 0\nout_of_sequence 2\n", report.Fewer, "1 fewer"},
		{"below an upper bound", waited, "# host 10.0.0.1\npacket_seq_err 0\npacket_seq_err 1\n", report.Fits, "fits: some of the NAKs"},
		{"what a tap does not tell", waited, "# host 10.0.0.1\nroce_adp_retrans 0\nroce_adp_retrans 1\n", report.Untold, "this tap does not tell"},
		{"numbers as large as they get", lossy, "# host 10.0.0.2\nout_of_sequence 0\nout_of_sequence 18446744073709551615\n", report.More, "more"},
		{"an address spelled otherwise", lossy, "# host ::ffff:10.0.0.2\nout_of_sequence 0\nout_of_sequence 3\n", report.Fits, "as the capture says"},
		{"both addresses of one adapter", lossy, "# host 10.0.0.1 10.0.0.2\nout_of_sequence 0\nout_of_sequence 3\n", report.Fits, "as the capture says"},
	} {
		t.Run(test.desc, func(t *testing.T) {
			got, err := compared(t, test.report, test.dump)
			if err != nil || len(got) != 1 || len(got[0].Counters) != 1 {
				t.Fatalf("read %+v (%v)", got, err)
			}
			if c := got[0].Counters[0]; c.Verdict != test.verdict || !strings.Contains(c.Text, test.text) {
				t.Errorf("%+v, want %s with %q", c, test.verdict, test.text)
			}
		})
	}
}

func TestReadingsNeedAHost(t *testing.T) {
	for _, test := range []struct{ desc, dump, want string }{
		{"none is named", "a 1\n", "dump, line 1: it is not said whose counters these are"},
		{"one that is not there", "\n# host 10.0.0.9\na 1\n", "dump, line 3: the capture has no host 10.0.0.9; it has 10.0.0.1, 10.0.0.2"},
	} {
		if _, err := compared(t, pair(report.Flow{}, report.Flow{}), test.dump); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the error is %v, want %q", test.desc, err, test.want)
		}
	}
	if _, err := compared(t, &report.Report{}, "a 1\n"); err == nil {
		t.Error("a capture without hosts is no error")
	}
	one := &report.Report{Flows: []report.Flow{{Src: "10.0.0.1", Dst: "239.1.1.1", Transport: "UD"}}}
	got, err := compared(t, one, "np_cnp_sent 0\nrx_packets 7\n")
	if err != nil || len(got) != 1 || got[0].Hosts[0] != "10.0.0.1" || got[0].Others != 1 {
		t.Errorf("the only host is not found: %+v (%v)", got, err)
	}
}
