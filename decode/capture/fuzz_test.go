package capture

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/rocescope/rocescope/decode"
)

// FuzzRead holds that no input whatever panics, makes the buffer outgrow what
// arrived, or gives frames that contradict themselves.
func FuzzRead(f *testing.F) {
	frames := sample(12)
	o := orders[1]
	for _, b := range [][]byte{
		pcapOf(f, frames), pcapngOf(f, frames), gz(f, pcapOf(f, frames)), zst(f, pcapngOf(f, frames)),
		join(pcapHead(o, 0xa1b2cd34, 0, 1), make([]byte, 100)),
		join(section(o), ifaceBlock(o, 1, 0, opt(o, optIfResol, []byte{0xc0})), epb(o, 0, 1<<60, []byte("data"), 0), block(o, blockStats, u32s(o, 0, 0, 0)), block(o, blockSimple, u32s(o, 4), []byte("data"))),
	} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := NewReader("fuzz", bytes.NewReader(b))
		if err != nil {
			if !errors.Is(err, ErrNotCapture) {
				t.Fatalf("NewReader: %v", err)
			}
			return
		}
		defer r.Close()
		consistent(t, r)
		if i := r.Info(); i.Compression == "" && (i.Bytes > int64(len(b)) || len(r.in.buf) > max(windowSize, 4*len(b))) {
			t.Fatalf("%d bytes in, %d consumed, a buffer of %d", len(b), i.Bytes, len(r.in.buf))
		}
	})
}

func consistent(t *testing.T, r *File) {
	var fr decode.Frame
	for n := uint64(1); n < 100_000; n++ {
		err := r.Read(&fr)
		if err == io.EOF {
			if d := r.Damage(); len(d) > maxDamages || (len(d) == 0) != (r.Info().Damages == 0) {
				t.Fatalf("%d damages listed, %d counted", len(d), r.Info().Damages)
			}
			return
		}
		if err != nil {
			t.Fatalf("Read: %v", err)
		}
		if fr.Number != n || fr.Len < len(fr.Data) || len(fr.Data) > maxRecord+1<<20 || int(fr.Iface) >= len(r.in.info.Interfaces) || fr.Link != r.in.info.Interfaces[fr.Iface].Link {
			t.Fatalf("frame %d is %+v", n, fr)
		}
	}
}
