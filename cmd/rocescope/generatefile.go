package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/rocescope/rocescope/pcaps/synth"
)

// truthFile is what stands beside a generated capture: where it comes from, and
// what happened in it.
type truthFile struct {
	Scenario string `json:"scenario"`
	About    string `json:"about"`
	Seed     uint64 `json:"seed"`
	Command  string `json:"command"` // which makes the same files again
	Capture  string `json:"capture"` // the name of its file
	*synth.Truth
}

func (t *truthFile) write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(t)
}

// suffixes end the names of captures, longer ones first.
var suffixes = []string{".pcapng.gz", ".pcap.gz", ".pcapng", ".pcap", ".gz"}

// splitName cuts off what the name of a capture ends with.
func splitName(name string) (stem, suffix string) {
	for _, s := range suffixes {
		if stem, ok := strings.CutSuffix(name, s); ok {
			return stem, s
		}
	}
	return name, ""
}

// setFormat sets the form that a file's name says. A scenario that has a form
// of pcap of its own keeps it.
func setFormat(f *synth.File, name string) error {
	stem, suffix := splitName(name)
	if odd := filepath.Ext(stem); suffix == "" && odd != "" && plain(name) {
		return usage("end it with .pcapng or .pcap, and .gz to pack it", "no capture has a name that ends with %s", odd)
	}
	f.Gzip = strings.HasSuffix(suffix, ".gz")
	switch isPcap := strings.TrimSuffix(suffix, ".gz") == ".pcap"; {
	case !isPcap:
		f.Format = synth.Pcapng
	case f.Format == synth.Pcapng:
		f.Format = synth.Pcap
	}
	return nil
}

// plain reports whether a name is that of a plain file, or of none yet.
func plain(name string) bool {
	st, err := os.Stat(name)
	return err != nil || st.Mode().IsRegular()
}
