package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Write writes the JSON form: everything there is, in a fixed order, so that
// equal reports give equal bytes. Lists are never null. The report stays as it
// is.
func Write(w io.Writer, r *Report) error {
	out := *r
	out.Schema = Schema
	return writeStream(w, reportNode, reflect.ValueOf(&out).Elem())
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
