package detect

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// Ports that pause: a host's, and a switch's that sends nothing else.
var (
	host2     = [6]byte{0x0C, 0x42, 0xA1, 0, 0, 2}
	switchMAC = [6]byte{0x7C, 0xFE, 0x90, 1, 2, 3}
)

// pfc sends a PFC frame of one priority; macPause a PAUSE frame.
func (w *wire) pfc(mac [6]byte, priority int, quanta uint16) {
	b := []byte{0x01, 0x01, 0, 1 << priority}
	for i := range 8 {
		q := uint16(0)
		if i == priority {
			q = quanta
		}
		b = append(b, byte(q>>8), byte(q))
	}
	w.control(mac, b)
}

func (w *wire) macPause(mac [6]byte, quanta uint16) {
	w.control(mac, []byte{0, 1, byte(quanta >> 8), byte(quanta)})
}

func (w *wire) control(mac [6]byte, body []byte) {
	b := append([]byte{0x01, 0x80, 0xC2, 0, 0, 1}, mac[:]...)
	b = append(append(b, 0x88, 0x08), body...)
	w.put(append(b, make([]byte, 60-len(b))...))
}

// onInterface puts the last frame on another interface.
func (w *wire) onInterface(iface uint16) { w.frames[len(w.frames)-1].Iface = iface }

// at100G is a run that knows its link's rate: 1000 quanta are 5.12 µs.
func at100G(workers int) *analysis.Config {
	c := analysis.Defaults(workers)
	c.LinkRate = 100e9
	return c
}

var pauseRules = []string{"pfc.paused", "pfc.storm", "pfc.host", "pfc.source", "pause.global", "ecn.after-pfc"}

// paused lets pauses pass, as long as 1000 quanta, one each 10 µs.
func (w *wire) paused(mac [6]byte, n int) {
	for range n {
		w.pfc(mac, 3, 1000)
		w.wait(10 * usec)
	}
}

