package detect

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode/ib"
)

const msec = 1000 * usec

var udSend = ib.Of(ib.UD, ib.SendOnly)

// cm sends a message of connection management.
func (w *wire) cm(src, dst byte, attr ib.CMAttr, transaction uint64, body interface{ Append([]byte) []byte }) {
	d := ib.DETH{QKey: ib.GSIQKey, SrcQP: ib.GSIQP}
	m := ib.MAD{BaseVersion: 1, Class: ib.ClassCM, ClassVersion: 2, Method: ib.MethodSend, TransactionID: transaction, AttrID: uint16(attr)}
	mad := body.Append(m.Append(nil))
	w.send(packet{src: src, dst: dst, op: udSend, qp: ib.GSIQP, ext: append(d.Append(nil), mad...), payload: ib.MADLen - len(mad)})
}

// The ports of requests.
const (
	nvme  = 4420
	other = 4421
)

// The queue pairs and communication IDs of connection n: n at the client,
// n+0x100 at the server.
func (w *wire) req(src, dst byte, n uint32, port uint16) {
	w.cm(src, dst, ib.AttrREQ, uint64(n), &ib.REQ{LocalCommID: n, ServiceID: ib.ServiceIDOf(ib.PortSpaceTCP, port),
		LocalQPN: n, PathMTU: ib.MTUOf(1024), RetryCount: 7, RNRRetry: 7, Primary: ib.Path{AckTimeout: 14}})
}

func (w *wire) rep(src, dst byte, n uint32) {
	w.cm(src, dst, ib.AttrREP, uint64(n), &ib.REP{LocalCommID: n + 0x100, RemoteCommID: n, LocalQPN: n + 0x100})
}

func (w *wire) rtu(src, dst byte, n uint32) {
	w.cm(src, dst, ib.AttrRTU, uint64(n), &ib.RTU{LocalCommID: n, RemoteCommID: n + 0x100})
}

func (w *wire) connect(src, dst byte, n uint32, port uint16) {
	w.req(src, dst, n, port)
	w.rep(dst, src, n)
	w.rtu(src, dst, n)
}

func (w *wire) disconnect(src, dst byte, n uint32) {
	w.cm(src, dst, ib.AttrDREQ, uint64(n)|1<<32, &ib.DREQ{LocalCommID: n, RemoteCommID: n + 0x100, RemoteQPN: n + 0x100})
	w.cm(dst, src, ib.AttrDREP, uint64(n)|1<<32, &ib.DREP{LocalCommID: n + 0x100, RemoteCommID: n})
}

// rej refuses the request of dst.
func (w *wire) rej(src, dst byte, n uint32, reason ib.REJReason) {
	w.cm(src, dst, ib.AttrREJ, uint64(n), &ib.REJ{RemoteCommID: n, Reason: reason})
}

// giveUp withdraws the sender's own request.
func (w *wire) giveUp(src, dst byte, n uint32, what uint8, reason ib.REJReason) {
	w.cm(src, dst, ib.AttrREJ, uint64(n), &ib.REJ{LocalCommID: n, Rejected: what, Reason: reason})
}

// connections returns the table of a report, by client's communication ID.
func connections(t *testing.T, r *report.Report) map[string][]int64 {
	t.Helper()
	out := map[string][]int64{}
	for _, row := range r.Rows("connection", "connections") {
		out[row.Key[4]] = row.Values
	}
	return out
}

func TestConnectionLife(t *testing.T) {
	w := newWire()
	w.connect(1, 2, 0x11, nvme)
	w.wait(msec)
	w.write(1, 2, 0x111, 0, func(p *packet) { p.qp = 0x111 })
	w.answer(2, 1, 0x11, 0, ib.NAKRemoteAccess)
	w.disconnect(1, 2, 0x11)
	w.connect(1, 2, 0x12, nvme)
	w.connect(1, 2, 0x11, nvme) // again, all of it
	r := findings(t, w)
	rows := r.Rows("connection", "connections")
	if len(rows) != 2 {
		t.Fatalf("%d connections: %v", len(rows), rows)
	}
	if want := []string{"10.0.0.1", "10.0.0.2", "TCP 4420", "RC", "0x11"}; strings.Join(rows[0].Key, " ") != strings.Join(want, " ") {
		t.Errorf("key %q", rows[0].Key)
	}
	v := connections(t, r)["0x11"]
	for column, want := range map[int]int64{
		cmRequests: 2, cmReplies: 2, cmReady: 2, cmCloses: 1, cmClosed: 1, cmState: cmOver, cmClientQP: 0x11, cmServerQP: 0x111,
		cmPathMTU: 1024, cmRetries: 7, cmAckTimeout: 67_108_864, cmReused: 2, cmFirstFrame: 1,
	} {
		if v[column] != want {
			t.Errorf("%s is %d, not %d", cmColumns[column].Name, v[column], want)
		}
	}
	uses := r.Rows("connection", "uses")
	if len(uses) != 1 || uses[0].Values[0] != 1 || uses[0].Values[1] != 1 || uses[0].Values[2] != 1 {
		t.Errorf("uses: %v", uses)
	}
	silent(t, r, "cm.rejected", "cm.unanswered", "capture.offload-blind")
}

