package report

import (
	"fmt"
	"slices"
	"testing"
)

func TestRowsAreSorted(t *testing.T) {
	qp := uint32(3)
	flows := []Flow{
		{Src: Other},
		{Src: "2001:db8::1", Dst: "2001:db8::2"},
		{Src: "10.0.0.10", Dst: "10.0.0.1"},
		{Src: "10.0.0.2", Dst: "10.0.0.1", DestQP: 7, FirstNs: 5},
		{Src: "10.0.0.2", Dst: "10.0.0.1", DestQP: 7, SrcQP: &qp},
		{Src: "10.0.0.2", Dst: "10.0.0.1", DestQP: 7, FirstNs: 1},
		{Src: "10.0.0.2", Dst: "10.0.0.1", DestQP: 6, FirstNs: 9},
	}
	var got []string
	for _, f := range merged(t, &Report{Flows: flows}).Flows {
		got = append(got, fmt.Sprint(f.Src, " ", f.DestQP, " ", f.SrcQP != nil, " ", f.FirstNs))
	}
	want := []string{
		"10.0.0.2 6 false 9", "10.0.0.2 7 false 1", "10.0.0.2 7 false 5", "10.0.0.2 7 true 0",
		"10.0.0.10 0 false 0", "2001:db8::1 0 false 0", "other 0 false 0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestSortFindings(t *testing.T) {
	findings := []Finding{
		{Rule: "zzz.unheard-of", Severity: Critical},
		{Rule: "capture.damaged", Severity: Warning},
		{Rule: "ecn.marked", Severity: Warning, Count: 40000},
		{Rule: "loss.upstream", Severity: Warning, Count: 3, Flow: &FlowRef{Src: "10.0.0.10"}},
		{Rule: "loss.upstream", Severity: Warning, Count: 3, Flow: &FlowRef{Src: "10.0.0.9"}},
		{Rule: "loss.upstream", Severity: Warning, Count: 4},
		{Rule: "loss.downstream", Severity: Warning, Count: 1},
		{Rule: "uet.present", Severity: Info},
		{Rule: "peer.silent", Severity: Critical},
		{Rule: "unknown", Severity: "odd"},
	}
	SortFindings(findings)
	var got []string
	for _, f := range findings {
		name := f.Rule
		if f.Flow != nil {
			name += " " + f.Flow.Src
		}
		got = append(got, name)
	}
	want := []string{
		"peer.silent", "zzz.unheard-of", "loss.downstream", "loss.upstream", "loss.upstream 10.0.0.9",
		"loss.upstream 10.0.0.10", "ecn.marked", "capture.damaged", "uet.present", "unknown",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
