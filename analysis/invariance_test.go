package analysis_test

import (
	"encoding/json"
	"io"
	"path/filepath"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
)

func TestResultDoesNotDependOnTheNumberOfWorkers(t *testing.T) {
	for _, path := range []string{
		filepath.Join(softroce, "loss_post.h2.pcap"),
		filepath.Join(softroce, "incast_tail.h4.s128.pcap"),
		filepath.Join(softroce, "incast_clean.h4.s128.pcap"),
		filepath.Join(softroce, "reorder.h2.s128.pcap"),
		filepath.Join(softroce, "ipv6.h1.pcap"),
		filepath.Join(softroce, "sll2.any.pcap"),
		filepath.Join(labelled, "h1-nccl-alltoall.pcap.gz"),
		filepath.Join(labelled, "h2-storage-mix-cm.pcap.gz"),
		filepath.Join(labelled, "ecn-incast-dcqcn.pcap.gz"),
		filepath.Join(labelled, "incast-taildrop.pcap.gz"),
		filepath.Join(labelled, "two-taps-merged-loss.pcapng.gz"),
		filepath.Join(labelled, "icrc-path.pcap.gz"),
	} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			one := asJSON(t, analyze(t, path, analysis.Defaults(1)))
			for _, workers := range []int{2, 4, 7} {
				if many := asJSON(t, analyze(t, path, analysis.Defaults(workers))); many != one {
					t.Errorf("%d workers:\n%s\none:\n%s", workers, many, one)
				}
			}
		})
	}
}

func TestFormOfTheFileDoesNotMatter(t *testing.T) {
	const plain = "loss_post.h2.pcap"
	want := analyze(t, filepath.Join(softroce, plain), oneWorker())
	for _, form := range []string{"h2.bigendian.pcap", "h2.nsec.pcap", "h2.pcap.gz", "h2.pcapng"} {
		t.Run(form, func(t *testing.T) {
			got := analyze(t, filepath.Join(softroce, "derived", "loss_post."+form), oneWorker())
			got.Captures = want.Captures
			if got, want := asJSON(t, got), asJSON(t, want); got != want {
				t.Errorf("%s:\n%s\n%s:\n%s", form, got, plain, want)
			}
		})
	}
}

func TestCapturesOfTwoPointsMergedShowTheLossOnce(t *testing.T) {
	truth := truthOf(t, "loss_post")
	for _, name := range []string{"loss_post.h1+h2.merged-one-link.pcap", "loss_post.h1+h2.two-interfaces.pcapng"} {
		t.Run(name, func(t *testing.T) {
			r := analyze(t, filepath.Join(softroce, "derived", name), oneWorker())
			consistent(t, r)
			want := map[string]int64{
				"lost_downstream":   lost("h1->h2")(truth),
				"retransmitted":     resent("h1->h2", 0)(truth),
				"retransmitted_nak": resent("h1->h2", 0)(truth),
				"mirror_duplicates": truth.Captures["loss_post.h2.pcap"].Frames, // all that was seen twice
			}
			except := map[string]bool{}
			for name, n := range want {
				except[name] = true
				if got := sum(r, name); got != n {
					t.Errorf("%s is %d, want %d", name, got, n)
				}
			}
			wantZero(t, r, lossColumns, except)
			wantZero(t, r, resendColumns, except)
		})
	}
}

func asJSON(t *testing.T, r *report.Report) string {
	t.Helper()
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// list is a source of frames that lie in memory.
type list struct {
	frames []decode.Frame
	next   int
}

func (l *list) Read(f *decode.Frame) error {
	if l.next >= len(l.frames) {
		return io.EOF
	}
	*f = l.frames[l.next]
	f.Number = uint64(l.next + 1)
	l.next++
	return nil
}

// cutEvery is how far apart the places are where a capture is cut; a prime, so
// that no rhythm of the traffic hides a place.
const cutEvery = 37

// growing are columns that more frames only add to. What became of a packet
// may still change: a hole may close, a loss turn out to be late.
var growing = []string{
	"frames", "bytes", "request_frames", "response_frames", "data_frames", "acks", "messages", "mirror_duplicates",
	"naks_psn_sequence", "naks_invalid_request", "naks_remote_access", "naks_remote_operational", "rnr_naks",
	"ce_frames", "cnps", "icrc_good", "icrc_bad",
}

func TestCaptureCutShortHoldsNoMoreThanTheWhole(t *testing.T) {
	for _, path := range []string{
		filepath.Join(softroce, "loss_post.h1.pcap"),
		filepath.Join(softroce, "loss_post.h2.pcap"),
		filepath.Join(softroce, "loss_read_resp.h1.s128.pcap"),
		filepath.Join(softroce, "reorder.h2.s128.pcap"),
		filepath.Join(softroce, "rnr_recover.h1.pcap"),
		filepath.Join(labelled, "h7-reconnect-same-qpn.pcap.gz"),
		filepath.Join(labelled, "capture-duplicated-with-loss.pcap.gz"),
		filepath.Join(labelled, "reorder-with-loss.pcap.gz"),
	} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			all := frames(t, path)
			whole := run(t, &list{frames: all}, oneWorker())
			for n := 0; n < len(all); n += cutEvery {
				part := run(t, &list{frames: all[:n]}, oneWorker())
				consistent(t, part)
				if part.Totals.Frames != int64(n) {
					t.Errorf("%d frames of %d", part.Totals.Frames, n)
				}
				for _, name := range growing {
					if got, most := sum(part, name), sum(whole, name); got > most {
						t.Errorf("cut at frame %d: %s is %d, of %d in the whole", n, name, got, most)
					}
				}
			}
		})
	}
}
