package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
)

func hostOf(name string, list ...report.Counter) report.HostCounters {
	return report.HostCounters{Host: name, Counters: list}
}

func TestTextCounters(t *testing.T) {
	vni := uint32(7)
	tenant := hostOf("10.0.0.3", report.Counter{Name: "np_cnp_sent", Value: 1234, Bound: report.Exact})
	tenant.VNI = &vni
	r := &report.Report{Counters: []report.HostCounters{
		hostOf("10.0.0.1", report.Counter{Name: "out_of_sequence", Bound: report.AtLeast}, report.Counter{Name: "packet_seq_err", Bound: report.Exact}),
		hostOf("10.0.0.2", report.Counter{Name: "out_of_sequence", Value: 3, Bound: report.AtLeast},
			report.Counter{Name: "rp_cnp_handled", With: "rp_cnp_ignored", Value: 2, Bound: report.AtMost}),
		tenant,
	}}
	want := "\nCounters that the adapters should show for this traffic:\n" +
		"  10.0.0.2        out_of_sequence at least 3, rp_cnp_handled + rp_cnp_ignored at\n" +
		"                  most 2\n" +
		"  10.0.0.3 VNI 7  np_cnp_sent 1,234\n"
	if got := render(t, "text", r, Options{}); !strings.Contains(got, want) {
		t.Errorf("it shows\n%s\nwant\n%s", got, want)
	}
	r.Counters = r.Counters[:1]
	if got := render(t, "text", r, Options{}); strings.Contains(got, "Counters") {
		t.Errorf("it shows zeros:\n%s", got)
	}
}

func TestTextCountersOfManyHosts(t *testing.T) {
	r := &report.Report{}
	for i := range 20 {
		r.Counters = append(r.Counters, hostOf(fmt.Sprint("10.0.0.", i), report.Counter{Name: "out_of_sequence", Value: int64(i), Bound: report.Exact}))
	}
	got := render(t, "text", r, Options{})
	if !strings.Contains(got, "\n  10.0.0.19  out_of_sequence 19\n") || strings.Contains(got, "10.0.0.11 ") || !strings.Contains(got, "… and 11 more hosts") {
		t.Errorf("it shows\n%s", got)
	}
}

func TestTextReadings(t *testing.T) {
	same := report.Counter{Name: "out_of_buffer", Bound: report.Exact}
	r := &report.Report{Readings: []report.Reading{{
		Hosts: []string{"10.0.0.2"}, Devices: []string{"mlx5_0/1"}, Others: 4,
		Counters: []report.ReadCounter{
			{Name: "out_of_buffer", Before: 9, After: 9, Expected: same, Verdict: report.Fits, Text: "as the capture says"},
			{Name: "np_cnp_sent", Before: 1, After: 3, Rise: 2, Expected: report.Counter{Value: 2, Bound: report.Exact}, Verdict: report.Fits, Text: "as the capture says"},
			{Name: "packet_seq_err", Before: 1, After: 3, Rise: 2, Expected: report.Counter{Value: 4, Bound: report.Exact}, Verdict: report.Fewer, Text: "2 fewer"},
			{Name: "dup_req", After: 3, Once: true, Rise: 3, Expected: report.Counter{Bound: report.Unknown}, Verdict: report.Untold, Text: "who knows"},
			{Name: "to_retransmits", Before: 3, After: 2, Expected: report.Counter{Bound: report.AtLeast}, Verdict: report.Rewound, Text: "it fell"},
		},
	}}}
	want := "\nCounters of 10.0.0.2 (mlx5_0/1), as read and as this traffic should make them:\n" +
		"  packet_seq_err  1 → 3 = 2, expected 4: 2 fewer\n" +
		"  to_retransmits  3 → 2, expected at least 0: it fell\n" +
		"  np_cnp_sent     1 → 3 = 2, expected 2: as the capture says\n" +
		"  dup_req         3, expected unknown: who knows\n" +
		"  1 counter did not rise, as expected\n" +
		"  4 further counters of which a capture tells nothing\n"
	if got := render(t, "text", r, Options{}); !strings.Contains(got, want) {
		t.Errorf("it shows\n%s\nwant\n%s", got, want)
	}
}

// The names of counters and devices come from files.
func TestTextCountersFitAndKeepControlCharactersOut(t *testing.T) {
	evil := strings.Repeat("a\x1b[2J\n\u202e", 12)
	c := report.Counter{Name: evil, Value: 1, Bound: report.AtMost, Why: evil}
	r := &report.Report{
		Counters: []report.HostCounters{hostOf(evil, c)},
	}
	read := &report.Report{Readings: []report.Reading{{Hosts: []string{evil}, Devices: []string{evil},
		Counters: []report.ReadCounter{{Name: evil, Rise: 1, Expected: c, Verdict: report.More, Text: evil}}}}}
	for _, r := range []*report.Report{r, read} {
		for _, width := range []int{40, 80} {
			got := render(t, "text", r, Options{Width: width})
			if strings.ContainsAny(got, "\x1b\u202e") {
				t.Errorf("control characters at %d:\n%q", width, got)
			}
			if lines := strings.Count(got, "\n"); lines > 60 {
				t.Errorf("%d lines at %d", lines, width)
			}
		}
	}
}
