// Package pcaps holds the sample captures, each with what must be found in it.
//
// A sample is three files that share a name:
//
//	NAME.pcapng  the capture; also .pcap, and either one packed with gzip
//	NAME.txt     what was done and what must be found, for people
//	NAME.json    the golden report
//
// Those whose names begin with "lab-" are real traffic, recorded in the
// laboratory (package lab), and have one file more:
//
//	NAME.truth.json  what the kernel, tc and the comparison of taps say
//
// A line "finds: RULE" of the text names a rule that must be found, with a
// severity above info; each such rule has its line, and no other may be found.
// "finds: nothing" stands for none.
//
// Golden reports, and the captures of the scenarios in package synth, are written
// by
//
//	go test ./pcaps -update
//
// and recordings anew by go run ./pcaps/lab record -samples pcaps. The texts are
// written by hand.
package pcaps

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed *.pcap* *.txt *.json
var files embed.FS

// Sample is one capture and what is known of it.
type Sample struct {
	Name   string // as "loss-downstream"
	File   string // the capture's file name
	Data   []byte // the capture file
	Text   string // empty where the file is missing
	Golden []byte // the report in JSON; empty where the file is missing
}

// List returns the samples, ordered by name.
func List() []Sample {
	names, err := fs.Glob(files, "*.pcap*")
	if err != nil {
		panic(err) // the pattern is right
	}
	var out []Sample
	for _, file := range names {
		name, _, _ := strings.Cut(file, ".")
		out = append(out, Sample{Name: name, File: file, Data: read(file), Text: string(read(name + ".txt")), Golden: read(name + ".json")})
	}
	return out
}

func read(name string) []byte {
	data, err := files.ReadFile(name)
	if err != nil {
		return nil
	}
	return data
}

// Finds returns the rules that the text says must be found.
func (s *Sample) Finds() []string {
	var out []string
	for line := range strings.Lines(s.Text) {
		if rule, ok := strings.CutPrefix(line, "finds:"); ok {
			out = append(out, strings.TrimSpace(rule))
		}
	}
	return out
}
