package detect

import (
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode/ib"
)

func TestRefusedRequestIsNamed(t *testing.T) {
	for _, test := range []struct {
		desc     string
		syndrome ib.Syndrome
		rule     string
		follow   int // requests in flight behind the refused one
		want     []string
	}{
		{"the last request", ib.NAKRemoteAccess, "nak.remote-access", 0, []string{"RDMA WRITE Only", "0xabc000", "R_Key 0x1234", "5000 bytes", "PSN 7"}},
		{"requests in flight behind it", ib.NAKInvalidRequest, "nak.invalid-request", 5, []string{"0xabc000", "PSN 7"}},
		{"too many in flight to remember", ib.NAKRemoteOperational, "nak.remote-operational", 9, []string{"a request that was not seen", "PSN 7"}},
	} {
		w := newWire()
		for psn := range ib.PSN(7) {
			w.write(1, 2, 0x12, psn)
		}
		w.send(packet{src: 1, dst: 2, op: writeOnly, qp: 0x12, psn: 7, ext: reth(0xABC000, 0x1234, 5000), payload: 64})
		for i := range test.follow {
			w.send(packet{src: 1, dst: 2, op: writeOnly, qp: 0x12, psn: ib.PSN(8 + i), ext: reth(0, 1, 64), payload: 64})
		}
		w.answer(2, 1, 0x112, 7, test.syndrome)
		r := findings(t, w)
		f := finding(t, r, test.rule)
		if f.Severity != report.Critical || f.Flow == nil || f.Flow.DestQP != 0x112 {
			t.Errorf("%s: %s about %v", test.desc, f.Severity, f.Flow)
		}
		for _, want := range test.want {
			if !strings.Contains(f.Summary, want) {
				t.Errorf("%s: %q is not in %q", test.desc, want, f.Summary)
			}
		}
	}
}

func TestSequenceNAKIsCountedAndNotFatal(t *testing.T) {
	w := newWire()
	w.write(1, 2, 0x12, 1)
	w.send(packet{src: 1, dst: 2, op: writeOnly, qp: 0x12, psn: 2, ext: reth(0, 1, 64), payload: 64})
	w.answer(2, 1, 0x112, 2, ib.NAKPSNSequence)
	w.again() // a mirror's copy
	r := findings(t, w)
	if r.Totals.NAKSequence != 1 {
		t.Errorf("%d sequence NAKs, want 1", r.Totals.NAKSequence)
	}
	silent(t, r, "nak.invalid-request", "nak.remote-access", "nak.remote-operational")
}