func TestRejected(t *testing.T) {
	for _, test := range []struct {
		desc     string
		play     func(*wire)
		severity report.Severity
		count    int64
		says     string
	}{
		{"nothing listens", func(w *wire) {
			for n := uint32(1); n <= 3; n++ {
				w.req(1, 2, n, nvme)
				w.rej(2, 1, n, ib.REJInvalidServiceID)
				w.wait(10 * msec)
			}
		}, report.Critical, 3, "10.0.0.2 rejected all 3 connection requests of 10.0.0.1 for TCP 4420 (NVMe-oF by its port): invalid service ID (reason 8)"},
		{"a stale connection, then it works", func(w *wire) {
			w.req(1, 2, 1, nvme)
			w.rej(2, 1, 1, ib.REJStaleConnection)
			w.wait(50 * msec)
			w.connect(1, 2, 2, nvme)
		}, report.Warning, 1, "50 ms after the last one such a connection was accepted"},
		{"another service works", func(w *wire) {
			w.req(1, 2, 1, nvme)
			w.rej(2, 1, 1, ib.REJConsumerDefined)
			w.connect(1, 2, 2, other)
		}, report.Critical, 1, "rejected the connection request of 10.0.0.1 for TCP 4420 (NVMe-oF by its port): consumer reject (reason 28)."},
		{"the fifth is too many", func(w *wire) {
			for n := uint32(1); n <= 4; n++ {
				w.connect(1, 2, n, nvme)
			}
			w.req(1, 2, 5, nvme)
			w.rej(2, 1, 5, ib.REJNoResources)
		}, report.Critical, 1, "rejected 1 of 5 connection requests of 10.0.0.1 for TCP 4420 (NVMe-oF by its port): no resources available (reason 3); 4 requests before had been accepted"},
		{"two ask each other at a time", func(w *wire) {
			w.req(1, 2, 1, other)
			w.req(2, 1, 0x51, other)
			w.rej(2, 1, 1, ib.REJConsumerDefined)
			w.rep(1, 2, 0x51)
			w.rtu(2, 1, 0x51)
		}, report.Notice, 1, "in 1 case a request of the other side crossed it"},
		{"a storm of them", func(w *wire) {
			for n := uint32(1); n <= 20; n++ {
				w.req(1, 2, n, other)
				w.req(2, 1, 0x50+n, other)
				w.rej(2, 1, n, ib.REJConsumerDefined)
			}
			w.rep(1, 2, 0x51)
		}, report.Warning, 20, "in 20 cases a request of the other side crossed it"},
		{"the client refuses the answer", func(w *wire) {
			w.req(1, 2, 1, nvme)
			w.rep(2, 1, 1)
			w.giveUp(1, 2, 1, 1, ib.REJConsumerDefined)
		}, report.Critical, 1, "10.0.0.1 refused what 10.0.0.2 replied to the connection request for TCP 4420 (NVMe-oF by its port): consumer reject"},
		{"the answer did not reach the client", func(w *wire) {
			w.req(1, 2, 1, nvme)
			w.rep(2, 1, 1)
			w.giveUp(1, 2, 1, 0, ib.REJTimeout)
		}, report.Critical, 1, "10.0.0.1 itself withdrew the connection request"},
		{"no datagrams", func(w *wire) {
			w.cm(1, 2, ib.AttrSIDRREQ, 7, &ib.SIDRREQ{RequestID: 7, ServiceID: ib.ServiceIDOf(ib.PortSpaceUDP, 7174)})
			w.cm(2, 1, ib.AttrSIDRREP, 7, &ib.SIDRREP{RequestID: 7, Status: 1})
		}, report.Critical, 1, "rejected the connection request of 10.0.0.1 for UDP 7174: service ID not supported"},
		{"only the answer is in view", func(w *wire) { w.rej(2, 1, 9, ib.REJInvalidMTU) }, report.Critical, 1,
			"10.0.0.2 rejected the connection request of 10.0.0.1 for a service that is not in view: invalid path MTU (reason 26)"},
	} {
		w := newWire()
		test.play(w)
		r := findings(t, w)
		f := finding(t, r, "cm.rejected")
		if f.Severity != test.severity || f.Count != test.count || !strings.Contains(f.Summary, test.says) {
			t.Errorf("%s: %s, %d: %s", test.desc, f.Severity, f.Count, f.Summary)
		}
		silent(t, r, "cm.unanswered")
	}
}

