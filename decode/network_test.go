package decode

import "testing"

func TestDecodeOptions(t *testing.T) {
	part := udpTo(DefaultPort, ibPart(sendOnly, 0, hello))
	p := decodeOne(LinkIPv4, sealed(ip4(protoUDP, []byte{1, 1, 1, 0}, part)))
	if p.Status != RoCE || p.PayloadOff != 24+8+12 || p.ICRC != ICRCGood {
		t.Errorf("IPv4 options: %+v", p)
	}
	chain := []byte{protoDestOpts, 0, 1, 4, 0, 0, 0, 0, protoUDP, 1, 1, 12}
	chain = append(chain, make([]byte, 12)...)
	p = decodeOne(LinkIPv6, ip6(protoHopByHop, append(chain, part...)))
	if p.Status != RoCE || p.Proto != protoUDP || p.PayloadOff != 40+24+8+12 || p.PayloadLen != 12 || p.ICRC != ICRCUnchecked {
		t.Errorf("IPv6 extension headers: %+v", p)
	}
}

// What is no RoCE is still told: what it is, and between whom.
func TestDecodeOther(t *testing.T) {
	p := decodeOne(LinkEthernet, ethernetFrame(etherIPv4, ip4(protoTCP, nil, []byte{0x30, 0x39, 0x0C, 0xBC})))
	if p.Proto != protoTCP || p.EtherType != etherIPv4 || p.SrcPort != 12345 || p.DstPort != 3260 ||
		p.Dst != [16]byte{10: 0xFF, 0xFF, 192, 168, 10, 2} || p.DSCP != 26 || p.ECN != ECT0 || p.TTL != 64 {
		t.Errorf("TCP: %+v", p)
	}
	p = decodeOne(LinkEthernet, ethernetFrame(0x0806, make([]byte, 28)))
	if p.EtherType != 0x0806 || p.SrcMAC[0] != 0x0C || p.Dst != [16]byte{} {
		t.Errorf("ARP: %+v", p)
	}
	p = decodeOne(LinkIPv6, ip6(protoFragment, []byte{protoUDP, 0, 0, 1, 0, 0, 0, 1}))
	if p.Proto != protoUDP || !p.IPv6 {
		t.Errorf("fragment: %+v", p)
	}
}
