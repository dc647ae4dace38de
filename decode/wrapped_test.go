package decode

import "testing"

import "github.com/rocescope/rocescope/decode/ib"

var (
	inside  = ethernetFrame(etherIPv4, send4) // the frame that tunnels and mirrors carry
	outMACs = Packet{SrcMAC: [6]byte{2, 0, 0, 0, 0, 8}, DstMAC: [6]byte{2, 0, 0, 0, 0, 9}}
	inMACs  = Packet{SrcMAC: [6]byte{0x0C, 0x42, 0xA1, 0, 0, 1}, DstMAC: [6]byte{0x0C, 0x42, 0xA1, 0, 0, 2}}

	toVXLAN  = func(b []byte) []byte { return outerFrame(etherIPv4, outer4(protoUDP, udpTo(portVXLAN, b))) }
	toGPE    = func(b []byte) []byte { return outerFrame(etherIPv4, outer4(protoUDP, udpTo(portGPE, b))) }
	toGENEVE = func(b []byte) []byte { return outerFrame(etherIPv4, outer4(protoUDP, udpTo(portGENEVE, b))) }
	toGRE    = func(b []byte) []byte { return outerFrame(etherIPv4, outer4(protoGRE, b)) }
)

// plain4 is a Packet with what send4 tells, behind off bytes of the frame, and
// the fields of the link header of macs.
func plain4(macs Packet, off int) Packet {
	p := macs
	p.Status, p.Version, p.EtherType = RoCE, 2, etherIPv4
	p.Src, p.Dst = [16]byte{10: 0xFF, 0xFF, 192, 168, 10, 1}, [16]byte{10: 0xFF, 0xFF, 192, 168, 10, 2}
	p.IPID, p.SrcPort, p.DstPort = 0x1234, 0xC123, 4791
	p.Proto, p.DSCP, p.ECN, p.TTL = 17, 26, ECT0, 64
	p.Op, p.AckReq, p.PKey, p.QP, p.PSN = sendOnly, true, 0xFFFF, 0x1234, 0xABCDEF
	p.HasExt, p.PayloadLen, p.PayloadOff = true, 12, uint16(off+20+8+12)
	p.ICRCVal, p.ICRC = ib.ReadICRC(send4[len(send4)-4:]), ICRCGood
	return p
}

// plain6 is that of send6.
func plain6(macs Packet, off int) Packet {
	p := plain4(macs, off)
	p.EtherType, p.IPv6, p.IPID = etherIPv6, true, 0
	p.Src, p.Dst = [16]byte{0: 0xFD, 15: 1}, [16]byte{0: 0xFD, 15: 2}
	p.PayloadOff += 20
	p.ICRCVal = ib.ReadICRC(send6[len(send6)-4:])
	return p
}

// and returns p changed.
func and(p Packet, change func(p *Packet)) Packet {
	change(&p)
	return p
}

func encap(p Packet, e Encap) Packet { return and(p, func(p *Packet) { p.Encap = e }) }

func vni(p Packet, e Encap, vni uint32) Packet {
	return and(p, func(p *Packet) { p.Encap, p.VNI = e, vni })
}

// mirror is what an ERSPAN header with sequence number 77 adds. The hash is
// tested elsewhere: here it is told by how it is made.
func mirror(p Packet, e Encap, session uint16) Packet {
	return and(p, func(p *Packet) {
		p.Encap, p.Session, p.HasGRESeq, p.GRESeq = e, session, true, 77
		p.Mirror = uint32(mix(uint64(outer(&outside, 0)), uint64(session)))
	})
}

// sequence is what a GRE header with a sequence number adds.
func sequence(p Packet, key uint32) Packet {
	return and(p, func(p *Packet) {
		p.Encap, p.HasGRESeq, p.GRESeq, p.Mirror = EncapGRE, true, 77, outer(&outside, key)
	})
}

var outside = Packet{Src: [16]byte{10: 0xFF, 0xFF, 10, 9, 9, 1}, Dst: [16]byte{10: 0xFF, 0xFF, 10, 9, 9, 2}}

const key = 0x12345642 // of greOf

