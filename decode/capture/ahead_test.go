package capture

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestAheadHandsOutAllAndThenTheError(t *testing.T) {
	broken := errors.New("broken")
	want := bytes.Repeat([]byte("0123456789abcdef"), 3*aheadMost*aheadSize/16)
	for _, c := range []struct {
		name string
		r    io.Reader
		err  error
	}{
		{"a whole stream", bytes.NewReader(want), io.EOF},
		{"one that gives its end with its last bytes", iotest.DataErrReader(bytes.NewReader(want)), io.EOF},
		{"one that gives little at a time", iotest.HalfReader(bytes.NewReader(want)), io.EOF},
		{"one that breaks", io.MultiReader(bytes.NewReader(want), iotest.ErrReader(broken)), broken},
	} {
		ended := make(chan struct{})
		a := newAhead(c.r, func() { close(ended) })
		var got []byte
		var err error
		for p := make([]byte, 7000); err == nil; {
			var n int
			n, err = a.Read(p)
			got = append(got, p[:n]...)
		}
		if !bytes.Equal(got, want) || err != c.err {
			t.Errorf("%s: %d bytes and %v, want %d and %v", c.name, len(got), err, len(want), c.err)
		}
		if n, err := a.Read(make([]byte, 1)); n != 0 || err != c.err {
			t.Errorf("%s: behind its end there are %d bytes, and %v", c.name, n, err)
		}
		<-ended
		a.Close()
	}
}

// A live capture comes packed, piece by piece, and nobody knows when the next does.
func TestAheadWaitsForNoMore(t *testing.T) {
	r, w := io.Pipe()
	ended := make(chan struct{})
	a := newAhead(r, func() { close(ended) })
	for _, text := range []string{"a frame", "and one more"} {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		p := make([]byte, 100)
		if n, err := a.Read(p); string(p[:n]) != text || err != nil {
			t.Errorf("%q and %v, want %q", p[:n], err, text)
		}
	}
	a.Close()
	w.Close()
	<-ended
}

// What nobody reads any more is not read on.
func TestAheadStops(t *testing.T) {
	ended := make(chan struct{})
	a := newAhead(strings.NewReader(strings.Repeat("x", 100*aheadSize)), func() { close(ended) })
	if _, err := a.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	a.Close()
	<-ended
}
