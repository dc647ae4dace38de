package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// ErrNotCapture is wrapped by the errors of Open for inputs that are readable
// but no capture.
var ErrNotCapture = errors.New("not a capture file")

// A FormatError says why an input is no capture. It wraps ErrNotCapture.
type FormatError struct {
	// Name is the input's.
	Name string
	// Looks says what the input appears to be.
	Looks string
	// Hint says what to do about it.
	Hint string
}

// Error is one sentence with name, reason and hint.
func (e *FormatError) Error() string {
	return fmt.Sprintf("%s: %v: %s; %s", e.Name, ErrNotCapture, e.Looks, e.Hint)
}

// Unwrap returns ErrNotCapture.
func (e *FormatError) Unwrap() error { return ErrNotCapture }

// detect finds the format by the first bytes of the uncompressed stream.
func (in *input) detect() (records, error) {
	b := in.peek(4) // no more: what comes through a pipe may begin with a header alone
	if bytes.Equal(b, sectionMagic) {
		return in.newPcapng()
	}
	if m, ok := pcapMagicOf(b); ok {
		return in.newPcap(m)
	}
	return nil, in.notCapture()
}

const hintGive = "give a pcap or pcapng file, plain or packed with gzip or zstd"

// strangers are formats that get mistaken for captures, or are captures in a
// form that has to be converted.
var strangers = []struct{ magic, looks, hint string }{
	{"\x1f\x8b", "it is gzip", "unpack it first"},
	{"\x28\xb5\x2f\xfd", "it is zstd", "unpack it first"},
	{"\x04\x22\x4d\x18", "it is packed with lz4", "unpack it first"},
	{"\xfd7zXZ\x00", "it is packed with xz", "unpack it first"},
	{"BZh", "it is packed with bzip2", "unpack it first"},
	{"PK\x03\x04", "it is a zip archive", "unpack it first"},
	{"snoop\x00", "it is a snoop capture", "convert it with editcap -F pcapng"},
	{"GMBU", "it is a Network Monitor capture", "convert it with editcap -F pcapng"},
	{"RTSS", "it is a Network Monitor capture", "convert it with editcap -F pcapng"},
	{"\x1c\x00\x01\xac", "it is an IxVeriWave or Ixia capture", "convert it with editcap -F pcapng"},
	{"\x7fELF", "it is a program", hintGive},
}

// notCapture names what the input looks like from its first bytes.
func (in *input) notCapture() error {
	b := in.peek(64)
	if err := in.failure(); err != nil {
		return err
	}
	e := &FormatError{Name: in.info.Name, Hint: hintGive}
	switch {
	case len(b) == 0:
		e.Looks = "it is empty"
	case len(b) < 4:
		e.Looks = fmt.Sprintf("it ends after %d bytes (% x)", len(b), b)
	case isText(b):
		e.Looks = fmt.Sprintf("it looks like text, beginning %.20q", b)
	default:
		e.Looks = fmt.Sprintf("its first bytes are % x", b[:4])
	}
	for _, s := range strangers {
		if bytes.HasPrefix(b, []byte(s.magic)) {
			e.Looks, e.Hint = s.looks, s.hint
		}
	}
	return in.wrapped(e)
}

// cutHeader is the error for an input that begins as a capture but is over
// before the end of what.
func (in *input) cutHeader(what string, have, want int) error {
	if err := in.failure(); err != nil {
		return err
	}
	return in.wrapped(&FormatError{
		Name:  in.info.Name,
		Looks: fmt.Sprintf("it begins as %s but ends after %d of the %d bytes of %s", in.info.Format, have, want, what),
		Hint:  "copy or record it again",
	})
}

// wrapped adds to what e says the packing it was found in.
func (in *input) wrapped(e *FormatError) error {
	if in.info.Compression != "" {
		e.Looks += " (inside " + in.info.Compression + ")"
	}
	if in.err != nil && in.err != io.EOF {
		e.Looks += fmt.Sprintf(", where the stream breaks off (%v)", in.err)
	}
	return e
}

func isText(b []byte) bool {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && i+utf8.UTFMax < len(b) || r < ' ' && r != '\n' && r != '\r' && r != '\t' {
			return false
		}
		i += n
	}
	return true
}
