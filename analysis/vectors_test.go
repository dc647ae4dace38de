package analysis_test

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

func TestLossVectorEqualsItsAnswers(t *testing.T) {
	r := analyze(t, filepath.Join(vectors, "flow-rc-loss.pcap"), oneWorker())
	n := &r.Totals
	for _, c := range []struct {
		what      string
		got, want int64
	}{
		{"frames", n.Frames, 25},
		{"good ICRCs", n.ICRCGood, 25},
		{"sequence NAKs", n.NAKSequence, 1},
		{"RNR NAKs", n.RNRNAKs, 1},
		{"CNPs", n.CNPs, 1},
		{"CE marks", n.CE, 1},
		{"gaps", sum(r, "gaps") + sum(r, "response_gaps"), 0},
		{"packets lost behind the tap", sum(r, "lost_downstream"), 1},
		{"resends after a NAK", sum(r, "retransmitted_nak"), 3},
		{"resends after an RNR NAK", sum(r, "retransmitted_rnr"), 1},
		{"resends in all", sum(r, "retransmitted"), 4},
		{"copies", sum(r, "mirror_duplicates"), 0},
	} {
		if c.got != c.want {
			t.Errorf("%d %s, want %d", c.got, c.what, c.want)
		}
	}
	peers := map[uint32]uint32{0x4d2: 0xabc, 0xabc: 0x4d2}
	for i := range r.Flows {
		f := &r.Flows[i]
		peer, ok := peers[f.DestQP]
		if f.Transport != "RC" {
			continue
		}
		if !ok || f.PeerQP == nil || *f.PeerQP != peer || f.PeerBy != "cm" || f.PathMTU != 1024 {
			t.Errorf("%v: peer %v by %q, path MTU %d; want a connection that the CM messages tell", f.Ref(), f.PeerQP, f.PeerBy, f.PathMTU)
		}
		delete(peers, f.DestQP)
	}
	if len(peers) > 0 {
		t.Errorf("no row for %v", peers)
	}
}

// scenario is one of the stories told in flow-artifacts.pcap. What a scenario
// does not name is zero; "retransmits" may go by other names.
type scenario struct {
	Name     string   `json:"scenario"`
	QPs      []string `json:"dest_qp"`
	Gap      []string `json:"gap"`
	Copies   int64    `json:"mirror_duplicates"`
	Late     int64    `json:"reordered"`
	Missed   int64    `json:"capture_lost"`
	NAKs     int64    `json:"naks"`
	Resent   int64    `json:"retransmits"`
	Repaired int64    `json:"retransmitted_packets"`
	Reread   int64    `json:"read_retries"`
	CE       int64    `json:"ce_marked"`
	CNPs     int64    `json:"cnps"`
	XOFF     int64    `json:"xoff"`
	XON      int64    `json:"xon"`
	Written  int64    `json:"write_bytes"`
}

func TestArtifactVectorsEqualTheirAnswers(t *testing.T) {
	var list []scenario
	readJSON(t, filepath.Join(vectors, "flow-artifacts.json"), &list)
	r := analyze(t, filepath.Join(vectors, "flow-artifacts.pcap"), oneWorker())
	for _, s := range list {
		t.Run(s.Name, func(t *testing.T) {
			if len(s.QPs) == 0 {
				if r.Totals.PFC != s.XOFF+s.XON {
					t.Errorf("%d PFC frames, want %d", r.Totals.PFC, s.XOFF+s.XON)
				}
				return
			}
			s.compare(t, rowsOf(t, r, s.QPs))
		})
	}
}

// rowsOf returns a report of the rows towards some queue pairs, and of the
// responses to them where the two are paired.
func rowsOf(t *testing.T, r *report.Report, qps []string) *report.Report {
	t.Helper()
	out := &report.Report{}
	for _, text := range qps {
		qp, err := strconv.ParseUint(text, 0, 24)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for i := range r.Flows {
			f := &r.Flows[i]
			if f.DestQP == uint32(qp) {
				found = true
				out.Flows = append(out.Flows, *f)
			} else if f.PeerQP != nil && *f.PeerQP == uint32(qp) && len(qps) == 1 {
				out.Flows = append(out.Flows, *f)
			}
		}
		if !found {
			t.Fatalf("no row towards %s", text)
		}
	}
	return out
}

func (s *scenario) compare(t *testing.T, r *report.Report) {
	t.Helper()
	gaps := int64(len(s.Gap))
	for _, c := range []struct {
		what      string
		got, want int64
	}{
		{"gaps", sum(r, "gaps"), gaps + s.Late},
		{"gaps of responses", sum(r, "response_gaps"), 0},
		{"late packets", sum(r, "reordered"), s.Late},
		{"packets missed by the tap", sum(r, "not_captured"), s.Missed},
		{"packets lost before the tap", sum(r, "lost_upstream"), gaps - s.Missed},
		{"packets lost behind the tap", sum(r, "lost_downstream"), 0},
		{"sequence NAKs", sum(r, "naks_psn_sequence"), s.NAKs},
		{"resends", sum(r, "retransmitted"), s.Resent + s.Repaired + s.Reread},
		{"copies", sum(r, "mirror_duplicates"), s.Copies},
		{"CE marks", sum(r, "ce_frames"), s.CE},
		{"CNPs", sum(r, "cnps"), s.CNPs},
	} {
		if c.got != c.want {
			t.Errorf("%d %s, want %d", c.got, c.what, c.want)
		}
	}
	if got := sum(r, "request_bytes"); s.Written > 0 && got != s.Written {
		t.Errorf("%d bytes of requests, want %d", got, s.Written)
	}
}

func TestAFrameThatIsNoRoCEBelongsToNoRow(t *testing.T) {
	path := filepath.Join(vectors, "flow-artifacts.pcap")
	cfg := oneWorker()
	cfg.Tap = func(b *analysis.Batch) {
		for i := range b.Packets {
			if p := &b.Packets[i]; p.Frame >= 125 && p.Frame <= 128 && b.Flow[i] != analysis.NoFlow {
				t.Errorf("frame %d, a PFC frame, belongs to row %d", p.Frame, b.Flow[i])
			}
		}
	}
	run(t, open(t, path), cfg)
}
