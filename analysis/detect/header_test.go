package detect

import (
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode/ib"
)

// bth changes the BTH of the last frame, whose ICRC stays right.
func (w *wire) bth(change func(b []byte)) {
	f := &w.frames[len(w.frames)-1]
	change(f.Data[14+20+8:])
	ip := f.Data[14 : len(f.Data)-ib.ICRCLen]
	crc, _ := w.icrc.IPv4(ip, 20)
	f.Data = ib.AppendICRC(f.Data[:14+len(ip)], crc)
}

func pkey(v uint16) func([]byte) {
	return func(b []byte) { b[2], b[3] = byte(v>>8), byte(v) }
}

func tver(b []byte)   { b[1] |= 1 }
func migReq(b []byte) { b[1] |= 0x40 }
func same([]byte)     {}

func TestHeaderMismatch(t *testing.T) {
	for _, test := range []struct {
		desc        string
		there, back func([]byte)
		want        report.Severity // empty for none
		says        string
	}{
		{"alike", migReq, migReq, "", ""},
		{"a limited member answers", same, pkey(0x7FFF), report.Notice, "P_Key 0xffff towards 10.0.0.2 and 0x7fff towards 10.0.0.1."},
		{"two partitions", pkey(0x8001), pkey(0x8002), report.Notice, "P_Key 0x8001 towards 10.0.0.2 and 0x8002 towards 10.0.0.1."},
		{"another transport version", tver, same, report.Notice, "TVer 1 towards 10.0.0.2 and 0 towards 10.0.0.1."},
		{"two makes of adapter", migReq, same, report.Info, "MigReq 1 towards 10.0.0.2 and 0 towards 10.0.0.1; that is a habit"},
	} {
		for _, alike := range []bool{false, true} { // PSNs that do not tell which queue pairs belong together
			w := newWire()
			for i := range ib.PSN(20) {
				for qp := uint32(0x12); qp < 0x15; qp++ {
					psn := i
					if !alike {
						psn += ib.PSN(qp) << 12
					}
					w.send(packet{src: 1, dst: 2, op: writeOnly, qp: qp, psn: psn, ext: reth(1, 2, 64), payload: 64})
					w.bth(test.there)
					w.answer(2, 1, qp+0x100, psn, 0x1F)
					w.bth(test.back)
				}
			}
			w.cnp(2, 1, 0x112)
			w.bth(pkey(0x1234))
			r := findings(t, w)
			if test.want == "" {
				silent(t, r, "header.mismatch")
				continue
			}
			f := finding(t, r, "header.mismatch")
			if f.Severity != test.want || f.Count != 3 || !strings.Contains(f.Summary, test.says) {
				t.Errorf("%s: %s, %d: %s", test.desc, f.Severity, f.Count, f.Summary)
			}
		}
	}
}

// A queue pair that moves to another path sets MigReq once; nothing is constant
// then.
func TestHeaderThatMigrates(t *testing.T) {
	w := newWire()
	for i := range ib.PSN(20) {
		w.send(packet{src: 1, dst: 2, op: writeOnly, qp: 0x12, psn: 5 + i, ext: reth(1, 2, 64), payload: 64})
		if i > 10 {
			w.bth(migReq)
		}
		w.answer(2, 1, 0x112, 5+i, 0x1F)
	}
	silent(t, findings(t, w), "header.mismatch")
}

func TestHeaderOfQueuePairsThatNeverTalk(t *testing.T) {
	w := newWire()
	for range 6 {
		w.send(packet{src: 1, dst: 2, op: writeOnly, qp: 0x12, psn: 5, ext: reth(1, 2, 64), payload: 64})
		w.bth(migReq)
		w.send(packet{src: 2, dst: 1, op: writeOnly, qp: 0x112, psn: 900, ext: reth(1, 2, 64), payload: 64})
		w.wait(20 * msec)
	}
	f := finding(t, findings(t, w), "header.mismatch")
	if f.Severity != report.Notice || !strings.Contains(f.Summary, "never answered") {
		t.Errorf("%s: %s", f.Severity, f.Summary)
	}
}

// Damage must not pass for a habit.
func TestHeaderWithBadICRC(t *testing.T) {
	w := newWire()
	for i := range ib.PSN(20) {
		w.write(1, 2, 0x12, 5+i)
	}
	w.write(1, 2, 0x12, 25)
	w.frames[len(w.frames)-1].Data[14+20+8+2] ^= 0x80
	silent(t, findings(t, w), "header.mismatch")
}
