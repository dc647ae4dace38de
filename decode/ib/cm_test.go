package ib_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rocescope/rocescope/decode/ib"
)

func fullREQ() *ib.REQ {
	return &ib.REQ{
		LocalCommID: 0x11223344, ServiceID: ib.ServiceIDOf(ib.PortSpaceTCP, 20049), LocalCAGUID: 0x0C42A10300000001,
		VendorID: 0x15B3, LocalQKey: 0x80, LocalQPN: 0x4D2, ResponderResources: 16, LocalEECN: 0x111111, InitiatorDepth: 8,
		RemoteEECN: 0x222222, RemoteCMTimeout: 20, TransportType: 3, FlowControl: true, StartPSN: 0xABCDEF, LocalCMTimeout: 21,
		RetryCount: 7, PKey: 0xFFFF, PathMTU: 3, RDCExists: true, RNRRetry: 6, MaxCMRetries: 15, SRQ: true, ExtTransport: 1,
		Primary: ib.Path{LocalLID: 0xFFFF, RemoteLID: 0xFFFE, LocalGID: ib.GID{10: 0xFF, 0xFF, 192, 168, 10, 1},
			RemoteGID: ib.GID{10: 0xFF, 0xFF, 192, 168, 10, 2}, FlowLabel: 0x5A5A5, PacketRate: 10, TrafficClass: 0x68,
			HopLimit: 64, SL: 3, SubnetLocal: true, AckTimeout: 18},
		Alternate: ib.Path{LocalLID: 1, FlowLabel: 0xFFFFF, AckTimeout: 31},
	}
}

func fullREJ() *ib.REJ {
	return &ib.REJ{LocalCommID: 1, RemoteCommID: 2, Rejected: 1, InfoLen: 2, Reason: ib.REJConsumerDefined, Info: ib.CMInfo{0xAB, 0xCD, 71: 1}}
}

func fullSIDRREP() *ib.SIDRREP {
	return &ib.SIDRREP{RequestID: 7, Status: 2, InfoLen: 3, QPN: 0xABC, VendorID: 0x0A0B0C,
		ServiceID: ib.ServiceIDOf(ib.PortSpaceUDP, 4420), QKey: 0x1EE7, Info: ib.CMInfo{1, 2, 3}}
}

// A REQ's fields stand where the specification puts them: offsets are from the
// end of the MAD header.
func TestREQLayout(t *testing.T) {
	b := fullREQ().Append(nil)
	if len(b) != ib.REQLen {
		t.Fatalf("%d bytes", len(b))
	}
	for off, want := range map[int]string{
		0: "11223344", 8: "0000000001064e51", 16: "0c42a10300000001", 24: "0015b3", 28: "00000080", 32: "0004d2", 35: "10",
		36: "111111", 39: "08", 40: "222222", 43: "a7", 44: "abcdef", 47: "af", 48: "ffff", 50: "3e", 51: "f9",
		52: "ffff", 54: "fffe", 56: "00000000000000000000ffffc0a80a01", 72: "00000000000000000000ffffc0a80a02",
		88: "5a5a500a", 92: "68", 93: "40", 94: "38", 95: "90", 96: "0001", 132: "fffff000", 139: "f8",
	} {
		w := unhex(t, want)
		if d := cmp.Diff(w, b[off:off+len(w)]); d != "" {
			t.Errorf("at %d: %x, want %s", off, b[off:off+len(w)], want)
		}
	}
	if tr := fullREQ().Transport(); tr != ib.XRC {
		t.Errorf("transport %v, want XRC", tr)
	}
}

// mad returns the MAD in an Ethernet frame over IPv4 with a DETH.
func mad(frame []byte) []byte {
	const off = 14 + 20 + 8 + ib.BTHLen + ib.DETHLen
	return frame[off : off+ib.MADLen]
}

