package render

import (
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
)

func TestLatencyLine(t *testing.T) {
	waits := func(kind string, ns ...int64) func(*report.Table) {
		return func(t *report.Table) {
			var w report.Waits
			for _, x := range ns {
				w.Add(x)
			}
			t.AddWaits("10.0.0.1", "10.0.0.2", kind, &w)
		}
	}
	for _, test := range []struct {
		desc  string
		trips []int64
		waits []func(*report.Table)
		want  string
	}{
		{"nothing measured", nil, nil, ""},
		{"round trips", []int64{1000, 1000, 1000}, nil, "ACK p50 1 µs"},
		{"one of them far off", []int64{1000, 1000, 9000}, nil, "ACK p50 1 µs, max 9 µs"},
		{"messages of one packet say the same", []int64{1024}, []func(*report.Table){waits(report.WaitMessage, 1024)}, "ACK p50 1.02 µs"},
		{"messages of several", []int64{1024}, []func(*report.Table){waits(report.WaitMessage, 8192)}, "ACK p50 1.02 µs; message p50 8.19 µs"},
		{"READs alone", nil, []func(*report.Table){waits(report.WaitReadCompletion, 8192), waits(report.WaitReadResponse, 1024)}, "READ p50 8.19 µs (first response 1.02 µs)"},
		{"READs that never completed", nil, []func(*report.Table){waits(report.WaitReadResponse, 1024)}, ""},
		{"a NAK", nil, []func(*report.Table){waits(report.WaitNAK, 1024), waits(report.WaitNAKReaction, 2048)}, "NAK p50 1.02 µs; NAK→resend p50 2.05 µs"},
	} {
		r := &report.Report{Flows: make([]report.Flow, 1)}
		for _, ns := range test.trips {
			r.Flows[0].AckRTT.Add(ns)
		}
		table := report.NewWaitTable(report.WaitTable, "")
		for _, add := range test.waits {
			add(&table)
		}
		s := r.Section(report.LatencySection)
		s.Tables = append(s.Tables, table)
		if got := latencyLine(r); got != test.want {
			t.Errorf("%s: %q, want %q", test.desc, got, test.want)
		}
	}
}