func TestPauses(t *testing.T) {
	for _, test := range []struct {
		desc string
		send func(*wire)
		want map[string]report.Severity
	}{
		{"no pause", func(w *wire) { w.writes(1, 2, 40) }, nil},
		{"resumes alone", func(w *wire) {
			w.writes(1, 2, 40)
			for range 2000 {
				w.pfc(switchMAC, 3, 0)
				w.wait(200 * usec)
			}
		}, nil},
		{"one burst absorbed, in a short capture", func(w *wire) {
			w.writes(1, 2, 20, notECT)
			w.pfc(switchMAC, 3, 65535)
			w.wait(8 * usec)
			w.pfc(switchMAC, 3, 0)
			w.writes(1, 2, 20, notECT)
		}, map[string]report.Severity{"pfc.paused": report.Info, "ecn.not-ect": report.Notice}},
		{"a few pauses until congestion control acts", func(w *wire) {
			w.writes(1, 2, 60)
			for range 3 {
				w.pfc(switchMAC, 3, 65535)
				w.wait(15 * usec)
				w.pfc(switchMAC, 3, 0)
				w.wait(10 * usec)
			}
			w.cnp(2, 1, 0x110)
			w.writes(1, 2, 60)
		}, map[string]report.Severity{"pfc.paused": report.Info, "cnp.without-ce": report.Info}},
		{"a switch that pauses half of the time", func(w *wire) {
			w.writes(1, 2, 20)
			w.paused(switchMAC, 50)
		}, map[string]report.Severity{"pfc.paused": report.Warning}},
		{"the receiver that pauses half of the time", func(w *wire) {
			w.writes(1, 2, 20)
			w.paused(host2, 50)
		}, map[string]report.Severity{"pfc.paused": report.Warning, "pfc.host": report.Warning}},
		{"a router's port, with several addresses behind it", func(w *wire) {
			for i := range ib.PSN(20) {
				w.write(1, 2, 0x10, i)
				w.write(3, 2, 0x30, i)
				w.fromMAC(3, [6]byte{0x0C, 0x42, 0xA1, 0, 0, 1})
			}
			w.paused([6]byte{0x0C, 0x42, 0xA1, 0, 0, 1}, 50)
		}, map[string]report.Severity{"pfc.paused": report.Warning}},
		{"a router's port, as the TTL tells", func(w *wire) {
			w.writes(1, 2, 20)
			w.withTTL(2, 62)
			w.paused(host2, 50)
		}, map[string]report.Severity{"pfc.paused": report.Warning}},
		{"a MAC that RoCE goes to and none comes from", func(w *wire) {
			for i := range ib.PSN(20) {
				w.send(packet{src: 1, dst: 2, op: writeOnly, qp: 0x10, psn: i, ext: reth(0, 1, 64), payload: 64})
			}
			w.paused(host2, 50)
		}, map[string]report.Severity{"pfc.paused": report.Warning}},
		{"a MAC that RoCE of several senders goes to, all to one address", func(w *wire) {
			for i := range ib.PSN(20) {
				w.send(packet{src: 1, dst: 2, op: writeOnly, qp: 0x10, psn: i, ext: reth(0, 1, 64), payload: 64})
				w.send(packet{src: 3, dst: 2, op: writeOnly, qp: 0x30, psn: i, ext: reth(0, 1, 64), payload: 64})
			}
			w.paused(host2, 50)
		}, map[string]report.Severity{"pfc.paused": report.Warning, "pfc.host": report.Notice}},
		{"a pause renewed for 250 ms", func(w *wire) {
			w.writes(1, 2, 20)
			for range 1000 {
				w.pfc(switchMAC, 3, 65535) // 335 µs
				w.wait(250 * usec)
			}
		}, map[string]report.Severity{"pfc.paused": report.Warning, "pfc.storm": report.Critical}},
		{"a pause renewed too late for 250 ms", func(w *wire) {
			w.writes(1, 2, 20)
			for range 700 {
				w.pfc(switchMAC, 3, 65535)
				w.wait(350 * usec)
			}
		}, map[string]report.Severity{"pfc.paused": report.Warning}},
		{"two pauses of 150 ms, a resume between", func(w *wire) {
			w.writes(1, 2, 20)
			for i := range 1200 {
				w.pfc(switchMAC, 3, 65535)
				w.wait(250 * usec)
				if i == 600 {
					w.pfc(switchMAC, 3, 0)
				}
			}
		}, map[string]report.Severity{"pfc.paused": report.Warning}},
		{"a source that is nobody's", func(w *wire) {
			w.writes(1, 2, 20)
			w.paused([6]byte{}, 1)
			w.wait(10_000 * usec)
			w.writes(1, 2, 20)
		}, map[string]report.Severity{"pfc.paused": report.Info, "pfc.source": report.Notice}},
		{"a group address as source", func(w *wire) { w.writes(1, 2, 20); w.pfc([6]byte{1, 0x80, 0xC2, 0, 0, 1}, 3, 0) },
			map[string]report.Severity{"pfc.source": report.Notice}},
		{"PAUSE in place of PFC", func(w *wire) {
			w.writes(1, 2, 20)
			for range 10 {
				w.macPause(switchMAC, 1000)
				w.wait(10 * usec)
			}
		}, map[string]report.Severity{"pause.global": report.Warning}},
		{"PAUSE that only resumes", func(w *wire) { w.writes(1, 2, 20); w.macPause(switchMAC, 0) }, nil},
		{"pauses and never a mark", func(w *wire) {
			w.writes(1, 2, 120)
			w.paused(switchMAC, 100)
		}, map[string]report.Severity{"pfc.paused": report.Warning, "ecn.after-pfc": report.Notice}},
		{"marks before the pauses", func(w *wire) {
			w.writes(1, 2, 120)
			w.write(1, 2, 0x10, 120, marked)
			w.cnp(2, 1, 0x110)
			w.paused(switchMAC, 100)
		}, map[string]report.Severity{"pfc.paused": report.Warning, "ecn.marked": report.Notice}},
		{"a CNP before the pauses, marks behind the tap", func(w *wire) {
			w.writes(1, 2, 120)
			w.cnp(2, 1, 0x110)
			w.paused(switchMAC, 100)
		}, map[string]report.Severity{"pfc.paused": report.Warning, "cnp.without-ce": report.Info}},
		{"a CNP on its way while the first pause came", func(w *wire) {
			w.writes(1, 2, 120)
			w.paused(switchMAC, 3)
			w.cnp(2, 1, 0x110)
			w.paused(switchMAC, 100)
		}, map[string]report.Severity{"pfc.paused": report.Warning, "cnp.without-ce": report.Info}},
		{"nothing that could be marked", func(w *wire) {
			w.writes(1, 2, 120, notECT)
			w.paused(switchMAC, 100)
		}, map[string]report.Severity{"pfc.paused": report.Warning, "ecn.not-ect": report.Notice}},
		{"a host that pauses before any mark: no switch marks for it", func(w *wire) {
			w.writes(1, 2, 120)
			w.paused(host2, 100)
		}, map[string]report.Severity{"pfc.paused": report.Warning, "pfc.host": report.Warning, "ecn.after-pfc": report.Info}},
	} {
		t.Run(test.desc, func(t *testing.T) {
			w := newWire()
			test.send(w)
			w.wait(100 * usec)
			w.send(packet{src: 1, dst: 2, op: writeOnly, qp: 0x10, psn: 500, ext: reth(0, 1, 64), payload: 64})
			r := analyze(t, w, at100G(1))
			for _, rule := range append([]string{"ecn.marked", "ecn.not-ect", "cnp.without-ce"}, pauseRules...) {
				if test.want[rule] == "" {
					silent(t, r, rule)
				} else if f := finding(t, r, rule); f.Severity != test.want[rule] {
					t.Errorf("%s is %s, want %s: %s", rule, f.Severity, test.want[rule], f.Summary)
				}
			}
		})
	}
}

