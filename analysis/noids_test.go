package analysis_test

import (
	"encoding/binary"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/detect"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// TestWhatHappenedIsKnownWithoutIDs takes the IPv4 IDs from captures in which timing, order
// and answers tell as much as they do: no count may change, and no finding.
func TestWhatHappenedIsKnownWithoutIDs(t *testing.T) {
	paths := []string{
		needShared(t, filepath.Join(softroce, "incast_tail.h4.s128.pcap")), // a resend pass lost its first packet
		needShared(t, filepath.Join(softroce, "loss_post.h2.pcap")),
	}
	for _, path := range glob(t, labelled, "*.truth.json") {
		var truth labelledTruth
		readJSON(t, path, &truth)
		paths = append(paths, filepath.Join(labelled, truth.File))
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			all := frames(t, path)
			with := judged(t, all)
			without := judged(t, withoutIDs(all))
			if got, want := rulesOf(without), rulesOf(with); !slices.Equal(got, want) {
				t.Errorf("without IDs it finds %q, and with them %q", got, want)
			}
			rows := rowsByName(without)
			for name, want := range rowsByName(with) {
				for c, n := range want {
					if got := rows[name][c]; got != n {
						t.Errorf("%s: %s is %d without IDs, and %d with them", name, c, got, n)
					}
				}
			}
		})
	}
}

func judged(t *testing.T, all []decode.Frame) *report.Report {
	r := run(t, &frameList{frames: all}, oneWorker())
	analysis.Judge(r, detect.All(), oneWorker())
	return r
}

func rulesOf(r *report.Report) []string {
	rules := map[string]bool{}
	for i := range r.Findings {
		rules[r.Findings[i].Rule] = true
	}
	return slices.Sorted(maps.Keys(rules))
}

// withoutIDs returns the frames as a sender that numbers nothing would have sent them. A
// frame whose ICRC was that of another one has that of the other one still.
func withoutIDs(all []decode.Frame) []decode.Frame {
	var crc ib.ICRC
	sums := map[uint32]uint32{}
	out := slices.Clone(all)
	for i := range out {
		out[i].Data = slices.Clone(out[i].Data)
		ip := ipv4Of(out[i].Data)
		if ip == nil {
			continue
		}
		whole := binary.BigEndian.Uint16(ip[2:]) > 24 && int(binary.BigEndian.Uint16(ip[2:])) <= len(ip)
		if whole {
			ip = ip[:binary.BigEndian.Uint16(ip[2:])]
		}
		body, sum := ip[:max(20, len(ip)-4)], ip[max(20, len(ip)-4):]
		was, covered := crc.IPv4(body, 20)
		good := whole && covered && ib.ReadICRC(sum) == was
		copy(ip[4:8], []byte{0, 0, 0x40, 0})
		switch now, ok := crc.IPv4(body, 20); {
		case good && ok:
			sums[was] = now
			binary.LittleEndian.PutUint32(sum, now)
		case whole:
			if other, known := sums[ib.ReadICRC(sum)]; known {
				binary.LittleEndian.PutUint32(sum, other)
			}
		}
	}
	return out
}

// ipv4Of returns an Ethernet frame from its IPv4 header on, or nil where that is not what
// it carries or has options.
func ipv4Of(frame []byte) []byte {
	at := 12
	for len(frame) > at+4 && binary.BigEndian.Uint16(frame[at:]) == 0x8100 {
		at += 4
	}
	if len(frame) < at+2+20 || binary.BigEndian.Uint16(frame[at:]) != 0x0800 || frame[at+2] != 0x45 {
		return nil
	}
	return frame[at+2:]
}

// TestLossThatMayBeLatenessIsDoubted takes the IDs from a capture in which every other packet
// overtakes others by as long as a resend takes: both worlds give the same frames.
func TestLossThatMayBeLatenessIsDoubted(t *testing.T) {
	for _, test := range []struct {
		name string
		want report.Confidence
	}{
		{"reorder.h2.s128.pcap", report.Possible},
		{"loss_post.h2.pcap", report.Likely},
	} {
		r := judged(t, withoutIDs(frames(t, needShared(t, filepath.Join(softroce, test.name)))))
		i := slices.IndexFunc(r.Findings, func(f report.Finding) bool { return f.Rule == "loss.upstream" })
		if i < 0 {
			t.Fatalf("%s: no loss is found without IDs", test.name)
		}
		if f := &r.Findings[i]; f.Confidence != test.want {
			t.Errorf("%s: the loss is %s, want %s: %s %s", test.name, f.Confidence, test.want, f.Summary, f.Not)
		}
	}
}
