package capture

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/decode"
)

func TestRoundTrip(t *testing.T) {
	frames := sample(300)
	f, got := read(t, pcapOf(t, frames))
	wantFrames(t, got, frames)
	if i := f.Info().Interfaces[0]; i.TsResol != 9 || i.SnapLen != classicRecord {
		t.Errorf("interface is %+v", i)
	}
	for i := range frames {
		frames[i].Iface = uint16(i % 2)
	}
	f, got = read(t, pcapngOf(t, frames))
	wantFrames(t, got, frames)
	if i := f.Info(); len(i.Interfaces) != 2 || i.Interfaces[0].Name != "eth0" || i.Interfaces[0].TsResol != 9 {
		t.Errorf("interfaces are %+v", i.Interfaces)
	}
}

func TestSnapLengthCutsWhatIsWritten(t *testing.T) {
	var out bytes.Buffer
	w, _ := NewPcapWriter(&out, decode.LinkSLL2, 4)
	if err := w.Write(&decode.Frame{Data: []byte("123456"), Len: 6, Link: decode.LinkSLL2}); err != nil {
		t.Fatal(err)
	}
	f, got := read(t, out.Bytes())
	if string(got[0].Data) != "1234" || got[0].Len != 6 || got[0].Link != decode.LinkSLL2 || f.Info().Interfaces[0].SnapLen != 4 {
		t.Errorf("got %+v", got)
	}
}

func TestCommentsAndInterfacesAreWritten(t *testing.T) {
	var out bytes.Buffer
	w, err := NewPcapngWriter(&out, nil, "two", "comments")
	if err != nil {
		t.Fatal(err)
	}
	n, err := w.AddInterface(InterfaceInfo{Link: decode.LinkRaw, Name: "tun0", SnapLen: 96, FCSLen: 4})
	if n != 0 || err != nil {
		t.Fatal(n, err)
	}
	f := decode.Frame{Data: []byte("12345"), Link: decode.LinkRaw, Time: math.MaxInt64}
	long := strings.Repeat("€", 30_000)
	for _, c := range []string{"resent", "", "broken \xff", long} {
		if err := w.WriteComment(&f, c); err != nil {
			t.Fatal(err)
		}
	}
	r, got := read(t, out.Bytes())
	if len(got) != 4 || len(r.Damage()) != 0 || got[3].Time != math.MaxInt64 || got[3].Len != 5 {
		t.Errorf("%d frames, damage %v", len(got), r.Damage())
	}
	if i := r.Info().Interfaces[0]; i != (InterfaceInfo{Link: decode.LinkRaw, Name: "tun0", SnapLen: 96, TsResol: 9, FCSLen: 4}) {
		t.Errorf("interface is %+v", i)
	}
	for _, c := range []string{"two", "comments", "resent", "broken \uFFFD", long[:65535]} {
		if !bytes.Contains(out.Bytes(), append([]byte{1, 0, byte(len(c)), byte(len(c) >> 8)}, c...)) {
			t.Errorf("no comment of %d bytes, %.20q", len(c), c)
		}
	}
}

func TestClipKeepsCharactersWhole(t *testing.T) {
	if got := clip("x" + strings.Repeat("€", 30_000)); len(got) != 1+21844*3 || !strings.HasSuffix(got, "€") {
		t.Errorf("%d bytes", len(got))
	}
}

func TestWritersRefuse(t *testing.T) {
	var out bytes.Buffer
	p, _ := NewPcapWriter(&out, 1, 0)
	ng, _ := NewPcapngWriter(&out, []InterfaceInfo{{Link: 1}})
	start := out.Len()
	for _, c := range []struct {
		desc  string
		write func(*decode.Frame) error
		frame decode.Frame
		says  string
	}{
		{"another link type in a pcap", p.Write, decode.Frame{Number: 9, Link: 101}, "writing frame 9: its link type is 101"},
		{"a time before 1970 in a pcap", p.Write, decode.Frame{Link: 1, Time: -1}, "outside of what a pcap can hold"},
		{"a time after 2106 in a pcap", p.Write, decode.Frame{Link: 1, Time: (math.MaxUint32 + 1) * 1e9}, "outside"},
		{"another link type in a pcapng", ng.Write, decode.Frame{Link: 101}, "and that of interface 0 is 1"},
		{"a time before 1970 in a pcapng", ng.Write, decode.Frame{Link: 1, Time: -1}, "is before 1970"},
		{"an interface nobody described", ng.Write, decode.Frame{Link: 1, Iface: 1}, "interface 1 was not described"},
	} {
		if err := c.write(&c.frame); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.desc, err)
		}
	}
	if out.Len() != start {
		t.Errorf("%d bytes written of what was refused", out.Len()-start)
	}
}

// full accepts a number of writes, then none.
type full int

var errFull = errors.New("disk full")

func (w *full) Write(p []byte) (int, error) {
	if *w--; *w < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWriteErrorsAreWrapped(t *testing.T) {
	f := decode.Frame{Number: 3, Link: 1}
	for n := range full(3) {
		room := n
		ng, err := NewPcapngWriter(&room, []InterfaceInfo{{Link: 1}})
		if err == nil {
			err = ng.Write(&f)
		}
		if !errors.Is(err, errFull) {
			t.Errorf("pcapng, %d writes: %v", n, err)
		}
	}
	for n := range full(2) {
		room := n
		p, err := NewPcapWriter(&room, 1, 0)
		if err == nil {
			err = p.Write(&f)
		}
		if !errors.Is(err, errFull) {
			t.Errorf("pcap, %d writes: %v", n, err)
		}
	}
}

func TestWriteDoesNotAllocate(t *testing.T) {
	var room full = math.MaxInt
	p, _ := NewPcapWriter(&room, 1, 0)
	ng, _ := NewPcapngWriter(&room, []InterfaceInfo{{Link: 1}})
	f := decode.Frame{Data: make([]byte, 1500), Link: 1}
	p.Write(&f)
	ng.Write(&f)
	if n := testing.AllocsPerRun(100, func() { p.Write(&f); ng.Write(&f) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
