package detect

import (
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode/ib"
)

func TestRoundTripsOfRequestsSentOnce(t *testing.T) {
	w := newWire()
	w.acked(0, 10)
	w.tries(lastWrite, 20_000)
	w.answer(2, 1, 0x112, 30, 0x1F)
	for _, f := range findings(t, w).Flows {
		if f.DestQP == 0x12 && (f.AckRTT.Count() != 10 || f.AckRTT.Max != usec) {
			t.Errorf("%d round trips of up to %d ns, want 10 of 1 µs", f.AckRTT.Count(), f.AckRTT.Max)
		}
	}
}

// part sends a packet of a WRITE of several from 10.0.0.1 to QP 0x12 of 10.0.0.2.
func (w *wire) part(op ib.Op, psn ib.PSN) {
	p := packet{src: 1, dst: 2, op: ib.Of(ib.RC, op), qp: 0x12, psn: psn, payload: 256}
	if op == ib.WriteFirst {
		p.ext = reth(0, 1, 1024)
	}
	w.send(p)
}

func TestWaits(t *testing.T) {
	readRequest, readOnly := ib.Of(ib.RC, ib.ReadRequest), ib.Of(ib.RC, ib.ReadResponseOnly)
	readFirst, readLast := ib.Of(ib.RC, ib.ReadResponseFirst), ib.Of(ib.RC, ib.ReadResponseLast)
	read := func(w *wire, psn ib.PSN, size uint32) {
		w.send(packet{src: 1, dst: 2, op: readRequest, qp: 0x12, psn: psn, ext: reth(0, 1, size)})
	}
	respond := func(w *wire, op ib.Opcode, psn ib.PSN) {
		w.send(packet{src: 2, dst: 1, op: op, qp: 0x112, psn: psn, ext: aeth(0x1F), payload: 256})
	}
	for _, test := range []struct {
		desc string
		send func(*wire)
		want map[string][]int64 // µs
	}{
		{"a WRITE of three packets", func(w *wire) {
			w.part(ib.WriteFirst, 10)
			w.part(ib.WriteMiddle, 11)
			w.part(ib.WriteLast, 12)
			w.wait(4 * usec)
			w.answer(2, 1, 0x112, 12, 0x1F)
		}, map[string][]int64{report.WaitMessage: {7}}},
		{"a WRITE whose last packet came again", func(w *wire) {
			w.part(ib.WriteFirst, 10)
			w.part(ib.WriteLast, 11)
			w.wait(5_000 * usec)
			w.part(ib.WriteLast, 11)
			w.answer(2, 1, 0x112, 11, 0x1F)
		}, nil},
		{"a WRITE of which the tap misses the first packet", func(w *wire) {
			w.part(ib.WriteLast, 11)
			w.answer(2, 1, 0x112, 11, 0x1F)
		}, nil},
		{"the first packet of one WRITE and the last of another", func(w *wire) {
			w.part(ib.WriteFirst, 10)
			w.part(ib.WriteLast, 13)
			w.answer(2, 1, 0x112, 13, 0x1F)
		}, nil},
		{"a READ of two packets", func(w *wire) {
			read(w, 10, 512)
			w.wait(2 * usec)
			respond(w, readFirst, 10)
			respond(w, readLast, 11)
		}, map[string][]int64{report.WaitReadResponse: {3}, report.WaitReadCompletion: {4}}},
		{"a READ asked again tells nothing of its own", func(w *wire) {
			read(w, 10, 256)
			w.wait(20_000 * usec)
			read(w, 10, 256)
			respond(w, readOnly, 10)
		}, nil},
		{"a NAK and its reaction", func(w *wire) {
			w.part(ib.WriteFirst, 10)
			w.part(ib.WriteLast, 12)
			w.wait(usec)
			w.answer(2, 1, 0x112, 11, ib.NAKPSNSequence)
			w.wait(8 * usec)
			w.part(ib.WriteMiddle, 11)
			w.part(ib.WriteLast, 12)
			w.answer(2, 1, 0x112, 12, 0x1F)
		}, map[string][]int64{report.WaitNAK: {2}, report.WaitNAKReaction: {9}}},
	} {
		w := newWire()
		test.send(w)
		r := analyze(t, w, analysis.Defaults(1))
		for _, name := range waitNames {
			h := r.WaitsOf(report.LatencySection, report.WaitTable, name)
			if h.Count() != int64(len(test.want[name])) {
				t.Errorf("%s: %d waits of kind %s, want %d", test.desc, h.Count(), name, len(test.want[name]))
			} else if h.Count() > 0 && h.Max != test.want[name][0]*usec {
				t.Errorf("%s: %s took %d ns, want %d µs", test.desc, name, h.Max, test.want[name][0])
			}
		}
	}
}
