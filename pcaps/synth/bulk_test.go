package synth_test

import (
	"bytes"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/detect"
	"github.com/rocescope/rocescope/decode/capture"
	"github.com/rocescope/rocescope/pcaps/synth"
)

// What a Bulk says it holds is what the analysis finds, so that its speed is
// measured on traffic that makes sense.
func TestBulkHoldsWhatItSays(t *testing.T) {
	for name, format := range map[string]synth.Format{"pcap": synth.Pcap, "pcapng": synth.Pcapng} {
		t.Run(name, func(t *testing.T) {
			b := synth.Bulk{Packets: 60_000, Connections: 24, HostPairs: 4, Train: 16, File: synth.File{Format: format, SnapLen: 96}, Seed: 3}
			var file, again bytes.Buffer
			truth, err := b.Write(&file)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.Write(&again); err != nil || !bytes.Equal(file.Bytes(), again.Bytes()) {
				t.Errorf("the second time it is another capture (%v)", err)
			}
			src, err := capture.NewReader("bulk", &file)
			if err != nil {
				t.Fatal(err)
			}
			r, err := analysis.Run(t.Context(), src, detect.All(), analysis.Defaults(2))
			if err != nil {
				t.Fatal(err)
			}
			var lost, open, resent int64
			for i := range r.Flows {
				lost, open, resent = lost+r.Flows[i].LostUpstream, open+r.Flows[i].Unresolved, resent+r.Flows[i].Retransmitted
			}
			if truth.Lost == 0 || lost+open != truth.Lost || resent != truth.Resent {
				t.Errorf("%d lost, %d of them open at the end, %d resent; the truth is %+v", lost, open, resent, truth)
			}
			if n := &r.Totals; n.Frames != 60_000 || n.CE != truth.Marks || n.CNPs != truth.CNPs || n.PFC != truth.Pauses || n.ICRCBad != 0 {
				t.Errorf("%+v; the truth is %+v", n, truth)
			}
			if len(r.Flows) != 48 {
				t.Errorf("%d flows", len(r.Flows))
			}
		})
	}
}
