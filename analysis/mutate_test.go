package analysis_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/detect"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/capture"
	"github.com/rocescope/rocescope/pcaps"
)

// mutateHeap is how much the heap may grow, whatever a file claims.
const mutateHeap = 256 << 20

// A subject is a sample to be mutated, with the places of its parts.
type subject struct {
	name  string
	plain []byte
	parts []part // file header, records and blocks, in order and without gaps
	// frames is how many it holds.
	frames int
	pcap   bool
	packed bool // some mutants are packed with gzip, and damaged then
}

type part struct {
	from, to int
	frame    bool
}

func subjectOf(t *testing.T, s *pcaps.Sample) *subject {
	t.Helper()
	m := &subject{name: s.File, plain: s.Data, packed: strings.HasSuffix(s.File, ".gz")}
	if m.packed {
		z, err := gzip.NewReader(bytes.NewReader(s.Data))
		if err != nil {
			t.Fatal(err)
		}
		if m.plain, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	le := binary.LittleEndian // as all samples are
	m.pcap = !strings.Contains(s.File, ".pcapng")
	at := 0
	if m.pcap {
		m.parts, at = []part{{from: 0, to: 24}}, 24
	}
	for at < len(m.plain) {
		p := part{from: at, frame: true}
		if m.pcap {
			p.to = at + 16 + int(le.Uint32(m.plain[at+8:]))
		} else {
			p.to = at + int(le.Uint32(m.plain[at+4:]))
			p.frame = le.Uint32(m.plain[at:]) == 6
		}
		if p.frame {
			m.frames++
		}
		m.parts = append(m.parts, p)
		at = p.to
	}
	return m
}

// A mutant is a file made of a sample.
type mutant struct {
	file []byte
	did  []string
	// frames is how many it holds, where that is known; -1 elsewhere.
	frames int
}

// mutate makes one to five changes. Those of whole records and blocks come
// first, while their places are known.
func (m *subject) mutate(r *rand.Rand, all []*subject) *mutant {
	x := &mutant{frames: m.frames}
	parts := slices.Clone(m.parts)
	structural, rough := r.IntN(3), r.IntN(4)
	if structural+rough == 0 {
		structural = 1
	}
	for range structural {
		if len(parts) > 0 {
			parts = x.restructure(parts, m, r)
		}
	}
	for _, p := range parts {
		x.file = append(x.file, m.plain[p.from:p.to]...)
	}
	if r.IntN(16) == 0 { // as cat does
		other := all[r.IntN(len(all))]
		x.note("%s appended", other.name)
		x.file = append(x.file, other.plain...)
		x.holds(other.frames)
	}
	if rough > 0 {
		x.frames = -1
	}
	if m.packed && r.IntN(4) == 0 {
		x.did = append(x.did, "packed")
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
		z.Write(x.file) // into memory: it does not fail
		z.Close()
		x.file = b.Bytes()
	}
	for range rough {
		x.damage(r)
	}
	return x
}

func (x *mutant) note(format string, args ...any) {
	x.did = append(x.did, fmt.Sprintf(format, args...))
}

// holds notes that the mutant holds n more frames, where their number is known.
func (x *mutant) holds(n int) {
	if x.frames >= 0 {
		x.frames += n
	}
}

// restructure changes the order of whole records and blocks.
func (x *mutant) restructure(parts []part, m *subject, r *rand.Rand) []part {
	i := r.IntN(len(parts))
	n := 1 + r.IntN(min(5, len(parts)-i))
	known, frames := true, 0
	for _, p := range parts[i : i+n] {
		known = known && p.frame
		if p.frame {
			frames++
		}
	}
	switch r.IntN(5) {
	case 0:
		x.note("parts %d to %d deleted", i, i+n-1)
		parts = slices.Delete(parts, i, i+n)
		frames = -frames
	case 1:
		x.note("parts %d to %d doubled", i, i+n-1)
		parts = slices.Insert(parts, i, slices.Clone(parts[i:i+n])...)
	case 2:
		j := r.IntN(len(parts))
		x.note("parts %d and %d swapped", i, j)
		known, frames = parts[i].frame && parts[j].frame, 0
		parts[i], parts[j] = parts[j], parts[i]
	case 3:
		x.note("the whole inserted before part %d", i)
		parts = slices.Insert(parts, i, m.parts...)
		known, frames = true, m.frames
	default:
		x.note("parts %d to %d reversed", i, i+n-1)
		slices.Reverse(parts[i : i+n])
		frames = 0
	}
	if !known {
		x.frames = -1
	}
	x.holds(frames)
	return parts
}

// damage changes bytes, wherever they are.
func (x *mutant) damage(r *rand.Rand) {
	if len(x.file) < 8 {
		return
	}
	at := r.IntN(len(x.file) - 4)
	n := min(1+r.IntN(1<<r.IntN(13)), len(x.file)-at)
	switch r.IntN(7) {
	case 0:
		bit := r.IntN(8)
		x.note("bit %d of byte %d flipped", bit, at)
		x.file[at] ^= 1 << bit
	case 1:
		x.note("cut at %d", at)
		x.file = x.file[:at]
	case 2:
		x.note("%d bytes at %d zeroed", n, at)
		clear(x.file[at : at+n])
	case 3:
		x.note("%d bytes at %d deleted", n, at)
		x.file = slices.Delete(x.file, at, at+n)
	case 4:
		x.note("%d bytes at %d doubled", n, at)
		x.file = slices.Insert(x.file, at, slices.Clone(x.file[at:at+n])...)
	case 5:
		at &^= 3 // where length fields are, in a pcapng
		fallthrough
	default:
		v := []uint32{0, 1, 12, 0x7fffffff, 0xffffffff, 0xfffffffc, 1 << 20, 16 << 20, uint32(len(x.file)), uint32(r.IntN(1 << 17)), r.Uint32()}[r.IntN(11)]
		x.note("%#x written at %d", v, at)
		binary.LittleEndian.PutUint32(x.file[at:], v)
	}
}

// ledger is a source that counts what a capture hands out.
type ledger struct {
	file   *capture.File
	plain  []byte // nil where frames are not to be found in the file as it is
	frames int64
	bytes  int64 // of frames, as captured
	at     int   // where the last frame ended
	fault  string
}

func (l *ledger) Read(f *decode.Frame) error {
	err := l.file.Read(f)
	if err != nil {
		return err
	}
	l.frames++
	l.bytes += int64(len(f.Data))
	if l.plain != nil && l.fault == "" {
		// A frame is a piece of the file, and no byte belongs to two.
		i := bytes.Index(l.plain[l.at:], f.Data)
		if i < 0 {
			l.fault = fmt.Sprintf("frame %d is not in the file after the one before it", f.Number)
		}
		l.at += i + len(f.Data)
	}
	if f.Number != uint64(l.frames) || f.Len < len(f.Data) {
		l.fault = fmt.Sprintf("frame %d is number %d, %d bytes of %d", l.frames, f.Number, len(f.Data), f.Len)
	}
	return nil
}

// judge reads a mutant and says which law it breaks, "" for none.
func (x *mutant) judge(t *testing.T, s *mutateStats) string {
	f, err := capture.NewReader("mutant", bytes.NewReader(x.file))
	if err != nil {
		s.refused++
		if !errors.Is(err, capture.ErrNotCapture) {
			return err.Error()
		}
		return ""
	}
	defer f.Close()
	l := &ledger{file: f}
	if f.Info().Compression == "" {
		l.plain = x.file
	}
	r, err := analysis.Run(context.Background(), l, detect.All(), analysis.Defaults(1))
	if err != nil {
		return "analysis: " + err.Error()
	}
	analysis.Judge(r, detect.All(), analysis.Defaults(1))
	checkLaws(t, r, l.frames)
	i := f.Info()
	s.add(&i, l)
	sum := i.FrameBytes + i.OtherBytes + i.Skipped
	records := l.bytes + 16*l.frames // of a pcap; blocks of a pcapng take no less
	switch {
	case l.fault != "":
		return l.fault
	case x.frames >= 0 && l.frames != int64(x.frames):
		return fmt.Sprintf("%d frames, want %d", l.frames, x.frames)
	case x.frames >= 0 && i.Damages > 0:
		return "whole frames in another order, and damage: " + f.Damage()[0].Error()
	case int64(i.Frames) != l.frames:
		return fmt.Sprintf("%d frames counted, %d handed out", i.Frames, l.frames)
	case sum != i.Bytes:
		return fmt.Sprintf("%d bytes of frames, %d others and %d skipped are not %d", i.FrameBytes, i.OtherBytes, i.Skipped, i.Bytes)
	case l.plain != nil && !i.Unread && i.Bytes != int64(len(x.file)):
		return fmt.Sprintf("%d bytes read of %d, and not said so", i.Bytes, len(x.file))
	case i.Bytes > int64(len(x.file)) && l.plain != nil:
		return fmt.Sprintf("%d bytes read of %d", i.Bytes, len(x.file))
	case i.FrameBytes < records || i.FrameBytes > records && onlyPcap(x.file, &i):
		return fmt.Sprintf("%d bytes of records hold %d frames of %d bytes", i.FrameBytes, l.frames, l.bytes)
	case onlyPcap(x.file, &i) && i.OtherBytes != int64(24*i.Parts):
		return fmt.Sprintf("%d bytes of %d file headers", i.OtherBytes, i.Parts)
	case (i.Skipped > 0 || i.Unread) && i.Damages == 0:
		return fmt.Sprintf("%d bytes skipped, and no damage", i.Skipped)
	}
	for _, d := range f.Damage() {
		if d.Offset < 0 || d.Offset > i.Bytes || d.Frame > i.Frames || d.What == "" {
			return "an impossible damage: " + d.Error()
		}
	}
	return ""
}

// onlyPcap reports whether all that was read is pcap with heads of 16 bytes. In a
// packed file with several parts nothing tells.
func onlyPcap(file []byte, i *capture.Info) bool {
	return i.Format == "pcap" && (i.Compression == "" || i.Parts <= 1) && !bytes.Contains(file, []byte("\x34\xcd\xb2\xa1")) && !bytes.Contains(file, []byte("\xa1\xb2\xcd\x34")) &&
		!bytes.Contains(file, []byte("\n\r\r\n"))
}

type mutateStats struct {
	refused, damaged, unread, clean int
	frames, skipped                 int64
	peak, base                      uint64
}

func (s *mutateStats) add(i *capture.Info, l *ledger) {
	s.frames += l.frames
	s.skipped += i.Skipped
	switch {
	case i.Unread:
		s.unread++
	case i.Damages > 0:
		s.damaged++
	default:
		s.clean++
	}
}

// heap notes the heap and reports whether it is within its bound.
func (s *mutateStats) heap() bool {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.peak = max(s.peak, m.HeapAlloc)
	return m.HeapAlloc < s.base+mutateHeap
}

// However a capture is mutated, nothing panics, memory stays bounded, every
// byte of the file is accounted for and every frame is analysed.
func TestMutatedSamplesKeepTheLawsOfAccounting(t *testing.T) {
	rounds := 200
	if os.Getenv("ROCESCOPE_LONG") != "" {
		rounds = 10_000
	}
	list := pcaps.List()
	var all []*subject
	for n := range list {
		all = append(all, subjectOf(t, &list[n]))
	}
	for n, m := range all {
		t.Run(m.name, func(t *testing.T) {
			start := time.Now()
			s := &mutateStats{}
			s.heap()
			s.base = s.peak
			for round := range rounds {
				x := m.mutate(rand.New(rand.NewPCG(uint64(n), uint64(round))), all)
				fault := x.judge(t, s)
				if fault == "" && round%16 == 0 && !s.heap() {
					fault = fmt.Sprintf("the heap grew from %d to %d bytes", s.base, s.peak)
				}
				if fault != "" || t.Failed() {
					t.Fatalf("seed %d: %s: %s", round, strings.Join(x.did, ", "), fault)
				}
			}
			t.Logf("%d mutants in %.1f s: %d refused, %d whole, %d damaged, %d given up; %d frames analysed, %d bytes skipped; heap at most %d MiB",
				rounds, time.Since(start).Seconds(), s.refused, s.clean, s.damaged, s.unread, s.frames, s.skipped, s.peak>>20)
		})
	}
}
