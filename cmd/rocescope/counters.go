package main

import (
	"errors"
	"io/fs"
	"os"

	"github.com/rocescope/rocescope/analysis/counters"
	"github.com/rocescope/rocescope/analysis/report"
)

const counterHint = "rocescope analyze --help says what a file of counters looks like"

// dumps reads the files of --counters.
func (o *analyzeOptions) dumps() ([]*counters.Device, error) {
	var d counters.Dumps
	for _, name := range o.counters {
		if err := readDump(&d, name); err != nil {
			return nil, err
		}
	}
	return d.Devices(), nil
}

func readDump(d *counters.Dumps, name string) error {
	f, err := os.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usage(counterHint, "there is no file %s of counters", name)
	case err != nil:
		return usage("", "%s cannot be read: %v", name, err)
	}
	defer f.Close()
	if err := d.Read(name, f); err != nil {
		return usage(counterHint, "%v", err)
	}
	return nil
}

// hold adds to the report how what was read compares with it.
func hold(r *report.Report, devices []*counters.Device) error {
	if len(devices) == 0 {
		return nil
	}
	readings, err := counters.Compare(r.Counters, devices)
	if err != nil {
		return usage(counterHint, "%v", err)
	}
	r.Readings = readings
	return nil
}
