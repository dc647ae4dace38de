package analysis_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/decode/ib"
)

// lostPacket is a packet that left one capture point and did not reach the
// other.
type lostPacket struct {
	frame uint64 // where it left
	qp    uint32
	psn   ib.PSN
}

func TestDbg(t *testing.T) {
	for _, path := range glob(t, softroce, "*.pcap") {
		name := filepath.Base(path)
		base, rest, _ := strings.Cut(name, ".")
		point, _, _ := strings.Cut(rest, ".")
		var raw struct {
			Between map[string]map[string]json.RawMessage `json:"between_capture_points"`
		}
		readJSON(t, filepath.Join(softroce, base+".truth.json"), &raw)
		at, psns := map[uint64]bool{}, map[[2]uint32]bool{}
		for way, f := range raw.Between {
			var list [][]any
			json.Unmarshal(f["list_frame_dqpn_psn_opcode"], &list)
			for _, e := range list {
				if strings.HasPrefix(way, point+"-") {
					at[uint64(e[0].(float64))] = true
				} else if strings.HasSuffix(way, ">"+point) {
					psns[[2]uint32{uint32(e[1].(float64)), uint32(e[2].(float64))}] = true
				}
			}
		}
		cfg := oneWorker()
		bad, good, badU, goodU, ack := 0, 0, 0, 0, 0
		qp := map[analysis.FlowID]uint32{}
		cfg.Tap = func(b *analysis.Batch) {
			for i, p := range b.Packets {
				qp[b.Flow[i]] = p.QP
			}
			for _, e := range b.Events {
				switch e.Kind {
				case analysis.LostDownstream, analysis.ResponseLostDownstream:
					if at[e.Frame] {
						good++
					} else {
						bad++
						t.Log(name, e.Kind, e.Frame, e.PSN, e.Count, e.Ref)
					}
				case analysis.LostUpstream, analysis.ResponseLostUpstream:
					for k := range e.Count {
						if psns[[2]uint32{qp[e.Flow], uint32(e.PSN.Add(k))}] {
							goodU++
						} else {
							badU++
							t.Log(name, e.Kind, e.Frame, e.PSN, e.Count, e.Ref)
						}
					}
				case analysis.LostAck:
					ack++
				}
			}
		}
		run(t, open(t, path), cfg)
		if good+bad+goodU+badU > 0 || len(at)+len(psns) > 0 {
			t.Log(name, "left here lost", len(at), "good", good, "bad", bad, "| coming lost", len(psns), goodU, badU)
		}
	}
}
