package roce_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/rocescope/rocescope/decode/ib"
	"github.com/rocescope/rocescope/decode/roce"
)

var (
	literal = gopacket.SerializeOptions{}
	fixed   = gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
)

// serializable returns a packet's layers, false where one cannot be written.
func serializable(p gopacket.Packet) ([]gopacket.SerializableLayer, bool) {
	var ls []gopacket.SerializableLayer
	for _, l := range p.Layers() {
		s, ok := l.(gopacket.SerializableLayer)
		if !ok {
			return nil, false
		}
		ls = append(ls, s)
	}
	return ls, true
}

// whole returns the frames that can be written again: not cut, no tunnel.
func whole(t testing.TB) []vector {
	var vs []vector
	for _, v := range frames(t) {
		if tunnel[v.Name[:2]] {
			continue
		}
		switch v.Name[:2] {
		case "39": // the frame check sequence is no layer
		case "50", "51": // gopacket does not write SLL
		case "40": // cut
		default:
			vs = append(vs, v)
		}
	}
	return vs
}

// What was decoded is written as it was, a wrong ICRC too.
func TestSerializeLiterally(t *testing.T) {
	buf := gopacket.NewSerializeBuffer()
	for _, v := range whole(t) {
		b := v.bytes(t)
		p := gopacket.NewPacket(b, v.first(b), strict)
		ls, ok := serializable(p)
		if !ok {
			t.Errorf("%s: %s cannot be written", v.Name, names(p))
			continue
		}
		for name, write := range map[string]func() error{
			"Serialize":                func() error { return roce.Serialize(buf, literal, ls...) },
			"gopacket.SerializeLayers": func() error { return gopacket.SerializeLayers(buf, literal, ls...) },
		} {
			if err := write(); err != nil || !bytes.Equal(buf.Bytes(), b) {
				t.Errorf("%s by %s: %v\n%x, want\n%x", v.Name, name, err, buf.Bytes(), b)
			}
		}
	}
}

// Pad, lengths, checksums and ICRC are found again once they are wiped out.
func TestSerializeFixed(t *testing.T) {
	buf := gopacket.NewSerializeBuffer()
	for _, v := range whole(t) {
		if v.ICRCState == "bad" {
			continue
		}
		b := v.bytes(t)
		p := gopacket.NewPacket(b, v.first(b), strict)
		ls, _ := serializable(p)
		wipe(ls)
		if err := roce.Serialize(buf, fixed, ls...); err != nil || !bytes.Equal(buf.Bytes(), b) {
			t.Errorf("%s: %v\n%x, want\n%x", v.Name, err, buf.Bytes(), b)
			continue
		}
		again := gopacket.NewPacket(buf.Bytes(), v.first(b), strict)
		if d := cmp.Diff(p.Layers(), again.Layers(), ignore...); d != "" {
			t.Errorf("%s (-first +again):\n%s", v.Name, d)
		}
	}
}

// ignore leaves out what is not part of a packet.
var ignore = []cmp.Option{
	cmpopts.IgnoreUnexported(layers.UDP{}, layers.IPv6{}, roce.BTH{}, roce.RDETH{}, roce.DETH{}, roce.XRCETH{}, roce.FETH{},
		roce.RETH{}, roce.AtomicETH{}, roce.AETH{}, roce.AtomicAckETH{}, roce.ImmDt{}, roce.IETH{}, roce.Payload{}),
	cmpopts.EquateEmpty(),
}

func wipe(ls []gopacket.SerializableLayer) {
	for _, l := range ls {
		switch l := l.(type) {
		case *layers.IPv4:
			l.Length, l.Checksum = 0, 0
		case *layers.IPv6:
			l.Length = 0
		case *layers.UDP:
			l.Length = 0
			if l.Checksum != 0 {
				l.Checksum = 1
			}
		case *roce.GRH:
			l.Length = 0
		case *roce.BTH:
			l.PadCnt = 0
		case *roce.Payload:
			l.Pad, l.ICRC = nil, 0
		}
	}
}