// wrapped holds one frame of each encapsulation and link type, and the whole of
// what it says.
var wrapped = []struct {
	desc string
	link LinkType
	data []byte
	want Packet
}{
	{"802.1Q", LinkEthernet, ethernetFrame(0x8100, tag(3<<13|100, etherIPv4, send4)),
		and(plain4(inMACs, 18), func(p *Packet) { p.Encap, p.Tagged, p.VLAN, p.PCP = EncapVLAN, true, 100, 3 })},
	{"three tags", LinkEthernet, ethernetFrame(0x9100, tag(300, 0x9200, tag(200, 0x9300, tag(100, etherIPv6, send6)))),
		and(plain6(inMACs, 26), func(p *Packet) { p.Encap, p.Tagged, p.VLAN, p.OuterVLAN = EncapQinQ, true, 100, 200 })},
	{"E-tag before a tag", LinkEthernet, ethernetFrame(etherETag, []byte("\x60\x01\x00\x02\x00\x00\x81\x00"+string(tag(100, etherIPv4, send4)))),
		and(plain4(inMACs, 26), func(p *Packet) { p.Encap, p.Tagged, p.VLAN = EncapETag|EncapVLAN, true, 100 })},

	{"MPLS, one label, IPv4", LinkEthernet, outerFrame(etherMPLS, labels(1, checksummed(send4))), encap(plain4(outMACs, 18), EncapMPLS)},
	{"MPLS, three labels, IPv6", LinkEthernet, outerFrame(etherMPLS2, labels(3, send6)), encap(plain6(outMACs, 26), EncapMPLS)},
	{"MPLS, IPv4 whose checksum is wrong", LinkEthernet, outerFrame(etherMPLS, labels(1, send4)), encap(plain4(outMACs, 18), EncapMPLS)},
	{"MPLS, Ethernet behind a control word", LinkEthernet, outerFrame(etherMPLS, labels(2, append([]byte{0, 0, 0, 7}, inside...))),
		encap(plain4(inMACs, 40), EncapMPLS)},
	{"MPLS, Ethernet without a control word", LinkEthernet, outerFrame(etherMPLS, labels(1, inside)), encap(plain4(inMACs, 32), EncapMPLS)},
	{"MPLS, Ethernet whose address starts as IPv4", LinkEthernet, outerFrame(etherMPLS, labels(1, with(inside, 0, 0x45))),
		and(encap(plain4(inMACs, 32), EncapMPLS), func(p *Packet) { p.DstMAC[0] = 0x45 })},
	{"MPLS, Ethernet whose address starts as IPv6", LinkEthernet, outerFrame(etherMPLS, labels(1, with(ethernetFrame(etherIPv6, send6), 0, 0x68))),
		and(encap(plain6(inMACs, 32), EncapMPLS), func(p *Packet) { p.DstMAC[0] = 0x68 })},

	{"VXLAN", LinkEthernet, toVXLAN(vxlanOf(8, 0, 42, inside)), vni(plain4(inMACs, 64), EncapVXLAN, 42)},
	{"VXLAN with a group policy, tagged outside, QinQ inside", LinkEthernet,
		ethernetFrame(0x8100, tag(7, etherIPv4, outer4(protoUDP, udpTo(portVXLAN, vxlanOf(0x88, 9, 42, ethernetFrame(0x88A8, tag(200, 0x8100, tag(100, etherIPv4, send4)))))))),
		and(vni(plain4(inMACs, 76), EncapVXLAN|EncapQinQ, 42), func(p *Packet) { p.Tagged, p.VLAN, p.OuterVLAN = true, 100, 200 })},
	{"VXLAN, tagged outside alone", LinkEthernet,
		ethernetFrame(0x8100, tag(7, etherIPv4, outer4(protoUDP, udpTo(portVXLAN, vxlanOf(8, 0, 42, inside))))),
		vni(plain4(inMACs, 68), EncapVXLAN|EncapVLAN, 42)},
	{"VXLAN over IPv6", LinkEthernet, outerFrame(etherIPv6, outer6(protoUDP, udpTo(portVXLAN, vxlanOf(8, 0, 0xFFFFFF, inside)))),
		vni(plain4(inMACs, 84), EncapVXLAN, 0xFFFFFF)},
	{"VXLAN-GPE, Ethernet", LinkEthernet, toGPE(vxlanOf(0x0C, 3, 42, inside)), vni(plain4(inMACs, 64), EncapVXLANGPE, 42)},
	{"VXLAN-GPE, IPv4", LinkEthernet, toGPE(vxlanOf(0x0C, 1, 42, send4)), vni(plain4(outMACs, 50), EncapVXLANGPE, 42)},
	{"VXLAN-GPE, IPv6", LinkEthernet, toGPE(vxlanOf(0x0C, 2, 42, send6)), vni(plain6(outMACs, 50), EncapVXLANGPE, 42)},
	{"VXLAN-GPE, MPLS", LinkEthernet, toGPE(vxlanOf(0x0C, 5, 42, labels(1, send4))), vni(plain4(outMACs, 54), EncapVXLANGPE|EncapMPLS, 42)},
	{"VXLAN-GPE without the P flag", LinkEthernet, toGPE(vxlanOf(8, 0, 42, inside)), vni(plain4(inMACs, 64), EncapVXLANGPE, 42)},
	{"GENEVE", LinkEthernet, toGENEVE(geneveOf(nil, etherTEB, 42, inside)), vni(plain4(inMACs, 64), EncapGENEVE, 42)},
	{"GENEVE with options, IPv6", LinkEthernet, toGENEVE(geneveOf(make([]byte, 12), etherIPv6, 42, send6)), vni(plain6(outMACs, 62), EncapGENEVE, 42)},

	{"GRE", LinkEthernet, toGRE(greOf(0, etherIPv4, send4)), encap(plain4(outMACs, 38), EncapGRE)},
	{"GRE with a checksum", LinkEthernet, toGRE(greOf(greChecksum, etherIPv6, send6)), encap(plain6(outMACs, 42), EncapGRE)},
	{"GRE with a key", LinkEthernet, toGRE(greOf(greKey, etherIPv4, send4)), encap(plain4(outMACs, 42), EncapGRE)},
	{"GRE with a sequence number", LinkEthernet, toGRE(greOf(greSequence, etherIPv4, send4)), sequence(plain4(outMACs, 42), 0)},
	{"GRE with checksum and key", LinkEthernet, toGRE(greOf(greChecksum|greKey, etherIPv4, send4)), encap(plain4(outMACs, 46), EncapGRE)},
	{"GRE with checksum and sequence number", LinkEthernet, toGRE(greOf(greChecksum|greSequence, etherIPv4, send4)), sequence(plain4(outMACs, 46), 0)},
	{"GRE with key and sequence number", LinkEthernet, toGRE(greOf(greKey|greSequence, etherIPv4, send4)), sequence(plain4(outMACs, 46), key)},
	{"GRE with all three", LinkEthernet, toGRE(greOf(greChecksum|greKey|greSequence, etherIPv4, send4)), sequence(plain4(outMACs, 50), key)},
	{"GRE with a source route and all three", LinkEthernet, toGRE(greOf(greChecksum|greRouting|greKey|greSequence, etherIPv4, send4)),
		sequence(plain4(outMACs, 62), key)},
	{"GRE with a source route", LinkEthernet, toGRE(greOf(greRouting, etherIPv4, send4)), encap(plain4(outMACs, 54), EncapGRE)},
	{"GRE, MPLS", LinkEthernet, toGRE(greOf(0, etherMPLS, labels(1, send4))), encap(plain4(outMACs, 42), EncapGRE|EncapMPLS)},
	{"GRE, Ethernet", LinkEthernet, toGRE(greOf(0, etherTEB, inside)), encap(plain4(inMACs, 52), EncapGRE)},
	{"GRE, Ethernet with key and sequence number", LinkEthernet, toGRE(greOf(greKey|greSequence, etherTEB, inside)), sequence(plain4(inMACs, 60), key)},
	{"NVGRE", LinkEthernet, toGRE(greOf(greKey, etherTEB, inside)), vni(plain4(inMACs, 56), EncapNVGRE, key>>8)},

	{"ERSPAN I", LinkEthernet, toGRE(greOf(0, etherERSPAN, inside)), encap(plain4(inMACs, 52), EncapERSPAN1)},
	{"ERSPAN II", LinkEthernet, toGRE(greOf(greSequence, etherERSPAN, erspan2(1023, false, inside))), mirror(plain4(inMACs, 64), EncapERSPAN2, 1023)},
	{"ERSPAN II, cut by the mirror", LinkEthernet, toGRE(greOf(greSequence, etherERSPAN, erspan2(7, true, inside))),
		and(mirror(plain4(inMACs, 64), EncapERSPAN2, 7), func(p *Packet) { p.CutByMirror = true })},
	{"ERSPAN III", LinkEthernet, toGRE(greOf(greSequence, etherERSPAN3, erspan3(7, 0x1A, inside))), mirror(plain4(inMACs, 68), EncapERSPAN3, 7)},
	{"ERSPAN III with a sub-header", LinkEthernet, toGRE(greOf(greSequence, etherERSPAN3, erspan3(7, 0x1B, inside))),
		mirror(plain4(inMACs, 76), EncapERSPAN3, 7)},
	{"ERSPAN III of an IP packet", LinkEthernet, toGRE(greOf(greSequence, etherERSPAN3, erspan3(7, 2<<10, send6))),
		mirror(plain6(outMACs, 54), EncapERSPAN3, 7)},
	{"ERSPAN II of a VXLAN frame", LinkEthernet, toGRE(greOf(greSequence, etherERSPAN, erspan2(7, false, toVXLAN(vxlanOf(8, 0, 42, inside))))),
		and(mirror(plain4(inMACs, 114), EncapERSPAN2|EncapVXLAN, 7), func(p *Packet) { p.VNI = 42 })},

	{"IPv4 in IPv4", LinkEthernet, outerFrame(etherIPv4, outer4(protoIPv4, send4)), encap(plain4(outMACs, 34), EncapIPIP)},
	{"IPv6 in IPv4", LinkEthernet, outerFrame(etherIPv4, outer4(protoIPv6, send6)), encap(plain6(outMACs, 34), EncapIPIP)},
	{"IPv4 in IPv6", LinkEthernet, outerFrame(etherIPv6, outer6(protoIPv4, send4)), encap(plain4(outMACs, 54), EncapIPIP)},
	{"IPv6 in IPv6", LinkEthernet, outerFrame(etherIPv6, outer6(protoIPv6, send6)), encap(plain6(outMACs, 54), EncapIPIP)},

	{"raw IPv4 by number 12", LinkRaw12, send4, plain4(Packet{}, 0)},
	{"raw IPv6 by number 14", LinkRaw14, send6, plain6(Packet{}, 0)},
	{"loopback in big-endian order", LinkLoop, append([]byte{0, 0, 0, 2}, send4...), plain4(Packet{}, 4)},
	{"loopback in little-endian order", LinkNull, append([]byte{30, 0, 0, 0}, send6...), plain6(Packet{}, 4)},
	{"express mPacket", LinkMPacket, mpacketOf(0x55, 0xD5, inside), plain4(inMACs, 22)},
	{"mPacket that may give way", LinkMPacket, mpacketOf(0x55, 0x4C, inside), plain4(inMACs, 22)},
	{"ERF, Ethernet", LinkERF, erfOf(2, 0, inside), plain4(inMACs, 32)},
	{"ERF, coloured Ethernet behind eight extension headers", LinkERF, erfOf(11, 8, inside), plain4(inMACs, 96)},
	{"ERF, IPv4", LinkERF, erfOf(22, 0, send4), plain4(Packet{}, 16)},
	{"ERF, IPv6 behind an extension header", LinkERF, erfOf(23, 1, send6), plain6(Packet{}, 24)},
	{"native InfiniBand", LinkInfiniBand, lrhOf(2, ibPart(sendOnly, 0, hello)), native(8, [16]byte{0: 1, 15: 9}, [16]byte{0: 1, 15: 5})},
	{"native InfiniBand with a GRH", LinkInfiniBand, lrhOf(3, send1), and(native(48, [16]byte{0: 0xFD, 15: 1}, [16]byte{0: 0xFD, 15: 2}),
		func(p *Packet) { p.Proto, p.DSCP, p.ECN, p.TTL = protoIBA, 26, ECT0, 64 })},
	{"ERF, InfiniBand", LinkERF, erfOf(21, 0, lrhOf(2, ibPart(sendOnly, 0, hello))), native(24, [16]byte{0: 1, 15: 9}, [16]byte{0: 1, 15: 5})},
}

