package capture

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A length that is false costs what it stands in, not what follows.
func TestFalseLengthsAreJumped(t *testing.T) {
	o := orders[0]
	with := func(b []byte, at int, v uint32) []byte {
		b = bytes.Clone(b)
		o.PutUint32(b[at:], v)
		return b
	}
	rec := pcapRec(o, 1_700_000_000, 5, make([]byte, 100), 0)
	blk := epb(o, 0, 5, make([]byte, 100), 0)
	names := block(o, blockNames, make([]byte, 100))
	pcap := join(pcapHead(o, 0xa1b2c3d4, 65535, 1), rec, rec)
	ng := join(section(o), ifaceBlock(o, 1, 0), blk, blk)
	tail := func(b []byte) []byte { return bytes.Repeat(b, 5) }
	for _, c := range []struct {
		desc    string
		file    []byte
		frames  int
		skipped int
		what    string
	}{
		{"a record said to be longer than the rest", join(pcap, with(with(rec, 8, 60_000), 12, 60_000), tail(rec)), 7, len(rec), "record of 60016 bytes where 696 are left; skipped 116 bytes to the next readable record"},
		{"a record said to be longer than it was on the wire", join(pcap, with(rec, 8, 163), tail(rec)), 7, len(rec), "(a captured length of 163, above the 100 on the wire); skipped 116 bytes"},
		{"a record of 4 GB", join(pcap, with(rec, 8, 0xffffffff), tail(rec)), 7, len(rec), "(a captured length of 4294967295); skipped 116 bytes"},
		{"a block said to be longer than the rest", join(ng, with(blk, 4, 60_000), tail(blk)), 7, len(blk), "block of 60000 bytes where 792 are left; skipped 132 bytes to the next readable block"},
		{"a block said to be shorter", join(ng, with(blk, 4, 40), tail(blk)), 7, len(blk), "block of 40 bytes that ends with the length 0; skipped 132 bytes"},
		{"a block of 4 GB", join(ng, with(blk, 4, 0xfffffffc), tail(blk)), 7, len(blk), "block of 4294967292 bytes, longer than any that holds a frame; skipped 132 bytes"},
		{"a block of another kind said to be longer than the rest", join(ng, with(names, 4, 60_000), tail(blk)), 7, len(names), "block of 60000 bytes where 772 are left; skipped 112 bytes"},
		{"a block of another kind of 4 GB", join(ng, with(names, 4, 0xfffffffc), tail(blk)), 7, len(names), "block of 4294967292 bytes with others inside; skipped 112 bytes"},
		{"a block that is a third there", join(ng, blk[:44], tail(blk)), 7, 44, "block of 132 bytes that ends with the length 0; skipped 44 bytes"},
		{"the search finds a section of the other order", join(ng, with(blk, 4, 40), section(orders[1]), ifaceBlock(orders[1], 1, 0), tail(epb(orders[1], 0, 1, nil, 60))), 7, len(blk), "skipped 132 bytes"},
		{"the search ends at its window", join(ng, with(blk, 4, 40), bytes.Repeat([]byte{0xff}, resyncWindow), tail(blk)), 2, 0, "no readable block within 1048576 bytes after it; the rest was not read"},
	} {
		t.Run(c.desc, func(t *testing.T) {
			f, got := read(t, c.file)
			i, d := f.Info(), f.Damage()
			if len(got) != c.frames || i.Skipped != int64(c.skipped) || len(d) != 1 {
				t.Fatalf("%d frames, %d bytes skipped, damage %v", len(got), i.Skipped, d)
			}
			if !strings.Contains(d[0].What, c.what) || d[0].Frame != 2 {
				t.Errorf("damage is %v", d[0])
			}
			if sum := i.FrameBytes + i.OtherBytes + i.Skipped; sum != i.Bytes || !i.Unread != (i.Bytes == int64(len(c.file))) {
				t.Errorf("%d bytes accounted for of %d consumed of %d", sum, i.Bytes, len(c.file))
			}
		})
	}
}

// A record or block that is cut by the end is not searched for others inside,
// unless they are there.
func TestCutsAreToldAsCuts(t *testing.T) {
	for desc, file := range map[string][]byte{"pcap": pcapOf(t, sample(20)), "pcapng": pcapngOf(t, sample(20))} {
		f, got := read(t, file[:len(file)-30])
		if d := f.Damage(); len(got) != 19 || len(d) != 1 || !strings.Contains(d[0].What, " cut after ") || f.Info().Skipped == 0 {
			t.Errorf("%s: %d frames, damage %v", desc, len(got), d)
		}
	}
}

