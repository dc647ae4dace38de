package analysis_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/detect"
	"github.com/rocescope/rocescope/analysis/diagnose"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/capture"
)

// Captures with known truth lie beside the project; they are not a part of it,
// and without them the tests that need them are skipped.
const (
	shared   = "../../shared"
	softroce = shared + "/captures/softroce"
	labelled = shared + "/captures/cases"
	vectors  = shared + "/vectors"
)

func needShared(t testing.TB, path string) string {
	t.Helper()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no captures with known truth here: %s is absent", path)
	}
	return path
}

// glob returns the files of a folder that match, and skips the test where
// there are none.
func glob(t testing.TB, dir, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Skipf("no captures with known truth here: %s holds no %s", dir, pattern)
	}
	return names
}

func readJSON(t testing.TB, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(needShared(t, path))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func open(t testing.TB, path string) *capture.File {
	t.Helper()
	f, err := capture.Open(needShared(t, path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// analyze runs every analyzer over a capture, judgement included.
func analyze(t testing.TB, path string, cfg *analysis.Config) *report.Report {
	t.Helper()
	f := open(t, path)
	r := run(t, f, cfg)
	i := f.Info()
	r.Captures = []report.Capture{{Name: i.Name, Format: i.Format, Frames: int64(i.Frames), FirstNs: i.First, LastNs: i.Last, Truncated: int64(i.Truncated)}}
	if d := f.Damage(); len(d) > 0 {
		r.Captures[0].Damaged = d[0].What
	}
	analysis.Judge(r, detect.All(), cfg)
	diagnose.Apply(r)
	onTheirPages(t, r.Findings)
	return r
}

// onTheirPages fails where a finding is not as its rule's page says, or does not
// say how sure it is.
func onTheirPages(t testing.TB, fs []report.Finding) {
	t.Helper()
	pages := map[string][]report.Severity{}
	for _, rule := range detect.Rules() {
		pages[rule.Name] = rule.Severities
	}
	for i := range fs {
		f := &fs[i]
		if !slices.Contains(pages[f.Rule], f.Severity) {
			t.Errorf("%s is %s, and its page knows only %q: %s", f.Rule, f.Severity, pages[f.Rule], f.Summary)
		}
		if !slices.Contains([]report.Confidence{report.Certain, report.Likely, report.Possible}, f.Confidence) {
			t.Errorf("%s says %q of how sure it is: %s", f.Rule, f.Confidence, f.Summary)
		}
	}
}

func run(t testing.TB, src analysis.Source, cfg *analysis.Config) *report.Report {
	t.Helper()
	r, err := analysis.Run(t.Context(), src, detect.All(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// frames reads a whole capture into memory.
func frames(t testing.TB, path string) []decode.Frame {
	t.Helper()
	f := open(t, path)
	var list []decode.Frame
	var frame decode.Frame
	for f.Read(&frame) == nil {
		kept := frame
		kept.Data = append([]byte(nil), frame.Data...)
		list = append(list, kept)
	}
	return list
}

// columns finds the countable columns of a row by their names in JSON.
var columns = func() map[string]int {
	out := map[string]int{}
	typ := reflect.TypeFor[report.Flow]()
	for i := range typ.NumField() {
		if f := typ.Field(i); f.Type.Kind() == reflect.Int64 {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			out[name] = i
		}
	}
	return out
}()

func column(f *report.Flow, name string) int64 {
	i, ok := columns[name]
	if !ok {
		panic("no column is named " + name)
	}
	return reflect.ValueOf(f).Elem().Field(i).Int()
}

// sum adds a column over all rows.
func sum(r *report.Report, name string) (n int64) {
	for i := range r.Flows {
		n += column(&r.Flows[i], name)
	}
	return n
}

// lossColumns say what became of packets that are not where they should be.
var lossColumns = []string{
	"gaps", "lost_upstream", "lost_downstream", "lost_acks", "not_captured", "unresolved", "reordered",
	"response_gaps", "response_lost_upstream", "response_lost_downstream", "response_not_captured",
	"response_unresolved", "response_reordered",
}

// resendColumns say what was sent again and why.
var resendColumns = []string{
	"retransmitted", "retransmitted_nak", "retransmitted_timeout", "retransmitted_implied", "retransmitted_rnr",
	"spurious", "needless_timeouts", "needless_naks", "response_retransmitted",
}

// wantZero wants each column zero over all rows, but for the ones excepted.
func wantZero(t *testing.T, r *report.Report, names []string, except map[string]bool) {
	t.Helper()
	for _, name := range names {
		if got := sum(r, name); got != 0 && !except[name] {
			t.Errorf("%s is %d, where nothing of the kind happened", name, got)
		}
	}
}

// oneWorker is a configuration with which a Tap sees one order of packets.
func oneWorker() *analysis.Config { return analysis.Defaults(1) }
