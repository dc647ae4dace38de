package detect

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	pcap "github.com/rocescope/rocescope/decode/capture"
)

// What every analyzer must keep, walked through for All of them.

// shared is where recorded captures lie beside the project, if they do.
const shared = "../../../shared/captures"

// eachCapture runs a test on the sample and on some recorded captures.
func eachCapture(t *testing.T, test func(*testing.T, func(testing.TB) analysis.Source)) {
	t.Run("sample", func(t *testing.T) {
		test(t, func(testing.TB) analysis.Source { return sample() })
	})
	for _, name := range []string{"cases/h2-storage-mix-cm.pcap.gz", "cases/ecn-no-cnp.pcap.gz", "cases/icrc-sender.pcap.gz",
		"cases/rnr-stall.pcap.gz", "cases/mtu-mismatch-nak.pcap", "cases/incast-taildrop.pcap.gz", "softroce/manyqp.h1.pcap"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			path := filepath.Join(shared, name)
			if _, err := os.Stat(path); err != nil {
				t.Skipf("no recorded captures here: %v", err)
			}
			test(t, func(t testing.TB) analysis.Source {
				f, err := pcap.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { f.Close() })
				return f
			})
		})
	}
}

func TestDocAsksAQuestion(t *testing.T) {
	for _, a := range All() {
		first, _, _ := strings.Cut(a.Doc, "\n")
		if !strings.HasSuffix(first, "?") {
			t.Errorf("%s: the first line of its Doc is no question: %q", a.Name, first)
		}
	}
}

func TestAllIsOrderedAndUnique(t *testing.T) {
	var names []string
	for _, a := range All() {
		names = append(names, a.Name)
		if a.New == nil && a.Watch == nil && a.Judge == nil {
			t.Errorf("%s neither counts nor judges", a.Name)
		}
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("names are not ordered or not unique: %q", names)
	}
}

func TestOneWorkerEqualsFour(t *testing.T) {
	eachCapture(t, func(t *testing.T, open func(testing.TB) analysis.Source) {
		one := jsonOf(t, analyze(t, open(t), analysis.Defaults(1)))
		four := jsonOf(t, analyze(t, open(t), analysis.Defaults(4)))
		if one != four {
			t.Errorf("reports differ:\n%s", firstDifference(one, four))
		}
	})
}

func TestSavedReportJudgesTheSame(t *testing.T) {
	eachCapture(t, func(t *testing.T, open func(testing.TB) analysis.Source) {
		cfg := analysis.Defaults(2)
		r := analyze(t, open(t), cfg)
		want := jsonOf(t, r)
		back, err := report.Read(strings.NewReader(want))
		if err != nil {
			t.Fatal(err)
		}
		analysis.Judge(back, All(), cfg)
		if got := jsonOf(t, back); got != want {
			t.Errorf("findings differ:\n%s", firstDifference(want, got))
		}
	})
}

func TestOrderOfMergingDoesNotMatter(t *testing.T) {
	cfg := analysis.Defaults(1)
	parts := make([]*report.Report, 3)
	for i := range parts {
		w := sample()
		for j := range w.frames {
			w.frames[j].Time += int64(i) * 1e6
		}
		w.frames = w.frames[i*20:]
		parts[i] = analyze(t, w, cfg)
	}
	var want string
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}} {
		sum := &report.Report{}
		for _, i := range order {
			var err error
			if sum, err = report.Merge(sum, parts[i]); err != nil {
				t.Fatal(err)
			}
		}
		analysis.Judge(sum, All(), cfg)
		got := jsonOf(t, sum)
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("order %v:\n%s", order, firstDifference(want, got))
		}
	}
}

func TestObserveAllocatesNothing(t *testing.T) {
	batches := batchesOf(t, sample())
	for _, a := range All() {
		if a.New == nil {
			continue
		}
		o := a.New(analysis.Defaults(1))
		observe := func() {
			for i := range batches {
				batches[i].Notes = batches[i].Notes[:0]
				o.Observe(&batches[i])
			}
		}
		observe()
		if n := testing.AllocsPerRun(20, observe); n != 0 {
			t.Errorf("%s: Observe allocates %v times for a batch seen before", a.Name, n)
		}
	}
}