// Each payload length gets its pad, and the ICRC over it is right.
func TestSerializePads(t *testing.T) {
	buf := gopacket.NewSerializeBuffer()
	for n := range 9 {
		ip := &layers.IPv6{Version: 6, NextHeader: layers.IPProtocolUDP, HopLimit: 64, SrcIP: make([]byte, 16), DstIP: make([]byte, 16)}
		pl := &roce.Payload{Data: make([]byte, n)}
		err := roce.Serialize(buf, fixed, ip, &layers.UDP{DstPort: roce.Port, Checksum: 1},
			&roce.BTH{BTH: ib.BTH{Opcode: ib.Of(ib.RC, ib.SendOnly)}}, pl)
		if err != nil {
			t.Fatal(err)
		}
		p := gopacket.NewPacket(buf.Bytes(), layers.LayerTypeIPv6, strict)
		got := layer[*roce.Payload](p)
		if got.Length != n || len(got.Pad) != (4-n%4)%4 || got.ICRCState != roce.ICRCGood || got.ICRC != pl.ICRC {
			t.Errorf("%d bytes: %v", n, got)
		}
		udp := layer[*layers.UDP](p)
		sum := udp.Checksum
		udp.SetNetworkLayerForChecksum(ip)
		check := gopacket.NewSerializeBuffer()
		if err := gopacket.SerializeLayers(check, gopacket.SerializeOptions{ComputeChecksums: true}, udp, gopacket.Payload(udp.Payload)); err != nil {
			t.Fatal(err)
		}
		if udp.Checksum != sum {
			t.Errorf("%d bytes: UDP checksum %04x, want %04x", n, sum, udp.Checksum)
		}
	}
}

func TestSerializeNeedsPayload(t *testing.T) {
	buf := gopacket.NewSerializeBuffer()
	if err := roce.Serialize(buf, fixed, &roce.BTH{}, gopacket.Payload("x")); err == nil {
		t.Error("a BTH without a Payload was written")
	}
}

// The ICRC of a tunnelled packet starts at the inner network header.
func TestSerializeTunnel(t *testing.T) {
	mac := []byte{2, 0, 0, 0, 0, 1}
	eth := &layers.Ethernet{SrcMAC: mac, DstMAC: mac, EthernetType: layers.EthernetTypeIPv4}
	ip := func() *layers.IPv4 {
		return &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: []byte{10, 0, 0, 1}, DstIP: []byte{10, 0, 0, 2}}
	}
	outer := ip()
	vxlan := &layers.UDP{SrcPort: 5000, DstPort: 4789}
	vxlan.SetNetworkLayerForChecksum(outer)
	buf := gopacket.NewSerializeBuffer()
	err := roce.Serialize(buf, fixed, eth, outer, vxlan, &layers.VXLAN{ValidIDFlag: true, VNI: 7}, eth, ip(),
		&layers.UDP{DstPort: roce.Port}, &roce.BTH{BTH: ib.BTH{Opcode: ib.CNP, BECN: true}}, &roce.CNP{}, &roce.Payload{})
	if err != nil {
		t.Fatal(err)
	}
	p := gopacket.NewPacket(buf.Bytes(), layers.LayerTypeEthernet, strict)
	if pl := layer[*roce.Payload](p); pl.ICRCState != roce.ICRCGood || layer[*layers.UDP](p).Checksum != 0 {
		t.Errorf("%v", p)
	}
}

// Layers that were not decoded together cannot be checked; layers that lie in
// different pieces of memory can.
func TestVerify(t *testing.T) {
	ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: []byte{10, 0, 0, 1}, DstIP: []byte{10, 0, 0, 2}}
	pl := &roce.Payload{Data: []byte("abc")}
	buf := gopacket.NewSerializeBuffer()
	if err := roce.Serialize(buf, fixed, ip, &layers.UDP{DstPort: roce.Port}, &roce.BTH{}, pl); err != nil {
		t.Fatal(err)
	}
	if got := pl.Verify(ip); got != roce.ICRCUnchecked {
		t.Errorf("against a layer without bytes: %v", got)
	}
	b := buf.Bytes()
	ip.Contents, ip.Payload = b[:20:20], append([]byte(nil), b[20:]...)
	if got := pl.Verify(ip); got != roce.ICRCGood {
		t.Errorf("against separate pieces: %v", got)
	}
	ip.Contents[6] |= 0x20 // more fragments
	if got := pl.Verify(ip); got != roce.ICRCUnchecked {
		t.Errorf("a fragment: %v", got)
	}
	pl.ICRCState = roce.ICRCMissing
	if got := pl.Verify(ip); got != roce.ICRCMissing {
		t.Errorf("without an ICRC: %v", got)
	}
}