func TestParseCMVectors(t *testing.T) {
	req, ok := ib.ParseCM(mad(vectorNamed(t, "16")))
	want := ib.CM{
		Attr: ib.AttrREQ, TransactionID: 0x112345678, LocalCommID: 0x11223344, QPN: 0x4D2, StartPSN: 0xABCDEF,
		ServiceID: 0x01064E51, Transport: ib.RC, PathMTU: 3, AckTimeout: 18, RetryCount: 7, RNRRetry: 7,
		LocalGID: ib.GID{10: 0xFF, 0xFF, 192, 168, 10, 1}, RemoteGID: ib.GID{10: 0xFF, 0xFF, 192, 168, 10, 2},
		FlowLabel: 0x5A5A5, TrafficClass: 0x6A, SourcePort: 0xB26E, InitiatorDepth: 16, ResponderResources: 16,
	}
	if d := cmp.Diff(want, req); !ok || d != "" {
		t.Errorf("REQ %v (-want +got):\n%s", ok, d)
	}
	rep, ok := ib.ParseCM(mad(vectorNamed(t, "17")))
	want = ib.CM{
		Attr: ib.AttrREP, TransactionID: 0x112345678, LocalCommID: 0x55667788, RemoteCommID: 0x11223344,
		QPN: 0xABC, StartPSN: 0x123456, RNRRetry: 7, TargetAckDelay: 15, InitiatorDepth: 16, ResponderResources: 16,
	}
	if d := cmp.Diff(want, rep); !ok || d != "" {
		t.Errorf("REP %v (-want +got):\n%s", ok, d)
	}
}

// message puts a MAD header before a message and fills the MAD up.
func message(a ib.CMAttr, h header) []byte {
	m := ib.MAD{BaseVersion: 1, Class: ib.ClassCM, ClassVersion: 2, Method: ib.MethodSend, TransactionID: 9, AttrID: uint16(a)}
	b := h.Append(m.Append(nil))
	return append(b, make([]byte, ib.MADLen-len(b))...)
}

func TestParseCM(t *testing.T) {
	for _, c := range []struct {
		h    header
		want ib.CM
	}{
		{fullREJ(), ib.CM{Attr: ib.AttrREJ, LocalCommID: 1, RemoteCommID: 2, Reason: 28, Rejected: 1}},
		{&ib.MRA{LocalCommID: 1, RemoteCommID: 2, ServiceTimeout: 9}, ib.CM{Attr: ib.AttrMRA, LocalCommID: 1, RemoteCommID: 2, ServiceTimeout: 9}},
		{&ib.RTU{LocalCommID: 1, RemoteCommID: 2}, ib.CM{Attr: ib.AttrRTU, LocalCommID: 1, RemoteCommID: 2}},
		{&ib.DREQ{LocalCommID: 1, RemoteCommID: 2, RemoteQPN: 3}, ib.CM{Attr: ib.AttrDREQ, LocalCommID: 1, RemoteCommID: 2, QPN: 3}},
		{&ib.DREP{LocalCommID: 1, RemoteCommID: 2}, ib.CM{Attr: ib.AttrDREP, LocalCommID: 1, RemoteCommID: 2}},
		{&ib.RTU{LocalCommID: 1, RemoteCommID: 2}, ib.CM{Attr: ib.AttrLAP, LocalCommID: 1, RemoteCommID: 2}},
		{&ib.SIDRREQ{RequestID: 7, ServiceID: 0x0111_0001}, ib.CM{Attr: ib.AttrSIDRREQ, LocalCommID: 7, ServiceID: 0x0111_0001}},
		{fullSIDRREP(), ib.CM{Attr: ib.AttrSIDRREP, LocalCommID: 7, ServiceID: 0x0111_1144, Status: 2, QPN: 0xABC, QKey: 0x1EE7}},
	} {
		c.want.TransactionID = 9
		got, ok := ib.ParseCM(message(c.want.Attr, c.h))
		if d := cmp.Diff(c.want, got); !ok || d != "" {
			t.Errorf("%v: %v (-want +got):\n%s", c.want.Attr, ok, d)
		}
	}
}

func TestParseCMRefuses(t *testing.T) {
	if _, ok := ib.ParseCM(message(0x20, fullREQ())); ok {
		t.Error("an unassigned attribute was taken")
	}
	other := message(ib.AttrREQ, fullREQ())
	other[1] = 0x03
	if _, ok := ib.ParseCM(other); ok {
		t.Error("a MAD of another class was taken")
	}
	full := message(ib.AttrREQ, fullREQ())
	for n := range ib.MADHeaderLen + ib.REQLen {
		if c, ok := ib.ParseCM(full[:n:n]); ok || c != (ib.CM{}) {
			t.Errorf("%d bytes of a REQ were taken", n)
		}
	}
}

