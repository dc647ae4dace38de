package detect

import (
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

func TestBinsGrowAndKeepTheirSums(t *testing.T) {
	m := &markTimes{shift: firstShift, base: 1_700_000_000_000_000_000 >> firstShift}
	for i := range int64(5000) {
		p := decode.Packet{Time: 1_700_000_000_000_000_000 + i*i*1000, ECN: decode.ECT0}
		if i%10 == 0 {
			p.ECN = decode.CE
		}
		m.sent(&p)
	}
	data, ce := int64(0), int64(0)
	for _, b := range m.bins {
		data, ce = data+int64(b.data), ce+int64(b.ce)
	}
	if data != 5000 || ce != 500 {
		t.Errorf("bins hold %d frames and %d marks, want 5000 and 500", data, ce)
	}
	if m.bins[markBins/2].data == 0 && m.bins[markBins-1].data == 0 {
		t.Error("the bins are longer than they need to be")
	}
}

func TestBinsOfTwoRowsJoinWhicheverComesFirst(t *testing.T) {
	at := func(times ...int64) *markTimes {
		m := &markTimes{shift: firstShift, base: times[0] >> firstShift}
		for _, x := range times {
			m.sent(&decode.Packet{Time: x, ECN: decode.CE})
		}
		return m
	}
	for _, test := range [][2]*markTimes{
		{at(1e9, 1e9+1e5), at(1e9)}, {at(1e9), at(9e9)}, {at(1e9, 2e9), at(1500e6, 1500e6+1)}, {at(-5), at(1 << 62)}, {at(0), at(-1 << 63)},
	} {
		a, b := test[0].joined(test[1]), test[1].joined(test[0])
		if a.shift != b.shift || a.base != b.base || a.bins != b.bins {
			t.Errorf("%v and %v", a, b)
		}
	}
}

func TestCNPsInTime(t *testing.T) {
	w := newWire()
	for i := range ib.PSN(10) {
		w.write(1, 2, 0x10, i)
		w.write(1, 2, 0x11, i, func(p *packet) { p.port = 0xC001 })
		w.write(3, 2, 0x12, i, func(p *packet) { p.port = 0xC002 })
	}
	for i := range ib.PSN(6) {
		w.write(1, 2, 0x10, 10+i, marked) // and its ACK, which is the first of 3 µs
		w.wait(usec)
		w.cnp(2, 1, 0x110)
		w.wait(4 * usec)
		w.cnp(2, 1, 0x111)
		w.wait(4 * usec)
		w.cnp(2, 3, 0x112)
		w.wait(80 * usec)
	}
	r := findings(t, w)
	delay := r.WaitsOf("congestion", "cnp_delay", "cnp")
	if delay.Count() != 6 || delay.Max != 3*usec {
		t.Errorf("%d delays of up to %d ns, want 6 of 3 µs", delay.Count(), delay.Max)
	}
	got := map[string]int64{}
	for _, row := range r.Rows("congestion", "cnp_spacing") {
		if row.Key[0] == "10.0.0.2" {
			got[row.Key[2]+row.Key[1]] = row.Values[1] / usec
		}
	}
	want := map[string]int64{scopeQP + "10.0.0.1": 94, scopeQP + "10.0.0.3": 94, scopePair + "10.0.0.1": 5, scopeHost: 5}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s: CNPs %d µs apart, want %d", k, got[k], v)
		}
	}
	if f := finding(t, r, "ecn.marked"); !strings.Contains(f.Advice, "94 µs apart at least, for each queue pair by itself") {
		t.Errorf("the spacing is not told: %s", f.Advice)
	}
}

func TestTheCongestedPortIsNamedOnlyWhereMarksTell(t *testing.T) {
	many := func(w *wire, src, dst byte, change ...func(*packet)) { w.writes(src, dst, 30, change...) }
	for _, test := range []struct {
		desc string
		send func(*wire)
		want string
	}{
		{"two senders meet at one receiver", func(w *wire) { many(w, 1, 9, marked); many(w, 2, 9, marked); many(w, 1, 5) }, "the switch port to 10.0.0.9"},
		{"one sender, one receiver", func(w *wire) { many(w, 1, 9, marked) }, ""},
		{"one sender, many receivers", func(w *wire) { many(w, 1, 7, marked); many(w, 1, 8, marked); many(w, 1, 9, marked) }, "a port near 10.0.0.1"},
		{"two pairs that share no host", func(w *wire) { many(w, 1, 8, marked); many(w, 2, 9, marked) }, "a link inside the fabric"},
	} {
		w := newWire()
		test.send(w)
		r := analyze(t, w, analysis.Defaults(1))
		for _, f := range r.Findings {
			if f.Rule != "ecn.marked" {
				continue
			}
			_, place, _ := strings.Cut(f.Summary, "Likely congested: ")
			if strings.TrimSuffix(place, ".") != test.want {
				t.Errorf("%s: %s", test.desc, f.Summary)
			}
			if f.Confidence != report.Certain {
				t.Errorf("%s: that frames are marked is %s", test.desc, f.Confidence)
			}
		}
	}
}
