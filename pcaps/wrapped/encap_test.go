package wrapped

import (
	"slices"

	"github.com/rocescope/rocescope/decode"
)

// encapSamples has a sample for each encapsulation. Where it carries a whole
// frame, front is what stands before that; where it carries IP, the Ethernet
// header inside, of 14 bytes, is what it does without.
func encapSamples() []sample {
	ws := []wrapping{
		{name: "vlan.pcap", over: over4, wrap: func(x inner) []byte { return tagged(x.frame, 0x8100, 3<<13|100) },
			front: 4, want: vlan(100, 3)},
		{name: "vlan-priority-rocev1.pcap", over: over1, wrap: func(x inner) []byte { return tagged(x.frame, 0x8100, 5<<13) },
			front: 4, want: vlan(0, 5)},
		{name: "qinq-88a8.pcap", over: over4, wrap: func(x inner) []byte { return tagged(x.frame, 0x88A8, 5<<13|200, 0x8100, 3<<13|100) },
			front: 8, want: qinq(200, 100, 3)},
		{name: "qinq-9100.pcap", over: over6, wrap: func(x inner) []byte { return tagged(x.frame, 0x9100, 5<<13|200, 0x8100, 3<<13|100) },
			front: 8, want: qinq(200, 100, 3)},
		{name: "qinq-9200-9300.pcap", over: over4, // three tags: the middle one is the service's
			wrap:  func(x inner) []byte { return tagged(x.frame, 0x9300, 300, 0x9200, 200, 0x8100, 6<<13|100) },
			front: 12, want: qinq(200, 100, 6), tshark: "it does not know the TPID 0x9300"},
		{name: "etag-vlan.pcap", over: over4, // PCP 3, ECID 0x1002; then a tag
			wrap:  func(x inner) []byte { return tagged(x.frame, 0x893F, 0x6000, 0x1002, 0, 0x8100, 3<<13|100) },
			front: 12, want: then(adds(decode.EncapETag), vlan(100, 3))},

		{name: "mpls.pcap", over: over4, wrap: func(x inner) []byte { return x.hop(0x8847, labels(x.ip(), 16001, 24005)) },
			front: 8, want: then(adds(decode.EncapMPLS), betweenLeaves)},
		{name: "mpls-upstream-ipv6.pcap", over: over6, wrap: func(x inner) []byte { return x.hop(0x8848, labels(x.ip(), 16001)) },
			front: 4, want: then(adds(decode.EncapMPLS), betweenLeaves)},
		{name: "mpls-ethernet.pcap", over: over4, wrap: func(x inner) []byte { return x.hop(0x8847, labels(x.frame, 24005)) },
			front: 18, want: adds(decode.EncapMPLS)},
		{name: "mpls-control-word.pcap", over: over4, // which numbers the frames of a pseudowire
			wrap:  func(x inner) []byte { return x.hop(0x8847, labels(cat(u32(uint32(x.i+1)), x.frame), 16001, 24005)) },
			front: 26, want: adds(decode.EncapMPLS)},

		{name: "vxlan.pcap", over: over4, wrap: func(x inner) []byte { return x.overUDP(4789, vxlan(0x08, 0, 5001, x.frame)) },
			front: 50, want: network(decode.EncapVXLAN, 5001), rows: rowsOf(&over4, " VNI 5001")},
		{name: "vxlan-rocev1.pcap", over: over1, wrap: func(x inner) []byte { return x.overUDP(4789, vxlan(0x08, 0, 5001, x.frame)) },
			front: 50, want: network(decode.EncapVXLAN, 5001), rows: rowsOf(&over1, " VNI 5001")},
		{name: "vxlan-over-ipv6.pcap", over: over6, // the highest VNI there is
			wrap: func(x inner) []byte {
				return x.hop(0x86DD, x.tunnel6(17, udp(49999, 4789, vxlan(0x08, 0, 0xFFFFFF, x.frame))))
			},
			front: 70, want: network(decode.EncapVXLAN, 0xFFFFFF), rows: rowsOf(&over6, " VNI 16777215")},
		{name: "vxlan-group-policy-tags.pcap", over: over4, // a tag outside, which is none of the packet's, two inside
			wrap: func(x inner) []byte {
				return tagged(x.overUDP(4789, vxlan(0x88, 0, 5001, tagged(x.frame, 0x88A8, 200, 0x8100, 3<<13|100))), 0x8100, 7)
			},
			front: 62, want: then(network(decode.EncapVXLAN, 5001), qinq(200, 100, 3)), rows: rowsOf(&over4, " VNI 5001")},
		{name: "vxlan-tag-outside.pcap", over: over4, // the packet itself has no tag
			wrap:  func(x inner) []byte { return tagged(x.overUDP(4789, vxlan(0x08, 0, 5001, x.frame)), 0x8100, 3<<13|7) },
			front: 54, want: network(decode.EncapVXLAN|decode.EncapVLAN, 5001), rows: rowsOf(&over4, " VNI 5001")},
		{name: "vxlan-rocev15.pcap", over: over4, // the ports outside are not the packet's
			wrap:  func(x inner) []byte { return x.overUDP(4789, vxlan(0x08, 0, 5001, withoutUDP(x))) },
			front: 42, want: then(asRoCEv15, network(decode.EncapVXLAN, 5001)), rows: []string{}, finds: []string{noRoCE}},
		{name: "vxlan-gpe.pcap", over: over4, wrap: func(x inner) []byte { return x.overUDP(4790, vxlan(0x0C, 3, 5002, x.frame)) },
			front: 50, want: network(decode.EncapVXLANGPE, 5002), rows: rowsOf(&over4, " VNI 5002")},
		{name: "vxlan-gpe-ipv4.pcap", over: over4, wrap: func(x inner) []byte { return x.overUDP(4790, vxlan(0x0C, 1, 5002, x.ip())) },
			front: 36, want: then(network(decode.EncapVXLANGPE, 5002), betweenLeaves), rows: rowsOf(&over4, " VNI 5002")},
		{name: "vxlan-gpe-ipv6.pcap", over: over6, wrap: func(x inner) []byte { return x.overUDP(4790, vxlan(0x0C, 2, 5002, x.ip())) },
			front: 36, want: then(network(decode.EncapVXLANGPE, 5002), betweenLeaves), rows: rowsOf(&over6, " VNI 5002")},
		{name: "vxlan-gpe-mpls.pcap", over: over4, wrap: func(x inner) []byte { return x.overUDP(4790, vxlan(0x0C, 5, 5002, labels(x.ip(), 16001))) },
			front: 40, want: then(network(decode.EncapVXLANGPE, 5002), adds(decode.EncapMPLS), betweenLeaves), rows: rowsOf(&over4, " VNI 5002")},
		{name: "geneve-options.pcap", over: over4, wrap: func(x inner) []byte { return x.overUDP(6081, geneve(0x6558, 5003, x.frame)) },
			front: 62, want: network(decode.EncapGENEVE, 5003), rows: rowsOf(&over4, " VNI 5003")},
		{name: "geneve-options-ipv6.pcap", over: over6, wrap: func(x inner) []byte { return x.overUDP(6081, geneve(0x86DD, 5003, x.ip())) },
			front: 48, want: then(network(decode.EncapGENEVE, 5003), betweenLeaves), rows: rowsOf(&over6, " VNI 5003")},

		{name: "gre.pcap", over: over4, wrap: func(x inner) []byte { return x.overGRE(gre(0, 0x0800, 0, 0, x.ip())) },
			front: 24, want: then(adds(decode.EncapGRE), betweenLeaves)},
		{name: "gre-checksum-key-sequence.pcap", over: over4, // one direction each: two sequences
			wrap: func(x inner) []byte {
				return x.overGRE(gre(withSum|withKey|withSeq, 0x6558, 0x00ABCD01, 70+uint32(rank(x.i)), x.frame))
			},
			front: 50, want: then(adds(decode.EncapGRE), func(i int, p *decode.Packet) { p.HasGRESeq, p.GRESeq = true, 70+uint32(rank(i)) })},
		{name: "gre-key-ipv6.pcap", over: over6, wrap: func(x inner) []byte { return x.overGRE(gre(withKey, 0x86DD, 0x00ABCD01, 0, x.ip())) },
			front: 28, want: then(adds(decode.EncapGRE), betweenLeaves)},
		{name: "gre-route.pcap", over: over4, wrap: func(x inner) []byte { return x.overGRE(gre(withRoute, 0x0800, 0, 0, x.ip())) },
			front: 40, want: then(adds(decode.EncapGRE), betweenLeaves)},
		{name: "gre-mpls.pcap", over: over4, wrap: func(x inner) []byte { return x.overGRE(gre(0, 0x8847, 0, 0, labels(x.ip(), 16001))) },
			front: 28, want: then(adds(decode.EncapGRE|decode.EncapMPLS), betweenLeaves)},
		{name: "nvgre.pcap", over: over4, // the lowest byte of the key is a hash
			wrap:  func(x inner) []byte { return x.overGRE(gre(withKey, 0x6558, 5004<<8|0x77, 0, x.frame)) },
			front: 42, want: network(decode.EncapNVGRE, 5004), rows: rowsOf(&over4, " VNI 5004")},

		{name: "erspan1.pcap", over: over4, wrap: func(x inner) []byte { return mirrored4(gre(0, 0x88BE, 0, 0, x.frame)) },
			front: 38, want: adds(decode.EncapERSPAN1)},
		{name: "erspan2.pcap", over: over4, // the number wraps, which loses nothing
			wrap: func(x inner) []byte {
				return mirrored4(gre(withSeq, 0x88BE, 0, 0xFFFFFFFE+uint32(x.i), erspan2(513, 0, x.frame)))
			},
			front: 50, want: then(session(decode.EncapERSPAN2, 513), numbered(0xFFFFFFFE))},
		{name: "erspan2-lost.pcap", over: over4, // one frame of another session's traffic was lost on the way here, numbers show
			wrap: func(x inner) []byte {
				return mirrored4(gre(withSeq, 0x88BE, 0, 500+uint32(x.i+x.i/3), erspan2(513, 0, x.frame)))
			},
			front: 50, want: then(session(decode.EncapERSPAN2, 513), func(i int, p *decode.Packet) { p.HasGRESeq, p.GRESeq = true, 500+uint32(i+i/3) }),
			finds: []string{"capture.missed"}},
		{name: "erspan2-sessions.pcap", over: over4, // one for each direction, which count each for itself
			wrap: func(x inner) []byte {
				return mirrored4(gre(withSeq, 0x88BE, 0, 500+uint32(rank(x.i)), erspan2(513+uint32(x.i/2%2), 0, x.frame)))
			},
			front: 50, want: func(i int, p *decode.Packet) {
				session(decode.EncapERSPAN2, []uint16{513, 513, 514, 514, 513}[i])(i, p)
				p.HasGRESeq, p.GRESeq = true, []uint32{500, 501, 500, 501, 502}[i]
			}},
		{name: "erspan2-vxlan.pcap", over: over4, // a mirror on a spine
			wrap: func(x inner) []byte {
				return mirrored4(gre(withSeq, 0x88BE, 0, 500+uint32(x.i), erspan2(513, 0, x.overUDP(4789, vxlan(0x08, 0, 5001, x.frame)))))
			},
			front: 100, want: then(session(decode.EncapERSPAN2, 513), numbered(500), network(decode.EncapVXLAN, 5001)), rows: rowsOf(&over4, " VNI 5001")},
		{name: "erspan3.pcap", over: over4, // granularity 100 ns, towards the switch
			wrap: func(x inner) []byte {
				return mirrored4(gre(withSeq, 0x22EB, 0, 500+uint32(x.i), erspan3(514, 0x1000+uint32(x.i), 1<<1, nil, x.frame)))
			},
			front: 54, want: then(session(decode.EncapERSPAN3, 514), numbered(500))},
		{name: "erspan3-subheader.pcap", over: over4, // granularity of IEEE 1588, from the switch; platform 3 with the upper half of the time
			wrap: func(x inner) []byte {
				sub := cat(u32(3<<26|9), u32(1767225600))
				return mirrored4(gre(withSeq, 0x22EB, 0, 500+uint32(x.i), erspan3(514, 0x1000+uint32(x.i), 5<<4|1<<3|2<<1|1, sub, x.frame)))
			},
			front: 62, want: then(session(decode.EncapERSPAN3, 514), numbered(500))},
		{name: "erspan3-ip.pcap", over: over6, // frame type 2: no Ethernet inside
			wrap: func(x inner) []byte {
				return mirrored4(gre(withSeq, 0x22EB, 0, 500+uint32(x.i), erspan3(514, 0x1000+uint32(x.i), 2<<10|1<<1, nil, x.ip())))
			},
			front: 40, want: then(session(decode.EncapERSPAN3, 514), numbered(500), toCollector), tshark: "of ERSPAN III it reads Ethernet inside alone"},

		{name: "ipv4-in-ipv4.pcap", over: over4, wrap: func(x inner) []byte { return x.hop(0x0800, x.tunnel4(4, x.ip())) },
			front: 20, want: then(adds(decode.EncapIPIP), betweenLeaves)},
		{name: "ipv6-in-ipv4.pcap", over: over6, wrap: func(x inner) []byte { return x.hop(0x0800, x.tunnel4(41, x.ip())) },
			front: 20, want: then(adds(decode.EncapIPIP), betweenLeaves)},
		{name: "ipv4-in-ipv6.pcap", over: over4, wrap: func(x inner) []byte { return x.hop(0x86DD, x.tunnel6(4, x.ip())) },
			front: 40, want: then(adds(decode.EncapIPIP), betweenLeaves)},
		{name: "ipv6-in-ipv6.pcap", over: over6, wrap: func(x inner) []byte { return x.hop(0x86DD, x.tunnel6(41, x.ip())) },
			front: 40, want: then(adds(decode.EncapIPIP), betweenLeaves)},
	}
	out := []sample{erspanCut(), tenantsVXLAN(), tenantsVLAN()}
	for _, w := range ws {
		w.link = decode.LinkEthernet
		out = append(out, w.sample())
	}
	return out
}

