package analysis_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/counters"
	"github.com/rocescope/rocescope/analysis/detect"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
)

// tally counts how expectations fared against counters that were not zero.
type tally struct{ exact, bounded, unknown int }

// hold compares the expected counters of a report with those of its hosts,
// which of returns by name, mlx5's or the driver's of with.
func (n *tally) hold(t *testing.T, r *report.Report, of func(host, name string) (int64, bool)) {
	t.Helper()
	for _, h := range r.Counters {
		for _, c := range h.Counters {
			want, known := of(h.Host, c.Name)
			if !known {
				continue
			}
			if c.With != "" {
				more, _ := of(h.Host, c.With)
				want += more
			}
			if !holds(&c, want) {
				t.Errorf("%s: %s is %s %d, and reads %d (%s)", h.Host, c.Name, c.Bound, c.Value, want, c.Why)
			}
			if (c.Bound == report.Exact) != (c.Why == "") {
				t.Errorf("%s: %s is %s because %q", h.Host, c.Name, c.Bound, c.Why)
			}
			if want > 0 {
				n.count(c.Bound)
			}
		}
	}
}

func holds(c *report.Counter, v int64) bool {
	switch c.Bound {
	case report.Exact:
		return c.Value == v
	case report.AtLeast:
		return c.Value <= v
	case report.AtMost:
		return c.Value >= v
	case report.Unknown:
		return c.Value == 0
	}
	return c.Bound == report.About
}

func (n *tally) count(b report.Bound) {
	switch b {
	case report.Exact:
		n.exact++
	case report.Unknown:
		n.unknown++
	default:
		n.bounded++
	}
}

// countedTruth is a labelled capture with the counters of the model's hosts.
type countedTruth struct {
	labelledTruth
	NIC map[string]map[string]int64 `json:"nic_counters_whole_run"`
}

func (c *countedTruth) of(host, name string) (int64, bool) {
	if name == "roce_adp_retrans" || name == "roce_slow_restart_cnps" {
		return 0, false // the model has none
	}
	return c.NIC[host][name], true
}

func TestExpectedCountersHoldInLabelledCaptures(t *testing.T) {
	var n tally
	for _, path := range glob(t, labelled, "*.truth.json") {
		var truth countedTruth
		readJSON(t, path, &truth)
		t.Run(truth.Case, func(t *testing.T) {
			n.hold(t, analyze(t, filepath.Join(labelled, truth.File), truth.config()), truth.of)
		})
	}
	if 4*n.exact < 3*n.bounded || n.unknown > 4 {
		t.Errorf("of the counters that rose %d are told exactly, %d within a bound, %d not at all", n.exact, n.bounded, n.unknown)
	}
}

// TestExpectedCountersHoldForPartsOfTheTraffic takes away what one host sent, or
// what came to it, as a tap of one fibre does: the hosts count the same. Of a
// pair of hosts that only one of them spoke in nothing is left then, and nothing
// can be said.
func TestExpectedCountersHoldForPartsOfTheTraffic(t *testing.T) {
	for _, path := range glob(t, labelled, "*.truth.json") {
		var truth countedTruth
		readJSON(t, path, &truth)
		all := frames(t, filepath.Join(labelled, truth.File))
		pairs := len(pairsOf(run(t, &frameList{frames: all}, truth.config())))
		for _, host := range slices.Sorted(maps.Keys(truth.NIC)) {
			for _, to := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s without %s %v", truth.Case, host, to), func(t *testing.T) {
					cfg := truth.config()
					r := run(t, &frameList{frames: without(all, host, to)}, cfg)
					if len(pairsOf(r)) < pairs {
						t.Skip("a pair of hosts has vanished")
					}
					analysis.Judge(r, detect.All(), cfg)
					new(tally).hold(t, r, truth.of)
				})
			}
		}
	}
}

// TestExpectedCountersHoldForWorseCaptures cuts frames short, doubles them as a
// mirror of both ways does, and takes half of the time: of a whole run no less
// than of a part.
func TestExpectedCountersHoldForWorseCaptures(t *testing.T) {
	for _, path := range glob(t, labelled, "*.truth.json") {
		var truth countedTruth
		readJSON(t, path, &truth)
		all := frames(t, filepath.Join(labelled, truth.File))
		cut, twice := slices.Clone(all), []decode.Frame(nil)
		for i := range cut {
			cut[i].Data = cut[i].Data[:min(len(cut[i].Data), 96)]
			twice = append(twice, all[i], all[i])
		}
		half := len(all) / 2
		for _, part := range []struct {
			name   string
			frames []decode.Frame
			whole  bool
		}{{"cut", cut, true}, {"twice", twice, true}, {"first half", all[:half], false}, {"second half", all[half:], false}} {
			t.Run(truth.Case+" "+part.name, func(t *testing.T) {
				cfg := truth.config()
				r := run(t, &frameList{frames: part.frames}, cfg)
				analysis.Judge(r, detect.All(), cfg)
				if !part.whole {
					loosen(r)
				}
				new(tally).hold(t, r, truth.of)
			})
		}
	}
}

