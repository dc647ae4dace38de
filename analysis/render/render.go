// Package render writes a report for a reader: a terminal, another program, a
// browser, a CI system.
//
// Each format is one file, which adds itself to the list:
//
//	err := render.Write(os.Stdout, "text", r, render.Options{Width: 100})
//
// A format reads the finished report and nothing else. It knows no analyzer, so
// that a new one shows up everywhere without a line here, and it judges
// nothing: what is bad was said by a finding.
package render

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis/report"
)

// Options are what a reader may wish for. A format passes over those that mean
// nothing to it. The zero value is ready.
type Options struct {
	Width    int  // columns of the terminal; 0 means 80, and less than 40 means 40
	Color    bool // mark severities with the colours of a terminal
	Findings int  // how many to show in full; 0 means 12
	Flows    int  // how many rows to show; 0 means 10
}

// Format is one way to write a report.
type Format struct {
	Name     string   // as in --format
	Doc      string   // what it is for, in one sentence
	Suffixes []string // of file names, with the dot; the first is the usual one
	Write    func(w io.Writer, r *report.Report, opt Options) error
}

// formats is filled while the package initializes, and only read after.
var formats []Format

func add(f Format) Format {
	formats = append(formats, f)
	return f
}

// Formats returns all formats, ordered by name.
func Formats() []Format {
	return slices.SortedFunc(slices.Values(formats), func(a, b Format) int { return cmp.Compare(a.Name, b.Name) })
}

// Names returns the names of all formats, in order.
func Names() []string {
	var names []string
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}

// ByName returns the format of that name.
func ByName(name string) (Format, bool) {
	i := slices.IndexFunc(formats, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return formats[i], true
}

// ByFile returns the format that the suffix of a file name asks for.
func ByFile(file string) (Format, bool) {
	suffix := strings.ToLower(filepath.Ext(file))
	i := slices.IndexFunc(formats, func(f Format) bool { return slices.Contains(f.Suffixes, suffix) })
	if suffix == "" || i < 0 {
		return Format{}, false
	}
	return formats[i], true
}

// Write writes r in the format of that name.
func Write(w io.Writer, format string, r *report.Report, opt Options) error {
	f, ok := ByName(format)
	if !ok {
		return fmt.Errorf("unknown format %q; there are %s", format, strings.Join(Names(), ", "))
	}
	if err := f.Write(w, r, opt); err != nil {
		return fmt.Errorf("write %s: %w", format, err)
	}
	return nil
}