// fromMAC gives all frames of a host another source MAC.
func (w *wire) fromMAC(host byte, mac [6]byte) {
	for i := range w.frames {
		if b := w.frames[i].Data; b[12] == 0x08 && b[13] == 0 && b[29] == host {
			copy(b[6:], mac[:])
		}
	}
}

// withTTL gives all frames of a host another TTL, which the ICRC leaves out.
func (w *wire) withTTL(host, ttl byte) {
	for i := range w.frames {
		if b := w.frames[i].Data; b[12] == 0x08 && b[13] == 0 && b[29] == host {
			b[22] = ttl
		}
	}
}

// pausesIn returns the row of a port in the table of pauses, by column.
func pausesIn(t *testing.T, r *report.Report, mac string) map[string]int64 {
	t.Helper()
	for i := range r.Sections {
		if r.Sections[i].Name != "pfc" {
			continue
		}
		table := r.Sections[i].Table("pauses")
		for _, row := range table.Rows {
			if row.Key[1] == mac {
				out := map[string]int64{}
				for c, column := range table.Columns {
					out[column.Name] = row.Values[c]
				}
				return out
			}
		}
	}
	t.Fatalf("%s does not pause", mac)
	return nil
}

func TestPausedTimeIsAUnionCutByTheNextFrame(t *testing.T) {
	w := newWire()
	w.write(1, 2, 0x10, 0)
	w.pfc(switchMAC, 3, 1000) // 5120 ns, cut after 3000
	w.wait(3000)
	w.pfc(switchMAC, 3, 1000) // runs out
	w.wait(9000)
	w.pfc(switchMAC, 3, 2000) // 10240 ns, ended after 4000
	w.wait(4000)
	w.pfc(switchMAC, 3, 0)
	w.wait(4000)
	w.pfc(switchMAC, 3, 0)
	w.pfc(switchMAC, 3, 65535) // cut by the end of the capture
	w.wait(500)
	w.frames = append(w.frames, w.frames[0])
	w.frames[len(w.frames)-1].Time = w.now
	got := pausesIn(t, analyze(t, w, at100G(1)), "7c:fe:90:01:02:03")
	for name, want := range map[string]int64{"xoff_frames": 4, "xon_frames": 2, "refresh_frames": 1, "stretches": 3, "quanta": 69535,
		"paused_ns": 3000 + 5120 + 4000 + 500, "paused_most_ns": 3000 + 5120 + 4000 + 500, "longest_ns": 8120} {
		if got[name] != want {
			t.Errorf("%s is %d, want %d", name, got[name], want)
		}
	}
}

func TestWithoutARateTimesAreBounds(t *testing.T) {
	w := newWire()
	w.writes(1, 2, 20)
	for range 1000 {
		w.pfc(switchMAC, 3, 65535) // 21 µs at 1.6 Tbit/s, 3.4 ms at 10 Gbit/s
		w.wait(250 * usec)
	}
	w.pfc(switchMAC, 3, 0)
	w.pfc(switchMAC, 3, 65535)
	w.wait(10 * usec)
	w.pfc(switchMAC, 3, 0) // 10 µs, whatever the rate
	r := findings(t, w)
	got := pausesIn(t, r, "7c:fe:90:01:02:03")
	if least, most := got["paused_ns"], got["paused_most_ns"]; least != 1000*20971+10_000 || most != 250_010_000 {
		t.Errorf("paused for %d to %d", least, most)
	}
	f := finding(t, r, "pfc.paused")
	if !strings.Contains(f.Summary, "--link-rate") || !strings.Contains(f.Summary, "21 ms to 250 ms") {
		t.Errorf("bounds are not told: %s", f.Summary)
	}
	f = finding(t, r, "pfc.storm")
	if f.Severity != report.Warning || f.Confidence != report.Possible || !strings.Contains(f.Summary, "134 Gbit/s or less") {
		t.Errorf("%s, %s: %s", f.Severity, f.Confidence, f.Summary)
	}
}

