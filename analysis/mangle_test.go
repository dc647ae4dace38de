package analysis_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/detect"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/capture"
)

// frameList is a source over frames in memory.
type frameList struct {
	frames []decode.Frame
	next   int
}

func (l *frameList) Read(f *decode.Frame) error {
	if l.next == len(l.frames) {
		return io.EOF
	}
	*f = l.frames[l.next]
	l.next++
	f.Number = uint64(l.next)
	return nil
}

func framesOf(t testing.TB, name string) []decode.Frame {
	f, err := capture.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []decode.Frame
	var x decode.Frame
	for f.Read(&x) == nil {
		y := x
		y.Data = slices.Clone(x.Data)
		out = append(out, y)
	}
	return out
}

// mangle makes a capture worse in every way a network and a tap can, and some
// that they cannot: lost, doubled, swapped, damaged and backdated frames.
func mangle(frames []decode.Frame, r *rand.Rand) []decode.Frame {
	rate := r.Float64() * 0.2
	var out []decode.Frame
	for _, f := range frames {
		switch x := r.Float64(); {
		case x < rate/5:
			continue
		case x < 2*rate/5:
			out = append(out, f)
		case x < 3*rate/5 && len(out) > 0:
			i := max(0, len(out)-1-r.IntN(20))
			out = slices.Insert(out, i, f)
			continue
		case x < 4*rate/5:
			f.Data = slices.Clone(f.Data)
			f.Data[r.IntN(len(f.Data))] ^= byte(1 << r.IntN(8))
		case x < rate:
			f.Time -= int64(r.IntN(1_000_000_000))
		}
		out = append(out, f)
	}
	return out
}

func TestMangledCapturesKeepTheLawsOfCounting(t *testing.T) {
	names, _ := filepath.Glob("../../shared/captures/softroce/*.pcap")
	if len(names) == 0 {
		t.Skip("no shared captures beside this checkout")
	}
	rounds := 2
	if os.Getenv("ROCESCOPE_LONG") != "" {
		rounds = 200
	}
	for i, name := range names {
		frames := framesOf(t, name)
		for round := range rounds {
			seed := uint64(i*1000 + round)
			t.Run(fmt.Sprintf("%s seed %d", filepath.Base(name), seed), func(t *testing.T) {
				bad := mangle(frames, rand.New(rand.NewPCG(seed, 1)))
				r, err := analysis.Run(context.Background(), &frameList{frames: bad}, detect.All(), analysis.Defaults(1))
				if err != nil {
					t.Fatal(err)
				}
				analysis.Judge(r, detect.All(), analysis.Defaults(1))
				checkLaws(t, r, int64(len(bad)))
			})
		}
	}
}

// TestCutsHoldNoCopiesAndNoClocks cuts captures without copies, whose clocks agree, at both
// ends: a resend whose first sending is cut off, and an answer whose request is, are neither.
func TestCutsHoldNoCopiesAndNoClocks(t *testing.T) {
	names, _ := filepath.Glob("../../shared/captures/cases/*.pcap*")
	if len(names) == 0 {
		t.Skip("no shared captures beside this checkout")
	}
	wrong := func(frames []decode.Frame) (copies int64, clock bool) {
		r, err := analysis.Run(context.Background(), &frameList{frames: frames}, detect.All(), analysis.Defaults(1))
		if err != nil {
			t.Fatal(err)
		}
		analysis.Judge(r, detect.All(), analysis.Defaults(1))
		for i := range r.Flows {
			copies += r.Flows[i].MirrorDuplicates
		}
		return copies, slices.ContainsFunc(r.Findings, func(f report.Finding) bool { return f.Rule == "capture.clock" })
	}
	for _, name := range names {
		frames := framesOf(t, name)
		if copies, clock := wrong(frames); copies > 0 || clock {
			continue
		}
		n := len(frames)
		for _, cut := range [][2]int{{n / 10, n}, {n / 3, n}, {n / 2, n}, {2 * n / 3, n}, {0, n / 2}, {n / 4, n / 2}} {
			if copies, clock := wrong(frames[cut[0]:cut[1]]); copies > 0 || clock {
				t.Errorf("%s, frames %d to %d: %d copies, clock %v", filepath.Base(name), cut[0], cut[1], copies, clock)
			}
		}
	}
}

// checkLaws holds a report against what is true of every capture.
func checkLaws(t *testing.T, r *report.Report, frames int64) {
	t.Helper()
	x := &r.Totals
	if sum := x.RoCE + x.Other + x.Malformed + x.Fragments + x.CutShort + x.PFC + x.Pause + x.UET; sum != frames || x.Frames != frames {
		t.Errorf("%d frames in, %d by status, %d in all", frames, sum, x.Frames)
	}
	for i := range r.Flows {
		f := &r.Flows[i]
		for what, n := range map[string]int64{"gaps": f.Gaps, "lost_upstream": f.LostUpstream, "lost_downstream": f.LostDownstream,
			"reordered": f.Reordered, "not_captured": f.NotCaptured, "unresolved": f.Unresolved, "lost_acks": f.LostAcks,
			"response_lost_upstream": f.ResponseLostUpstream, "response_reordered": f.ResponseReordered,
			"response_not_captured": f.ResponseNotCaptured} {
			if n < 0 {
				t.Errorf("%s: %s is %d", f.Ref(), what, n)
			}
		}
		causes := f.RetransmittedNAK + f.RetransmittedTimeout + f.RetransmittedImplied + f.RetransmittedRNR
		if causes > f.Retransmitted || f.Spurious > f.Retransmitted {
			t.Errorf("%s: %d resent, %d by cause, %d needless", f.Ref(), f.Retransmitted, causes, f.Spurious)
		}
		if counted := f.RequestFrames + f.ResponseFrames + f.MirrorDuplicates; counted > f.Frames {
			t.Errorf("%s: %d frames, %d counted", f.Ref(), f.Frames, counted)
		}
	}
}
