package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/capture"
)

// A sampleTruth is what a test wants to know of one sample.
type sampleTruth struct {
	Scenario string                    `json:"scenario"`
	About    string                    `json:"about"`
	Lines    []string                  `json:"lines"`
	Taps     []string                  `json:"taps"`
	Kernel   string                    `json:"kernel"`
	Rows     []*row                    `json:"rows"`
	Failed   []failure                 `json:"failed,omitempty"`
	RXE      map[string]map[string]int `json:"rxe"`
	Queues   []queue                   `json:"queues,omitempty"`
	Filters  []filter                  `json:"filters,omitempty"`
	Between  []difference              `json:"between"` // without the list of frames
	Ways     []way                     `json:"ways,omitempty"`
	Notes    []string                  `json:"notes"`
}

// keepSample writes what the sample's taps saw in the format it asks for, and
// the short truth beside it.
func (r *recording) keepSample(t *truth, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	data, err := r.sampleFile()
	if err != nil {
		return err
	}
	s := r.scenario
	name := filepath.Join(dir, s.Name)
	if err := os.WriteFile(name+s.Sample.extension(), data, 0o644); err != nil {
		return err
	}
	return writeJSON(name+".truth.json", sampleTruth{s.Name, s.About, s.Lines, s.Sample.Points, t.Kernel, r.rows(t), t.Failed, t.RXE, withoutOptions(t.Queues), t.Filters, withoutFrames(t.Between), t.Ways, t.Notes})
}

func withoutOptions(all []queue) []queue {
	all = slices.Clone(all)
	for i := range all {
		all[i].Options = nil
	}
	return all
}

func withoutFrames(all []difference) []difference {
	all = slices.Clone(all)
	for i := range all {
		all[i].Lost = nil
	}
	return all
}

// sampleFile is the sample's file. A pcap is as tcpdump wrote it.
func (r *recording) sampleFile() ([]byte, error) {
	format, packed, _ := strings.Cut(r.scenario.Sample.Format, ".")
	var data []byte
	var err error
	if format == "pcapng" {
		data, err = r.merged()
	} else {
		data, err = os.ReadFile(r.capture(r.scenario.Sample.Points[0]))
	}
	if err != nil || packed == "" {
		return data, err
	}
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	err = z.Close() // only now all is in b
	return b.Bytes(), err
}

// merged is a pcapng with an interface for each of the sample's taps.
func (r *recording) merged() ([]byte, error) {
	var frames []decode.Frame
	var ifaces []capture.InterfaceInfo
	for i, point := range r.scenario.Sample.Points {
		j := slices.IndexFunc(r.scenario.Taps, func(t tap) bool { return t.Point == point })
		ifaces = append(ifaces, capture.InterfaceInfo{Link: decode.LinkEthernet, Name: point, SnapLen: uint32(r.scenario.Taps[j].Snap)})
		err := eachFrame(r.capture(point), func(f *decode.Frame) error {
			kept := *f
			kept.Data, kept.Iface = slices.Clone(f.Data), uint16(i)
			frames = append(frames, kept)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(frames, func(a, b decode.Frame) int { return cmp.Compare(a.Time, b.Time) })
	return pcapng(ifaces, frames)
}

func pcapng(ifaces []capture.InterfaceInfo, frames []decode.Frame) ([]byte, error) {
	var b bytes.Buffer
	w, err := capture.NewPcapngWriter(&b, ifaces)
	if err != nil {
		return nil, err
	}
	for i := range frames {
		if err := w.Write(&frames[i]); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}