// native is an InfiniBand packet whose BTH starts at off.
func native(off int, src, dst [16]byte) Packet {
	return Packet{
		Status: RoCE, Src: src, Dst: dst, IPv6: true,
		Op: sendOnly, AckReq: true, PKey: 0xFFFF, QP: 0x1234, PSN: 0xABCDEF, HasExt: true, PayloadLen: 12, PayloadOff: uint16(off + 12),
	}
}

// checksummed puts the right checksum into an IPv4 header.
func checksummed(b []byte) []byte {
	b = with(b, 10, 0, 0)
	s := sum(0, b[:20])
	for s > 0xFFFF {
		s = s>>16 + s&0xFFFF
	}
	return with(b, 10, ^byte(s>>8), ^byte(s))
}

func TestAddress(t *testing.T) {
	for a, want := range map[[16]byte]string{
		{10: 0xFF, 11: 0xFF, 12: 10, 13: 1, 14: 2, 15: 3}: "10.1.2.3",
		{0: 0x20, 1: 1, 2: 0xD, 3: 0xB8, 15: 1}:           "2001:db8::1",
		{15: 1}:                                           "::1",
		{0: 1, 14: 1, 15: 2}:                              "LID 258",
		{0: 1, 13: 1, 14: 1, 15: 2}:                       "100::1:102",
	} {
		if got := Address(a); got != want {
			t.Errorf("%v: %q, want %q", a, got, want)
		}
	}
}