// loosen makes lower bounds of a part's numbers: more may have been counted in
// the rest.
func loosen(r *report.Report) {
	for i := range r.Counters {
		for j := range r.Counters[i].Counters {
			switch c := &r.Counters[i].Counters[j]; c.Bound {
			case report.Exact:
				c.Bound, c.Why = report.AtLeast, "the rest"
			case report.AtMost:
				c.Bound = report.About
			}
		}
	}
}

func pairsOf(r *report.Report) map[[2]string]bool {
	pairs := map[[2]string]bool{}
	for i := range r.Flows {
		f := &r.Flows[i]
		pairs[[2]string{min(f.Src, f.Dst), max(f.Src, f.Dst)}] = true
	}
	return pairs
}

// without returns the frames that do not come from a host, or go to it.
func without(all []decode.Frame, host string, to bool) []decode.Frame {
	var d decode.Decoder
	return slices.DeleteFunc(slices.Clone(all), func(f decode.Frame) bool {
		var p decode.Packet
		d.Decode(&f, &p)
		addr := p.Src
		if to {
			addr = p.Dst
		}
		return decode.Address(addr) == host
	})
}

// otherwise are counters of recorded runs that a capture cannot tell, and why.
var otherwise = map[string]string{
	"duplicate.h1.s128.pcap duplicate_request": "the network made copies behind the tap",
}

func TestExpectedCountersHoldInRecordedCaptures(t *testing.T) {
	var n tally
	check := func(t *testing.T, path string, rxe map[string]int64) {
		n.hold(t, analyze(t, path, oneWorker()), func(host, name string) (int64, bool) {
			if otherwise[filepath.Base(path)+" "+name] != "" {
				return 0, false
			}
			return softCounter(rxe, host, name)
		})
	}
	for _, path := range glob(t, softroce, "*.truth.json") {
		truth := truthOf(t, path)
		for name := range truth.Captures {
			t.Run(name, func(t *testing.T) { check(t, filepath.Join(softroce, name), truth.Counters) })
		}
	}
	for _, path := range glob(t, "../pcaps", "lab*.truth.json") {
		var truth struct{ Rxe map[string]map[string]int64 }
		readJSON(t, path, &truth)
		rxe := map[string]int64{}
		for device, rose := range truth.Rxe {
			for name, v := range rose {
				rxe[device+"."+name] = v
			}
		}
		name := strings.TrimSuffix(path, ".truth.json")
		for _, capture := range glob(t, filepath.Dir(name), filepath.Base(name)+".pcap*") {
			t.Run(filepath.Base(capture), func(t *testing.T) { check(t, capture, rxe) })
		}
	}
	if 3*n.exact < n.bounded || n.unknown > 2 {
		t.Errorf("of the counters that rose %d are told exactly, %d within a bound, %d not at all", n.exact, n.bounded, n.unknown)
	}
}

// softCounter returns by how much the counter of a laboratory host rose, whose
// device has the number that its address ends in. The rcvd_seq_err of Soft-RoCE
// counts less than packet_seq_err does.
func softCounter(rxe map[string]int64, host, name string) (int64, bool) {
	var number int
	if _, err := fmt.Sscanf(host, "10.0.0.%d", &number); err != nil {
		return 0, false
	}
	for _, driver := range []string{"out_of_seq_request", "duplicate_request", "rcvd_rnr_err", "send_rnr_err"} {
		if canonical, _ := counters.Canonical(driver); canonical == name {
			return rxe[fmt.Sprintf("rxe%d.%s", number, driver)], true
		}
	}
	if name == "local_ack_timeout_err" { // retries for any reason: no fewer than timeouts
		return rxe[fmt.Sprintf("rxe%d.completer_retry_err", number)], true
	}
	return 0, false
}

// TestExpectedCountersAreOfTheSum judges twice, and two captures together: the
// counters are derived anew each time, and add up with the rows.
func TestExpectedCountersAreOfTheSum(t *testing.T) {
	one := analyze(t, filepath.Join(softroce, "det_drop.h1.pcap"), oneWorker())
	both, err := report.Merge(one, one)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		analysis.Judge(one, detect.All(), oneWorker())
		analysis.Judge(both, detect.All(), oneWorker())
	}
	rise := func(r *report.Report) (n int64) {
		for _, c := range r.Counters[1].Counters {
			if c.Name == "out_of_sequence" {
				n += c.Value
			}
		}
		return n
	}
	if len(both.Counters) != len(one.Counters) || rise(one) != 7 || rise(both) != 14 {
		t.Errorf("%d of %d hosts, %d of %d", rise(one), len(one.Counters), rise(both), len(both.Counters))
	}
}
