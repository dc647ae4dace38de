package wrapped

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/detect"
	"github.com/rocescope/rocescope/analysis/diagnose"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/capture"
)

var update = flag.Bool("update", false, "write the captures anew")

// What the samples may weigh, in bytes: they are in every clone.
const (
	largest = 3 << 10
	allOf   = 100 << 10
)

// The tables of the report, by the names that a saved one has.
const (
	wrappedTable = "encapsulations"
	oddTable     = "oddities"
)

func samples() []sample { return slices.Concat(encapSamples(), linkSamples(), oddSamples()) }

// each runs a test for each sample, and for one that is read in two ways twice.
func each(t *testing.T, test func(t *testing.T, s *sample)) {
	t.Helper()
	for _, s := range samples() {
		name := s.name
		if s.port != 0 {
			name += " by its port"
		}
		t.Run(name, func(t *testing.T) { test(t, &s) })
	}
}

func TestFilesAreAsBuilt(t *testing.T) {
	stray, all := filesHere(t), 0
	each(t, func(t *testing.T, s *sample) {
		data := s.bytesOf(t)
		delete(stray, s.name)
		if *update {
			if err := os.WriteFile(s.name, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if old, err := os.ReadFile(s.name); err != nil || !bytes.Equal(old, data) {
			t.Errorf("the file is not what its headers give (%v); run go test ./pcaps/wrapped -update and look at the difference", err)
		}
		if all += len(data); len(data) > largest {
			t.Errorf("%d bytes, more than %d", len(data), largest)
		}
	})
	if len(stray) > 0 {
		t.Errorf("captures that nothing builds: %v", stray)
	}
	if all > allOf {
		t.Errorf("all have %d bytes, more than %d", all, allOf)
	}
}

func filesHere(t *testing.T) map[string]bool {
	t.Helper()
	names, err := filepath.Glob("*.pcap*")
	if err != nil {
		t.Fatal(err)
	}
	here := map[string]bool{}
	for _, n := range names {
		here[n] = true
	}
	return here
}

// Every field of every packet of every file.
func TestPackets(t *testing.T) {
	each(t, func(t *testing.T, s *sample) {
		f := opened(t, s)
		d := decode.Decoder{Port: s.port}
		mirrors := map[uint32]uint32{} // by what should be one
		n := 0
		for frame, p := (decode.Frame{}), (decode.Packet{}); ; n++ {
			err := f.Read(&frame)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if n >= len(s.want) {
				t.Fatalf("there are more than %d frames", len(s.want))
			}
			if st := d.Decode(&frame, &p); st != p.Status {
				t.Errorf("frame %d: returned %v, wrote %v", n+1, st, p.Status)
			}
			checkMirror(t, s, n, &p, mirrors)
			p.Mirror = 0
			if diff := differences(s.want[n], p); diff != "" {
				t.Errorf("frame %d:%s", n+1, diff)
			}
			if p.Status == decode.LLDP {
				if got, ok := decode.ParseDCB(frame.Data[p.PayloadOff:]); s.dcb == nil || !ok || got != *s.dcb {
					t.Errorf("frame %d: got %+v\nwant %+v", n+1, got, s.dcb)
				}
			}
		}
		if n != len(s.want) {
			t.Errorf("there are %d frames, want %d", n, len(s.want))
		}
	})
}

func opened(t *testing.T, s *sample) *capture.File {
	t.Helper()
	f, err := capture.Open(s.name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if d := f.Damage(); len(d) > 0 {
			t.Errorf("damaged: %v", d[0])
		}
		if i := f.Info().Interfaces; s.fcs != 0 && i[0].FCSLen != s.fcs {
			t.Errorf("the frame check sequence has %d bytes, want %d", i[0].FCSLen, s.fcs)
		}
		f.Close()
	})
	return f
}

// checkMirror looks at the hash that tells sequences of numbers apart: a mirror
// has one for each session, two ends of a tunnel have one each.
func checkMirror(t *testing.T, s *sample, i int, p *decode.Packet, seen map[uint32]uint32) {
	t.Helper()
	if !s.want[i].HasGRESeq {
		if p.Mirror != 0 {
			t.Errorf("frame %d: Mirror is %#x", i+1, p.Mirror)
		}
		return
	}
	of := uint32(s.want[i].Session)
	if s.want[i].Encap&decode.EncapGRE != 0 && isBack(i) {
		of = 1
	}
	if seen[of] == 0 {
		for _, other := range seen {
			if other == p.Mirror {
				t.Errorf("frame %d: two mirrors are one, %#x", i+1, other)
			}
		}
		seen[of] = p.Mirror
	}
	if p.Mirror == 0 || p.Mirror != seen[of] {
		t.Errorf("frame %d: Mirror is %#x, where others have %#x", i+1, p.Mirror, seen[of])
	}
}

// differences lists the fields in which two packets differ.
func differences(want, got decode.Packet) string {
	var out strings.Builder
	w, g := reflect.ValueOf(want), reflect.ValueOf(got)
	for i := range w.NumField() {
		if a, b := w.Field(i).Interface(), g.Field(i).Interface(); a != b {
			fmt.Fprintf(&out, "\n\t%s is %v, want %v", w.Type().Field(i).Name, b, a)
		}
	}
	return out.String()
}

func TestReports(t *testing.T) {
	each(t, func(t *testing.T, s *sample) {
		r := analyzed(t, s)
		var rows, finds []string
		for i := range r.Flows {
			rows = append(rows, rowText(&r.Flows[i]))
			checkRow(t, s, &r.Flows[i])
		}
		for _, f := range r.Findings {
			if f.Severity.Rank() < report.Info.Rank() {
				finds = append(finds, f.Rule)
			}
		}
		checkSame(t, "rows", rows, s.rows)
		checkSame(t, "findings", finds, s.finds)
		want := totalsOf(s.want)
		want.MirrorLost, want.Data, want.Acks = r.Totals.MirrorLost, r.Totals.Data, r.Totals.Acks
		if lost := int64(len(s.finds)); s.want[0].HasGRESeq && r.Totals.MirrorLost != lost || !s.want[0].HasGRESeq && r.Totals.MirrorLost != 0 {
			t.Errorf("the mirror lost %d frames", r.Totals.MirrorLost)
		}
		if want != r.Totals {
			t.Errorf("totals are\n%+v\nwant\n%+v", r.Totals, want)
		}
		checkWire(t, s, r)
	})
}

func analyzed(t *testing.T, s *sample) *report.Report {
	t.Helper()
	cfg := analysis.Defaults(1)
	cfg.Port = s.port
	f := opened(t, s)
	r, err := analysis.Run(t.Context(), f, detect.All(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	i := f.Info()
	r.Captures = []report.Capture{{Name: i.Name, Format: i.Format, Frames: int64(i.Frames), FirstNs: i.First, LastNs: i.Last, Truncated: int64(i.Truncated)}}
	analysis.Judge(r, detect.All(), cfg)
	diagnose.Apply(r)
	return r
}

func rowText(f *report.Flow) string {
	version := "v" + strconv.Itoa(f.Version)
	if f.VNI != nil {
		version += fmt.Sprintf(" VNI %d", *f.VNI)
	}
	peer := "no peer"
	if f.PeerQP != nil {
		peer = fmt.Sprintf("peer %#x by %s", *f.PeerQP, f.PeerBy)
	}
	return fmt.Sprintf("%s → %s QP %#x %s %s: %d frames, asks %d B in %d, answers %d, %s",
		f.Src, f.Dst, f.DestQP, f.Transport, version, f.Frames, f.RequestBytes, f.RequestFrames, f.ResponseFrames, peer)
}

// checkRow holds a row to that nothing was lost, resent or repeated in any of the
// exchanges, and against the packets that belong to it.
func checkRow(t *testing.T, s *sample, f *report.Flow) {
	t.Helper()
	if n := f.Lost() + f.Resent() + f.NAKs() + f.Gaps + f.Unresolved + f.NotCaptured + f.LostAcks + f.Reordered + f.MirrorDuplicates + f.CE + f.CNPs + f.ICRCBad; n != 0 {
		t.Errorf("%s is not clean: %+v", f.Ref(), *f)
	}
	var bytes, good int64
	var vlans []uint16
	for i := range s.want {
		p := &s.want[i]
		if p.Status != decode.RoCE || p.QP != f.DestQP || f.VNI != nil && *f.VNI != p.VNI || f.VLAN != nil && *f.VLAN != uint32(p.VLAN) {
			continue
		}
		bytes += int64(p.Len)
		good += count(p.ICRC == decode.ICRCGood)
		if p.Tagged && !slices.Contains(vlans, p.VLAN) {
			vlans = append(vlans, p.VLAN)
		}
	}
	if f.Bytes != bytes || f.ICRCGood != good || !slices.Equal(f.VLANs, vlans) {
		t.Errorf("%s has %d bytes, %d good ICRCs, VLANs %v; want %d, %d, %v", f.Ref(), f.Bytes, f.ICRCGood, f.VLANs, bytes, good, vlans)
	}
}

func checkSame(t *testing.T, what string, got, want []string) {
	t.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("%s are\n\t%s\nwant\n\t%s", what, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// totalsOf counts what the packets say, each in one counter.
func totalsOf(ps []decode.Packet) (t report.Totals) {
	for i := range ps {
		p := &ps[i]
		t.Frames++
		t.MirrorCut += count(p.CutByMirror)
		switch p.Status {
		case decode.RoCE:
			t.RoCE++
			t.RoCEv1 += count(p.Version == 1)
			t.RoCEv2 += count(p.Version == 2)
			t.NativeIB += count(p.Version == 0)
			t.ICRCGood += count(p.ICRC == decode.ICRCGood)
			t.ICRCUnchecked += count(p.ICRC == decode.ICRCUnchecked)
		case decode.Fragment:
			t.Fragments++
		case decode.PFC:
			t.PFC++
		case decode.Pause:
			t.Pause++
		case decode.UET:
			t.UET++
		case decode.Truncated:
			t.CutShort++
		default:
			t.Other++
			t.RoCEv15 += count(p.Status == decode.RoCEv15)
			t.IWARP += count(p.Status == decode.IWARP)
		}
	}
	return t
}

func count(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// checkWire holds what the report says of wrappings and oddities against the
// packets.
func checkWire(t *testing.T, s *sample, r *report.Report) {
	t.Helper()
	var want, got []string
	n := map[string]int{}
	for i := range s.want {
		p := &s.want[i]
		if p.Encap != 0 {
			n[wrappedTable+" "+p.Encap.String()]++
		}
		for o := decode.Odd(1); o != 0; o <<= 1 {
			if p.Odd&o != 0 {
				n[oddTable+" "+o.String()]++
			}
		}
	}
	for k, v := range n {
		want = append(want, fmt.Sprint(k, " × ", v))
	}
	for _, sec := range r.Sections {
		for _, table := range sec.Tables {
			for _, row := range table.Rows {
				if table.Name == wrappedTable || table.Name == oddTable {
					got = append(got, fmt.Sprint(table.Name, " ", row.Key[0], " × ", row.Values[0]))
				}
			}
		}
	}
	checkSame(t, "wire counts", got, want)
}
