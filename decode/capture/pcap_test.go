package capture

import (
	"bytes"
	"io"
	"testing"

	"github.com/rocescope/rocescope/decode"
)

func TestPcapForms(t *testing.T) {
	data := []byte("a frame, or nearly")
	for _, o := range orders {
		for _, c := range []struct {
			desc  string
			magic uint32
			extra int
			time  int64
			resol uint8
		}{
			{"microseconds", 0xa1b2c3d4, 0, 7_000_123_000, 6},
			{"nanoseconds", 0xa1b23c4d, 0, 7_000_000_123, 9},
			{"the modified form, with eight more bytes a record", 0xa1b2cd34, 8, 7_000_123_000, 6},
		} {
			t.Run(o.String()+" "+c.desc, func(t *testing.T) {
				rec := pcapRec(o, 7, 123, data, 3)
				rec = join(rec[:16], make([]byte, c.extra), rec[16:])
				f, got := read(t, join(pcapHead(o, c.magic, 65535, 1), rec, rec))
				want := decode.Frame{Data: data, Time: c.time, Number: 1, Len: len(data) + 3, Link: 1}
				second := want
				second.Number = 2
				wantFrames(t, got, []decode.Frame{want, second})
				i := f.Info()
				if i.Format != "pcap" || i.Frames != 2 || i.Truncated != 2 || i.Damages != 0 || i.First != c.time || i.Last != c.time {
					t.Errorf("info is %+v", i)
				}
				if in := i.Interfaces[0]; in.TsResol != c.resol || in.SnapLen != 65535 || in.Link != 1 {
					t.Errorf("interface is %+v", in)
				}
			})
		}
	}
}

func TestPcapHeaderOddities(t *testing.T) {
	o := orders[0]
	for _, c := range []struct {
		desc             string
		snaplen, network uint32
		link             decode.LinkType
		fcs              int
	}{
		{"a link type above 255 is kept whole", 262144, 276, decode.LinkSLL2, 0},
		{"a frame check sequence of two words is told", 262144, 0x24000001, 1, 4},
		{"a check length without its flag means nothing", 262144, 0x20000001, 1, 0},
		{"a class above the link type is masked", 262144, 0x02240001, 1, 0},
		{"raw IP by its Linux number is raw IP", 262144, 12, decode.LinkRaw, 0},
		{"raw IP by its BSD number is raw IP", 262144, 14, decode.LinkRaw, 0},
		{"no snap length", 0, 1, 1, 0},
		{"a snap length of 1, which the frame exceeds", 1, 1, 1, 0},
		{"an absurd snap length", 1745420288, 1, 1, 0},
		{"a link type nobody knows is handed out", 65535, 999, 999, 0},
	} {
		t.Run(c.desc, func(t *testing.T) {
			f, got := read(t, join(pcapHead(o, 0xa1b2c3d4, c.snaplen, c.network), pcapRec(o, 1, 2, []byte("frame"), 0)))
			if len(got) != 1 || got[0].Link != c.link || string(got[0].Data) != "frame" {
				t.Errorf("got %+v", got)
			}
			if i := f.Info().Interfaces[0]; i.FCSLen != c.fcs || i.Link != c.link || i.SnapLen != c.snaplen {
				t.Errorf("interface is %+v", i)
			}
		})
	}
}

func TestPcapLengths(t *testing.T) {
	o := orders[0]
	head := pcapHead(o, 0xa1b2c3d4, 65535, 1)
	small := pcapRec(o, 1, 2, []byte("small"), 0)
	for _, c := range []struct {
		desc string
		rec  []byte
		data int
		len  int
	}{
		{"a captured length above the length on the wire", pcapRec(o, 1, 2, make([]byte, 60), -18), 60, 60},
		{"nothing captured of a frame", pcapRec(o, 1, 2, nil, 64), 0, 64},
		{"longer than the snap length and than libpcap allows", pcapRec(o, 1, 2, make([]byte, 300_000), 0), 300_000, 300_000},
		{"longer than the buffer it is read into", pcapRec(o, 1, 2, make([]byte, 3<<20), 1), 3 << 20, 3<<20 + 1},
		{"the longest accepted", pcapRec(o, 1, 2, make([]byte, maxRecord), 0), maxRecord, maxRecord},
	} {
		t.Run(c.desc, func(t *testing.T) {
			f, got := read(t, join(head, small, c.rec, small))
			if len(f.Damage()) != 0 {
				t.Fatalf("damage: %v", f.Damage()[0])
			}
			if len(got) != 3 || len(got[1].Data) != c.data || got[1].Len != c.len || string(got[2].Data) != "small" {
				t.Fatalf("%d frames", len(got))
			}
			if _, got := read(t, join(head, small, c.rec)); len(got) != 2 {
				t.Errorf("%d frames where it is the last", len(got))
			}
		})
	}
}

func TestPcapWithoutFramesIsFine(t *testing.T) {
	f, got := read(t, pcapHead(orders[1], 0xa1b2c3d4, 0, 1))
	if len(got) != 0 || len(f.Damage()) != 0 {
		t.Errorf("%d frames, damage %v", len(got), f.Damage())
	}
}

func TestFramesAreWholeWhereverTheBufferEnds(t *testing.T) {
	frames := sample(40_000) // some 4 MB
	for _, b := range [][]byte{pcapOf(t, frames), pcapngOf(t, frames)} {
		f, got := read(t, b)
		wantFrames(t, got, frames)
		if i := f.Info(); i.Bytes != int64(len(b)) || i.InputBytes != int64(len(b)) {
			t.Errorf("%d bytes consumed of %d, %d taken", i.Bytes, len(b), i.InputBytes)
		}
		slow, err := NewReader("slow", &trickle{r: bytes.NewReader(b)})
		if err != nil {
			t.Fatal(err)
		}
		wantFrames(t, drain(t, slow), frames)
	}
}

// trickle hands out a few bytes at a time, as a pipe may.
type trickle struct {
	r io.Reader
	n int
}

func (s *trickle) Read(p []byte) (int, error) {
	s.n = s.n*31%97 + 1
	return s.r.Read(p[:min(len(p), s.n)])
}
