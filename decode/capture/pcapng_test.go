package capture

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/decode"
)

func TestPcapngBlocks(t *testing.T) {
	for _, o := range orders {
		t.Run(o.String(), func(t *testing.T) {
			u64 := func(v uint64) []byte { return o.AppendUint64(nil, v) }
			file := join(
				section(o),
				ifaceBlock(o, 1, 262144, opt(o, optIfName, []byte("mlx5_0")), opt(o, optIfDesc, []byte("first port")), opt(o, optIfResol, []byte{9}), opt(o, optIfFCSLen, []byte{4})),
				block(o, 0x0bad, []byte("a custom block, skipped")),
				ifaceBlock(o, 276, 0, opt(o, optIfDesc, []byte("any\x00")), opt(o, optIfOffset, u64(100)), opt(o, optIfFCSLen, []byte{32})),
				epb(o, 0, 5_000_000_001, []byte("enhanced"), 4, opt(o, optComment, []byte("hello")), opt(o, optPacketDropped, u64(3))),
				epb(o, 1, 6_000_000, []byte("offset"), 0),
				block(o, blockSimple, u32s(o, 8), []byte("simple!!")),
				block(o, blockPacket, join(o.AppendUint16(nil, 1), o.AppendUint16(nil, 2)), u32s(o, 0, 7_000_000, 8, 9), []byte("obsolete")),
				block(o, blockStats, u32s(o, 1, 0, 0), opt(o, optStatsReceived, u64(10)), opt(o, optStatsDropped, u64(4)), opt(o, optStatsOSDropped, u64(2))),
				block(o, blockStats, u32s(o, 1, 0, 0), opt(o, optStatsReceived, u64(20)), opt(o, optStatsDropped, u64(5))),
			)
			f, got := read(t, file)
			wantFrames(t, got, []decode.Frame{
				{Data: []byte("enhanced"), Time: 5_000_000_001, Number: 1, Len: 12, Link: 1},
				{Data: []byte("offset"), Time: 106e9, Number: 2, Len: 6, Link: 276, Iface: 1},
				{Data: []byte("simple!!"), Time: 106e9, Number: 3, Len: 8, Link: 1},
				{Data: []byte("obsolete"), Time: 107e9, Number: 4, Len: 9, Link: 276, Iface: 1},
			})
			i := f.Info()
			if i.Format != "pcapng" || i.Frames != 4 || i.Truncated != 2 || i.Untimed != 1 || i.OtherBlocks != 1 || i.Damages != 0 {
				t.Errorf("info is %+v", i)
			}
			want := []InterfaceInfo{
				{Link: 1, Name: "mlx5_0", SnapLen: 262144, TsResol: 9, FCSLen: 4, LostBefore: 3},
				{Link: 276, Name: "any", TsResol: 6, FCSLen: 4, Received: 20, Dropped: 5, OSDropped: 2, LostBefore: 2},
			}
			if len(i.Interfaces) != 2 || i.Interfaces[0] != want[0] || i.Interfaces[1] != want[1] {
				t.Errorf("interfaces are\n%+v, want\n%+v", i.Interfaces, want)
			}
		})
	}
}

func TestSimplePacketIsCutToTheSnapLength(t *testing.T) {
	o := orders[0]
	_, got := read(t, join(section(o), ifaceBlock(o, 1, 5), block(o, blockSimple, u32s(o, 1500), []byte("12345"))))
	if len(got) != 1 || string(got[0].Data) != "12345" || got[0].Len != 1500 {
		t.Errorf("got %+v", got)
	}
}

func TestSectionsCountTheirInterfacesAnew(t *testing.T) {
	a, b := orders[0], orders[1]
	_, got := read(t, join(
		section(a), ifaceBlock(a, 1, 0), ifaceBlock(a, 1, 0), epb(a, 1, 1, []byte("first"), 0),
		section(b), ifaceBlock(b, 228, 0), epb(b, 0, 2, []byte("second"), 0),
		section(a), ifaceBlock(a, 1, 0), epb(a, 0, 3, []byte("third"), 0),
	))
	if len(got) != 3 || got[0].Iface != 1 || got[1].Iface != 2 || got[2].Iface != 3 || got[1].Link != decode.LinkIPv4 {
		t.Errorf("got %+v", got)
	}
}

