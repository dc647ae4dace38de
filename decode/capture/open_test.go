package capture

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/rocescope/rocescope/decode"
)

func TestCompressionIsFoundByContent(t *testing.T) {
	frames := sample(500)
	for _, plain := range [][]byte{pcapOf(t, frames), pcapngOf(t, frames)} {
		for _, c := range []struct {
			desc, compression string
			file              []byte
		}{
			{"plain", "", plain},
			{"gzip", "gzip", gz(t, plain)},
			{"gzip in two members", "gzip", join(gz(t, plain[:1000]), gz(t, plain[1000:]))},
			{"gzip padded with zeros", "gzip", join(gz(t, plain[:1000]), make([]byte, 3), gz(t, plain[1000:]), make([]byte, 701))},
			{"zstd", "zstd", zst(t, plain)},
			{"zstd after a skippable frame", "zstd", join([]byte("\x50\x2a\x4d\x18\x04\x00\x00\x00note"), zst(t, plain))},
		} {
			t.Run(c.desc, func(t *testing.T) {
				name := filepath.Join(t.TempDir(), "x.log")
				if err := os.WriteFile(name, c.file, 0o600); err != nil {
					t.Fatal(err)
				}
				f, err := Open(name)
				if err != nil {
					t.Fatal(err)
				}
				wantFrames(t, drain(t, f), frames)
				i := f.Info()
				if i.Compression != c.compression || i.Name != name || i.Bytes != int64(len(plain)) || i.InputBytes != int64(len(c.file)) {
					t.Errorf("info is %+v", i)
				}
				if err := f.Close(); err != nil {
					t.Error(err)
				}
				if err := f.Close(); err != nil {
					t.Errorf("closing again: %v", err)
				}
			})
		}
	}
}

func TestWhatIsNoCapture(t *testing.T) {
	pcap := pcapOf(t, nil)
	ng := pcapngOf(t, nil)
	orderless := bytes.Clone(ng)
	orderless[8]++
	for _, c := range []struct {
		desc string
		file string
		says string
	}{
		{"nothing", "", "it is empty"},
		{"two bytes", "\xd4\xc3", "it ends after 2 bytes (d4 c3)"},
		{"half a pcap header", string(pcap[:7]), "it begins as pcap but ends after 7 of the 24 bytes of its header"},
		{"half a section header", string(ng[:27]), "it begins as pcapng but ends after 27 of the 28 bytes"},
		{"a section header without byte order", string(orderless), "unknown byte order mark 4e 3c 2b 1a"},
		{"text", "{\"rules\": [1, 2, 3]}\n", `it looks like text, beginning "{\"rules\": [1, 2, 3]`},
		{"a program", "\x7fELF\x02\x01\x01\x00", "it is a program"},
		{"lz4", "\x04\x22\x4d\x18\x00\x00", "packed with lz4; unpack it first"},
		{"snoop", "snoop\x00\x00\x00", "convert it with editcap"},
		{"noise", "\x01\x02\x03\x04\x05", "its first bytes are 01 02 03 04"},
		{"noise in gzip", string(gz(t, []byte("\x01\x02\x03\x04"))), "its first bytes are 01 02 03 04 (inside gzip)"},
		{"gzip in gzip", string(gz(t, gz(t, pcap))), "it is gzip (inside gzip); unpack it first"},
		{"a gzip header alone", "\x1f\x8b\x08\x00", "it begins as gzip but cannot be unpacked (unexpected EOF)"},
		{"gzip cut in the pcap header", string(gz(t, pcap)[:20]), "(inside gzip), where the stream breaks off (unexpected EOF)"},
		{"a zstd header alone", "\x28\xb5\x2f\xfd", "it is empty (inside zstd), where the stream breaks off"},
	} {
		t.Run(c.desc, func(t *testing.T) {
			_, err := NewReader("x", strings.NewReader(c.file))
			var fe *FormatError
			if !errors.Is(err, ErrNotCapture) || !errors.As(err, &fe) {
				t.Fatalf("error is %v", err)
			}
			if s := err.Error(); !strings.HasPrefix(s, "x: not a capture file: ") || !strings.Contains(s, c.says) {
				t.Errorf("error is %q", s)
			}
		})
	}
}

