package decode

import "testing"

func TestEncap(t *testing.T) {
	for _, tt := range wrapped {
		t.Run(tt.desc, func(t *testing.T) {
			want := tt.want
			want.Time, want.Frame, want.Len, want.CapLen = 1, 1, uint32(len(tt.data)), uint32(len(tt.data))
			var d Decoder
			p := dirty()
			if d.Decode(frameOf(tt.link, tt.data), &p); p != want {
				t.Errorf("got  %+v\nwant %+v", p, want)
			}
		})
	}
}

// A frame cut at any length must yield a part of what the whole one yields.
func TestEncapCut(t *testing.T) {
	for _, tt := range wrapped {
		t.Run(tt.desc, func(t *testing.T) {
			var d Decoder
			whole, p := decodeOne(tt.link, tt.data), Packet{}
			for n := range tt.data {
				f := frameOf(tt.link, tt.data)
				f.Data = tt.data[:n:n]
				d.Decode(f, &p)
				checkCut(t, n, &p, &whole)
				if p.Encap&^whole.Encap&^EncapVLAN != 0 || p.Odd != 0 {
					t.Fatalf("cut at %d: %v, %v", n, p.Encap, p.Odd)
				}
			}
		})
	}
}

func TestEncapStatus(t *testing.T) {
	tests := []struct {
		desc string
		link LinkType
		data []byte
		want Status
	}{
		{"MPLS without an end", LinkEthernet, outerFrame(etherMPLS, labels(17, send4)[:64]), Malformed},
		{"MPLS, IPv4 that is neither right nor Ethernet", LinkEthernet, outerFrame(etherMPLS, labels(1, ip4(protoTCP, nil, make([]byte, 20)))), Other},
		{"MPLS, IPv6 of another length", LinkEthernet, outerFrame(etherMPLS, labels(1, append(with(send6, 6, protoTCP), make([]byte, 60)...))), Other},
		{"MPLS, an associated channel", LinkEthernet, outerFrame(etherMPLS, labels(1, append([]byte{0x10, 0, 0, 0x21}, make([]byte, 40)...))), Other},
		{"MPLS, Ethernet with ARP", LinkEthernet, outerFrame(etherMPLS, labels(1, ethernetFrame(0x0806, make([]byte, 28)))), Other},
		{"VXLAN without a VNI", LinkEthernet, toVXLAN(vxlanOf(0, 0, 42, inside)), Other},
		{"VXLAN from the port, not to it", LinkEthernet, with(toVXLAN(vxlanOf(8, 0, 42, inside)), 34, 0x12, 0xB5, 0, 53), Other},
		{"VXLAN with ARP", LinkEthernet, toVXLAN(vxlanOf(8, 0, 42, ethernetFrame(0x0806, make([]byte, 28)))), Other},
		{"VXLAN with PFC", LinkEthernet, toVXLAN(vxlanOf(8, 0, 42, ethernetFrame(0x8808, pfcBody))), PFC},
		{"VXLAN-GPE of version 1", LinkEthernet, toGPE(vxlanOf(0x1C, 3, 42, inside)), Other},
		{"VXLAN-GPE of the operator", LinkEthernet, toGPE(vxlanOf(0x0D, 3, 42, inside)), Other},
		{"VXLAN-GPE with a service header", LinkEthernet, toGPE(vxlanOf(0x0C, 4, 42, inside)), Other},
		{"GENEVE of version 1", LinkEthernet, toGENEVE(with(geneveOf(nil, etherTEB, 42, inside), 0, 0x40)), Other},
		{"GENEVE control packet", LinkEthernet, toGENEVE(with(geneveOf(nil, etherTEB, 42, inside), 1, 0x80)), Other},
		{"GENEVE, an unknown protocol", LinkEthernet, toGENEVE(geneveOf(nil, 0x894F, 42, inside)), Other},
		{"GENEVE options beyond the frame", LinkEthernet, toGENEVE(with(geneveOf(nil, etherTEB, 42, send4), 0, 0x3F)), Truncated},
		{"GRE version 1, PPTP", LinkEthernet, toGRE(with(greOf(greKey, 0x880B, make([]byte, 40)), 1, 1)), Other},
		{"GRE with a keepalive", LinkEthernet, toGRE(greOf(0, 0, nil)), Other},
		{"GRE source route without an end", LinkEthernet, toGRE(append([]byte{0x40, 0, 8, 0, 0, 0, 0, 0}, bytesOf(9, 8, 0, 0, 4, 1, 2, 3, 4)...)), Malformed},
		{"GRE source route that was cut", LinkEthernet, toGRE([]byte{0x40, 0, 8, 0, 0, 0, 0, 0, 8, 0, 0, 40, 1}), Truncated},
		{"ERSPAN of an unknown version", LinkEthernet, toGRE(greOf(greSequence, etherERSPAN, with(erspan2(7, false, inside), 0, 0x30))), Other},
		{"ERSPAN III of an unknown frame type", LinkEthernet, toGRE(greOf(greSequence, etherERSPAN3, erspan3(7, 1<<10, inside))), Other},
		{"IP in IP deeper than any network", LinkIPv4, nested(20), Malformed},
		{"a fragment of a tunnel", LinkEthernet, with(toVXLAN(vxlanOf(8, 0, 42, inside)), 20, 0x20, 0), Fragment},

		{"loopback of an unknown family", LinkNull, append([]byte{7, 0, 0, 0}, send4...), Other},
		{"mPacket that goes on", LinkMPacket, mpacketOf(0x61, 0xE6, inside), Fragment},
		{"mPacket that verifies", LinkMPacket, mpacketOf(0x55, 0x07, make([]byte, 60)), Other},
		{"mPacket without a preamble", LinkMPacket, make([]byte, 60), Other},
		{"ERF padding", LinkERF, erfOf(48, 0, nil), Other},
		{"ERF, HDLC", LinkERF, erfOf(1, 0, send4), Other},
		{"ERF with nine extension headers", LinkERF, erfOf(2, 9, inside), Malformed},
		{"InfiniBand of another version", LinkInfiniBand, with(lrhOf(2, ibPart(sendOnly, 0, hello)), 0, 1), Malformed},
		{"InfiniBand shorter than its header", LinkInfiniBand, with(lrhOf(2, ibPart(sendOnly, 0, hello)), 4, 0, 1), Malformed},
		{"InfiniBand without room for BTH and ICRC", LinkInfiniBand, with(lrhOf(2, ibPart(sendOnly, 0, hello)), 4, 0, 5), Malformed},
		{"raw InfiniBand", LinkInfiniBand, lrhOf(0, make([]byte, 40)), Other},
		{"InfiniBand with raw IPv6", LinkInfiniBand, lrhOf(1, send6), Other},
	}
	for _, tt := range tests {
		t.Run(tt.desc, func(t *testing.T) {
			p := decodeOne(tt.link, tt.data)
			checkPacket(t, &p, len(tt.data))
			if p.Status != tt.want {
				t.Errorf("got %v, want %v: %+v", p.Status, tt.want, p)
			}
		})
	}
}

