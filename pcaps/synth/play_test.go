package synth_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/pcaps/synth"
)

var write = flag.String("accuracy-write", "", "write the scenario of -accuracy-seed to a file: healthy, faulty or mixed, a colon, and its name")

// TestWriteOne writes one random scenario and its truth, to be looked at.
func TestWriteOne(t *testing.T) {
	for name, draw := range kinds {
		file, ok := strings.CutPrefix(*write, name+":")
		if !ok {
			continue
		}
		s := draw(newDraw(*first), *first)
		t.Logf("%+v", *s)
		c := synth.Run(s)
		writeTo(t, file, func(f *os.File) error { return c.Write(f) })
		writeTo(t, file+".truth.json", func(f *os.File) error { return c.Truth.Write(f) })
	}
}

func writeTo(t *testing.T, name string, do func(*os.File) error) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := do(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