func TestUnanswered(t *testing.T) {
	for _, test := range []struct {
		desc string
		play func(*wire)
		want report.Severity // empty for none
		says string
	}{
		{"repeated, and others are heard", func(w *wire) {
			w.write(1, 3, 0x12, 1)
			for range 4 {
				w.req(1, 2, 1, nvme)
				w.wait(4_300 * msec)
			}
		}, report.Critical, "10.0.0.1 asked 10.0.0.2 for a connection to TCP 4420 (NVMe-oF by its port) and got no answer: the request was sent 4 times, every 4.3 s."},
		{"repeated, on a tap of one direction", func(w *wire) {
			for range 4 {
				w.req(1, 2, 1, nvme)
				w.wait(4_300 * msec)
			}
		}, "", ""},
		{"on a tap of one direction, until the client gives up", func(w *wire) {
			for range 4 {
				w.req(1, 2, 1, nvme)
				w.wait(4_300 * msec)
			}
			w.giveUp(1, 2, 1, 0, ib.REJTimeout)
		}, report.Critical, "until 10.0.0.1 gave up and said so (REJ)"},
		{"repeated, while only ARP of the server is heard", func(w *wire) {
			for range 3 {
				w.req(1, 2, 1, nvme)
				w.wait(4_300 * msec)
				w.arp(2, 1)
			}
		}, report.Critical, "sent 3 times"},
		{"one request at the end", func(w *wire) { w.write(1, 2, 0x12, 1); w.req(1, 2, 1, nvme) }, "", ""},
		{"one request long before the end", func(w *wire) {
			w.req(1, 2, 1, nvme)
			w.wait(5_000 * msec)
			w.write(1, 2, 0x12, 1)
		}, report.Critical, "sent 1 time, and 5 s passed since"},
		{"the server asks for patience", func(w *wire) {
			w.req(1, 2, 1, nvme)
			w.cm(2, 1, ib.AttrMRA, 1, &ib.MRA{LocalCommID: 0x101, RemoteCommID: 1})
			w.wait(5_000 * msec)
			w.req(1, 2, 1, nvme)
			w.write(1, 2, 0x12, 1)
		}, "", ""},
		{"answered at the second time of asking", func(w *wire) {
			w.req(1, 2, 1, nvme)
			w.wait(4_300 * msec)
			w.connect(1, 2, 1, nvme)
			w.write(1, 2, 0x101, 1, func(p *packet) {})
		}, "", ""},
		{"the capture missed the answer", func(w *wire) {
			w.req(1, 2, 1, nvme)
			w.rtu(1, 2, 1)
			w.wait(5_000 * msec)
			w.write(1, 2, 0x12, 1)
		}, "", ""},
		{"the server came up later", func(w *wire) {
			for range 3 {
				w.req(1, 2, 1, nvme)
				w.wait(4_300 * msec)
			}
			w.connect(1, 2, 2, nvme)
		}, report.Warning, "later such a connection was accepted"},
		{"others were accepted meanwhile", func(w *wire) {
			w.req(1, 2, 1, nvme)
			w.connect(1, 2, 2, nvme)
			w.connect(1, 2, 3, nvme)
			w.wait(4_300 * msec)
			w.req(1, 2, 1, nvme)
		}, report.Critical, "; meanwhile 2 such requests were accepted"},
		{"others had been accepted before", func(w *wire) {
			w.connect(1, 2, 2, nvme)
			w.wait(4_300 * msec)
			w.req(1, 2, 1, nvme)
			w.wait(4_300 * msec)
			w.req(1, 2, 1, nvme)
		}, report.Critical, "sent 2 times, every 4.3 s."},
		{"two services", func(w *wire) {
			w.write(2, 1, 0x12, 1)
			for range 3 {
				w.req(1, 2, 1, nvme)
				w.req(1, 2, 2, other)
				w.wait(4_300 * msec)
			}
			w.req(1, 2, 3, other) // may yet be answered
		}, report.Critical, "10.0.0.1 asked 10.0.0.2 for 2 connections to TCP 4420 (NVMe-oF by its port), TCP 4421 and got no answer: the requests were sent 6 times in all, every 4.3 s."},
		{"datagrams", func(w *wire) {
			for range 3 {
				w.cm(1, 2, ib.AttrSIDRREQ, 7, &ib.SIDRREQ{RequestID: 7, ServiceID: ib.ServiceIDOf(ib.PortSpaceUDP, 7174)})
				w.wait(4_300 * msec)
			}
			w.write(1, 2, 0x12, 1)
		}, report.Critical, "UDP 7174 and got no answer: the request was sent 3 times"},
	} {
		for _, cut := range []int{0, 96} {
			w := newWire()
			test.play(w)
			w.cut(cut)
			r := findings(t, w)
			if test.want == "" {
				silent(t, r, "cm.unanswered", "cm.rejected")
				continue
			}
			f := finding(t, r, "cm.unanswered")
			if f.Severity != test.want || cut == 0 && !strings.Contains(f.Summary, test.says) {
				t.Errorf("%s: %s: %s", test.desc, f.Severity, f.Summary)
			}
			silent(t, r, "cm.rejected")
		}
	}
}

