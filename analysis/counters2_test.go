package analysis_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
)

func TestY(t *testing.T) {
	check := func(file string, rxe map[string]int64) {
		r := analyze(t, file, oneWorker())
		for _, h := range r.Counters {
			var n int
			if _, err := fmt.Sscanf(h.Host, "10.0.0.%d", &n); err != nil {
				continue
			}
			for _, c := range h.Counters {
				al := map[string]string{"out_of_sequence": "out_of_seq_request", "duplicate_request": "duplicate_request", "rnr_nak_retry_err": "rcvd_rnr_err", "out_of_buffer": "send_rnr_err", "packet_seq_err": "rcvd_seq_err"}[c.Name]
				if al == "" {
					continue
				}
				want := rxe[fmt.Sprintf("rxe%d.%s", n, al)]
				ok := true
				switch c.Bound {
				case report.Exact:
					ok = c.Value == want
				case report.AtLeast:
					ok = c.Value <= want
				case report.AtMost:
					ok = c.Value >= want
				}
				if !ok || want > 0 {
					t.Logf("ok=%v %s %s %s: got %s %d want %d (%s)", ok, filepath.Base(file), h.Host, c.Name, c.Bound, c.Value, want, c.Why)
				}
			}
		}
	}
	for _, path := range glob(t, softroce, "*.truth.json") {
		var r recorded
		readJSON(t, path, &r)
		for name := range r.Captures {
			check(filepath.Join(softroce, name), r.Counters)
		}
	}
	for _, path := range glob(t, "../pcaps", "lab*.truth.json") {
		var r struct{ Rxe map[string]map[string]int64 }
		readJSON(t, path, &r)
		m := map[string]int64{}
		for d, x := range r.Rxe {
			for k, v := range x {
				m[d+"."+k] = v
			}
		}
		for _, f := range glob(t, "../pcaps", strings.TrimSuffix(filepath.Base(path), ".truth.json")+".pcap*") {
			check(f, m)
		}
	}
}
