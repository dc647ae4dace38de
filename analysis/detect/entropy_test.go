package detect

import (
	"math"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode/ib"
)

// overQueues sends rounds of WRITEs over n queue pairs; port chooses the source
// port of each.
func (w *wire) overQueues(n int, port func(i int) uint16) {
	for round := range ib.PSN(4) {
		for i := range n {
			w.write(1, 2, 0x10+uint32(i), round, func(p *packet) { p.port = port(i) })
		}
	}
}

func onePort(int) uint16     { return 0xC111 }
func ownPort(i int) uint16   { return 0xC000 + uint16(i) }
func halfPorts(i int) uint16 { return 0xC000 + uint16(i%2) }

func TestSinglePort(t *testing.T) {
	for _, test := range []struct {
		desc string
		n    int
		port func(int) uint16
		want report.Severity // empty: silent
	}{
		{"one queue pair has one port", 1, onePort, ""},
		{"a few share a port", 3, onePort, report.Info},
		{"many share a port", 8, onePort, report.Warning},
		{"many share two ports", 16, halfPorts, ""},
		{"each has its own", 16, ownPort, ""},
	} {
		w := newWire()
		w.overQueues(test.n, test.port)
		r := findings(t, w)
		if test.want == "" {
			silent(t, r, "entropy.single-port")
			continue
		}
		if f := finding(t, r, "entropy.single-port"); f.Severity != test.want || f.Count != int64(test.n) {
			t.Errorf("%s: %s of %d, want %s", test.desc, f.Severity, f.Count, test.want)
		}
	}
}

func TestQueuePairsOneAfterTheOtherAreNotShared(t *testing.T) {
	w := newWire()
	for i := range uint32(10) {
		for psn := range ib.PSN(4) {
			w.write(1, 2, 0x10+i, psn)
		}
		w.wait(1000 * usec)
	}
	silent(t, findings(t, w), "entropy.single-port")
}

func TestEntropyLowNeedsLinks(t *testing.T) {
	for _, test := range []struct {
		desc   string
		queues int
		links  int
		want   report.Severity
	}{
		{"four paths over two links", 4, 2, ""},
		{"four paths over eight links", 4, 8, report.Notice},
		{"four queue pairs, links unknown", 4, 0, ""},
		{"sixteen queue pairs on ports of their own, links unknown", 16, 0, ""},
	} {
		w := newWire()
		w.overQueues(test.queues, ownPort)
		cfg := analysis.Defaults(1)
		cfg.Links = test.links
		r := analyze(t, w, cfg)
		if test.want == "" {
			silent(t, r, "entropy.low")
			continue
		}
		f := finding(t, r, "entropy.low")
		if f.Severity != test.want || f.Values["effective_paths_x100"] != 400 {
			t.Errorf("%s: %s with %d", test.desc, f.Severity, f.Values["effective_paths_x100"])
		}
	}
}

func TestEffectivePaths(t *testing.T) {
	for _, test := range []struct {
		desc  string
		bytes []int64
		want  float64
	}{
		{"nothing", nil, 0},
		{"one key", []int64{5}, 1},
		{"four alike", []int64{3, 3, 3, 3}, 4},
		{"keys without bytes do not count", []int64{3, 3, 0}, 2},
		{"one outweighs the rest", []int64{90, 5, 5}, math.Exp2(-.9*math.Log2(.9) - .1*math.Log2(.05))},
	} {
		if got, _, _, _ := spread(test.bytes).effective(); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", test.desc, got, test.want)
		}
	}
}

func TestManyPortsOfOneQueuePairAreBounded(t *testing.T) {
	w := newWire()
	for psn := range ib.PSN(100) {
		w.write(1, 2, 0x10, psn, func(p *packet) { p.port = 0xC000 + uint16(psn) })
	}
	got := findings(t, w).Rows("entropy", "paths")
	if want := 1 + entropyPorts + 1; len(got) != want {
		t.Fatalf("%d rows, want %d", len(got), want)
	}
	var frames int64
	for _, row := range got {
		frames += row.Values[1]
	}
	if frames != 100 {
		t.Errorf("%d data frames, want 100", frames)
	}
}
