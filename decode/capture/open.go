package capture

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/rocescope/rocescope/decode"
)

// A File is a capture being read. It is not safe for concurrent use.
type File struct {
	in      *input
	records records
	closers []func() error
	err     error // what Read returns from now on
	one     [1]decode.Frame
}

// records is a format: next fills f with the next frame, all but its number. It
// returns errAnother where the header of another capture stands next. more fills
// frames with as many as follow and take no reading on, and returns how many.
type records interface {
	next(f *decode.Frame) error
	more(frames []decode.Frame) int
}

// An Option changes how Open works.
type Option func(*options)

type options struct{ stdin io.Reader }

// Stdin gives Open the reader that the name "-" stands for.
func Stdin(r io.Reader) Option { return func(o *options) { o.stdin = r } }

// Open opens a capture file. The name "-" stands for the reader given with
// Stdin. Close must be called when the file is no longer needed.
//
// The error wraps ErrNotCapture (as a *FormatError) where the file can be read
// but is no capture.
func Open(name string, opts ...Option) (*File, error) {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	if name == "-" {
		if o.stdin == nil {
			return nil, fmt.Errorf("the name \"-\" stands for standard input, and none was given")
		}
		return NewReader(name, o.stdin)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("opening a capture: %w", err)
	}
	f, err := NewReader(name, file)
	if err != nil {
		file.Close()
		return nil, err
	}
	f.closers = append(f.closers, file.Close)
	return f, nil
}

// NewReader reads a capture from r; name is what messages call it. It reads
// ahead, so r is not to be read by anyone else. Errors are those of Open.
func NewReader(name string, r io.Reader) (*File, error) {
	raw := &source{r: r}
	f := &File{in: &input{raw: raw, info: Info{Name: name}}}
	stream, err := f.unpack(bufio.NewReaderSize(raw, windowSize/4)) // what a window has room for goes past it
	if err == nil {
		f.in.window = window{src: stream, buf: make([]byte, windowSize)}
		f.records, err = f.in.detect()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Read fills frame with the next one, or returns io.EOF after the last that can
// be read. Its Data is a part of the File's own buffer, valid until the next
// Read; whoever keeps it copies it. Its Len is never below len(Data).
//
// Read does not allocate; a decompressor below it may, once in many frames. Any
// error but io.EOF is the input's own, and lasts; damage in what the input holds
// is told by Damage.
func (f *File) Read(frame *decode.Frame) error {
	_, err := f.ReadSome(f.one[:])
	if err == nil {
		*frame = f.one[0]
	}
	return err
}

// ReadSome fills frames, of which there is at least one, with the next ones, as many
// as can be had without waiting, and returns how many. It does what as many Reads do,
// but that all Data stays valid until the next. With an error it returns no frame.
func (f *File) ReadSome(frames []decode.Frame) (n int, err error) {
	if f.err != nil {
		return 0, f.err
	}
	for {
		err := f.records.next(&frames[0])
		if err == nil {
			break
		}
		if err == errAnother {
			f.records, err = f.in.another()
		}
		if err != nil {
			f.err = err
			return 0, err
		}
	}
	n = 1 + f.records.more(frames[1:])
	f.in.count(frames[:n])
	return n, nil
}

// Info returns what is known so far.
func (f *File) Info() Info { return f.in.snapshot() }

// Interface returns what is known so far of the interface that Frame.Iface numbers n.
func (f *File) Interface(n uint16) (InterfaceInfo, bool) {
	list := f.in.info.Interfaces
	if int(n) >= len(list) {
		return InterfaceInfo{}, false
	}
	return list[n], true
}

// Damage returns the damaged places met so far, at most the first 64 (see
// Info.Damages), in the order of the file.
func (f *File) Damage() []*Damage { return append([]*Damage(nil), f.in.damages...) }

// Close releases the file. A reader given to NewReader is the caller's to
// close. Data of the last frame is not valid after.
func (f *File) Close() error {
	var first error
	for _, c := range f.closers {
		if err := c(); err != nil && first == nil {
			first = fmt.Errorf("closing %s: %w", f.in.info.Name, err)
		}
	}
	f.closers = nil
	if f.err == nil {
		f.err = os.ErrClosed
	}
	return first
}
