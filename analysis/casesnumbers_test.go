package analysis_test

import (
	"path/filepath"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
)

// Findings of the labelled captures name the host, the flow and the numbers that
// the model states.
func TestLabelledCapturesGiveTheirNumbers(t *testing.T) {
	value := func(name string, want int64) func(*report.Finding) bool {
		return func(f *report.Finding) bool { return f.Values[name] == want }
	}
	host := func(want string) func(*report.Finding) bool {
		return func(f *report.Finding) bool { return f.Host == want || f.Flow != nil && f.Flow.Src == want }
	}
	for _, test := range []struct {
		name, rule string
		says       []func(*report.Finding) bool
	}{
		{"class-dscp-outlier", "class.dscp-outlier", []func(*report.Finding) bool{
			func(f *report.Finding) bool { return f.Flow != nil && f.Flow.DestQP == 0x14a0 }, value("siblings", 7), value("dscp", 0)}},
		{"class-pcp-mismatch", "class.pcp-mismatch", []func(*report.Finding) bool{host("10.1.0.3")}},
		{"cnp-no-reaction", "cnp.no-reaction", []func(*report.Finding) bool{host("10.1.0.2")}},
		{"ecn-no-cnp", "cnp.missing", []func(*report.Finding) bool{host("10.1.0.1")}},
		{"ecn-not-ect", "ecn.not-ect", []func(*report.Finding) bool{host("10.1.0.3")}},
		{"incast-taildrop", "incast.burst", []func(*report.Finding) bool{host("10.1.0.1"), value("senders", 8), value("bursts_with_losses", 3)}},
		{"incast-at-senders", "incast.burst", []func(*report.Finding) bool{value("senders", 7), value("bursts_with_losses", 2)}},
		{"straggler", "straggler.host", []func(*report.Finding) bool{host("10.1.0.6"), value("steps_last", 5)}},
		{"pfc-storm", "pfc.storm", []func(*report.Finding) bool{host("10.1.0.2"), func(f *report.Finding) bool {
			return f.Values["held_ns"] > 259_000_000 && f.Values["held_ns"] < 261_000_000
		}}},
		{"pfc-slow-receiver", "pfc.host", []func(*report.Finding) bool{host("10.1.0.1")}},
		{"icrc-sender", "icrc.sender", []func(*report.Finding) bool{host("10.1.0.2")}},
		{"icrc-path", "icrc.path", []func(*report.Finding) bool{host("10.1.0.2")}},
		{"cm-rejected", "cm.rejected", []func(*report.Finding) bool{value("reason", 8)}},
		{"rnr-exhausted", "rnr.exhausted", []func(*report.Finding) bool{func(f *report.Finding) bool { return f.Count == 4 }}},
		{"retx-exhausted", "retransmit.exhausted", []func(*report.Finding) bool{value("timeout_exponent", 12), value("retries", 7)}},
		{"peer-read-unanswered", "peer.read-unanswered", []func(*report.Finding) bool{value("timeout_exponent", 12), value("sendings", 7)}},
		{"ecmp-overloaded-member", "ecmp.imbalance", []func(*report.Finding) bool{func(f *report.Finding) bool {
			return 100*f.Values["hottest_bytes"] >= 74*f.Values["bytes"] && 100*f.Values["hottest_bytes"] <= 76*f.Values["bytes"]
		}}},
		{"mtu-blackhole", "mtu.blackhole", []func(*report.Finding) bool{host("10.1.0.1"), value("likely_mtu", 1500)}},
		{"mtu-mismatch-nak", "mtu.mismatch", []func(*report.Finding) bool{value("path_mtu", 4096), value("peer_path_mtu", 1024)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var truth labelledTruth
			paths := glob(t, labelled, test.name+".truth.json")
			readJSON(t, paths[0], &truth)
			r := analyze(t, filepath.Join(labelled, truth.File), truth.config())
			found := false
			for i := range r.Findings {
				f := &r.Findings[i]
				if f.Rule != test.rule || found {
					continue
				}
				found = true
				for n, says := range test.says {
					if !says(f) {
						t.Errorf("statement %d does not hold of %s (host %q, flow %v, count %d, values %v): %s", n, f.Rule, f.Host, f.Flow, f.Count, f.Values, f.Summary)
					}
				}
			}
			if !found {
				t.Errorf("%s is not found", test.rule)
			}
		})
	}
}
