package detect

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"slices"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// wire is a capture made in memory: hosts 10.0.0.N that send what a test says.
// It is a Source.
type wire struct {
	frames []decode.Frame
	now    int64
	id     uint16
	icrc   ib.ICRC
	next   int
}

// packet is a packet to send: data is ECT(0), DSCP 26, unless it says otherwise.
type packet struct {
	src, dst byte
	op       ib.Opcode
	qp       uint32
	psn      ib.PSN
	ext      []byte // extension headers
	payload  int
	port     uint16 // UDP source port; 0 means 0xC000
	ecn      decode.ECN
	dscp     uint8
	notECT   bool
	bad      bool // its ICRC
}

const usec = 1000

func newWire() *wire { return &wire{now: 1_700_000_000_000_000_000} }

// wait lets time pass.
func (w *wire) wait(ns int64) { w.now += ns }

// send puts a packet on the wire a microsecond after the one before.
func (w *wire) send(p packet) {
	w.id++
	w.now += usec
	w.put(w.frame(p))
}

// again puts the last frame on the wire once more.
func (w *wire) again() {
	w.now += 100
	w.put(w.frames[len(w.frames)-1].Data)
}

func (w *wire) put(data []byte) {
	w.frames = append(w.frames, decode.Frame{Data: data, Len: len(data), Time: w.now, Number: uint64(len(w.frames) + 1), Link: decode.LinkEthernet})
}

func (w *wire) frame(p packet) []byte {
	ecn, dscp, port := p.ecn, p.dscp, p.port
	if ecn == 0 && !p.notECT {
		ecn = decode.ECT0
	}
	if dscp == 0 {
		dscp = 26
	}
	if port == 0 {
		port = 0xC000
	}
	h := ib.BTH{Opcode: p.op, PKey: 0xFFFF, DestQP: p.qp, PSN: p.psn, AckReq: true, BECN: p.op == ib.CNP}
	body := append(h.Append(nil), p.ext...)
	body = append(body, make([]byte, p.payload)...)
	udp := binary.BigEndian.AppendUint16(nil, port)
	udp = binary.BigEndian.AppendUint16(udp, decode.DefaultPort)
	udp = binary.BigEndian.AppendUint16(udp, uint16(8+len(body)+ib.ICRCLen))
	udp = append(append(udp, 0, 0), body...)
	ip := []byte{0x45, dscp<<2 | byte(ecn), 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, p.src, 10, 0, 0, p.dst}
	binary.BigEndian.PutUint16(ip[2:], uint16(20+len(udp)+ib.ICRCLen))
	binary.BigEndian.PutUint16(ip[4:], w.id)
	ip = append(ip, udp...)
	crc, _ := w.icrc.IPv4(ip, 20)
	if p.bad {
		crc ^= 0x10
	}
	link := []byte{0x0C, 0x42, 0xA1, 0, 0, p.dst, 0x0C, 0x42, 0xA1, 0, 0, p.src, 0x08, 0x00}
	return ib.AppendICRC(append(link, ip...), crc)
}

// Read implements analysis.Source.
func (w *wire) Read(f *decode.Frame) error {
	if w.next == len(w.frames) {
		return io.EOF
	}
	*f = w.frames[w.next]
	w.next++
	return nil
}

var (
	writeOnly = ib.Of(ib.RC, ib.WriteOnly)
	ackOp     = ib.Of(ib.RC, ib.Acknowledge)
)

func reth(va uint64, key, length uint32) []byte {
	h := ib.RETH{VA: va, RKey: key, DMALen: length}
	return h.Append(nil)
}

func aeth(s ib.Syndrome) []byte {
	h := ib.AETH{Syndrome: s}
	return h.Append(nil)
}

// write sends a WRITE from src to dst and acknowledges it. The queue pairs are
// numbered qp at the receiver and qp+0x100 at the sender.
func (w *wire) write(src, dst byte, qp uint32, psn ib.PSN, change ...func(*packet)) {
	p := packet{src: src, dst: dst, op: writeOnly, qp: qp, psn: psn, ext: reth(0x7000, 0x77, 64), payload: 64}
	for _, c := range change {
		c(&p)
	}
	w.send(p)
	w.answer(dst, src, qp+0x100, psn, 0x1F)
}

func (w *wire) answer(src, dst byte, qp uint32, psn ib.PSN, s ib.Syndrome) {
	w.send(packet{src: src, dst: dst, op: ackOp, qp: qp, psn: psn, ext: aeth(s)})
}

func (w *wire) cnp(src, dst byte, qp uint32) {
	w.send(packet{src: src, dst: dst, op: ib.CNP, qp: qp, payload: 16, dscp: 48})
}

// analyze runs all analyzers over a source and judges.
func analyze(t testing.TB, src analysis.Source, cfg *analysis.Config) *report.Report {
	t.Helper()
	r, err := analysis.Run(context.Background(), src, All(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	analysis.Judge(r, All(), cfg)
	onTheirPages(t, r.Findings)
	return r
}

func findings(t testing.TB, w *wire) *report.Report {
	t.Helper()
	return analyze(t, w, analysis.Defaults(1))
}

// finding returns the finding of a rule, failing where there is not just one.
func finding(t testing.TB, r *report.Report, rule string) report.Finding {
	t.Helper()
	var out []report.Finding
	for _, f := range r.Findings {
		if f.Rule == rule {
			out = append(out, f)
		}
	}
	if len(out) != 1 {
		t.Fatalf("%d findings of %s, want 1; there are %q", len(out), rule, rulesOf(r))
	}
	return out[0]
}

// silent fails where a rule is found.
func silent(t testing.TB, r *report.Report, rules ...string) {
	t.Helper()
	for _, f := range r.Findings {
		if slices.Contains(rules, f.Rule) {
			t.Errorf("false alarm: %s: %s", f.Rule, f.Summary)
		}
	}
}

func rulesOf(r *report.Report) []string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, f.Rule)
	}
	return out
}

// jsonOf returns the JSON form.
func jsonOf(t testing.TB, r *report.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sample is a capture with something for every analyzer.
func sample() *wire {
	w := newWire()
	for i := range ib.PSN(40) {
		w.write(1, 2, 0x12, i)
		w.write(3, 2, 0x13, 100+i, func(p *packet) { p.port, p.ecn = 0xC003, decode.CE })
		w.write(4, 5, 0x14, i, func(p *packet) { p.notECT = true })
	}
	w.cnp(2, 3, 0x113)
	w.again()
	w.write(1, 2, 0x12, 40, func(p *packet) { p.bad = true })
	w.send(packet{src: 6, dst: 7, op: writeOnly, qp: 9, psn: 1, ext: reth(1, 2, 3), payload: 4, bad: true})
	w.send(packet{src: 1, dst: 2, op: writeOnly, qp: 0x12, psn: 41, ext: reth(1, 2, 64), payload: 64})
	w.answer(2, 1, 0x112, 41, 0x20|14)
	w.wait(1_500 * usec)
	w.send(packet{src: 1, dst: 2, op: writeOnly, qp: 0x12, psn: 41, ext: reth(1, 2, 64), payload: 64})
	w.answer(2, 1, 0x112, 41, ib.NAKRemoteAccess)
	w.send(packet{src: 4, dst: 5, op: writeOnly, qp: 0x14, psn: 41, ext: reth(1, 2, 64), payload: 64})
	w.answer(5, 4, 0x114, 40, ib.NAKPSNSequence)
	return w
}
