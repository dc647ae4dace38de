package capture

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/decode"
)

// A capture cut at any byte gives the frames before the cut, and says so
// unless the cut is between two records.
func TestEveryPrefix(t *testing.T) {
	frames := sample(80)
	o := orders[1]
	modified := pcapHead(o, 0xa1b2cd34, 0, 1)
	for _, f := range frames {
		r := pcapRec(o, 1, 2, f.Data, 0)
		modified = join(modified, r[:16], make([]byte, 8), r[16:])
	}
	for desc, whole := range map[string][]byte{
		"pcap": pcapOf(t, frames), "modified pcap": modified, "pcapng": pcapngOf(t, frames),
		"gzip pcap": gz(t, pcapOf(t, frames)), "gzip pcapng": gz(t, pcapngOf(t, frames)), "zstd pcap": zst(t, pcapOf(t, frames)),
	} {
		t.Run(desc, func(t *testing.T) {
			_, all := read(t, whole)
			for n := range min(len(whole), 4096) {
				prefix(t, whole[:n], all)
			}
		})
	}
}

func prefix(t *testing.T, b []byte, all []decode.Frame) {
	t.Helper()
	f, err := NewReader("cut", bytes.NewReader(b))
	if err != nil {
		if !errors.Is(err, ErrNotCapture) {
			t.Fatalf("cut at %d: %v", len(b), err)
		}
		return
	}
	got := drain(t, f)
	wantFrames(t, got, all[:len(got)])
	i, d := f.Info(), f.Damage()
	if len(d) > 1 || (i.Compression != "" && len(d) == 0) {
		t.Fatalf("cut at %d: damage %v", len(b), d)
	}
	if len(d) == 1 && (d[0].Frame != i.Frames || d[0].Offset > i.Bytes) {
		t.Fatalf("cut at %d: damage %+v, info %+v", len(b), d[0], i)
	}
	if len(d) == 0 && len(b) != int(i.Bytes) {
		t.Fatalf("cut at %d: %d bytes read, and no damage", len(b), i.Bytes)
	}
}

func TestDamageSentences(t *testing.T) {
	o := orders[0]
	pcap := join(pcapHead(o, 0xa1b2c3d4, 65535, 1), pcapRec(o, 1, 1, []byte("0123456789"), 0))
	ng := join(section(o), ifaceBlock(o, 1, 0), epb(o, 0, 1, []byte("0123"), 0))
	for _, c := range []struct {
		desc string
		file []byte
		want string
	}{
		{"in a record's header", join(pcap, make([]byte, 7)), "x: record header cut after 7 of 16 bytes, at byte 50, after frame 1"},
		{"in a record", pcap[:45], "x: record cut after 21 of 26 bytes, at byte 24, after frame 0"},
		{"in a block's header", join(ng, make([]byte, 4)), "x: block header cut after 4 of 12 bytes, at byte 84, after frame 1"},
		{"in a block", ng[:70], "x: block cut after 22 of 36 bytes, at byte 48, after frame 0"},
		{"behind a gzip stream", join(gz(t, pcap), []byte("\x00\x00no")), "x: the gzip stream breaks off (what follows it is neither gzip nor padding: 6e 6f), at byte 50, after frame 1"},
		{"in a gzip stream", cutGzip(t, pcap), "x: the gzip stream breaks off (unexpected EOF), at byte 50, after frame 1"},
		{"in a gzip stream and a record", cutGzip(t, pcap[:45]), "x: record cut after 21 of 26 bytes, where the gzip stream breaks off (unexpected EOF), at byte 24, after frame 0"},
	} {
		t.Run(c.desc, func(t *testing.T) {
			f, err := NewReader("x", bytes.NewReader(c.file))
			if err != nil {
				t.Fatal(err)
			}
			drain(t, f)
			if got := fmt.Sprint(f.Damage()); got != "["+c.want+"]" {
				t.Errorf("damage is %s", got)
			}
			if err := f.Close(); err != nil { // damage was told already
				t.Errorf("closing: %v", err)
			}
		})
	}
}

// cutGzip packs b and takes away the checksum that ends it.
func cutGzip(t *testing.T, b []byte) []byte {
	z := gz(t, b)
	return z[:len(z)-8]
}

func TestWrongChecksumIsDamage(t *testing.T) {
	z := gz(t, pcapOf(t, sample(20)))
	z[len(z)-8]++
	f, got := read(t, z)
	if d := f.Damage(); len(got) != 20 || len(d) != 1 || !strings.Contains(d[0].What, "checksum") {
		t.Errorf("%d frames, damage %v", len(got), d)
	}
}

// A length on the wire that no int of 32 bits holds is no negative one.
func TestAbsurdLengthsOnTheWire(t *testing.T) {
	o := orders[0]
	for desc, b := range map[string][]byte{
		"pcap":   join(pcapHead(o, 0xa1b2c3d4, 0, 1), pcapRec(o, 1, 1, []byte("four"), -5)),
		"pcapng": join(section(o), ifaceBlock(o, 1, 0), epb(o, 0, 1, []byte("four"), -5)),
		"simple": join(section(o), ifaceBlock(o, 1, 0), block(o, blockSimple, u32s(o, 0xffffffff), []byte("four"))),
	} {
		if _, got := read(t, b); len(got) != 1 || got[0].Len != math.MaxInt32 {
			t.Errorf("%s: got %+v", desc, got)
		}
	}
}

// Lengths that a file claims must not make the buffer grow.
func TestClaimsDriveNoAllocation(t *testing.T) {
	o := orders[0]
	claim := pcapRec(o, 1, 1, make([]byte, 10), 0)
	o.PutUint32(claim[8:], maxRecord)
	long := epb(o, 0, 1, make([]byte, 40), 0)
	o.PutUint32(long[4:], maxBlock)
	for desc, b := range map[string][]byte{
		"pcap":   join(pcapHead(o, 0xa1b2c3d4, 0xffffffff, 1), claim),
		"pcapng": join(section(o), ifaceBlock(o, 1, 0), long),
	} {
		f, got := read(t, b)
		if len(got) != 0 || len(f.Damage()) != 1 || len(f.in.buf) != windowSize {
			t.Errorf("%s: %d frames, damage %v, a buffer of %d bytes", desc, len(got), f.Damage(), len(f.in.buf))
		}
	}
}
