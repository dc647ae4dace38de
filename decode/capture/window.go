package capture

import "io"

// windowSize is how much is read at a time. What is larger leaves the nearest
// caches before it is decoded, and more so where other cores are at work; much
// smaller does not amortize a system call, or a record that straddles its end. A
// mapping of the file moves the waiting for memory from the system's time to ours,
// and faults where a file shrinks.
const windowSize = 1 << 16

// A window is a sliding view of a byte stream. Records are handed out as slices
// of it, so a byte is moved only where a record straddles the window's end.
type window struct {
	src  io.Reader
	buf  []byte
	r, w int   // buf[r:w] is read from src and not yet consumed
	base int64 // offset in the stream of buf[0]
	err  error // what src ended with, io.EOF included
}

// peek returns the next n bytes without consuming them, and fewer only where
// the stream ends before. They stay valid until the next peek or discard.
func (v *window) peek(n int) []byte {
	if v.w-v.r < n {
		return v.fill(n)
	}
	return v.buf[v.r : v.r+n]
}

// skip consumes n bytes that peek has returned.
func (v *window) skip(n int) { v.r += n }

// offset is the place in the stream of the next byte to be consumed.
func (v *window) offset() int64 { return v.base + int64(v.r) }

// discard consumes up to n bytes without holding them and returns how many
// there were.
func (v *window) discard(n int64) int64 {
	left := n
	for left > 0 {
		b := v.peek(int(min(left, windowSize/2)))
		if len(b) == 0 {
			break
		}
		v.skip(len(b))
		left -= int64(len(b))
	}
	return n - left
}

func (v *window) fill(n int) []byte {
	if v.err == nil && (v.r == v.w || v.r+n > len(v.buf)) {
		v.slide()
		// With little room beside what is asked for, the next slide would
		// come soon, and move as much again.
		if n > len(v.buf)/2 && v.w > len(v.buf)/2 {
			v.grow()
		}
	}
	for v.w-v.r < n && v.err == nil {
		if v.w == len(v.buf) {
			v.grow()
		}
		v.read()
	}
	return v.buf[v.r:min(v.r+n, v.w)]
}

// slide moves the unconsumed bytes to the front of the buffer.
func (v *window) slide() {
	copy(v.buf, v.buf[v.r:v.w])
	v.base += int64(v.r)
	v.r, v.w = 0, v.w-v.r
}

// grow doubles a buffer that is more than half full of bytes of one record. Only
// bytes that have arrived get it here, never a length that a file claims.
func (v *window) grow() {
	b := make([]byte, max(windowSize, 2*len(v.buf)))
	copy(b, v.buf[:v.w])
	v.buf = b
}

func (v *window) read() {
	const patience = 100 // as bufio: a reader that returns 0, nil forever is broken
	for range patience {
		n, err := v.src.Read(v.buf[v.w:])
		v.w += n
		v.err = err
		if n > 0 || err != nil {
			return
		}
	}
	v.err = io.ErrNoProgress
}
