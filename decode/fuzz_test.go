package decode

import (
	"testing"

	"github.com/rocescope/rocescope/decode/ib"
)

// FuzzDecode takes any bytes under any link type. It checks that nothing of
// the packet before shows through, that no field claims what the frame cannot
// hold, and that a cut frame never says anything else than the whole one.
func FuzzDecode(f *testing.F) {
	for _, b := range [][]byte{send4, send6} {
		f.Add(uint16(LinkRaw), b, uint16(0))
	}
	f.Add(uint16(LinkEthernet), ethernetFrame(0x8915, send1), uint16(3))
	f.Add(uint16(LinkEthernet), ethernetFrame(0x8808, pfcBody), uint16(5))
	f.Add(uint16(LinkEthernet), ethernetFrame(0x88A8, tag(200, 0x8100, tag(100, etherIPv4, send4))), uint16(20))
	f.Add(uint16(LinkSLL), append([]byte{0, 4, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 8, 0}, send4...), uint16(8))
	f.Add(uint16(LinkSLL2), append([]byte{8, 0, 0, 0, 0, 0, 0, 7, 0, 1, 4, 6, 1, 2, 3, 4, 5, 6, 0, 0}, send4...), uint16(8))
	f.Add(uint16(LinkIPv6), ip6(protoHopByHop, append([]byte{protoUDP, 0, 1, 4, 0, 0, 0, 0}, send6[40:]...)), uint16(1))
	f.Add(uint16(LinkEthernet), ethernetFrame(0x8100, manyTags(20)), uint16(0))

	// Acknowledgements cut behind the syndrome; that of RD, whose headers are left
	// unread, has it elsewhere.
	for _, op := range []ib.Opcode{ib.Of(ib.RC, ib.Acknowledge), ib.Of(ib.RD, ib.Acknowledge)} {
		f.Add(uint16(LinkRaw), roce4(op, make([]byte, ib.AETHLen)), uint16(6))
	}
	for _, e := range wrapped {
		f.Add(uint16(e.link), e.data, uint16(0))
	}
	for _, o := range oddFrames {
		f.Add(uint16(o.link), o.data, uint16(0))
	}
	f.Fuzz(func(t *testing.T, link uint16, data []byte, cut uint16) {
		frame := frameOf(LinkType(link), data)
		var d, fresh Decoder
		p, q := dirty(), Packet{}
		if s := d.Decode(frame, &p); s != p.Status || s >= NumStatus {
			t.Fatalf("status %v, returned %v", p.Status, s)
		}
		checkPacket(t, &p, len(data))

		frame.Data = data[:len(data)-min(int(cut), len(data))]
		d.Decode(frame, &p)
		checkPacket(t, &p, len(frame.Data))
		if fresh.Decode(frame, &q); p != q {
			t.Fatalf("the packet before shows through:\n%+v\n%+v", p, q)
		}
		fresh.Decode(frameOf(LinkType(link), data), &q)
		if p.Status == RoCE && (q.Status != RoCE || p.PayloadLen != q.PayloadLen || p.Op != q.Op || p.PSN != q.PSN) {
			t.Fatalf("cut by %d it is another packet:\n%+v\n%+v", cut, p, q)
		}
	})
}

func checkPacket(t *testing.T, p *Packet, n int) {
	t.Helper()
	if int(p.PayloadOff) > n || p.CapLen != uint32(n) {
		t.Fatalf("beyond the %d bytes captured: %+v", n, *p)
	}
	if p.ICRC != ICRCUnchecked && int(p.PayloadOff)+int(p.PayloadLen)+int(p.PadCnt)+4 > n {
		t.Fatalf("checked an ICRC that was not captured: %+v", *p)
	}
	if p.PayloadLen > 1<<16 || p.QP >= 1<<24 || p.PSN >= 1<<24 || p.MSN > MSNCut || p.VLAN >= 1<<12 {
		t.Fatalf("out of range: %+v", *p)
	}
	if p.MSN == MSNCut && (p.HasExt || !p.HasSyndrome() || p.Op.Transport() == ib.RD) {
		t.Fatalf("a syndrome whose MSN was cut, where none can stand: %+v", *p)
	}
	checkWrapping(t, p)
	if p.Status == RoCE {
		native := p.EtherType == 0 && p.ICRC == ICRCUnchecked
		if (p.Version == 0) != native || p.Version > 2 || p.Dst == [16]byte{} && !p.IPv6 {
			t.Fatalf("not filled: %+v", *p)
		}
		return
	}
	if p.Version != 0 || p.Op != 0 || p.QP != 0 || p.PSN != 0 || p.PayloadLen != 0 || p.HasExt || p.PayloadOff != 0 && p.Status != LLDP {
		t.Fatalf("transport fields of %v: %+v", p.Status, *p)
	}
	if p.Status != PFC && p.Status != Pause && p.Pause != (PauseInfo{}) {
		t.Fatalf("pause of %v: %+v", p.Status, *p)
	}
}

// checkWrapping holds the fields of encapsulations against the set that says
// which are valid.
func checkWrapping(t *testing.T, p *Packet) {
	t.Helper()
	const vni, session = EncapVXLAN | EncapVXLANGPE | EncapGENEVE | EncapNVGRE, EncapERSPAN2 | EncapERSPAN3
	switch {
	case p.VNI >= 1<<24, p.VNI != 0 && p.Encap&vni == 0:
	case p.Session >= 1<<10, (p.Session != 0 || p.CutByMirror) && p.Encap&session == 0:
	case p.OuterVLAN >= 1<<12, p.OuterVLAN != 0 && p.Encap&EncapQinQ == 0:
	case (p.GRESeq != 0 || p.Mirror != 0) && !p.HasGRESeq:
	case p.Encap >= 1<<len(encapNames), p.Odd >= 1<<len(oddNames):
	case p.Odd&OddPort != 0 && p.Status != Other, p.Odd&OddFragment != 0 && p.Status != Fragment:
	default:
		return
	}
	t.Fatalf("wrapping: %+v", *p)
}
