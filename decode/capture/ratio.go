package capture

import (
	"fmt"
	"io"
)

// A packed capture that grows beyond these ratios is taken for a decompression
// bomb: reading ends there, with a damage that tells the ratio and the place,
// and all frames before it are handed out.
//
// The most compressible captures there are, of WRITE packets with 4 KB of zeros
// each and in even intervals, reach 400:1 with gzip -9 and 1000:1 with zstd -19;
// were not even the times to differ, it would be 680:1 and 10300:1. Bombs come
// near what the formats can give at most: 1030:1 and 32000:1.
const (
	// MaxRatioGzip is how many bytes may come of one of gzip.
	MaxRatioGzip = 1000
	// MaxRatioZstd is how many bytes may come of one of zstd.
	MaxRatioZstd = 10_000
	// RatioSpan is over how many unpacked bytes the ratio is taken: the first
	// such stretch, the next, and so on. A shorter stream is never a bomb, a
	// quiet minute of a live capture makes none, and an honest beginning does
	// not excuse what follows.
	RatioSpan = 1 << 30
)

// A ratioGuard ends an unpacked stream that grows too much.
type ratioGuard struct {
	r      io.Reader
	taken  func() int64 // packed bytes consumed so far
	most   int64
	span   int64
	out    int64 // unpacked bytes of the present stretch
	before int64 // packed bytes consumed before it
	err    error
}

func newRatioGuard(r io.Reader, taken func() int64, most, span int64) *ratioGuard {
	return &ratioGuard{r: r, taken: taken, most: most, span: span}
}

func (g *ratioGuard) Read(p []byte) (int, error) {
	if g.err != nil {
		return 0, g.err
	}
	n, err := g.r.Read(p)
	g.out += int64(n)
	if g.out >= g.span && err == nil {
		err = g.judge()
	}
	return n, err
}

// judge ends a stretch.
func (g *ratioGuard) judge() error {
	taken := g.taken()
	in := taken - g.before
	if g.out > g.most*in {
		g.err = fmt.Errorf("its last %d bytes came of %d, more than %d to 1: a decompression bomb", g.out, in, g.most)
	}
	g.out, g.before = 0, taken
	return g.err
}