// rank is the place of a frame among those of its sender.
func rank(i int) int { return []int{0, 1, 0, 1, 2}[i] }

// erspanCut is a mirror that keeps 100 bytes of each frame and says so of those
// that were longer. Nothing else tells: the capture itself is whole.
func erspanCut() sample {
	const keep = 100
	return wrapping{name: "erspan2-cut.pcap", link: decode.LinkEthernet, over: over4,
		wrap: func(x inner) []byte {
			t := uint32(0)
			if len(x.frame) > keep {
				t, x.frame = 1, x.frame[:keep]
			}
			return mirrored4(gre(withSeq, 0x88BE, 0, 500+uint32(x.i), erspan2(513, t, x.frame)))
		},
		front: 50, want: then(session(decode.EncapERSPAN2, 513), numbered(500), func(i int, p *decode.Packet) {
			if i == 0 { // WRITE First
				p.Len, p.CapLen = 50+keep, 50+keep
				p.CutByMirror, p.Odd = true, decode.OddTrimmed
				p.ICRC, p.ICRCVal = decode.ICRCUnchecked, 0
			}
		})}.sample()
}

// The tenants' frames alternate, as on a link that both use.
func tenants(name string, one, two wrapping) sample {
	one.link, two.link = decode.LinkEthernet, decode.LinkEthernet
	a, b := one.sample(), two.sample()
	s := sample{name: name, rows: slices.Concat(a.rows, b.rows)}
	for i := range size {
		fa, fb, pa, pb := a.frames[i], b.frames[i], a.want[i], b.want[i]
		pa.Frame, pb.Frame = uint64(2*i+1), uint64(2*i+2)
		s.frames = append(s.frames, fa, fb)
		s.want = append(s.want, pa, pb)
	}
	return s
}

// tenantsVXLAN has equal addresses and equal queue pairs in two networks.
func tenantsVXLAN() sample {
	in := func(vni uint32) func(inner) []byte {
		return func(x inner) []byte { return x.overUDP(4789, vxlan(0x08, 0, vni, x.frame)) }
	}
	return tenants("tenants-vxlan.pcap",
		wrapping{over: over4, wrap: in(7001), front: 50, want: network(decode.EncapVXLAN, 7001), rows: rowsOf(&over4, " VNI 7001")},
		wrapping{over: tenant, wrap: in(7002), front: 50, want: network(decode.EncapVXLAN, 7002), rows: rowsOf(&tenant, " VNI 7002")})
}

// tenantsVLAN has the same by tags.
func tenantsVLAN() sample {
	in := func(vid uint16) func(inner) []byte {
		return func(x inner) []byte { return tagged(x.frame, 0x8100, vid) }
	}
	s := tenants("tenants-vlan.pcap",
		wrapping{over: over4, wrap: in(71), front: 4, want: vlan(71, 0)},
		wrapping{over: tenant, wrap: in(72), front: 4, want: vlan(72, 0)})
	return s
}
