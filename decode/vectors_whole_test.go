package decode

import (
	"testing"

	"github.com/rocescope/rocescope/decode/ib"
)

// vectorInside is the RDMA WRITE Only that the vectors of tunnels and link types
// carry, whose payload starts at off.
func vectorInside(macs Packet, off uint16) Packet {
	p := macs
	p.Status, p.Version, p.EtherType = RoCE, 2, etherIPv4
	p.Src, p.Dst = [16]byte{10: 0xFF, 0xFF, 192, 168, 10, 1}, [16]byte{10: 0xFF, 0xFF, 192, 168, 10, 2}
	p.IPID, p.SrcPort, p.DstPort = 0x1234, 0xC123, 4791
	p.Proto, p.DSCP, p.ECN, p.TTL = 17, 26, ECT0, 64
	p.Op, p.AckReq, p.PKey, p.QP, p.PSN = writeOnly, true, 0xFFFF, 0x77, 9
	p.HasExt, p.VA, p.RKey, p.DMALen, p.PayloadLen, p.PayloadOff = true, 0x1000, 0x99, 4, 4, off
	p.ICRCVal, p.ICRC = ib.ReadICRC([]byte{0xEA, 0x99, 0xC6, 0xC9}), ICRCGood
	return p
}

var (
	sender  = Packet{SrcMAC: inMACs.SrcMAC} // all that a cooked capture knows
	overGRE = Packet{Src: outside.Src, Dst: outside.Dst}
)

func vectorMirror(off uint16, e Encap, session uint16, seq uint32) Packet {
	return and(vectorInside(inMACs, off), func(p *Packet) {
		p.Encap, p.Session, p.HasGRESeq, p.GRESeq = e, session, true, seq
		p.Mirror = uint32(mix(uint64(outer(&overGRE, 0)), uint64(session)))
	})
}

func vectorNative(off uint16) Packet {
	return Packet{
		Status: RoCE, Src: [16]byte{0: 1, 15: 9}, Dst: [16]byte{0: 1, 15: 5}, IPv6: true,
		Op: sendOnly, AckReq: true, PKey: 0xFFFF, QP: 0x1234, PSN: 0x42, HasExt: true, PayloadLen: 12, PayloadOff: off,
	}
}

// vectorsWhole holds all that the vectors of tunnels and link types say, by
// their number.
var vectorsWhole = map[string]Packet{
	"23": vectorMirror(120, EncapERSPAN2, 1, 77),
	"24": vni(vectorInside(inMACs, 120), EncapVXLAN, 4096),
	"31": and(vectorInside(inMACs, 78), func(p *Packet) {
		p.Encap, p.Tagged, p.VLAN, p.PCP, p.OuterVLAN = EncapQinQ, true, 100, 3, 200
	}),
	"32": encap(vectorInside(inMACs, 78), EncapMPLS),
	"33": vni(vectorInside(inMACs, 128), EncapGENEVE, 0xABCD),
	"34": vectorMirror(124, EncapERSPAN3, 7, 78),
	"35": vectorMirror(132, EncapERSPAN3, 7, 79),
	"36": encap(vectorInside(inMACs, 108), EncapERSPAN1),
	"37": vni(vectorInside(inMACs, 112), EncapNVGRE, 0x123456),
	"38": encap(vectorInside(inMACs, 94), EncapGRE),
	"50": vectorInside(sender, 72),
	"51": and(vectorInside(sender, 76), func(p *Packet) { p.Encap, p.Tagged, p.VLAN, p.PCP = EncapVLAN, true, 100, 3 }),
	"52": vectorInside(sender, 76),
	"53": vectorInside(Packet{}, 56),
	"54": and(vectorInside(Packet{}, 76), func(p *Packet) {
		p.EtherType, p.IPv6, p.IPID = etherIPv6, true, 0
		p.Src, p.Dst = [16]byte{0x20, 1, 0x0D, 0xB8, 15: 1}, [16]byte{0x20, 1, 0x0D, 0xB8, 15: 2}
		p.ICRCVal = ib.ReadICRC([]byte{0xED, 0xB1, 0x46, 0xD6})
	}),
	"55": vectorInside(inMACs, 88),
	"56": vectorInside(inMACs, 96),
	"57": vectorNative(36),
	"58": vectorNative(20),
}

func TestVectorsWhole(t *testing.T) {
	seen := 0
	for _, v := range loadVectors(t) {
		want, ok := vectorsWhole[v.Name[:2]]
		if !ok {
			continue
		}
		seen++
		want.Time, want.Frame, want.Len, want.CapLen = 1, 1, uint32(v.Len), uint32(len(v.data))
		var d Decoder
		p := dirty()
		if d.Decode(v.frame(len(v.data)), &p); p != want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", v.Name, p, want)
		}
	}
	if seen != len(vectorsWhole) {
		t.Errorf("%d of %d vectors are there", seen, len(vectorsWhole))
	}
}
