package main

import (
	"bufio"
	"encoding/json"
	"fmt"
)

// writeFields writes the values of a frame, separated by tabs.
func writeFields(w *bufio.Writer, fields []field, l *line) error {
	for i := range fields {
		if i > 0 {
			w.WriteByte('\t')
		}
		if fields[i].has(&l.packet) {
			w.WriteString(fields[i].text(l))
		}
	}
	return w.WriteByte('\n') // the error of any write before
}

// jsonFlag is a flag in JSON.
type jsonFlag struct {
	Flag  string `json:"flag"`
	Count int32  `json:"count"`           // packets that it stands for
	Frame uint64 `json:"frame,omitempty"` // the one that decided, or that it points back to
}

// writeJSON writes a frame as one object, fields in the order of the table. A
// field that the frame does not have is left out, or null where it was asked
// for by name.
func writeJSON(w *bufio.Writer, fields []field, named bool, l *line) error {
	sep := byte('{')
	for i := range fields {
		f := &fields[i]
		has := f.has(&l.packet)
		if !has && !named {
			continue
		}
		w.WriteByte(sep)
		sep = ','
		fmt.Fprintf(w, "%q:", f.name)
		switch {
		case !has:
			w.WriteString("null")
		case f.kind == flags:
			w.Write(l.jsonFlags())
		case f.kind == word:
			fmt.Fprintf(w, "%q", f.text(l))
		default:
			w.WriteString(f.text(l))
		}
	}
	_, err := w.WriteString("}\n") // the error of any write before
	return err
}

func (l *line) jsonFlags() []byte {
	out := []jsonFlag{}
	for i := range l.flags {
		f := &l.flags[i]
		out = append(out, jsonFlag{f.Kind.String(), f.Count, f.decider()})
	}
	b, _ := json.Marshal(out) // of strings and numbers: it cannot fail
	return b
}
