package synth_test

import (
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/detect"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/pcaps/synth"
)

// source hands out the frames of a capture.
type source struct {
	frames []decode.Frame
	snap   int
}

func (s *source) Read(f *decode.Frame) error {
	if len(s.frames) == 0 {
		return io.EOF
	}
	*f, s.frames = s.frames[0], s.frames[1:]
	if s.snap > 0 {
		f.Data = f.Data[:min(s.snap, len(f.Data))]
	}
	return nil
}

func analyze(t testing.TB, s *synth.Scenario, c *synth.Capture) *report.Report {
	t.Helper()
	r, err := analysis.Run(t.Context(), &source{c.Frames, s.File.SnapLen}, detect.All(), analysis.Defaults(1))
	if err != nil {
		t.Fatal(err)
	}
	analysis.Judge(r, detect.All(), analysis.Defaults(1))
	return r
}

// packets decodes every frame.
func packets(t testing.TB, c *synth.Capture) []decode.Packet {
	t.Helper()
	var d decode.Decoder
	out := make([]decode.Packet, len(c.Frames))
	for i := range c.Frames {
		if st := d.Decode(&c.Frames[i], &out[i]); st != decode.RoCE {
			t.Fatalf("frame %d is %v", i+1, st)
		}
	}
	return out
}

// count reads a column of a row by its name in JSON.
func count(f *report.Flow, name string) int64 {
	v := reflect.ValueOf(f).Elem()
	for i := range v.NumField() {
		tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if tag == name {
			return v.Field(i).Int()
		}
	}
	panic("no column is named " + name)
}

// eachSample runs a test on every sample's scenario.
func eachSample(t *testing.T, test func(*testing.T, *synth.Scenario, *synth.Capture)) {
	for _, s := range synth.Samples() {
		t.Run(s.Name, func(t *testing.T) { test(t, s, synth.Run(s)) })
	}
}