func TestChoppyPausesShowInAWindow(t *testing.T) {
	w := newWire()
	w.write(1, 2, 0x10, 0)
	w.wait(10_000_000 * usec) // ten seconds at rest
	for range 1000 {          // then 75 % of 200 ms
		w.pfc(switchMAC, 3, 65535)
		w.wait(150 * usec)
		w.pfc(switchMAC, 3, 0)
		w.wait(50 * usec)
	}
	f := finding(t, analyze(t, w, at100G(1)), "pfc.paused")
	if f.Severity != report.Warning || !strings.Contains(f.Summary, "and in its worst 100 ms 75 % of it") {
		t.Errorf("%s: %s", f.Severity, f.Summary)
	}
}

func TestFlowsThatFallSilent(t *testing.T) {
	w := newWire()
	for i := range ib.PSN(200) { // 3 sends to 4 all the while, 1 to 2 only while 2 does not pause
		on := i%20 < 10
		if i%20 == 10 {
			w.pfc(host2, 3, 65535)
		}
		if i > 0 && i%20 == 0 {
			w.pfc(host2, 3, 0)
		}
		if on {
			w.write(1, 2, 0x10, i)
		}
		w.write(3, 4, 0x30, i)
	}
	f := finding(t, analyze(t, w, at100G(1)), "pfc.paused")
	if f.Values["quiet_flows"] != 1 || !strings.Contains(f.Summary, "1 flow fell silent meanwhile, 10.0.0.1 → 10.0.0.2 QP 0x10") {
		t.Errorf("%d flows: %s", f.Values["quiet_flows"], f.Summary)
	}
}

