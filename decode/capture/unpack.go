package capture

import (
	"bufio"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxZstdWindow is how far back a zstd stream may refer. It is what the zstd
// tool accepts by default (its --long writes such streams).
const maxZstdWindow = 128 << 20

// unpack finds a compression by its magic number and returns the uncompressed
// stream, which is unpacked in a goroutine of its own.
//
// Reading needs constant memory however much comes out, so a bomb costs time
// alone; a ratioGuard ends it.
func (f *File) unpack(r *bufio.Reader) (io.Reader, error) {
	var z io.Reader
	var err error
	done := func() {}
	var most int64
	switch magic, _ := r.Peek(4); { // an error comes again with the first read
	case isGzip(magic):
		z, err = f.gunzip(r)
		most = MaxRatioGzip
	case isZstd(magic):
		z, done, err = f.unzstd(r)
		most = MaxRatioZstd
	default:
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	taken := func() int64 { return f.in.raw.n.Load() - int64(r.Buffered()) }
	a := newAhead(newRatioGuard(z, taken, most, RatioSpan), done)
	f.closers = append(f.closers, a.Close)
	return a, nil
}

func isGzip(b []byte) bool { return len(b) >= 2 && b[0] == 0x1f && b[1] == 0x8b }

// isZstd also accepts a skippable frame, with which parallel packers begin.
func isZstd(b []byte) bool {
	if len(b) < 4 {
		return false
	}
	return string(b) == "\x28\xb5\x2f\xfd" || b[0]&0xf0 == 0x50 && string(b[1:]) == "\x2a\x4d\x18"
}

func (f *File) gunzip(r *bufio.Reader) (io.Reader, error) {
	f.in.info.Compression = "gzip"
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, f.badPacking(err)
	}
	z.Multistream(false)
	return &gzipMembers{r: r, z: z}, nil // it holds nothing that needs closing
}

// gzipMembers reads gzip members that stand one after the other, and takes the
// zeros with which some copying pads the end of a file for what they are.
type gzipMembers struct {
	r *bufio.Reader
	z *gzip.Reader
}

func (m *gzipMembers) Read(p []byte) (int, error) {
	n, err := m.z.Read(p)
	if err == io.EOF {
		err = m.next()
	}
	return n, err
}

// next goes on with the next member.
func (m *gzipMembers) next() error {
	for {
		b, err := m.r.Peek(2)
		switch {
		case isGzip(b):
			err := m.z.Reset(m.r)
			m.z.Multistream(false)
			return err
		case len(b) == 0:
			return err
		case b[0] != 0:
			return fmt.Errorf("what follows it is neither gzip nor padding: % x", b)
		}
		m.r.Discard(1)
	}
}

func (f *File) unzstd(r io.Reader) (z *zstd.Decoder, done func(), err error) {
	f.in.info.Compression = "zstd"
	z, err = zstd.NewReader(r,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxZstdWindow))
	if err != nil {
		return nil, nil, f.badPacking(err)
	}
	return z, z.Close, nil
}

func (f *File) badPacking(err error) error {
	if err := f.in.failure(); err != nil {
		return err
	}
	return &FormatError{
		Name:  f.in.info.Name,
		Looks: fmt.Sprintf("it begins as %s but cannot be unpacked (%v)", f.in.info.Compression, err),
		Hint:  "copy or pack it again",
	}
}
