package analysis_test

import (
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
)

// end names a queue pair as a row does: where its packets come from, where
// they go, and to which queue pair.
type end struct {
	src, dst string
	qp       uint32
}

func endOf(f *report.Flow) end { return end{f.Src, f.Dst, f.DestQP} }

// truePairs maps each end to the queue pairs that may be behind it; more than
// one where a number was used again.
type truePairs map[end]map[uint32]bool

func (p truePairs) add(e end, peer uint32) {
	if p[e] == nil {
		p[e] = map[uint32]bool{}
	}
	p[e][peer] = true
}

// connect enters both directions of a connection of (a, qpA) and (b, qpB).
func (p truePairs) connect(a, b string, qpA, qpB uint32) {
	p.add(end{a, b, qpB}, qpA)
	p.add(end{b, a, qpA}, qpB)
}

// compare wants every peer that is known right, and known where both
// directions of a reliable connection were captured.
func (p truePairs) compare(t *testing.T, r *report.Report) (found int) {
	t.Helper()
	there := map[end]bool{}
	for i := range r.Flows {
		there[endOf(&r.Flows[i])] = true
	}
	for i := range r.Flows {
		f := &r.Flows[i]
		peers := p[endOf(f)]
		if f.Transport != "RC" || len(peers) == 0 {
			continue
		}
		both := false
		for peer := range peers {
			both = both || there[end{f.Dst, f.Src, peer}]
		}
		switch {
		case f.PeerQP != nil && !peers[*f.PeerQP]:
			t.Errorf("%v: peer %s by %s, want one of %v", f.Ref(), report.QP(*f.PeerQP), f.PeerBy, peers)
		case f.PeerQP != nil:
			found++
		case both:
			t.Errorf("%v: peer unknown, want one of %v", f.Ref(), peers)
		}
	}
	return found
}

func TestPeersOfRecordedConnections(t *testing.T) {
	found := 0
	for _, path := range glob(t, softroce, "*.pcap") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			pairs := truePairs{}
			for _, program := range truthOf(t, path).Programs {
				for _, q := range program.QPs {
					if q.Type == "rc" {
						pairs.connect(address(t, q.GID1), address(t, q.GID2), q.QPN1, q.QPN2)
					}
				}
			}
			found += pairs.compare(t, analyze(t, path, oneWorker()))
		})
	}
	if found < 100 {
		t.Errorf("only %d rows could be compared", found)
	}
}

func TestPeersOfLabelledConnections(t *testing.T) {
	found := 0
	for _, path := range glob(t, labelled, "*.truth.json") {
		var truth labelledTruth
		readJSON(t, path, &truth)
		t.Run(truth.Case, func(t *testing.T) {
			pairs := truePairs{}
			for _, p := range truth.Pairs {
				pairs.add(end{p[0], p[1], number(t, p[2])}, number(t, p[3]))
			}
			found += pairs.compare(t, analyze(t, filepath.Join(labelled, truth.File), truth.config()))
		})
	}
	if found < 400 {
		t.Errorf("only %d rows could be compared", found)
	}
}

// address is a GID as a row shows it.
func address(t *testing.T, gid string) string {
	t.Helper()
	a, err := netip.ParseAddr(gid)
	if err != nil {
		t.Fatal(err)
	}
	return a.Unmap().String()
}

// number reads a queue pair number such as "0x0014a0".
func number(t *testing.T, text string) uint32 {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 24)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(n)
}
