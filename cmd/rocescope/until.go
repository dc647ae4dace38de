package main

import (
	"context"
	"errors"
	"io"
)

// until reads r until ctx is done. A pipe that nothing comes through would
// otherwise hold up an interrupt for as long as its writer pleases.
func until(ctx context.Context, r io.Reader) io.Reader {
	return &untilReader{ctx: ctx, r: r}
}

type untilReader struct {
	ctx  context.Context
	r    io.Reader
	buf  []byte
	rest []byte // of buf, read and not yet handed out
	err  error  // of r, due once rest is handed out
	got  chan result
}

type result struct {
	n   int
	err error
}

// Read hands out what a goroutine has read into a buffer of its own: where the
// context ends first, that goroutine may go on to write into its buffer, but
// never into p.
func (u *untilReader) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	if len(u.rest) > 0 {
		n := copy(p, u.rest)
		u.rest = u.rest[n:]
		return n, nil
	}
	if u.err != nil {
		return 0, u.err
	}
	if u.buf == nil {
		u.buf, u.got = make([]byte, 256<<10), make(chan result, 1)
	}
	go func() {
		n, err := u.r.Read(u.buf)
		u.got <- result{n, err}
	}()
	select {
	case <-u.ctx.Done():
		return 0, u.ctx.Err()
	case g := <-u.got:
		n := copy(p, u.buf[:g.n])
		u.rest, u.err = u.buf[n:g.n], g.err
		return n, nil
	}
}

// interrupted reports whether err comes from the end of a context.
func interrupted(err error) bool { return errors.Is(err, context.Canceled) }
