package render

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

// samples are the reports every format is shown with.
var samples = []struct {
	name   string
	report func() *report.Report
}{
	{"healthy", healthy}, {"faulty", faulty}, {"no-roce", noRoCE}, {"damaged", damaged},
	{"empty", func() *report.Report { return &report.Report{} }},
}

func render(t *testing.T, format string, r *report.Report, opt Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, format, r, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for _, f := range Formats() {
		for _, s := range samples {
			t.Run(f.Name+"/"+s.name, func(t *testing.T) {
				golden(t, s.name+f.Suffixes[0], render(t, f.Name, s.report(), Options{}))
			})
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; if it should, run go test -update\n%s", file, got)
	}
}

// A format shows a report; it does not change it.
func TestFormatsLeaveTheReportAlone(t *testing.T) {
	for _, f := range Formats() {
		for _, s := range samples {
			r := s.report()
			before := render(t, "json", r, Options{})
			render(t, f.Name, r, Options{Width: 100, Color: true})
			if render(t, "json", r, Options{}) != before {
				t.Errorf("%s changed %s", f.Name, s.name)
			}
		}
	}
}

func TestFormatsAreDescribed(t *testing.T) {
	names := map[string]bool{}
	for _, f := range Formats() {
		if f.Name == "" || f.Doc == "" || f.Write == nil || len(f.Suffixes) == 0 || names[f.Name] {
			t.Errorf("format %q is incomplete or there twice", f.Name)
		}
		names[f.Name] = true
		for _, suffix := range f.Suffixes {
			if got, ok := ByFile("report" + suffix); !ok || got.Name != f.Name {
				t.Errorf("suffix %s leads to %q, not to %q", suffix, got.Name, f.Name)
			}
		}
	}
}

func TestByFile(t *testing.T) {
	for _, test := range []struct{ file, want string }{
		{"out.json", "json"},
		{"dir.json/OUT.TXT", "text"},
		{"out", ""},
		{"out.xyz", ""},
		{"", ""},
	} {
		if got, ok := ByFile(test.file); got.Name != test.want || ok != (test.want != "") {
			t.Errorf("%q leads to %q, want %q", test.file, got.Name, test.want)
		}
	}
}

func TestUnknownFormatNamesTheKnown(t *testing.T) {
	err := Write(&bytes.Buffer{}, "pdf", &report.Report{}, Options{})
	if err == nil || !strings.Contains(err.Error(), "json, ") {
		t.Errorf("got %v", err)
	}
}

type fullDisk struct{}

var errFull = errors.New("no space left")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriteFailure(t *testing.T) {
	for _, f := range Formats() {
		if err := Write(fullDisk{}, f.Name, faulty(), Options{}); !errors.Is(err, errFull) {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}
