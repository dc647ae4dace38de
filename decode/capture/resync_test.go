package capture

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestResync(t *testing.T) {
	o := orders[0]
	head := pcapHead(o, 0xa1b2c3d4, 65535, 1)
	rec := func(i uint32) []byte { return pcapRec(o, 1_700_000_000+i, i, make([]byte, 100), 0) }
	good := func(from, to uint32) []byte {
		var b []byte
		for i := from; i < to; i++ {
			b = append(b, rec(i)...)
		}
		return b
	}
	noise := make([]byte, 2*resyncWindow)
	rand.NewChaCha8([32]byte{}).Read(noise)
	absurd := pcapRec(o, 1_700_000_005, 5, make([]byte, 100), 0)
	o.PutUint32(absurd[8:], 0xfffffff0)
	pointing := pcapRec(o, 1_700_000_005, 5, make([]byte, 100), 0)
	o.PutUint32(pointing[8:], 5_000_000)
	late := pcapRec(o, 1_700_000_005, 1_000_000_000, make([]byte, 100), 0)

	for _, c := range []struct {
		desc    string
		file    []byte
		frames  int
		skipped int64
		what    string
	}{
		{"an absurd length costs its own record", join(head, good(0, 5), absurd, good(6, 10)), 9, 116, "a captured length of 4294967280); skipped 116 bytes"},
		{"a length beyond the end costs its own record", join(head, good(0, 5), pointing, good(6, 10)), 9, 116, "a captured length of 5000000); skipped 116 bytes"},
		{"an impossible time costs its own record", join(head, good(0, 5), late, good(6, 10)), 9, 116, "a fraction of a second of 1000000000); skipped 116"},
		{"noise between records is jumped over", join(head, good(0, 5), []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xffnoise"), good(5, 10)), 10, 21, "skipped 21 bytes"},
		{"the very first record may be the broken one", join(head, absurd, good(6, 10)), 4, 116, "skipped 116 bytes"},
		{"one record that ends the file is enough", join(head, good(0, 5), absurd, good(6, 7)), 6, 116, "skipped 116 bytes"},
		{"one record that is cut is not", join(head, good(0, 5), absurd, good(6, 7)[:90]), 5, 206, "skipped the 206 bytes that are left, with no readable record among them"},
		{"records of another year are not believed", join(head, good(0, 5), absurd, pcapRec(o, 1_600_000_000, 0, make([]byte, 9), 0), pcapRec(o, 1_600_000_000, 0, make([]byte, 9), 0)), 5, 166, "no readable record"},
		{"the search ends at its window", join(head, good(0, 5), []byte(strings.Repeat("\xff", 16)), noise, good(6, 10)), 5, 0, "no readable record within 1048576 bytes"},
		{"a tail of zeros is no list of empty frames", join(head, good(0, 5), make([]byte, 100_000)), 5, 100_000, "(all zeros); skipped the 100000 bytes that are left, with no readable record"},
	} {
		t.Run(c.desc, func(t *testing.T) {
			f, got := read(t, c.file)
			d := f.Damage()
			if len(got) != c.frames || f.Info().Skipped != c.skipped || len(d) != 1 {
				t.Fatalf("%d frames, %d bytes skipped, damage %v", len(got), f.Info().Skipped, d)
			}
			if !strings.Contains(d[0].What, c.what) {
				t.Errorf("damage is %q", d[0].What)
			}
			if last := got[len(got)-1]; c.skipped > 0 && len(last.Data) != 100 {
				t.Errorf("the last frame has %d bytes", len(last.Data))
			}
		})
	}
}

func TestDamageListIsBoundedAndItsCountIsNot(t *testing.T) {
	o := orders[0]
	b := pcapHead(o, 0xa1b2c3d4, 65535, 1)
	for i := range uint32(200) {
		b = append(b, strings.Repeat("\xff", 40)...)
		b = append(b, pcapRec(o, 1_700_000_000, i, make([]byte, 60), 0)...)
		b = append(b, pcapRec(o, 1_700_000_000, i, make([]byte, 60), 0)...)
	}
	f, got := read(t, b)
	if len(got) != 400 || len(f.Damage()) != maxDamages || f.Info().Damages != 200 {
		t.Errorf("%d frames, %d damages listed, %d counted", len(got), len(f.Damage()), f.Info().Damages)
	}
}
