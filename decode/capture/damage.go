package capture

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// maxDamages bounds the list kept of one input; Info.Damages counts them all.
const maxDamages = 64

// Damage is one place at which a capture could not be read as its format
// demands. Frames before it were handed out.
type Damage struct {
	// Name is the input's, as given to Open or NewReader.
	Name string
	// Offset is where the damaged record or block begins, in bytes from the
	// start of the uncompressed stream.
	Offset int64
	// Frame numbers the last whole frame before the damage, 0 if none.
	Frame uint64
	// What says what is wrong and what was left out for it, as
	// "record header cut after 7 of 16 bytes", with the bytes that were skipped.
	What string
}

// Error is the damage as one sentence with the input's name and the place.
func (d *Damage) Error() string {
	return fmt.Sprintf("%s: %s, at byte %d, after frame %d", d.Name, d.What, d.Offset, d.Frame)
}

// An input is a stream being read, with what is known about it so far.
type input struct {
	window
	raw     *source // what the stream is made of
	info    Info
	last    int64 // time of the last frame, for those that have none
	damages []*Damage
}

// damage notes that the record or block at offset cannot be read.
func (in *input) damage(offset int64, format string, args ...any) {
	in.info.Damages++
	if len(in.damages) == maxDamages {
		return
	}
	in.damages = append(in.damages, &Damage{
		Name:   in.info.Name,
		Offset: offset,
		Frame:  in.info.Frames,
		What:   fmt.Sprintf(format, args...),
	})
}

// end is called where the stream holds fewer bytes than asked for: have of the
// want bytes of what. It notes the damage, if that is one, and returns what
// Read is to return from now on.
func (in *input) end(what string, have, want int) error {
	at := in.offset()
	in.jump(have)
	return in.endAt(at, what, int64(have), int64(want))
}

// endAt is end for a record that began at an offset already passed.
func (in *input) endAt(at int64, what string, have, want int64) error {
	if err := in.failure(); err != nil {
		return err
	}
	broken := in.err != io.EOF
	switch {
	case have > 0 && broken:
		in.damage(at, "%s cut after %d of %d bytes, where the %s stream breaks off (%v)", what, have, want, in.info.Compression, in.err)
	case have > 0:
		in.damage(at, "%s cut after %d of %d bytes", what, have, want)
	case broken:
		in.damage(at, "the %s stream breaks off (%v)", in.info.Compression, in.err)
	}
	return io.EOF
}

// jump passes over n bytes, which peek has returned, of which nothing comes.
func (in *input) jump(n int) {
	in.skip(n)
	in.info.Skipped += int64(n)
}

// stopAt is called where nothing that follows can be trusted: it notes the
// damage and returns what Read is to return from now on.
func (in *input) stopAt(at int64, format string, args ...any) error {
	if err := in.failure(); err != nil {
		return err
	}
	in.info.Unread = true
	in.damage(at, format+"; the rest was not read", args...)
	return io.EOF
}

// failure returns the error of the input itself, as against one that lies in
// what it holds: a disk that cannot be read is no damaged capture.
func (in *input) failure() error {
	if in.src != nil && in.err == nil {
		return nil // what is read ahead may have met it, but all before it comes first
	}
	err := in.raw.err
	if err == nil && errors.Is(in.err, io.ErrNoProgress) {
		err = in.err
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: reading at byte %d, after frame %d: %w", in.info.Name, in.offset(), in.info.Frames, err)
}

// A source counts what is taken from the underlying reader and keeps its error,
// which a decompressor may wrap beyond recognition.
type source struct {
	r   io.Reader
	n   atomic.Int64 // read so far; a decompressor reads in a goroutine of its own
	err error        // never io.EOF; valid where the stream has ended
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.n.Add(int64(n))
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}