// cut shortens all frames, as a snap length does.
func (w *wire) cut(n int) {
	for i := range w.frames {
		if f := &w.frames[i]; n > 0 && len(f.Data) > n {
			f.Data = f.Data[:n]
		}
	}
}

func (w *wire) arp(src, dst byte) {
	w.now += usec
	w.put(append([]byte{0x0C, 0x42, 0xA1, 0, 0, dst, 0x0C, 0x42, 0xA1, 0, 0, src, 0x08, 0x06}, make([]byte, 46)...))
}

func TestOffloadBlind(t *testing.T) {
	for _, test := range []struct {
		desc string
		play func(*wire)
		want report.Severity
	}{
		{"two connections live long", func(w *wire) {
			w.connect(1, 2, 1, nvme)
			w.connect(1, 3, 2, other)
			w.wait(500 * msec)
			w.disconnect(1, 2, 1)
		}, report.Warning},
		{"one connection of no known service", func(w *wire) {
			w.connect(1, 2, 1, other)
			w.wait(500 * msec)
			w.disconnect(1, 2, 1)
		}, report.Notice},
		{"the capture ends right behind the set-up", func(w *wire) { w.connect(1, 2, 1, nvme); w.wait(5 * msec); w.connect(1, 2, 2, nvme) }, ""},
		{"an idle connection beside one that is used", func(w *wire) {
			w.connect(1, 2, 1, nvme)
			w.connect(1, 2, 2, nvme)
			w.wait(500 * msec)
			w.write(1, 2, 0x102, 0)
			w.disconnect(1, 2, 1)
		}, ""},
		{"data of queue pairs that CM did not set up", func(w *wire) {
			w.connect(1, 2, 1, nvme)
			w.wait(500 * msec)
			w.write(1, 2, 0x77, 0)
			w.disconnect(1, 2, 1)
		}, ""},
		{"data of other hosts alone", func(w *wire) {
			w.connect(1, 2, 1, nvme)
			w.wait(500 * msec)
			w.write(3, 4, 0x77, 0)
			w.disconnect(1, 2, 1)
		}, report.Notice},
		{"rejected", func(w *wire) {
			w.req(1, 2, 1, nvme)
			w.rej(2, 1, 1, ib.REJConsumerDefined)
			w.wait(500 * msec)
			w.req(1, 2, 2, nvme)
			w.rej(2, 1, 2, ib.REJConsumerDefined)
		}, ""},
		{"never taken into use", func(w *wire) {
			w.req(1, 2, 1, nvme)
			w.rep(2, 1, 1)
			w.wait(500 * msec)
			w.rep(2, 1, 1)
		}, ""},
	} {
		for _, cut := range []int{0, 96} {
			w := newWire()
			test.play(w)
			w.cut(cut)
			r := findings(t, w)
			if test.want == "" {
				silent(t, r, "capture.offload-blind")
				continue
			}
			if f := finding(t, r, "capture.offload-blind"); f.Severity != test.want && cut == 0 {
				t.Errorf("%s: %s: %s", test.desc, f.Severity, f.Summary)
			}
		}
	}
}