func TestPcapngDamage(t *testing.T) {
	o := orders[0]
	start := join(section(o), ifaceBlock(o, 1, 0), epb(o, 0, 1, []byte("good"), 0))
	more := epb(o, 0, 2, []byte("more"), 0)
	with := func(b []byte, at int, v uint32) []byte {
		b = bytes.Clone(b)
		binary.LittleEndian.PutUint32(b[at:], v)
		return b
	}
	for _, c := range []struct {
		desc   string
		tail   []byte
		frames int
		what   string
	}{
		{"a length too short for a block is jumped", with(more, 4, 8), 2, "block with the impossible length 8; skipped 36 bytes to the next readable block"},
		{"a length that is no multiple of 4 is jumped", with(more, 4, 37), 2, "impossible length 37"},
		{"another length at the end is jumped", with(more, len(more)-4, 40), 2, "block of 36 bytes that ends with the length 40"},
		{"a packet block longer than any frame is jumped", with(more, 4, 0xfffffff0), 2, "block of 4294967280 bytes, longer than any that holds a frame"},
		{"a huge block of another kind is jumped", with(block(o, 77, []byte("body")), 4, 0xfffffff0), 2, "block of 4294967280 bytes with others inside; skipped 16 bytes"},
		{"a section of another version stops", with(section(o), 12, 2), 1, "section of the unknown pcapng version 2.0"},
		{"a section of no known byte order is jumped", with(section(o), 8, 7), 2, "unknown byte order mark 07 00 00 00"},
		{"a short section header stops", block(o, blockSection, u32s(o, 0x1a2b3c4d)), 1, "section header of 16 bytes"},
		{"a short interface description stops", block(o, blockInterface, nil), 1, "interface description of 12 bytes"},
		{"a frame longer than its block is left out", with(more, 20, 5), 2, "frame of 5 bytes in a block of 36; it was left out"},
		{"a frame of an interface not described is left out", with(more, 8, 1), 2, "frame of interface 1, where the section describes 1"},
		{"a short packet block is left out", block(o, blockEnhanced, u32s(o, 0)), 2, "packet block of 16 bytes"},
		{"a short obsolete packet block is left out", block(o, blockPacket, u32s(o, 0)), 2, "packet block of 16 bytes"},
		{"a short simple packet block is left out", block(o, blockSimple, nil), 2, "packet block of 12 bytes"},
		{"statistics of nobody are noted", block(o, blockStats, u32s(o, 3, 0, 0)), 2, "statistics of interface 3"},
		{"short statistics are noted", block(o, blockStats, u32s(o, 0)), 2, "interface statistics of 16 bytes"},
		{"a simple packet before any interface is left out", join(section(o), block(o, blockSimple, u32s(o, 0)), ifaceBlock(o, 1, 0)), 2, "frame of interface 0, where the section describes 0"},
	} {
		t.Run(c.desc, func(t *testing.T) {
			f, got := read(t, join(start, c.tail, more))
			d := f.Damage()
			if len(got) != c.frames || len(d) != 1 {
				t.Fatalf("%d frames, damage %v", len(got), d)
			}
			if !strings.Contains(d[0].What, c.what) || d[0].Frame != 1 || d[0].Offset < int64(len(start)) {
				t.Errorf("damage is %+v", d[0])
			}
			if string(got[len(got)-1].Data) == "good" != (c.frames == 1) {
				t.Errorf("the last frame is %q", got[len(got)-1].Data)
			}
		})
	}
}

func TestHugeBlocksOfOtherKindsAreSkipped(t *testing.T) {
	o := orders[0]
	huge := block(o, 77, make([]byte, maxBlock))
	f, got := read(t, join(section(o), huge, ifaceBlock(o, 1, 0), epb(o, 0, 1, []byte("after"), 0)))
	if len(got) != 1 || f.Info().OtherBlocks != 1 || len(f.in.buf) != windowSize {
		t.Errorf("%d frames, %+v, a buffer of %d bytes", len(got), f.Info(), len(f.in.buf))
	}
	huge[len(huge)-1]++
	if f, got := read(t, join(section(o), huge)); len(got) != 0 || len(f.Damage()) != 1 {
		t.Errorf("a false length at its end: damage %v", f.Damage())
	}
}

func TestBrokenOptionsLoseNoFrame(t *testing.T) {
	o := orders[0]
	broken := []byte{4, 0, 0xff, 0xff, 1, 2, 3, 4}
	f, got := read(t, join(section(o), ifaceBlock(o, 1, 0, broken), epb(o, 0, 1, []byte("four"), 0, broken), epb(o, 0, 1, []byte("four"), 0, opt(o, optPacketDropped, []byte{1}))))
	if len(got) != 2 || len(f.Damage()) != 0 {
		t.Errorf("%d frames, damage %v", len(got), f.Damage())
	}
}

func TestInterfacesAreLimited(t *testing.T) {
	o := orders[0]
	f, got := read(t, join(section(o), bytes.Repeat(ifaceBlock(o, 1, 0), maxInterfaces), epb(o, maxInterfaces-1, 1, []byte("last"), 0), ifaceBlock(o, 1, 0), epb(o, 0, 1, nil, 0)))
	if len(got) != 1 || got[0].Iface != maxInterfaces-1 || len(f.Damage()) != 1 {
		t.Errorf("%d frames, damage %v", len(got), f.Damage())
	}
}
