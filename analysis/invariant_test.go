package analysis_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
)

func TestCountsOfEveryRecordedCaptureAgree(t *testing.T) {
	for _, path := range glob(t, softroce, "*.pcap") {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			truth := truthOf(t, name)
			r := analyze(t, path, oneWorker())
			if want := truth.Captures[name].Frames; r.Totals.Frames != want {
				t.Errorf("%d frames, where the capturing host wrote %d", r.Totals.Frames, want)
			}
			consistent(t, r)
			asObserved(t, r, truth, name)
		})
	}
}

func TestCountsOfEveryLabelledCaptureAgree(t *testing.T) {
	for _, path := range glob(t, labelled, "*.pcap*") {
		t.Run(filepath.Base(path), func(t *testing.T) { consistent(t, analyze(t, path, oneWorker())) })
	}
}

// consistent holds for the report of any capture.
func consistent(t *testing.T, r *report.Report) {
	t.Helper()
	n := &r.Totals
	if got := n.RoCE + n.Other + n.Malformed + n.Fragments + n.CutShort + n.PFC + n.Pause + n.UET; got != n.Frames {
		t.Errorf("the statuses sum up to %d frames of %d", got, n.Frames)
	}
	if n.RoCEv1+n.RoCEv2 != n.RoCE {
		t.Errorf("%d and %d frames of the two versions, %d in all", n.RoCEv1, n.RoCEv2, n.RoCE)
	}
	if got := sum(r, "frames") + n.FlowsNotTracked; got > n.RoCE || got < n.RoCE-n.ICRCBad {
		t.Errorf("the rows hold %d frames of %d; only a frame with a bad ICRC may belong to none", got, n.RoCE)
	}
	if got := n.ICRCGood + n.ICRCBad + n.ICRCUnchecked; got != n.RoCE-sum(r, "mirror_duplicates") {
		t.Errorf("%d ICRCs of %d frames, %d of them copies", got, n.RoCE, sum(r, "mirror_duplicates"))
	}
	for i := range r.Flows {
		consistentRow(t, &r.Flows[i])
	}
}

// consistentRow holds for any row.
func consistentRow(t *testing.T, f *report.Flow) {
	t.Helper()
	atMost := func(what string, part, whole int64) {
		if part > whole {
			t.Errorf("%v: %s: %d of %d", f.Ref(), what, part, whole)
		}
	}
	for name := range columns {
		atMost(name+" below zero", 0, column(f, name))
	}
	atMost("causes of resends", f.RetransmittedNAK+f.RetransmittedTimeout+f.RetransmittedImplied+f.RetransmittedRNR, f.Retransmitted)
	atMost("needless resends", f.Spurious, f.Retransmitted)
	atMost("resent requests", f.Retransmitted, f.RequestFrames)
	atMost("resent responses", f.ResponseRetransmitted, f.ResponseFrames)
	atMost("late requests", f.Reordered, f.RequestFrames)
	atMost("needless NAKs", f.NeedlessNAKs, f.Frames+f.RequestFrames)
	atMost("copies", f.MirrorDuplicates, f.Frames)
	atMost("requests, responses and copies", f.RequestFrames+f.ResponseFrames+f.MirrorDuplicates, f.Frames)
	atMost("ACKs and NAKs", f.Acks+f.NAKs(), f.ResponseFrames)
	atMost("messages", f.Messages, f.RequestFrames)
	atMost("first before last", f.FirstNs, f.LastNs)
	if !slices.IsSortedFunc(f.Evidence, func(a, b report.Evidence) int { return strings.Compare(a.Kind, b.Kind) }) {
		t.Errorf("%v: evidence is out of order", f.Ref())
	}
}

// asObserved compares with what a program of another hand read from the
// capture. Copies count in frames alone, so a mirrored capture is left out.
func asObserved(t *testing.T, r *report.Report, truth *recorded, name string) {
	t.Helper()
	i := slices.IndexFunc(truth.Observed, func(o observed) bool { return o.File == name })
	if i < 0 || sum(r, "mirror_duplicates") > 0 || truth.Observed[i].RoCE == 0 { // it takes off no tunnels
		return
	}
	o, n := &truth.Observed[i], &r.Totals
	for _, c := range []struct {
		what      string
		got, want int64
	}{
		{"RoCE frames", n.RoCE, o.RoCE},
		{"sequence NAKs", n.NAKSequence, o.NAKs["PSN_SEQ"]},
		{"RNR NAKs", n.RNRNAKs, o.NAKs["RNR"]},
		{"NAKs for invalid requests", n.NAKInvalidRequest, o.NAKs["INV_REQ"]},
		{"NAKs for remote access", n.NAKRemoteAccess, o.NAKs["REM_ACCESS"]},
		{"NAKs for remote operation", n.NAKRemoteOperational, o.NAKs["REM_OP"]},
		{"good ICRCs", n.ICRCGood, o.ICRC["ok"]},
		{"bad ICRCs", n.ICRCBad, o.ICRC["bad"]},
		{"ICRCs that cannot be checked", n.ICRCUnchecked, o.ICRC["truncated"]},
		{"CE marks", n.CE, o.ECN["3"]},
	} {
		if c.got != c.want {
			t.Errorf("%d %s, want %d", c.got, c.what, c.want)
		}
	}
}

// cleanRuns are runs in which nothing went wrong, by the names of their
// captures.
var cleanRuns = []string{
	"clean_*", "rping*", "ucmatose*", "udaddy*", "manyqp*", "ipv6*", "nano*", "sll.*", "sll2.*", "snap128*",
	"perftest_mix_mtu1024*", "perftest_cm*", "perftest_tos*", "perftest_bidir*", "mtu1500_perftest*", "vm_*", "nvme_rdma*",
	"delay_clean*", "idle_gap*", "qpn_reuse*", "incast_clean*", "small_ttl*", "span_clean*", "vlan*", "psnwrap*", "long_read*",
	"midstream*", "err_rd_depth*",
}

func TestCleanRunsHaveNothingToReport(t *testing.T) {
	for _, pattern := range cleanRuns {
		for _, path := range glob(t, softroce, pattern+".pcap") {
			name := filepath.Base(path)
			t.Run(name, func(t *testing.T) {
				r := analyze(t, path, oneWorker())
				wantZero(t, r, lossColumns, nil)
				wantZero(t, r, resendColumns, nil)
				cooked := strings.HasPrefix(name, "sll") // shows what a host forwards twice
				for _, f := range r.Findings {
					if f.Severity != report.Info && (!cooked || f.Rule != "capture.duplicated") {
						t.Errorf("%s, %s: %s", f.Rule, f.Severity, f.Summary)
					}
				}
				if got := sum(r, "mirror_duplicates"); got != 0 && !cooked {
					t.Errorf("%d copies", got)
				}
			})
		}
	}
}
