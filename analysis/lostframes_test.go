package analysis_test

import (
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/decode/ib"
)

// provenByNAK runs a capture and returns the frames whose loss behind the tap
// a NAK proves, ascending.
func provenByNAK(t *testing.T, path string, cfg *analysis.Config) []uint64 {
	t.Helper()
	naks := map[uint64]bool{}
	var lost []analysis.Event
	cfg.Tap = func(b *analysis.Batch) {
		for _, e := range b.Events {
			switch e.Kind {
			case analysis.SequenceNAK:
				naks[e.Frame] = true
			case analysis.LostDownstream:
				lost = append(lost, e)
			}
		}
	}
	run(t, open(t, path), cfg)
	var proven []uint64
	for _, e := range lost {
		if naks[e.Ref] {
			proven = append(proven, e.Frame)
		}
	}
	slices.Sort(proven)
	return proven
}

func TestFramesThatNAKsProveLostDidNotArriveRecorded(t *testing.T) {
	found := 0
	for _, path := range glob(t, softroce, "*.pcap") {
		point, truth := pointOf(path), truthOf(t, path)
		if !truth.comparesWith(point) || truth.harmsWhatArrives() {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			var left []uint64
			upTo := ^uint64(0) // the list of a way ends early where it is long
			for way, c := range truth.Between {
				if from, _, _ := strings.Cut(way, "->"); from == point {
					left = append(left, c.LostFrames...)
					if int64(len(c.LostFrames)) < c.Lost {
						upTo = slices.Max(c.LostFrames)
					}
				}
			}
			for _, frame := range provenByNAK(t, path, oneWorker()) {
				if found++; frame <= upTo && !slices.Contains(left, frame) {
					t.Errorf("frame %d is said to be lost, and arrived", frame)
				}
			}
		})
	}
	if found < 30 {
		t.Errorf("only %d frames could be compared", found)
	}
}

// pointOf is the capture point in the name of a recorded capture.
func pointOf(path string) string {
	_, rest, _ := strings.Cut(filepath.Base(path), ".")
	point, _, _ := strings.Cut(rest, ".")
	return point
}

// comparesWith reports whether the truth tells what became of the frames that
// left a point.
func (r *recorded) comparesWith(point string) bool {
	for way := range r.Between {
		if strings.HasPrefix(way, point+"->") {
			return true
		}
	}
	return false
}

// harmsWhatArrives reports whether the receiver may refuse packets that did
// arrive, for their order or their ICRC.
func (r *recorded) harmsWhatArrives() bool {
	for _, c := range r.Between {
		if c.Late > 0 {
			return true
		}
	}
	return slices.ContainsFunc(r.Observed, func(o observed) bool { return o.ICRC["bad"] > 0 })
}

func TestFramesThatNAKsProveLostDidNotArriveLabelled(t *testing.T) {
	found := 0
	for _, path := range glob(t, labelled, "*.truth.json") {
		var truth labelledTruth
		readJSON(t, path, &truth)
		left := truth.Frames["lost_after_tap"]
		if len(left) >= labelsMax || truth.Counts.Total["dropped_for_icrc_by_receiver"] > 0 {
			continue
		}
		t.Run(truth.Case, func(t *testing.T) {
			for _, frame := range provenByNAK(t, filepath.Join(labelled, truth.File), truth.config()) {
				if found++; !slices.Contains(left, frame) {
					t.Errorf("frame %d is said to be lost, and arrived", frame)
				}
			}
		})
	}
	if found < 20 {
		t.Errorf("only %d frames could be compared", found)
	}
}

// A resend that was answered did arrive: what a timeout repaired is an earlier
// sending, of the packet that the receiver waited for.
func TestFramesThatTimeoutsProveLostDidNotArrive(t *testing.T) {
	for _, name := range []string{"loss-tail-timeout", "loss-lost-retransmit"} {
		t.Run(name, func(t *testing.T) {
			var truth labelledTruth
			readJSON(t, filepath.Join(labelled, name+".truth.json"), &truth)
			seen, _ := eventFrames(t, &truth)
			want := truth.Frames["lost_after_tap"]
			if got := slices.Sorted(maps.Keys(seen[analysis.LostDownstream])); !slices.Equal(got, want) {
				t.Errorf("frames %v are said to be lost, want %v", got, want)
			}
		})
	}
}

func TestPSNsLostBeforeTheTapDidNotArrive(t *testing.T) {
	for _, name := range []string{"loss_post.h2.pcap", "det_drop.h2.pcap", "ecn_not_ect.h2.pcap", "loss_multiqp.h2.s128.pcap",
		"loss_read_resp.h1.s128.pcap", "loss_uc.h2.pcap", "loss_ud.h2.pcap", "corrupt.h2.pcap"} {
		t.Run(name, func(t *testing.T) {
			missing := missingAt(t, name)
			qps := map[analysis.FlowID]uint32{}
			cfg := oneWorker()
			cfg.Tap = func(b *analysis.Batch) {
				for i := range b.Packets {
					qps[b.Flow[i]] = b.Packets[i].QP
				}
				for _, e := range b.Events {
					if e.Kind != analysis.LostUpstream && e.Kind != analysis.ResponseLostUpstream {
						continue
					}
					for i := range e.Count {
						if p := (packetName{qps[e.Flow], e.PSN.Add(i)}); missing[p] == 0 {
							t.Errorf("PSN %d of QP %d is said to be lost, and arrived", p.psn, p.qp)
						} else {
							missing[p]--
						}
					}
				}
			}
			run(t, open(t, filepath.Join(softroce, name)), cfg)
		})
	}
}

// packetName names a packet by what capture points agree on.
type packetName struct {
	qp  uint32
	psn ib.PSN
}

// missingAt counts the packets that left another point and did not arrive at
// that of a capture.
func missingAt(t *testing.T, name string) map[packetName]int {
	t.Helper()
	var truth struct {
		Between map[string]struct {
			List [][]json.RawMessage `json:"list_frame_dqpn_psn_opcode"`
		} `json:"between_capture_points"`
	}
	base, _, _ := strings.Cut(name, ".")
	readJSON(t, filepath.Join(softroce, base+".truth.json"), &truth)
	out := map[packetName]int{}
	for way, between := range truth.Between {
		if !strings.HasSuffix(way, "->"+pointOf(name)) {
			continue
		}
		for _, entry := range between.List {
			var p packetName
			if err := errors.Join(json.Unmarshal(entry[1], &p.qp), json.Unmarshal(entry[2], &p.psn)); err != nil {
				t.Fatal(err)
			}
			out[p]++
		}
	}
	return out
}
