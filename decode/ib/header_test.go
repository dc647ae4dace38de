package ib_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rocescope/rocescope/decode/ib"
)

// header is what all headers and messages have in common.
type header interface {
	Parse([]byte) bool
	Append([]byte) []byte
}

// headers holds every fixed-layout header with bytes off the wire and what
// they say.
var headers = []struct {
	desc string
	len  int
	hex  string
	want header
}{
	{"BTH of a WRITE First under P_Key 0xFFFF", ib.BTHLen, "0600ffff0000123480fffffe",
		&ib.BTH{Opcode: 0x06, PKey: 0xFFFF, DestQP: 0x1234, AckReq: true, PSN: 0xFFFFFE}},
	{"BTH of an ACK with BECN, as ConnectX sends it", ib.BTHLen, "1140ffff400001180000abcd",
		&ib.BTH{Opcode: 0x11, MigReq: true, PKey: 0xFFFF, BECN: true, DestQP: 0x118, PSN: 0xABCD}},
	{"BTH with every bit set", ib.BTHLen, "ffffffffffffffffffffffff",
		&ib.BTH{Opcode: 0xFF, Solicited: true, MigReq: true, PadCnt: 3, TVer: 15, PKey: 0xFFFF, FECN: true, BECN: true,
			Reserved6: 0x3F, DestQP: 0xFFFFFF, AckReq: true, Reserved7: 0x7F, PSN: 0xFFFFFF}},
	{"RETH of 600 bytes", ib.RETHLen, "00007f00deadbeef0000111100000258",
		&ib.RETH{VA: 0x7F00DEADBEEF, RKey: 0x1111, DMALen: 600}},
	{"AETH of an RNR NAK", ib.AETHLen, "2e000007", &ib.AETH{Syndrome: 0x2E, MSN: 7}},
	{"AtomicETH of a CmpSwap", ib.AtomicETHLen, "00000000000010000000009900000000000000020000000000000001",
		&ib.AtomicETH{VA: 0x1000, RKey: 0x99, SwapAdd: 2, Compare: 1}},
	{"AtomicAckETH", ib.AtomicAckETHLen, "8000000000000001", &ib.AtomicAckETH{Original: 0x8000000000000001}},
	{"ImmDt", ib.ImmDtLen, "cafe0001", &ib.ImmDt{Data: 0xCAFE0001}},
	{"IETH", ib.IETHLen, "00000099", &ib.IETH{RKey: 0x99}},
	{"DETH of the GSI", ib.DETHLen, "8001000000000001", &ib.DETH{QKey: 0x80010000, SrcQP: 1}},
	{"DETH with reserved bits", ib.DETHLen, "000000015a654321", &ib.DETH{QKey: 1, Reserved: 0x5A, SrcQP: 0x654321}},
	{"RDETH", ib.RDETHLen, "01000abc", &ib.RDETH{Reserved: 1, EEContext: 0xABC}},
	{"XRCETH", ib.XRCETHLen, "00000321", &ib.XRCETH{SRQ: 0x321}},
	{"FETH: global visibility of the whole region", ib.FETHLen, "00000011", &ib.FETH{Selector: 1, Placement: 1}},
	{"FETH with reserved bits", ib.FETHLen, "ffffffe2", &ib.FETH{Reserved: 0x3FFFFFF, Selector: 2, Placement: 2}},
	{"MAD of a CM REQ", ib.MADHeaderLen, "010702030000000000000001123456780010000000000000",
		&ib.MAD{BaseVersion: 1, Class: 7, ClassVersion: 2, Method: 3, TransactionID: 0x112345678, AttrID: 0x10}},
	{"MRA of a REP", ib.MRALen, "000000010000000240a0",
		&ib.MRA{LocalCommID: 1, RemoteCommID: 2, Received: 1, ServiceTimeout: 20}},
	{"RTU", ib.RTULen, "0000000100000002", &ib.RTU{LocalCommID: 1, RemoteCommID: 2}},
	{"DREQ", ib.DREQLen, "0000000100000002000abc00", &ib.DREQ{LocalCommID: 1, RemoteCommID: 2, RemoteQPN: 0xABC}},
	{"DREP", ib.DREPLen, "0000000100000002", &ib.DREP{LocalCommID: 1, RemoteCommID: 2}},
	{"SIDR_REQ to UDP port 4420", ib.SIDRREQLen, "00000007ffff00000000000001111144",
		&ib.SIDRREQ{RequestID: 7, PKey: 0xFFFF, ServiceID: 0x01111144}},
	{"REP with every field set", ib.REPLen, "000000010000000200000003" + "000abc0a" + "000def0b" + "1234560c" + "1008" + "7d" + "f0" + "0c42a10300000002",
		&ib.REP{LocalCommID: 1, RemoteCommID: 2, LocalQKey: 3, LocalQPN: 0xABC, LocalEECN: 0xDEF, StartPSN: 0x123456,
			VendorID: 0x0A0B0C, ResponderResources: 16, InitiatorDepth: 8, TargetAckDelay: 15, Failover: 2, FlowControl: true,
			RNRRetry: 7, SRQ: true, LocalCAGUID: 0x0C42A10300000002}},
	{"RDMA-CM header for IPv4", ib.RDMACMLen, "0040b26e" + "000000000000000000000000c0a80a01" + "000000000000000000000000c0a80a02",
		&ib.RDMACM{IPVersion: 4, SrcPort: 0xB26E, Src: ib.GID{12: 192, 168, 10, 1}, Dst: ib.GID{12: 192, 168, 10, 2}}},
}

