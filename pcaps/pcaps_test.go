package pcaps_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/detect"
	"github.com/rocescope/rocescope/analysis/diagnose"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/capture"
	"github.com/rocescope/rocescope/pcaps"
	"github.com/rocescope/rocescope/pcaps/synth"
)

var update = flag.Bool("update", false, "write captures and golden reports anew")

// What a sample may weigh, in bytes: they are in every clone.
const (
	largest = 60 << 10
	allOf   = 2 << 20
)

func TestUpdate(t *testing.T) {
	if !*update {
		t.Skip("without -update nothing is written")
	}
	for _, s := range synth.Samples() {
		file := s.Name + s.File.Extension()
		data := written(t, s)
		if old, err := os.ReadFile(file); err != nil || !bytes.Equal(unpacked(t, old), unpacked(t, data)) {
			write(t, file, data)
		} else {
			data = old // packed by another version, perhaps
		}
		write(t, s.Name+".json", golden(t, file, data))
	}
	for _, s := range pcaps.List() {
		if recorded(&s) {
			write(t, s.Name+".json", golden(t, s.File, s.Data))
		}
	}
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func written(t *testing.T, s *synth.Scenario) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := synth.Run(s).Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// unpacked returns what a file holds: versions of gzip pack differently.
func unpacked(t *testing.T, data []byte) []byte {
	t.Helper()
	if !bytes.HasPrefix(data, []byte{0x1F, 0x8B}) {
		return data
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// golden analyses a capture and returns the report in JSON.
func golden(t *testing.T, file string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, analyze(t, file, data)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func analyze(t *testing.T, file string, data []byte) *report.Report {
	t.Helper()
	f, err := capture.NewReader(file, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	cfg := analysis.Defaults(1)
	wire := &measured{Source: f}
	r, err := analysis.Run(t.Context(), wire, detect.All(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.Captures = []report.Capture{describe(f.Info(), wire.bytes)}
	analysis.Judge(r, detect.All(), cfg)
	diagnose.Apply(r)
	if d := f.Damage(); len(d) > 0 {
		t.Errorf("%s is damaged: %v", file, d[0])
	}
	return r
}

// measured adds up the lengths of what a file hands out.
type measured struct {
	analysis.Source
	bytes int64
}

func (m *measured) Read(f *decode.Frame) error {
	err := m.Source.Read(f)
	if err == nil {
		m.bytes += int64(f.Len)
	}
	return err
}

func describe(i capture.Info, bytes int64) report.Capture {
	return report.Capture{
		Name: i.Name, Format: i.Format, LinkTypes: []string{"Ethernet"}, SnapLen: int64(i.Interfaces[0].SnapLen),
		Frames: int64(i.Frames), Bytes: bytes, FirstNs: i.First, LastNs: i.Last, Truncated: int64(i.Truncated), Parts: int64(i.Parts),
	}
}

func TestEveryScenarioHasItsSample(t *testing.T) {
	var want, have []string
	for _, s := range synth.Samples() {
		want = append(want, s.Name+s.File.Extension())
	}
	for _, s := range pcaps.List() {
		if !recorded(&s) {
			have = append(have, s.File)
		}
	}
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("there are %q, want %q", have, want)
	}
}

func TestCapturesAreThoseOfTheScenarios(t *testing.T) {
	samples := pcaps.List()
	for _, s := range synth.Samples() {
		i := slices.IndexFunc(samples, func(x pcaps.Sample) bool { return x.Name == s.Name })
		if i >= 0 && !bytes.Equal(unpacked(t, samples[i].Data), unpacked(t, written(t, s))) {
			t.Errorf("%s: the scenario gives another capture; run go test ./pcaps -update and look at the difference", s.Name)
		}
	}
}

func TestReportsAreGolden(t *testing.T) {
	if *update {
		t.Skip("they have just been written")
	}
	for _, s := range pcaps.List() {
		got := golden(t, s.File, s.Data)
		if !bytes.Equal(got, s.Golden) {
			t.Errorf("%s: the report differs; run go test ./pcaps -update and look at the difference\n%s", s.Name, firstDifference(string(s.Golden), string(got)))
		}
	}
}

// firstDifference shows two texts where they part.
func firstDifference(want, got string) string {
	x, y := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return "-" + x[i] + "\n+" + y[i]
		}
	}
	return "one is longer"
}

func TestFindingsAreThoseOfTheText(t *testing.T) {
	for _, s := range pcaps.List() {
		if s.Text == "" {
			t.Errorf("%s has no text", s.Name)
			continue
		}
		var got []string
		for _, f := range analyze(t, s.File, s.Data).Findings {
			if f.Severity.Rank() < report.Info.Rank() && !slices.Contains(got, f.Rule) {
				got = append(got, f.Rule)
			}
		}
		want := slices.DeleteFunc(s.Finds(), func(rule string) bool { return rule == "nothing" })
		if len(s.Finds()) == 0 {
			t.Errorf("%s: its text has no line that starts with \"finds:\"", s.Name)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: found %q, want %q", s.Name, got, want)
		}
	}
}

func TestSamplesAreSmall(t *testing.T) {
	all := 0
	for _, s := range pcaps.List() {
		all += len(s.Data)
		if len(s.Data) > largest {
			t.Errorf("%s has %d bytes, more than %d", s.File, len(s.Data), largest)
		}
	}
	if all > allOf {
		t.Errorf("all have %d bytes, more than %d", all, allOf)
	}
}
