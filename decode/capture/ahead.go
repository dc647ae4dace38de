package capture

import "io"

// aheadSize is how many bytes are unpacked at a time, and aheadMost how many such
// pieces ahead of what is read.
const (
	aheadSize = 128 << 10
	aheadMost = 4
)

// ahead reads a stream in a goroutine of its own, so that unpacking a capture and
// analyzing it take two cores. What has come is handed out at once, however little
// it is: a live capture may come packed.
type ahead struct {
	full chan piece
	free chan []byte
	stop chan struct{}
	now  piece
}

// piece is what one read gave.
type piece struct {
	data []byte // what is left of it
	buf  []byte
	err  error
}

// newAhead begins to read r. When it has ended, by itself or by Close, it calls done.
func newAhead(r io.Reader, done func()) *ahead {
	a := &ahead{full: make(chan piece, aheadMost), free: make(chan []byte, aheadMost), stop: make(chan struct{})}
	for range aheadMost {
		a.free <- make([]byte, aheadSize)
	}
	go a.run(r, done)
	return a
}

func (a *ahead) run(r io.Reader, done func()) {
	defer done()
	for {
		select {
		case <-a.stop:
			return
		case buf := <-a.free:
			n, err := r.Read(buf)
			select {
			case <-a.stop:
				return
			case a.full <- piece{buf[:n], buf, err}:
			}
			if err != nil {
				return
			}
		}
	}
}

// Read hands out what was read ahead, and then the error that ended it, for good.
func (a *ahead) Read(p []byte) (int, error) {
	for len(a.now.data) == 0 && a.now.err == nil {
		if a.now.buf != nil {
			a.free <- a.now.buf // there is room for all
		}
		a.now = <-a.full
	}
	n := copy(p, a.now.data)
	a.now.data = a.now.data[n:]
	if len(a.now.data) == 0 {
		return n, a.now.err
	}
	return n, nil
}

// Close ends the reading, now or when the read under way returns.
func (a *ahead) Close() error {
	close(a.stop)
	return nil
}
