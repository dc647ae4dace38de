package capture

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/decode"
)

// Captures that were concatenated give the frames of each, whatever their
// formats, byte orders, precisions and link types, and no damage.
func TestConcatenatedCaptures(t *testing.T) {
	type part struct {
		desc  string
		file  []byte
		frame decode.Frame
	}
	var parts []part
	for _, o := range orders {
		for _, m := range []struct {
			desc  string
			magic uint32
			pad   int
			unit  int64
		}{{"micro", 0xa1b2c3d4, 0, 1000}, {"nano", 0xa1b23c4d, 0, 1}, {"modified", 0xa1b2cd34, 8, 1000}} {
			r := pcapRec(o, 7, 123, []byte(m.desc), 5)
			parts = append(parts, part{
				m.desc + " " + o.String(),
				join(pcapHead(o, m.magic, uint32(len(parts)), uint32(100+len(parts))), r[:16], make([]byte, m.pad), r[16:]),
				decode.Frame{Data: []byte(m.desc), Time: 7e9 + 123*m.unit, Len: len(m.desc) + 5, Link: decode.LinkType(100 + len(parts))},
			})
		}
		parts = append(parts, part{
			"pcapng " + o.String(),
			join(section(o), ifaceBlock(o, 228, 0), epb(o, 0, 5, []byte("pcapng"), 0)),
			decode.Frame{Data: []byte("pcapng"), Time: 5000, Len: 6, Link: 228},
		})
	}
	for _, a := range parts {
		for _, b := range parts {
			t.Run(a.desc+" and "+b.desc, func(t *testing.T) {
				file := join(a.file, b.file, a.file)
				want := []decode.Frame{a.frame, b.frame, a.frame}
				if a.desc == b.desc && !strings.HasPrefix(a.desc, "pcapng") {
					want[1].Iface, want[2].Iface = 0, 0 // parts of one capture
				} else {
					want[1].Iface, want[2].Iface = 1, 2
				}
				for i := range want {
					want[i].Number = uint64(i + 1)
				}
				f, got := read(t, file)
				wantFrames(t, got, want)
				i := f.Info()
				if i.Parts != 3 || i.Damages != 0 || i.Unread || i.Skipped != 0 || i.Bytes != int64(len(file)) {
					t.Errorf("info is %+v, damage %v", i, f.Damage())
				}
				if in := i.Interfaces[want[1].Iface]; in.Link != want[1].Link {
					t.Errorf("the second's interface is %+v", in)
				}
				f, got = read(t, join(gz(t, a.file), gz(t, b.file), gz(t, a.file)))
				wantFrames(t, got, want)
				if d := f.Damage(); len(d) > 0 {
					t.Errorf("packed: %v", d)
				}
			})
		}
	}
}

func TestConcatenatedWithDamage(t *testing.T) {
	o := orders[0]
	a := pcapOf(t, sample(20))
	b := join(pcapHead(o, 0xa1b2c3d4, 65535, 276), pcapRec(o, 1_000_000_000, 1, []byte("long ago"), 0), pcapRec(o, 1_000_000_000, 2, []byte("long ago"), 0))
	zone := bytes.Clone(b)
	o.PutUint32(zone[8:], uint32(0x100000000-3600))
	old := bytes.Clone(b)
	o.PutUint16(old[6:], 3) // version 2.3
	ng := pcapngOf(t, sample(20))
	for _, c := range []struct {
		desc   string
		file   []byte
		frames int
		parts  int
		what   string // of the damage, empty for none
	}{
		{"a time zone in the second's header", join(a, zone), 22, 2, ""},
		{"an older version of the second", join(a, old), 22, 2, ""},
		{"the second has no frames", join(a, b[:24]), 20, 2, ""},
		{"the second is cut in its header", join(a, b[:20]), 20, 1, "file header cut after 20 of 24 bytes"},
		{"the second is a pcapng cut in its header", join(a, ng[:20]), 20, 1, "block cut after 20 of"},
		{"the second's first record makes no sense", join(a, b[:24], bytes.Repeat([]byte{0xff}, 40), b[24:]), 22, 2, "skipped 40 bytes"},
		{"the first ends in the middle of a record's header", join(a, []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), b), 22, 2, "skipped 10 bytes"},
		{"noise between them", join(a, bytes.Repeat([]byte{0xff}, 999), b), 22, 2, "skipped 999 bytes"},
		{"noise between a pcap and a pcapng", join(a, bytes.Repeat([]byte{0xff}, 999), ng), 40, 2, "skipped 999 bytes"},
		{"noise between a pcapng and a pcap", join(ng, bytes.Repeat([]byte{0xff}, 999), b), 22, 2, "skipped 999 bytes"},
		{"noise between two pcapng", join(ng, bytes.Repeat([]byte{0xff}, 999), ng), 40, 2, "skipped 999 bytes"},
		{"no frames in any", join(b[:24], b[:24], b[:24]), 0, 3, ""},
	} {
		t.Run(c.desc, func(t *testing.T) {
			f, got := read(t, c.file)
			i, d := f.Info(), f.Damage()
			if len(got) != c.frames || i.Parts != c.parts || len(d) > 1 || (len(d) == 1) != (c.what != "") {
				t.Fatalf("%d frames, %d parts, damage %v", len(got), i.Parts, d)
			}
			if c.what != "" && !strings.Contains(d[0].What, c.what) {
				t.Errorf("damage is %q", d[0].What)
			}
			if sum := i.FrameBytes + i.OtherBytes + i.Skipped; sum != i.Bytes || i.Bytes != int64(len(c.file)) {
				t.Errorf("%d bytes accounted for of %d consumed of %d", sum, i.Bytes, len(c.file))
			}
		})
	}
}

// A record of the very second that a magic number reads as is a record.
func TestRecordsThatLookLikeHeaders(t *testing.T) {
	o := orders[0]
	for desc, rec := range map[string][]byte{
		"of 2055":                 pcapRec(o, 0xa1b2c3d4, 2|4<<16, []byte("data"), 0),
		"of 2055 and empty":       pcapRec(o, 0xa1b2c3d4, 7, nil, 0),
		"of 1975":                 pcapRec(o, 0x0a0d0d0a, 28, []byte("data"), 0),
		"empty, of a length of 0": pcapRec(o, 1, 1, nil, 0),
	} {
		f, got := read(t, join(pcapHead(o, 0xa1b2c3d4, 0, 1), rec, rec))
		if i := f.Info(); len(got) != 2 || i.Parts != 1 || i.Damages != 0 {
			t.Errorf("%s: %d frames, %+v", desc, len(got), i)
		}
	}
}