func TestParseCMAllocatesNothing(t *testing.T) {
	for _, b := range [][]byte{message(ib.AttrREQ, fullREQ()), message(ib.AttrREJ, fullREJ()), message(ib.AttrSIDRREP, fullSIDRREP())} {
		if n := testing.AllocsPerRun(10, func() { ib.ParseCM(b) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

func TestCMWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{ib.AttrREQ.String(), "REQ"}, {ib.AttrSIDRREP.String(), "SIDR_REP"}, {ib.AttrAPR.String(), "APR"}, {ib.CMAttr(0x20).String(), "attribute 0x0020"},
		{ib.REJStaleConnection.String(), "stale connection"}, {ib.REJConsumerDefined.String(), "consumer reject"},
		{ib.REJInvalidServiceID.String(), "invalid service ID"}, {ib.REJReason(34).String(), "reason 34"}, {ib.REJReason(0).String(), "reason 0"},
		{ib.ServiceID(0x01064E51).String(), "TCP 20049"}, {ib.ServiceID(0x100000001064E51).String(), "0x0100000001064E51"},
		{ib.PortSpace(5).String(), "0x0005"}, {ib.SIDRStatus(0).String(), "QPN and Q_Key valid"}, {ib.SIDRStatus(9).String(), "status 9"},
		{ib.MTU(5).String(), "4096"}, {ib.MTU(9).String(), "code 9"}, {ib.Timeout(14).String(), "67.108864ms"},
		{ib.CMInfo{1, 0xAB}.String(), "01ab"}, {ib.GID{10: 0xFF, 0xFF, 10, 0, 0, 1}.String(), "::ffff:10.0.0.1"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestCMUnits(t *testing.T) {
	for code, bytes := range []int{0, 256, 512, 1024, 2048, 4096, 0, 0} {
		if got := ib.MTU(code).Bytes(); got != bytes {
			t.Errorf("MTU code %d: %d bytes, want %d", code, got, bytes)
		}
		if bytes != 0 && ib.MTUOf(bytes) != ib.MTU(code) {
			t.Errorf("MTU of %d bytes is code %d", bytes, ib.MTUOf(bytes))
		}
	}
	if ib.MTUOf(1500) != 0 {
		t.Error("1500 has an MTU code")
	}
	for code, want := range map[ib.Timeout]time.Duration{
		0: 4096, 1: 8192, 14: 67108864, 18: 1073741824, 31: 8796093022208,
	} {
		if got := code.Duration(); got != want {
			t.Errorf("timeout %d: %v, want %v", uint8(code), got, want)
		}
	}
}

func TestServiceID(t *testing.T) {
	for _, s := range []ib.PortSpace{ib.PortSpaceIPoIB, ib.PortSpaceTCP, ib.PortSpaceUDP, ib.PortSpaceIB} {
		got, port, ok := ib.ServiceIDOf(s, 4420).Split()
		if !ok || got != s || port != 4420 {
			t.Errorf("%v: split into %v %d %v", s, got, port, ok)
		}
	}
	if _, _, ok := ib.ServiceID(0x1000000000000001).Split(); ok {
		t.Error("a vendor's service ID was split")
	}
}

func TestRDMACMAddrs(t *testing.T) {
	h := ib.RDMACM{IPVersion: 4, Src: ib.GID{12: 10, 0, 0, 1}, Dst: ib.GID{12: 10, 0, 0, 2}}
	src, dst := h.Addrs()
	if src != netip.MustParseAddr("10.0.0.1") || dst != netip.MustParseAddr("10.0.0.2") || !h.Valid() {
		t.Errorf("%v %v", src, dst)
	}
	h = ib.RDMACM{IPVersion: 6, Src: ib.GID{0: 0xFE, 1: 0x80, 15: 1}}
	if src, _ := h.Addrs(); src != netip.MustParseAddr("fe80::1") {
		t.Errorf("%v", src)
	}
	if g := (ib.GID{10: 0xFF, 0xFF, 10, 0, 0, 1}); g.Addr() != netip.MustParseAddr("10.0.0.1") {
		t.Errorf("GID address %v", g.Addr())
	}
}

func TestIsMAD(t *testing.T) {
	h, d := ib.BTH{Opcode: 0x64, DestQP: 1}, ib.DETH{QKey: ib.GSIQKey, SrcQP: 1}
	if !ib.IsMAD(&h, &d) {
		t.Error("a MAD was not recognised")
	}
	if h.DestQP = 2; ib.IsMAD(&h, &d) {
		t.Error("a datagram to queue pair 2 was taken for a MAD")
	}
}