// Blocks that say nothing of frames are passed over, and counted.
func TestBlocksOfOtherKinds(t *testing.T) {
	o := orders[1]
	ng := join(section(o), ifaceBlock(o, 1, 0xffffffff, opt(o, 0x8bad, []byte("unknown"))),
		block(o, blockNames, u32s(o, 0)), block(o, blockSecrets, u32s(o, 0x544c534b, 3), []byte("key")),
		block(o, 0x40000bad, []byte("custom")), block(o, 9, []byte("journal")),
		epb(o, 0, 5, []byte("frame"), 0, opt(o, 0x7bad, []byte("unknown"))), epb(o, 0, 2, []byte("before it"), -3))
	f, got := read(t, ng)
	i := f.Info()
	if len(got) != 2 || i.OtherBlocks != 4 || i.Damages != 0 || i.Skipped != 0 {
		t.Fatalf("%d frames, %+v, damage %v", len(got), i, f.Damage())
	}
	if got[1].Time != 2000 || i.First != 2000 || i.Last != 5000 || got[1].Len != 9 {
		t.Errorf("time going back, and a length below what was captured: %+v, %+v", got[1], i)
	}
}

// Every length field there is claims 4 GB, and none is believed.
func TestGigabytesAreNotAllocated(t *testing.T) {
	o := orders[0]
	pcap := pcapOf(t, sample(20))
	ng := join(pcapngOf(t, sample(5)), block(o, blockNames, make([]byte, 40)), block(o, blockStats, u32s(o, 0, 0, 0)), block(o, 77, make([]byte, 40)), pcapngOf(t, sample(5)))
	for desc, file := range map[string][]byte{"pcap": pcap, "pcapng": ng} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for at := 0; at+4 <= len(file) && at < 2000; at += 4 {
			bad := bytes.Clone(file)
			o.PutUint32(bad[at:], 0xfffffffc)
			f, err := NewReader("x", bytes.NewReader(bad))
			if err != nil {
				continue
			}
			n := len(drain(t, f))
			i := f.Info()
			if sum := i.FrameBytes + i.OtherBytes + i.Skipped; sum != i.Bytes || !i.Unread && i.Bytes != int64(len(bad)) {
				t.Errorf("%s: 4 GB at byte %d: %d bytes accounted for of %d consumed of %d, %d frames, damage %v", desc, at, sum, i.Bytes, len(bad), n, f.Damage())
			}
			if len(f.in.buf) != windowSize {
				t.Errorf("%s: 4 GB at byte %d: a buffer of %d bytes", desc, at, len(f.in.buf))
			}
		}
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 500*(2<<20) {
			t.Errorf("%s: %d bytes allocated for 500 readings", desc, grown)
		}
	}
}

// Each of a hundred thousand records or blocks claims what follows for itself.
// Reading past them takes a moment, not the minutes of moving it all each time.
func TestClaimsCostNoTime(t *testing.T) {
	o := orders[0]
	rec := pcapRec(o, 1_700_000_000, 5, []byte("four"), 0)
	record := func(claim uint32) []byte {
		bad := bytes.Clone(rec)
		o.PutUint32(bad[8:], claim)
		o.PutUint32(bad[12:], claim)
		return join(bad, rec, rec)
	}
	blocks := func(kind, claim uint32) []byte {
		bad := block(o, kind, []byte("four"))
		o.PutUint32(bad[4:], claim)
		return join(bad, epb(o, 0, 5, []byte("four"), 0))
	}
	start := join(section(o), ifaceBlock(o, 1, 0))
	end := bytes.Repeat([]byte{0xff}, 18<<20)
	for desc, file := range map[string][]byte{
		"records":                join(pcapHead(o, 0xa1b2c3d4, 0, 1), rec, bytes.Repeat(record(maxRecord-100), 100_000), end),
		"with a snap length":     join(pcapHead(o, 0xa1b2c3d4, 3<<20-100, 1), rec, bytes.Repeat(record(0xffffffff), 100_000), end),
		"blocks":                 join(start, bytes.Repeat(blocks(blockEnhanced, maxBlock), 100_000), end),
		"blocks of another kind": join(start, bytes.Repeat(blocks(77, 0xfffffff0), 100_000), end),
	} {
		began := time.Now()
		f, got := read(t, file)
		if i := f.Info(); len(got) < 100_000 || i.Damages < 100_000 {
			t.Errorf("%s: %d frames, %d damages", desc, len(got), i.Damages)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: it took %v", desc, took)
		} else {
			t.Logf("%s: %v, a buffer of %d MiB", desc, took, len(f.in.buf)>>20)
		}
	}
}

// A gzip stream cut anywhere gives the frames before the cut.
func TestGzipCutInTheMiddle(t *testing.T) {
	frames := sample(3000)
	for desc, whole := range map[string][]byte{"pcap": pcapOf(t, frames), "pcapng": pcapngOf(t, frames)} {
		z := gz(t, whole)
		f, got := read(t, z[:len(z)/2])
		d := f.Damage()
		if len(got) < 500 || len(d) != 1 || !strings.Contains(d[0].What, "where the gzip stream breaks off (unexpected EOF)") || d[0].Frame != uint64(len(got)) {
			t.Errorf("%s: %d frames, damage %v", desc, len(got), d)
		}
		wantFrames(t, got, frames[:len(got)])
	}
}
