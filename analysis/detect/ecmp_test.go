package detect

import (
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode/ib"
)

// lane is WRITEs of one queue pair along one interface of the capture, and from
// one MAC where that is not 0.
type lane struct {
	iface    uint16
	mac      byte
	src, dst byte
	qp       uint32
	n        int
}

// lanes has several queue pairs write by turns.
func (w *wire) lanes(list ...lane) {
	for i := range 200 {
		for _, l := range list {
			if i >= l.n {
				continue
			}
			from := len(w.frames)
			w.write(l.src, l.dst, l.qp, ib.PSN(i), func(p *packet) { p.payload = 1000 })
			for j := range w.frames[from:] {
				w.frames[from+j].Iface = l.iface
			}
			if l.mac != 0 {
				w.frames[from].Data[11] = l.mac
			}
		}
	}
}

// eight is eight queue pairs of one host pair; which says along what each goes.
func eight(which func(int) uint16) (out []lane) {
	for i := range 8 {
		out = append(out, lane{which(i), 0, 1, 2, 0x10 + uint32(i), 20})
	}
	return out
}

// twice has the frames from one on captured a second time, at another tap.
func (w *wire) twice(from int, iface uint16) {
	for _, f := range w.frames[from:] {
		w.now += 300
		f.Time, f.Iface, f.Number = w.now, iface, uint64(len(w.frames)+1)
		w.frames = append(w.frames, f)
	}
}

func TestLoadOfParallelLinks(t *testing.T) {
	for _, test := range []struct {
		desc     string
		severity report.Severity // empty: nothing is said
		hottest  int64
		links    int
		play     func(*wire)
	}{
		{"even over two", "", 0, 0, func(w *wire) { w.lanes(eight(func(i int) uint16 { return uint16(i % 2) })...) }},
		{"seven of eight flows on one of two", report.Warning, 175, 0, func(w *wire) { w.lanes(eight(func(i int) uint16 { return uint16(i / 7) })...) }},
		{"and there are four", report.Warning, 350, 4, func(w *wire) { w.lanes(eight(func(i int) uint16 { return uint16(i / 7) })...) }},
		{"one flow has nearly all", report.Info, 182, 0, func(w *wire) {
			w.lanes(lane{0, 0, 1, 2, 0x10, 6}, lane{1, 0, 1, 2, 0x11, 6}, lane{0, 0, 1, 2, 0x12, 6}, lane{1, 0, 1, 2, 0x13, 6}, lane{0, 0, 1, 2, 0x14, 110})
		}},
		{"links of unlike hosts", "", 0, 0, func(w *wire) {
			w.lanes(append(eight(func(int) uint16 { return 0 }), lane{1, 0, 3, 4, 0x30, 20})...)
		}},
		{"one fibre for each direction", "", 0, 0, func(w *wire) {
			w.lanes(eight(func(int) uint16 { return 0 })...)
			for i := range w.frames {
				w.frames[i].Iface = uint16(w.frames[i].Data[29] - 1) // by the sender
			}
		}},
		{"two taps in series, one of which sees another host", "", 0, 0, func(w *wire) {
			for i := range 20 {
				from := len(w.frames)
				w.write(1, 2, 0x10, ib.PSN(i))
				w.twice(from, 1)
				from = len(w.frames)
				w.write(1, 2, 0x11, ib.PSN(i))
				w.twice(from, 1)
				w.write(1, 3, 0x12, ib.PSN(i))
				w.write(1, 3, 0x13, ib.PSN(i))
				w.write(1, 4, 0x14, ib.PSN(i))
			}
		}},
		{"three flows are too few", "", 0, 0, func(w *wire) {
			w.lanes(lane{0, 0, 1, 2, 0x10, 50}, lane{0, 0, 1, 2, 0x11, 50}, lane{1, 0, 1, 2, 0x12, 2})
		}},
		{"a bond of two MACs", report.Warning, 194, 0, func(w *wire) {
			w.lanes(lane{0, 0xA1, 1, 2, 0x10, 30}, lane{0, 0xA1, 1, 3, 0x11, 30}, lane{0, 0xA1, 1, 4, 0x12, 30}, lane{0, 0xA1, 1, 5, 0x13, 30}, lane{0, 0xA2, 1, 2, 0x14, 4})
		}},
		{"a MAC that took over", "", 0, 0, func(w *wire) {
			w.lanes(lane{0, 0xA1, 1, 2, 0x10, 60}, lane{0, 0xA1, 1, 2, 0x11, 60}, lane{0, 0xA1, 1, 2, 0x12, 60}, lane{0, 0xA1, 1, 2, 0x13, 60})
			w.lanes(lane{0, 0xA2, 1, 2, 0x20, 10})
		}},
	} {
		t.Run(test.desc, func(t *testing.T) {
			w := newWire()
			test.play(w)
			cfg := analysis.Defaults(1)
			cfg.Links = test.links
			r := analyze(t, w, cfg)
			if test.severity == "" {
				silent(t, r, "ecmp.imbalance")
				return
			}
			for _, f := range r.Findings {
				if f.Rule == "ecmp.imbalance" && f.Values["members"] > 0 {
					if f.Severity != test.severity || f.Values["hottest_of_fair_share_x100"] != test.hottest {
						t.Errorf("%s %s: %v", f.Severity, f.Summary, f.Values)
					}
					return
				}
			}
			t.Errorf("nothing is said of it in %+v", r.Findings)
		})
	}
}

func TestPredictionForLinks(t *testing.T) {
	for _, test := range []struct {
		desc     string
		severity report.Severity // empty: nothing is said
		ports    func(int) uint16
		n        int
	}{
		{"sixteen queue pairs share a port", report.Warning, func(int) uint16 { return 0xC123 }, 16},
		{"a port for each of nine", report.Info, func(i int) uint16 { return 0xC000 + 7*uint16(i) }, 9},
		{"many ports", "", func(i int) uint16 { return 0xC000 + 41*uint16(i) }, 400},
		{"fewer queue pairs than links", "", func(int) uint16 { return 0xC123 }, 7},
	} {
		t.Run(test.desc, func(t *testing.T) {
			w := newWire()
			for i := range test.n {
				for psn := range ib.PSN(20) {
					w.write(1, 2, 0x1000+uint32(i)*512, psn, func(p *packet) { p.port = test.ports(i) })
				}
			}
			cfg := analysis.Defaults(1)
			r := analyze(t, w, cfg)
			silent(t, r, "ecmp.imbalance")
			if r.Rows("ecmp", "prediction") != nil {
				t.Error("a prediction without a number of links")
			}
			cfg.Links = 8
			for range 2 { // judging twice changes nothing
				analysis.Judge(r, All(), cfg)
			}
			if n := len(r.Rows("ecmp", "prediction")); n != 2*len(hashFamilies) {
				t.Errorf("%d rows of prediction", n)
			}
			if test.severity == "" {
				silent(t, r, "ecmp.imbalance")
			} else if f := finding(t, r, "ecmp.imbalance"); f.Severity != test.severity {
				t.Errorf("%s: %s", f.Severity, f.Summary)
			}
		})
	}
}

// TestCRC16 takes the check value of CRC-16/XMODEM.
func TestCRC16(t *testing.T) {
	if got := crc16([]byte("123456789")); got != 0x31C3 {
		t.Errorf("%#x", got)
	}
}