func TestConnectionMemoryIsBounded(t *testing.T) {
	w := newWire()
	cfg := analysis.Defaults(1)
	cfg.MaxFlows = 64 * 20
	for n := range uint32(100) {
		w.req(1, 2, n+1, nvme)
		for i := range uint32(5) {
			w.cm(2, 1, ib.AttrREP, uint64(n), &ib.REP{LocalCommID: n<<8 + i, RemoteCommID: n + 1, LocalQPN: n<<8 + i + 2})
		}
	}
	batches := batchesOf(t, w)
	c := newConnection(cfg).(*connection)
	for i := range batches {
		c.Observe(&batches[i])
	}
	if len(c.exchanges) != 20 || len(c.find) > 60 || len(c.byQP) > 40 || c.unseen == 0 {
		t.Errorf("%d exchanges, found by %d IDs and %d queue pairs, %d beyond", len(c.exchanges), len(c.find), len(c.byQP), c.unseen)
	}
}

func TestNCCLLike(t *testing.T) {
	imm := ib.Of(ib.RC, ib.WriteOnlyImm)
	play := func(first ib.PSN) *report.Report {
		w := newWire()
		w.write(1, 2, 0x12, first)
		w.send(packet{src: 1, dst: 2, op: imm, qp: 0x12, psn: first + 1, ext: append(reth(1, 2, 64), 0, 0, 0, 9), payload: 64})
		w.answer(2, 1, 0x112, first+1, 0x1F)
		return findings(t, w)
	}
	if rows := play(0).Rows("connection", "services"); len(rows) != 1 || rows[0].Key[2] != "NCCL-like" {
		t.Errorf("%v", rows)
	}
	if rows := play(77).Rows("connection", "services"); len(rows) != 0 {
		t.Errorf("%v", rows)
	}
}

// between sends a WRITE over IPv6, or as RoCEv1, between adapters; an answer
// where ack is set.
func (w *wire) between(version int, macs, from, to string, qp uint32, psn ib.PSN, ack bool) {
	op, ext, payload := writeOnly, reth(1, 2, 64), 64
	if ack {
		op, ext, payload = ackOp, aeth(0x1F), 0
	}
	h := ib.BTH{Opcode: op, PKey: 0xFFFF, DestQP: qp, PSN: psn, AckReq: !ack}
	body := append(append(h.Append(nil), ext...), make([]byte, payload)...)
	src, dst := netip.MustParseAddr(from), netip.MustParseAddr(to)
	link := []byte{0x0C, 0x42, 0xA1, 0, 0, macs[1], 0x0C, 0x42, 0xA1, 0, 0, macs[0]}
	ip := []byte{0x60, 0, 0, 0, 0, 0, 17, 64}
	s, d := src.As16(), dst.As16()
	ip = append(append(ip, s[:]...), d[:]...)
	if version == 2 {
		link = append(link, 0x86, 0xDD)
		udp := binary.BigEndian.AppendUint16([]byte{0xC0, 0, 0x12, 0xB7}, uint16(8+len(body)+4))
		ip = append(append(ip, append(udp, 0, 0)...), body...)
	} else {
		link = append(link, 0x89, 0x15)
		ip[6] = 0x1B
		ip = append(ip, body...)
	}
	binary.BigEndian.PutUint16(ip[4:], uint16(len(ip)-40+4))
	crc, _ := w.icrc.IPv6(ip)
	if version == 1 {
		crc, _ = w.icrc.GRH(ip)
	}
	w.now += usec
	w.put(ib.AppendICRC(append(link, ip...), crc))
}

const (
	local1, local2   = "fe80::e42:a1ff:fe00:1", "fe80::e42:a1ff:fe00:2"
	routed1, routed2 = "2001:db8::1", "2001:db8::2"
	mapped1, mapped2 = "::ffff:10.0.0.1", "::ffff:10.0.0.2"
)

