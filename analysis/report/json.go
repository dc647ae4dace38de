package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Write writes the JSON form: everything there is, in a fixed order, so that
// equal reports give equal bytes. Lists are never null. The report stays as it
// is.
func Write(w io.Writer, r *Report) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false) // filters are full of && and >
	enc.SetIndent("", " ")
	return enc.Encode(filled(r))
}

// Read reads what Write wrote. It takes unknown fields for those of a later
// minor version and passes over them.
func Read(r io.Reader) (*Report, error) {
	dec := json.NewDecoder(r)
	var out Report
	if err := dec.Decode(&out); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("read report: the input is empty")
		}
		return nil, fmt.Errorf("read report: %w", err)
	}
	if err := checkSchema(out.Schema); err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read report: more data behind the report, at byte %d", dec.InputOffset())
	}
	return &out, nil
}

func checkSchema(schema string) error {
	family, _, _ := strings.Cut(Schema, "/")
	switch {
	case schema == Schema:
		return nil
	case strings.HasPrefix(schema, family+"/"):
		return fmt.Errorf("schema %q is of another version; this one reads %q", schema, Schema)
	}
	return fmt.Errorf("schema is %q, not %q: this is no report", schema, Schema)
}

// filled returns a shallow copy in which no list is nil.
func filled(r *Report) *Report {
	out := *r
	out.Schema = Schema
	out.Captures = list(slices.Clone(r.Captures))
	for i := range out.Captures {
		c := &out.Captures[i]
		c.LinkTypes = list(c.LinkTypes)
	}
	out.Flows = list(r.Flows)
	out.Findings = list(slices.Clone(r.Findings))
	for i := range out.Findings {
		f := &out.Findings[i]
		f.Frames = list(f.Frames)
		if f.Values == nil {
			f.Values = map[string]int64{}
		}
	}
	out.Sections = slices.Clone(r.Sections)
	for i := range out.Sections {
		out.Sections[i].Tables = filledTables(out.Sections[i].Tables)
	}
	out.Counters = slices.Clone(r.Counters)
	for i := range out.Counters {
		out.Counters[i].Counters = list(out.Counters[i].Counters)
	}
	out.Readings = slices.Clone(r.Readings)
	for i := range out.Readings {
		d := &out.Readings[i]
		d.Hosts, d.Devices, d.Counters = list(d.Hosts), list(d.Devices), list(d.Counters)
	}
	return &out
}

func filledTables(tables []Table) []Table {
	tables = slices.Clone(tables)
	for i := range tables {
		t := &tables[i]
		t.Keys, t.Columns = list(t.Keys), list(t.Columns)
		t.Rows = list(slices.Clone(t.Rows))
		for j := range t.Rows {
			t.Rows[j].Key, t.Rows[j].Values = list(t.Rows[j].Key), list(t.Rows[j].Values)
		}
	}
	return tables
}
