package capture

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/decode"
)

// recorded is where real captures lie, beside the project; they are not a part
// of it, and without them these tests are skipped.
const recorded = "../../../shared/captures"

func recordedFile(t testing.TB, name string) string {
	t.Helper()
	name = filepath.Join(recorded, name)
	if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) {
		t.Skipf("no recorded captures here: %s is absent", name)
	}
	return name
}

func openRecorded(t testing.TB, name string) *File {
	t.Helper()
	f, err := Open(recordedFile(t, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestRecordedFormsHoldTheSameFrames(t *testing.T) {
	dir := "softroce/derived/loss_post."
	h1 := drain(t, openRecorded(t, "softroce/loss_post.h1.pcap"))
	h2 := drain(t, openRecorded(t, "softroce/loss_post.h2.pcap"))
	if len(h1) == 0 || len(h2) != 380 {
		t.Fatalf("%d and %d frames", len(h1), len(h2))
	}
	for _, name := range []string{"h2.bigendian.pcap", "h2.nsec.pcap", "h2.pcap.gz", "h2.pcapng", "h2.truncated-last-record.pcap"} {
		t.Run(name, func(t *testing.T) {
			f := openRecorded(t, dir+name)
			got := drain(t, f)
			want := h2
			if cut := strings.Contains(name, "truncated"); cut != (len(f.Damage()) == 1) {
				t.Errorf("damage is %v", f.Damage())
			} else if cut {
				want = h2[:378]
			}
			wantFrames(t, got, want)
		})
	}
}

func TestMergeGivesWhatMergecapGives(t *testing.T) {
	m := Merge(openRecorded(t, "softroce/loss_post.h1.pcap"), openRecorded(t, "softroce/loss_post.h2.pcap"))
	got := drain(t, m)
	for i := range got {
		got[i].Iface = 0 // mergecap makes one of interfaces that are described alike
	}
	wantFrames(t, got, drain(t, openRecorded(t, "softroce/derived/loss_post.h1+h2.two-interfaces.pcapng")))
	wantFrames(t, got, drain(t, openRecorded(t, "softroce/derived/loss_post.h1+h2.merged-one-link.pcap")))
}

func TestRecordedCapturesOpen(t *testing.T) {
	var names []string
	for _, pattern := range []string{"*/*.pcap*", "*/*/*.pcap*"} {
		found, err := filepath.Glob(filepath.Join(recorded, pattern))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	if len(names) == 0 {
		t.Skipf("no recorded captures here: %s is absent or empty", recorded)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			f, err := Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			n := countFrames(t, f)
			damaged := strings.Contains(name, "capture-damaged") || strings.Contains(name, "truncated-last")
			if n == 0 || damaged != (len(f.Damage()) > 0) {
				t.Errorf("%d frames, damage %v", n, f.Damage())
			}
		})
	}
}

func TestRecordedDamageIsTold(t *testing.T) {
	f := openRecorded(t, "cases/capture-damaged.pcap")
	n := countFrames(t, f)
	d := f.Damage()
	if n != 160 || len(d) != 1 || *d[0] != (Damage{Name: f.Info().Name, Offset: 492664, Frame: 160, What: "record cut after 41 of 78 bytes"}) {
		t.Errorf("%d frames, damage %v", n, d)
	}
}

func countFrames(t testing.TB, s Source) (n int) {
	t.Helper()
	var f decode.Frame
	for {
		err := s.Read(&f)
		if err == io.EOF {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
}