func TestPausesSpread(t *testing.T) {
	other := [6]byte{0x7C, 0xFE, 0x90, 9, 9, 9}
	w := newWire()
	w.writes(1, 2, 20)
	for range 20 {
		w.pfc(host2, 3, 20000) // 102 µs
		w.wait(12 * usec)
		w.pfc(switchMAC, 3, 20000)
		w.onInterface(1)
		w.wait(7 * usec)
		w.pfc(other, 3, 20000)
		w.onInterface(2)
		w.wait(50 * usec)
	}
	r := analyze(t, w, at100G(1))
	var all []string
	for _, f := range r.Findings {
		if f.Rule == "pfc.paused" {
			all = append(all, f.Summary)
		}
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{
		"it was the first to pause, switch port 7c:fe:90:01:02:03 joined 12 µs later, switch port 7c:fe:90:09:09:09 7 µs after that.",
		"it came behind 10.0.0.2 (0c:42:a1:00:00:02) by 12 µs",
		"it came behind switch port 7c:fe:90:01:02:03 by 7 µs, and all began at 10.0.0.2",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestPausesOfOneInterfaceTellNoOrder(t *testing.T) {
	w := newWire()
	w.writes(1, 2, 20)
	for range 20 {
		w.pfc(host2, 3, 20000)
		w.wait(12 * usec)
		w.pfc(switchMAC, 3, 20000)
		w.wait(50 * usec)
	}
	for _, row := range analyze(t, w, at100G(1)).Rows("pfc", "spread") {
		t.Errorf("%q came behind", row.Key)
	}
}

// stormy is a capture with all kinds of pauses.
func stormy() *wire {
	w := newWire()
	for i := range ib.PSN(300) {
		w.write(1, 2, 0x10, i)
		w.write(3, 2, 0x30, i)
		w.write(4, 5, 0x40, i)
		switch i % 10 {
		case 3:
			w.pfc(host2, 3, 65535)
			w.wait(40 * usec)
		case 4:
			w.pfc(switchMAC, 4, 5000)
			w.onInterface(1)
			w.macPause([6]byte{}, 100)
		case 5:
			w.pfc(host2, 3, 0)
		}
	}
	for range 1000 {
		w.pfc(switchMAC, 3, 65535)
		w.wait(250 * usec)
	}
	return w
}

func TestPausesDoNotDependOnWorkersOrSaving(t *testing.T) {
	for _, rate := range []float64{0, 100e9} {
		config := func(workers int) *analysis.Config {
			c := analysis.Defaults(workers)
			c.LinkRate = rate
			return c
		}
		one := analyze(t, stormy(), config(1))
		want := jsonOf(t, one)
		if got := jsonOf(t, analyze(t, stormy(), config(4))); got != want {
			t.Errorf("four workers:\n%s", firstDifference(want, got))
		}
		back, err := report.Read(strings.NewReader(want))
		if err != nil {
			t.Fatal(err)
		}
		analysis.Judge(back, All(), config(1))
		if got := jsonOf(t, back); got != want {
			t.Errorf("saved:\n%s", firstDifference(want, got))
		}
		for _, rule := range pauseRules {
			if rule != "ecn.after-pfc" && !bytes.Contains([]byte(want), []byte(rule)) {
				t.Errorf("%s is not among %q", rule, rulesOf(one))
			}
		}
	}
}

func TestPausesAllocateNothing(t *testing.T) {
	batches := batchesOf(t, stormy())
	o, look := newPFC(at100G(1)), analysis.NewLookout(newPFCWatch(at100G(1)))
	n := testing.AllocsPerRun(10, func() {
		for i := range batches {
			o.Observe(&batches[i])
			for j := range batches[i].Packets {
				look.Add(&batches[i].Packets[j])
			}
			look.Show()
		}
	})
	if n > 1 { // a storm kept
		t.Errorf("%v allocations for batches seen before", n)
	}
}

func TestPausesOfOddTimesAndRates(t *testing.T) {
	for _, rate := range []float64{0, -1, 1e-300, 1, 100e9, math.MaxFloat64, math.Inf(1), math.NaN()} {
		w := stormy()
		for i := range w.frames {
			switch i % 7 {
			case 1:
				w.frames[i].Time -= int64(i) * 1_000_000
			case 2:
				w.frames[i].Time = 0
			case 3:
				w.frames[i].Time = math.MaxInt64 - int64(i)
			case 4:
				w.frames[i].Time = math.MinInt64 + int64(i)
			}
		}
		c := at100G(1)
		c.LinkRate = rate
		for _, f := range analyze(t, w, c).Findings {
			if strings.Contains(f.Summary, "-9") {
				t.Errorf("at %v: %s", rate, f.Summary)
			}
		}
	}
}

func TestPausersAreBounded(t *testing.T) {
	w := newPFCWatch(at100G(1)).(*pfcWatch)
	look := analysis.NewLookout(w)
	for i := range 5000 {
		p := decode.Packet{Status: decode.PFC, Time: int64(i), Frame: uint64(i), Iface: uint16(i), SrcMAC: [6]byte{2, 0, 0, 0, byte(i >> 8), byte(i)}}
		p.Pause.Enabled, p.Pause.Quanta[3] = 1<<3, 65535
		look.Add(&p)
		look.Show()
	}
	r := &report.Report{}
	w.Report(r)
	if n := len(r.Rows("pfc", "pauses")); n != pausersMax {
		t.Errorf("%d ports, want %d", n, pausersMax)
	}
	if n := len(r.Rows("pfc", "spread")); n > spreadsMax {
		t.Errorf("%d steps", n)
	}
	if n := r.Section("pfc").Value("beyond_frames"); n != 5000-pausersMax {
		t.Errorf("%d frames beyond", n)
	}
	analysis.Judge(r, All(), at100G(1))
}

// macSenders returns untagged addresses.
func macSenders(addrs ...string) (out []macSender) {
	for _, a := range addrs {
		out = append(out, macSender{"0", a})
	}
	return out
}

func TestRoles(t *testing.T) {
	for _, test := range []struct {
		use  *macUse
		roce bool
		want pfcRole
	}{
		{nil, true, roleSwitch},
		{nil, false, roleUnknown},
		{&macUse{to: macSenders("10.0.0.1")}, true, roleUnknown},
		{&macUse{from: macSenders("10.0.0.1"), unrouted: 5}, true, roleHost},
		{&macUse{from: macSenders("10.0.0.1", "fe80::1", "2001:db8::1"), unrouted: 5}, true, roleHost},
		{&macUse{from: macSenders("10.0.0.1", "10.0.0.2"), unrouted: 5}, true, roleRouter},
		{&macUse{from: macSenders("2001:db8::1", "2001:db8::2"), unrouted: 5}, true, roleRouter},
		{&macUse{from: []macSender{{"100", "10.0.0.1"}, {"200", "10.0.0.2"}}, unrouted: 5}, true, roleHost},
		{&macUse{from: macSenders("10.0.0.1"), routed: 5}, true, roleRouter},
	} {
		r := &report.Report{}
		if test.roce {
			r.Totals.RoCE = 1
		}
		if got := test.use.roleOf("02:00:00:00:00:01", r); got != test.want {
			t.Errorf("%s is %d, want %d", fmt.Sprint(test.use), got, test.want)
		}
	}
}