func TestWatchAllocatesNothing(t *testing.T) {
	batches := batchesOf(t, sample())
	for _, a := range All() {
		if a.Watch == nil {
			continue
		}
		look := analysis.NewLookout(a.Watch(analysis.Defaults(1)))
		watch := func() {
			for i := range batches {
				for j := range batches[i].Packets {
					look.Add(&batches[i].Packets[j])
				}
				look.Show()
			}
		}
		watch()
		if n := testing.AllocsPerRun(20, watch); n != 0 {
			t.Errorf("%s: Watch allocates %v times for frames seen before", a.Name, n)
		}
	}
}

// batchesOf keeps the batches that observers are shown.
func batchesOf(t testing.TB, src analysis.Source) []analysis.Batch {
	var out []analysis.Batch
	cfg := analysis.Defaults(1)
	cfg.Tap = func(b *analysis.Batch) {
		out = append(out, analysis.Batch{Packets: slices.Clone(b.Packets), Flow: slices.Clone(b.Flow), Peer: slices.Clone(b.Peer), Streaks: slices.Clone(b.Streaks),
			Verdict: slices.Clone(b.Verdict), CMs: slices.Clone(b.CMs), Events: slices.Clone(b.Events)})
	}
	if _, err := analysis.Run(context.Background(), src, All(), cfg); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestReportTwiceIsReportOnce(t *testing.T) {
	batches := batchesOf(t, sample())
	for _, a := range All() {
		if a.New == nil {
			continue
		}
		o := a.New(analysis.Defaults(1))
		for i := range batches {
			o.Observe(&batches[i])
		}
		first, second := emptied(batches), emptied(batches)
		o.Report(first)
		o.Report(second)
		if x, y := jsonOf(t, merged(t, first)), jsonOf(t, merged(t, second)); x != y {
			t.Errorf("%s: the second report differs:\n%s", a.Name, firstDifference(x, y))
		}
	}
}

// emptied returns a report with a row for each flow of the batches, and nothing
// counted.
func emptied(batches []analysis.Batch) *report.Report {
	out := &report.Report{}
	for i := range batches {
		for _, id := range batches[i].Flow {
			for int(id) >= len(out.Flows) {
				qp := uint32(len(out.Flows))
				out.Flows = append(out.Flows, report.Flow{Src: "10.0.0.1", Dst: "10.0.0.2", DestQP: qp, Transport: "RC", PeerQP: &qp})
			}
		}
	}
	return out
}

func merged(t *testing.T, r *report.Report) *report.Report {
	out, err := report.Merge(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// cutter hands out every frame of a capture, cut at every length.
type cutter struct {
	frames []decode.Frame
	frame  int
	n      int
}

func (c *cutter) Read(f *decode.Frame) error {
	for c.n > len(c.frames[c.frame].Data) {
		c.frame, c.n = c.frame+1, 0
		if c.frame == len(c.frames) {
			return io.EOF
		}
	}
	*f = c.frames[c.frame]
	f.Data = f.Data[:c.n]
	c.n++
	return nil
}

func TestFramesCutShort(t *testing.T) {
	w := sample()
	frames := append(slices.Clone(w.frames[:12]), w.frames[len(w.frames)-12:]...)
	analyze(t, &cutter{frames: frames}, analysis.Defaults(1))
}

// firstDifference shows two texts where they part.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			from := max(0, i-4)
			return fmt.Sprintf("line %d\n%s\n---\n%s", i+1, strings.Join(x[from:min(len(x), i+3)], "\n"), strings.Join(y[from:min(len(y), i+3)], "\n"))
		}
	}
	return fmt.Sprintf("%d against %d lines", len(x), len(y))
}