// blank returns a zero header of h's type.
func blank(h header) header { return reflect.New(reflect.TypeOf(h).Elem()).Interface().(header) }

func TestHeaders(t *testing.T) {
	for _, c := range headers {
		t.Run(c.desc, func(t *testing.T) {
			b := unhex(t, c.hex)
			if len(b) != c.len {
				t.Fatalf("the example has %d bytes, the header %d", len(b), c.len)
			}
			got := blank(c.want)
			if !got.Parse(b) {
				t.Fatal("not parsed")
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("parsed (-want +got):\n%s", d)
			}
			if w := got.Append([]byte{1, 2}); !bytes.Equal(w, append([]byte{1, 2}, b...)) {
				t.Errorf("appended %x, want 0102%x", w, b)
			}
		})
	}
}

// all returns one of every header, filled, by its name.
func all(t testing.TB) map[string]header {
	m := map[string]header{}
	for _, c := range headers {
		m[reflect.TypeOf(c.want).Elem().Name()] = c.want
	}
	for _, h := range []header{fullREQ(), fullREJ(), fullSIDRREP()} {
		m[reflect.TypeOf(h).Elem().Name()] = h
	}
	return m
}

// A header cut at any length is refused and leaves the struct as it was.
func TestEveryPrefix(t *testing.T) {
	for name, h := range all(t) {
		b := h.Append(nil)
		for n := range b {
			got := blank(h)
			got.Parse(bytes.Repeat([]byte{0xA5}, len(b)))
			before := blank(h)
			before.Parse(bytes.Repeat([]byte{0xA5}, len(b)))
			if got.Parse(b[:n:n]) {
				t.Errorf("%s: parsed from %d of %d bytes", name, n, len(b))
			}
			if !reflect.DeepEqual(got, before) {
				t.Errorf("%s: %d of %d bytes changed the struct", name, n, len(b))
			}
		}
	}
}

func TestHeadersAllocateNothing(t *testing.T) {
	buf := make([]byte, 0, ib.MADLen)
	for name, h := range all(t) {
		b := h.Append(nil)
		if n := testing.AllocsPerRun(10, func() { h.Parse(b); buf = h.Append(buf[:0]) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// FuzzHeaders checks on any bytes that decoding, encoding and decoding agree,
// for all headers at once.
func FuzzHeaders(f *testing.F) {
	every := all(f)
	for _, h := range every {
		f.Add(h.Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for name, h := range every {
			first, second := blank(h), blank(h)
			if ok := first.Parse(b); ok != (len(b) >= len(h.Append(nil))) {
				t.Fatalf("%s: Parse of %d bytes is %v", name, len(b), ok)
			} else if !ok {
				continue
			}
			wire := first.Append(nil)
			if !second.Parse(wire) || !reflect.DeepEqual(first, second) {
				t.Fatalf("%s: %+v became %+v", name, first, second)
			}
		}
		ib.ParseCM(b)
	})
}