func TestOpenNames(t *testing.T) {
	b := pcapOf(t, sample(3))
	f, err := Open("-", Stdin(bytes.NewReader(b)))
	if err != nil {
		t.Fatal(err)
	}
	wantFrames(t, drain(t, f), sample(3))
	if _, err := Open("-"); err == nil || errors.Is(err, ErrNotCapture) {
		t.Errorf("standard input that is not there: %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := Open(t.TempDir()); err == nil || errors.Is(err, ErrNotCapture) {
		t.Errorf("a directory: %v", err)
	}
}

// A disk that fails is not a damaged capture, packed or not.
func TestErrorsOfTheInputAreErrors(t *testing.T) {
	broken := errors.New("disk on fire")
	frames := sample(1000)
	for desc, b := range map[string][]byte{"pcap": pcapOf(t, frames), "pcapng": pcapngOf(t, frames), "gzip": gz(t, pcapOf(t, frames)), "zstd": zst(t, pcapOf(t, frames))} {
		t.Run(desc, func(t *testing.T) {
			for _, n := range []int{0, 3, 10} {
				if _, err := NewReader("x", io.MultiReader(bytes.NewReader(b[:n]), iotest.ErrReader(broken))); !errors.Is(err, broken) {
					t.Errorf("opening with %d bytes: %v", n, err)
				}
			}
			f, err := NewReader("x", io.MultiReader(bytes.NewReader(b[:len(b)-30]), iotest.ErrReader(broken)))
			if err != nil {
				if !errors.Is(err, broken) { // zstd may need all of so little
					t.Fatal(err)
				}
				return
			}
			var fr decode.Frame
			for err == nil {
				err = f.Read(&fr)
			}
			if again := f.Read(&fr); !errors.Is(err, broken) || again != err || len(f.Damage()) != 0 {
				t.Errorf("reading: %v, then %v, damage %v", err, again, f.Damage())
			}
		})
	}
}

// What comes through a pipe is handed out as soon as it is there.
func TestPipesAreNotWaitedFor(t *testing.T) {
	frames := sample(3)
	for desc, whole := range map[string]func(testing.TB, []decode.Frame) []byte{"pcap": pcapOf, "pcapng": pcapngOf} {
		t.Run(desc, func(t *testing.T) {
			r, w := io.Pipe()
			step := make(chan []byte)
			go func() {
				for b := range step {
					w.Write(b)
				}
				w.Close()
			}()
			done := len(whole(t, nil))
			step <- whole(t, nil)
			f, err := NewReader("pipe", r)
			if err != nil {
				t.Fatal(err)
			}
			for i := range frames {
				b := whole(t, frames[:i+1])
				step <- b[done:]
				done = len(b)
				var fr decode.Frame
				if err := f.Read(&fr); err != nil || !same(fr, frames[i]) {
					t.Fatalf("frame %d: %v, %s", i+1, err, show(fr))
				}
			}
			close(step)
			if err := f.Read(new(decode.Frame)); err != io.EOF {
				t.Errorf("at the end: %v", err)
			}
		})
	}
}

func TestReadAfterCloseFails(t *testing.T) {
	f, err := NewReader("x", bytes.NewReader(pcapOf(t, sample(3))))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := f.Read(new(decode.Frame)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("error is %v", err)
	}
}

func TestReadDoesNotAllocate(t *testing.T) {
	frames := sample(20_000)
	for desc, b := range map[string][]byte{"pcap": pcapOf(t, frames), "pcapng": pcapngOf(t, frames)} {
		f, err := NewReader(desc, bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		var fr decode.Frame
		var bad error
		f.Read(&fr)
		n := testing.AllocsPerRun(15, func() {
			for range 1000 {
				if err := f.Read(&fr); err != nil {
					bad = err
				}
			}
		})
		if n != 0 || bad != nil {
			t.Errorf("%s: %v allocations in 1000 frames, error %v", desc, n, bad)
		}
	}
}
