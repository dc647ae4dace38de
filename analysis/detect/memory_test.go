package detect

import (
	"bytes"
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/decode"
	source "github.com/rocescope/rocescope/decode/capture"
	"github.com/rocescope/rocescope/pcaps/synth"
)

// What a row may take: of the engine and of all analyzers together when the last
// packet has been read, and of a finished report. Many packets of many rows are
// what fills memory, so that a word more for each row counts.
const (
	stateOfRow  = 2450 // bytes
	reportOfRow = 1450
)

func TestMemoryOfARow(t *testing.T) {
	if testing.Short() {
		t.Skip("a quarter of a million packets")
	}
	var file bytes.Buffer
	if _, err := (synth.Bulk{Packets: 250_000, Connections: 10_000, HostPairs: 1_000, Train: 4,
		File: synth.File{Format: synth.Pcap, SnapLen: 96}, Seed: 1}).Write(&file); err != nil {
		t.Fatal(err)
	}
	src, err := source.NewReader("bulk", bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	c := analysis.Defaults(2)
	before := inUse()
	s := &weighed{Source: src}
	r, err := analysis.Run(context.Background(), s, All(), c)
	if err != nil {
		t.Fatal(err)
	}
	after, rows := inUse(), int64(len(r.Flows))
	if rows < 15_000 {
		t.Fatalf("%d rows are too few to tell", rows)
	}
	t.Logf("%d rows: %d bytes each at the last packet, %d of the report", rows, (s.most-before)/rows, (after-before)/rows)
	if n := (s.most - before) / rows; n > stateOfRow {
		t.Errorf("a row takes %d bytes when all packets have been read, want at most %d", n, stateOfRow)
	}
	if n := (after - before) / rows; n > reportOfRow {
		t.Errorf("a row takes %d bytes of a report, want at most %d", n, reportOfRow)
	}
	runtime.KeepAlive(r)
	runtime.KeepAlive(&file)
}

// weighed looks at what is in use behind the last frame.
type weighed struct {
	analysis.Source
	most int64
}

func (s *weighed) Read(f *decode.Frame) error {
	err := s.Source.Read(f)
	if err != nil {
		s.most = inUse()
		for s.most > s.soon() { // until what is under way to the shards has arrived
			s.most = inUse()
		}
	}
	return err
}

// soon is what is in use a little later, on a machine that has other things to do.
func (s *weighed) soon() int64 {
	time.Sleep(200 * time.Millisecond)
	return inUse()
}

func inUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what a pool keeps goes with the second one
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
