package capture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/rocescope/rocescope/decode"
)

// An order is a byte order that can append.
type order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

var orders = []order{binary.LittleEndian, binary.BigEndian}

// pcapHead builds the header of a pcap.
func pcapHead(o order, magic, snaplen, network uint32) []byte {
	b := o.AppendUint32(nil, magic)
	b = o.AppendUint16(b, 2)
	b = o.AppendUint16(b, 4)
	b = o.AppendUint64(b, 0)
	b = o.AppendUint32(b, snaplen)
	return o.AppendUint32(b, network)
}

// pcapRec builds a record whose length on the wire is that of data plus more.
func pcapRec(o order, sec, frac uint32, data []byte, more int) []byte {
	b := o.AppendUint32(nil, sec)
	b = o.AppendUint32(b, frac)
	b = o.AppendUint32(b, uint32(len(data)))
	b = o.AppendUint32(b, uint32(len(data)+more))
	return append(b, data...)
}

// block builds a block of a pcapng around its body.
func block(o order, kind uint32, body ...[]byte) []byte {
	b := bytes.Join(body, nil)
	b = append(b, make([]byte, -len(b)&3)...)
	n := uint32(len(b) + 12)
	out := o.AppendUint32(nil, kind)
	out = o.AppendUint32(out, n)
	out = append(out, b...)
	return o.AppendUint32(out, n)
}

func u32s(o order, vs ...uint32) []byte {
	var b []byte
	for _, v := range vs {
		b = o.AppendUint32(b, v)
	}
	return b
}

func opt(o order, code uint16, value []byte) []byte {
	b := o.AppendUint16(nil, code)
	b = o.AppendUint16(b, uint16(len(value)))
	b = append(b, value...)
	return append(b, make([]byte, -len(value)&3)...)
}

func section(o order) []byte {
	b := o.AppendUint32(nil, 0x1a2b3c4d)
	b = o.AppendUint16(b, 1)
	b = o.AppendUint16(b, 0)
	return block(o, blockSection, b, bytes.Repeat([]byte{0xff}, 8))
}

func ifaceBlock(o order, link uint16, snaplen uint32, options ...[]byte) []byte {
	b := o.AppendUint16(nil, link)
	b = o.AppendUint16(b, 0)
	b = o.AppendUint32(b, snaplen)
	return block(o, blockInterface, b, bytes.Join(options, nil))
}

func epb(o order, iface uint32, t uint64, data []byte, more int, options ...[]byte) []byte {
	head := u32s(o, iface, uint32(t>>32), uint32(t), uint32(len(data)), uint32(len(data)+more))
	padded := append(bytes.Clone(data), make([]byte, -len(data)&3)...)
	return block(o, blockEnhanced, head, padded, bytes.Join(options, nil))
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func gz(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zst(t testing.TB, b []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll(b, nil)
}

// read reads b to its end and returns copies of its frames.
func read(t testing.TB, b []byte) (*File, []decode.Frame) {
	t.Helper()
	f, err := NewReader("test", bytes.NewReader(b))
	if err != nil {
		t.Fatalf("NewReader: %v", err)
	}
	return f, drain(t, f)
}

func drain(t testing.TB, s Source) []decode.Frame {
	t.Helper()
	var frames []decode.Frame
	for {
		var f decode.Frame
		err := s.Read(&f)
		if err == io.EOF {
			return frames
		}
		if err != nil {
			t.Fatalf("Read: %v", err)
		}
		f.Data = bytes.Clone(f.Data)
		frames = append(frames, f)
	}
}

// same reports whether two frames agree in all but what a format may not hold.
func same(a, b decode.Frame) bool {
	return bytes.Equal(a.Data, b.Data) && a.Time == b.Time && a.Number == b.Number &&
		a.Len == b.Len && a.Link == b.Link && a.Iface == b.Iface
}

func show(f decode.Frame) string {
	return fmt.Sprintf("number %d, time %d, length %d, link %d, interface %d, %d bytes %.40x", f.Number, f.Time, f.Len, f.Link, f.Iface, len(f.Data), f.Data)
}

func wantFrames(t testing.TB, got, want []decode.Frame) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d frames, want %d", len(got), len(want))
	}
	for i := range got {
		if !same(got[i], want[i]) {
			t.Fatalf("frame %d is\n%s, want\n%s", i+1, show(got[i]), show(want[i]))
		}
	}
}

// sample returns n frames of various lengths, a few of them cut.
func sample(n int) []decode.Frame {
	var fs []decode.Frame
	for i := range n {
		data := bytes.Repeat([]byte{byte(i)}, 40+i*7%90)
		f := decode.Frame{Data: data, Time: 1_700_000_000_123_456_789 + int64(i)*1001, Number: uint64(i + 1), Len: len(data), Link: decode.LinkEthernet}
		if i%5 == 4 {
			f.Len += 1000
		}
		fs = append(fs, f)
	}
	return fs
}

func pcapOf(t testing.TB, frames []decode.Frame) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewPcapWriter(&out, decode.LinkEthernet, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range frames {
		if err := w.Write(&frames[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func pcapngOf(t testing.TB, frames []decode.Frame) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewPcapngWriter(&out, []InterfaceInfo{{Link: decode.LinkEthernet, Name: "eth0"}, {Link: decode.LinkEthernet}}, "sample")
	if err != nil {
		t.Fatal(err)
	}
	for i := range frames {
		if err := w.Write(&frames[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}