// nested is IPv4 in IPv4, n times.
func nested(n int) []byte {
	b := send4
	for range n {
		b = outer4(protoIPv4, b)
	}
	return b
}

func bytesOf(n int, b ...byte) (s []byte) {
	for range n {
		s = append(s, b...)
	}
	return s
}

// The sequence numbers of one mirror belong together, those of two do not.
func TestMirror(t *testing.T) {
	base := toGRE(greOf(greSequence, etherERSPAN, erspan2(7, false, inside)))
	same := decodeOne(LinkEthernet, with(base, 40, 99)).Mirror // the next number
	if got := decodeOne(LinkEthernet, base).Mirror; got == 0 || got != same {
		t.Fatalf("got %#x and %#x", got, same)
	}
	seen := map[uint32]string{same: "the mirror"}
	for desc, b := range map[string][]byte{
		"another session":     toGRE(greOf(greSequence, etherERSPAN, erspan2(8, false, inside))),
		"another key":         toGRE(greOf(greSequence|greKey, etherERSPAN, erspan2(7, false, inside))),
		"another source":      with(base, 29, 77),
		"another destination": with(base, 33, 77),
		"the other direction": with(base, 26, 10, 9, 9, 2, 10, 9, 9, 1),
	} {
		m := decodeOne(LinkEthernet, b).Mirror
		if seen[m] != "" {
			t.Errorf("%s is taken for %s", desc, seen[m])
		}
		seen[m] = desc
	}
}

func TestEncapString(t *testing.T) {
	for e, want := range map[Encap]string{
		0: "none", EncapVXLAN: "VXLAN", EncapQinQ | EncapMPLS: "QinQ, MPLS", EncapIPIP: "IP in IP", EncapERSPAN3 | EncapVLAN: "VLAN, ERSPAN III",
	} {
		if got := e.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if EncapIPIP != 1<<(len(encapNames)-1) {
		t.Error("an encapsulation has no name")
	}
}

func TestLinkTypeString(t *testing.T) {
	for l, want := range map[LinkType]string{
		LinkNull: "BSD loopback", LinkEthernet: "Ethernet", LinkRaw14: "raw IP", LinkIPv6: "raw IP", LinkSLL: "Linux cooked",
		LinkERF: "ERF", LinkInfiniBand: "InfiniBand", LinkMPacket: "Ethernet mPacket", LinkSLL2: "Linux cooked v2", 105: "link type 105",
	} {
		if got := l.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
