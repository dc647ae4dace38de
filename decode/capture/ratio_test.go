package capture

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/decode"
)

func TestRatioGuard(t *testing.T) {
	var taken int64
	plenty := func(p []byte) (int, error) { return len(p), nil }
	g := newRatioGuard(readerFunc(plenty), func() int64 { return taken }, 100, 1000)
	p := make([]byte, 500)
	read := func() error {
		n, err := g.Read(p)
		if n != len(p) && err == nil {
			t.Fatalf("%d bytes and no error", n)
		}
		return err
	}
	for i := range 10 { // at the ratio itself
		taken += 5
		if err := read(); err != nil {
			t.Fatalf("at read %d: %v", i, err)
		}
	}
	taken += 9
	if err := read(); err != nil { // within a stretch anything goes
		t.Fatal(err)
	}
	if err := read(); err == nil || !strings.Contains(err.Error(), "its last 1000 bytes came of 9, more than 100 to 1") {
		t.Fatalf("above the ratio: %v", err)
	}
	if n, err := g.Read(p); n != 0 || err == nil {
		t.Errorf("after the end: %d bytes, %v", n, err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A bomb ends after the first stretch, and what came before is handed out.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("unpacks 1 GiB")
	}
	o := orders[0]
	// A block that no reader looks at holds the zeros.
	long := block(o, 77, make([]byte, 16))
	o.PutUint32(long[4:], 0xfffffff0)
	start := join(section(o), ifaceBlock(o, 1, 0), epb(o, 0, 1, []byte("frame"), 0), epb(o, 0, 2, []byte("frame"), 0), long[:8])
	for _, c := range []struct {
		desc string
		head []byte
		part []byte // of zeros
		says string
	}{
		{"gzip", gz(t, start), gz(t, make([]byte, 64<<20)), "more than 1000 to 1: a decompression bomb"},
		{"zstd", zst(t, start), zstZeros(512), "more than 10000 to 1: a decompression bomb"},
	} {
		t.Run(c.desc, func(t *testing.T) {
			bomb := io.Reader(bytes.NewReader(c.head))
			for range 60 { // 3.75 GiB
				bomb = io.MultiReader(bomb, bytes.NewReader(c.part))
			}
			f, err := NewReader("bomb", bomb)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if n := countFrames(t, f); n != 2 {
				t.Errorf("%d frames", n)
			}
			i, d := f.Info(), f.Damage()
			if len(d) != 1 || !strings.Contains(d[0].What, c.says) {
				t.Fatalf("damage is %v", d)
			}
			if i.Bytes < RatioSpan || i.Bytes > RatioSpan+windowSize || i.FrameBytes+i.OtherBytes+i.Skipped != i.Bytes {
				t.Errorf("%+v, damage %v", i, d)
			}
			t.Log(d[0])
		})
	}
}

// zstZeros is the worst that zstd can hold: blocks of 128 KiB in 4 bytes each.
func zstZeros(blocks int) []byte {
	out := []byte("\x28\xb5\x2f\xfd\x00\x38") // a window of 128 KiB
	for i := range blocks {
		head := uint32(128<<10)<<3 | 1<<1 // one byte, repeated
		if i == blocks-1 {
			head |= 1
		}
		out = append(out, byte(head), byte(head>>8), byte(head>>16), 0)
	}
	return out
}

// The most compressible honest capture stays below the limits, by far.
func TestHonestCapturesAreNoBombs(t *testing.T) {
	frames := make([]decode.Frame, 5000)
	for i := range frames {
		data := make([]byte, 4170)               // a WRITE of 4 KB of zeros
		data[50], data[51] = byte(i>>8), byte(i) // its PSN
		frames[i] = decode.Frame{Data: data, Time: 1_700_000_000_000_000_000 + int64(i)*333, Len: len(data), Link: decode.LinkEthernet}
	}
	file := pcapOf(t, frames)
	for _, c := range []struct {
		desc   string
		packed []byte
		most   int
	}{{"gzip", gz(t, file), MaxRatioGzip}, {"zstd", zst(t, file), MaxRatioZstd}} {
		if ratio := len(file) / len(c.packed); ratio > c.most/2 {
			t.Errorf("%s: %d to 1, and the limit is %d", c.desc, ratio, c.most)
		}
	}
}