func TestGIDMixed(t *testing.T) {
	// try sends a WRITE n times, timeouts apart.
	try := func(w *wire, n, version int, macs, from, to string, qp uint32) {
		for range n {
			w.between(version, macs, from, to, qp, 5, false)
			w.wait(5 * msec)
		}
	}
	for _, test := range []struct {
		desc string
		play func(*wire)
		want report.Severity
		says string
	}{
		{"RoCEv2 there, RoCEv1 back", func(w *wire) {
			try(w, 5, 2, "\x01\x02", routed1, routed2, 0x12)
			try(w, 5, 1, "\x02\x01", local2, local1, 0x112)
		}, report.Notice, "is repeated, and nothing comes back in it; the same host speaks RoCEv1 with link-local addresses instead"},
		{"the same addresses in both versions", func(w *wire) {
			for i := range ib.PSN(5) {
				w.send(packet{src: 1, dst: 2, op: writeOnly, qp: 0x12, psn: 1, ext: reth(1, 2, 64), payload: 64})
				w.between(1, "\x02\x01", mapped2, mapped1, 0x112, 5, false)
				w.wait(5*msec + int64(i))
			}
		}, report.Notice, "RoCEv1 with IPv4 addresses"},
		{"link-local there, routed back", func(w *wire) {
			try(w, 5, 2, "\x01\x02", local1, local2, 0x12)
			try(w, 5, 2, "\x02\x01", routed2, routed1, 0x112)
		}, report.Notice, "link-local"},
		{"a host with two addresses and a link-local one of its own", func(w *wire) {
			w.between(2, "\x01\x02", "2001:db8::a", "2001:db8::b", 0x33, 5, false)
			w.between(2, "\x02\x01", "2001:db8::b", "2001:db8::a", 0x133, 5, true)
			try(w, 5, 2, "\x01\x02", routed1, routed2, 0x12)
			try(w, 5, 1, "\x02\x01", local2, local1, 0x112)
		}, report.Notice, "is repeated, and nothing comes back in it"},
		{"link-local to routed", func(w *wire) {
			try(w, 5, 2, "\x01\x02", local1, routed2, 0x12)
		}, report.Notice, "between link-local and IPv6 addresses"},
		{"IPv4 and IPv6, both answered", func(w *wire) {
			for i := range ib.PSN(5) {
				w.write(1, 2, 0x12, i)
				w.between(2, "\x01\x02", routed1, routed2, 0x13, i, false)
				w.between(2, "\x02\x01", routed2, routed1, 0x113, i, true)
			}
		}, "", ""},
		{"link-local and IPv4, both answered", func(w *wire) {
			for i := range ib.PSN(5) {
				w.write(1, 2, 0x12, i)
				w.between(2, "\x01\x02", local1, local2, 0x13, i, false)
				w.between(2, "\x02\x01", local2, local1, 0x113, i, true)
			}
		}, report.Info, "in 2 ways"},
		{"two routers with many hosts behind them", func(w *wire) {
			for i := range 3 {
				w.between(2, "\x01\x02", fmt.Sprintf("2001:db8:1::%d", i+1), fmt.Sprintf("2001:db8:2::%d", i+1), 0x12, 5, false)
				w.between(2, "\x02\x01", fmt.Sprintf("2001:db8:2::%d", i+9), fmt.Sprintf("2001:db8:1::%d", i+9), 0x13, 5, false)
			}
		}, "", ""},
	} {
		w := newWire()
		test.play(w)
		r := findings(t, w)
		if test.want == "" {
			silent(t, r, "gid.mixed")
			continue
		}
		if f := finding(t, r, "gid.mixed"); f.Severity != test.want || !strings.Contains(f.Summary, test.says) {
			t.Errorf("%s: %s: %s", test.desc, f.Severity, f.Summary)
		}
	}
}

func TestMACOf(t *testing.T) {
	for address, want := range map[string]string{local1: "0c:42:a1:00:00:01", routed1: "", "fe80::1": "", "10.0.0.1": "", "LID 4": ""} {
		if got := macOf(address); got != want {
			t.Errorf("%s: %q", address, got)
		}
	}
	if got := localOf(macOf(local1)); got != local1 {
		t.Errorf("%s and back: %s", local1, got)
	}
}

func TestConnectionsMergeInHalves(t *testing.T) {
	whole := newWire()
	whole.connect(1, 2, 0x11, nvme)
	whole.wait(msec)
	whole.write(1, 2, 0x111, 0)
	whole.disconnect(1, 2, 0x11)
	first, second := *whole, *whole
	first.frames, second.frames = whole.frames[:3], whole.frames[3:]
	sum, err := report.Merge(findings(t, &first), findings(t, &second))
	if err != nil {
		t.Fatal(err)
	}
	analysis.Judge(sum, All(), analysis.Defaults(1))
	silent(t, sum, "cm.rejected", "cm.unanswered", "capture.offload-blind")
	if rows := sum.Rows("connection", "connections"); len(rows) != 2 {
		t.Errorf("%d rows: what the second half does not say, it cannot name", len(rows))
	}
}
