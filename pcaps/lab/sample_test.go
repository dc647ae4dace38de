package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/capture"
)

// tapFile writes what a tap recorded: frames of 60 bytes at some times.
func tapFile(t *testing.T, dir, point string, times ...int64) {
	t.Helper()
	var b bytes.Buffer
	w, err := capture.NewPcapWriter(&b, decode.LinkEthernet, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range times {
		if err := w.Write(&decode.Frame{Data: make([]byte, 60), Time: at, Link: decode.LinkEthernet}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, point+".pcap"), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestSampleFilesCanBeRead(t *testing.T) {
	dir := t.TempDir()
	tapFile(t, dir, "h1", 1e9, 3e9)
	tapFile(t, dir, "h2", 2e9)
	tests := []struct {
		sample sample
		frames int
	}{
		{sample{[]string{"h1"}, "pcap"}, 2},
		{sample{[]string{"h1"}, "pcap-ns.gz"}, 2},
		{sample{[]string{"h1", "h2"}, "pcapng"}, 3},
		{sample{[]string{"h2", "h1"}, "pcapng.gz"}, 3},
	}
	for _, test := range tests {
		r := &recording{dir: dir, scenario: &scenario{Sample: test.sample, Taps: []tap{{"h1", 0}, {"h2", 128}}}}
		data, err := r.sampleFile()
		if err != nil {
			t.Fatal(err)
		}
		if got := len(timesOf(t, data)); got != test.frames {
			t.Errorf("%v: %d frames can be read, want %d", test.sample, got, test.frames)
		}
	}
}

// timesOf reads a capture and returns its times, which must rise.
func timesOf(t *testing.T, data []byte) []int64 {
	t.Helper()
	f, err := capture.NewReader("x", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []int64
	for frame := (decode.Frame{}); f.Read(&frame) == nil; {
		if n := len(out); n > 0 && frame.Time < out[n-1] {
			t.Errorf("frame %d is older than that before it", n+1)
		}
		out = append(out, frame.Time)
	}
	return out
}
