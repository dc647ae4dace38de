package wrapped

import (
	"github.com/rocescope/rocescope/decode"
)

// noIB is why tshark does not read link type 247.
const noIB = "it refuses the link type, though it reads the same bytes in an ERF record"

// linkSamples has a sample for each link type. A link without Ethernet takes 14
// bytes away; what it has in that place it adds.
func linkSamples() []sample {
	whole := func(x inner) []byte { return x.frame }
	ip := inner.ip
	ws := []wrapping{
		{name: "ethernet.pcap", link: decode.LinkEthernet, over: over4, wrap: whole},
		{name: "ethernet-ipv6.pcap", link: decode.LinkEthernet, over: over6, wrap: whole},
		{name: "ethernet-rocev1.pcap", link: decode.LinkEthernet, over: over1, wrap: whole},
		{name: "ethernet-padded.pcap", link: decode.LinkEthernet, over: over4, // as chips pad that forget to clear
			wrap: func(x inner) []byte { return cat(x.frame, []byte("\x11\x22\x33\x44\x55\x66\x77\x88\x99")) }, behind: 9},
		{name: "ethernet-fcs-unsaid.pcap", link: decode.LinkEthernet, over: over4,
			wrap: func(x inner) []byte { return cat(x.frame, fcs(x.frame)) }, behind: 4},

		{name: "sll.pcap", link: decode.LinkSLL, over: over4, wrap: func(x inner) []byte { return cooked1(x, 1, 6, 0x0800, x.ip()) },
			front: 2, want: noDst},
		{name: "sll-vlan.pcap", link: decode.LinkSLL, over: over6,
			wrap:  func(x inner) []byte { return cooked1(x, 1, 6, 0x8100, cat(u16(3<<13|100), u16(0x86DD), x.ip())) },
			front: 6, want: then(noDst, vlan(100, 3))},
		{name: "sll-rocev1.pcap", link: decode.LinkSLL, over: over1, wrap: func(x inner) []byte { return cooked1(x, 1, 6, 0x8915, x.ip()) },
			front: 2, want: noDst},
		{name: "sll-infiniband.pcap", link: decode.LinkSLL, over: over4, // IP over InfiniBand: an address of 20 bytes, of which 8 are shown
			wrap: func(x inner) []byte { return cooked1(x, 32, 20, 0x0800, x.ip()) }, front: 2, want: noMACs},
		{name: "sll2.pcap", link: decode.LinkSLL2, over: over4, wrap: func(x inner) []byte { return cooked2(x, 0x0800, x.ip()) },
			front: 6, want: noDst},
		{name: "sll2-vlan.pcap", link: decode.LinkSLL2, over: over6,
			wrap:  func(x inner) []byte { return cooked2(x, 0x8100, cat(u16(3<<13|100), u16(0x86DD), x.ip())) },
			front: 10, want: then(noDst, vlan(100, 3))},

		{name: "raw-12-ipv4.pcap", link: decode.LinkRaw12, over: over4, wrap: ip, front: -14, want: noMACs},
		{name: "raw-14-ipv6.pcap", link: decode.LinkRaw14, over: over6, wrap: ip, front: -14, want: noMACs},
		{name: "raw-101-ipv4.pcap", link: decode.LinkRaw, over: over4, wrap: ip, front: -14, want: noMACs},
		{name: "raw-101-ipv6.pcap", link: decode.LinkRaw, over: over6, wrap: ip, front: -14, want: noMACs},
		{name: "ipv4-228.pcap", link: decode.LinkIPv4, over: over4, wrap: ip, front: -14, want: noMACs},
		{name: "ipv6-229.pcap", link: decode.LinkIPv6, over: over6, wrap: ip, front: -14, want: noMACs},
		{name: "null-little-ipv4.pcap", link: decode.LinkNull, over: over4, wrap: func(x inner) []byte { return cat([]byte{2, 0, 0, 0}, x.ip()) },
			front: -10, want: noMACs},
		{name: "null-ipv6.pcap", link: decode.LinkNull, over: over6, // each system has a number of its own, in its own order
			wrap: func(x inner) []byte {
				windows, netBSD, freeBSD, macOS, freeBSDOnMIPS := []byte{23, 0, 0, 0}, []byte{24, 0, 0, 0}, []byte{28, 0, 0, 0}, []byte{30, 0, 0, 0}, []byte{0, 0, 0, 28}
				return cat([][]byte{windows, netBSD, freeBSD, macOS, freeBSDOnMIPS}[x.i], x.ip())
			}, front: -10, want: noMACs, tshark: "it takes family 23, Windows' number of IPv6, for BSD's of IPX", blind: func(i int) bool { return i == 0 }},
		{name: "loop-ipv4.pcap", link: decode.LinkLoop, over: over4, wrap: func(x inner) []byte { return cat([]byte{0, 0, 0, 2}, x.ip()) },
			front: -10, want: noMACs},
		{name: "loop-ipv6.pcap", link: decode.LinkLoop, over: over6, // 24 is OpenBSD's
			wrap: func(x inner) []byte { return cat([]byte{0, 0, 0, 24}, x.ip()) }, front: -10, want: noMACs},

		// An LRH in place of Ethernet, IP and UDP, and a VCRC; the ICRC covers the LRH.
		{name: "infiniband.pcap", link: decode.LinkInfiniBand, over: over4, wrap: func(x inner) []byte { return x.lrh(2, x.frame[42:]) },
			front: 8 - 42, behind: 2, want: byLID, rows: rows("LID 17", "LID 18", "v0"), tshark: noIB},
		{name: "infiniband-grh.pcap", link: decode.LinkInfiniBand, over: over1, wrap: func(x inner) []byte { return x.lrh(3, x.ip()) },
			front: 8 - 14, behind: 2, want: native, rows: rows("fe80::e42:a1ff:fe00:1", "fe80::e42:a1ff:fe00:2", "v0"), tshark: noIB},

		{name: "erf-ethernet.pcap", link: decode.LinkERF, over: over4, wrap: func(x inner) []byte { return erf(x, 2, nil, x.frame) }, front: 18},
		{name: "erf-colour-extensions.pcap", link: decode.LinkERF, over: over4, // type 11, a host id and a flow id
			wrap: func(x inner) []byte {
				return erf(x, 11, [][8]byte{{17, 0, 0, 0, 0, 0, 0, 1}, {16, 0, 0, 0, 0, 0, 0, 2}}, x.frame)
			}, front: 34},
		{name: "erf-dsm-colour.pcap", link: decode.LinkERF, over: over4, wrap: func(x inner) []byte { return erf(x, 16, nil, x.frame) }, front: 18},
		{name: "erf-colour-hash.pcap", link: decode.LinkERF, over: over4, wrap: func(x inner) []byte { return erf(x, 20, nil, x.frame) }, front: 18},
		{name: "erf-ipv4.pcap", link: decode.LinkERF, over: over4, wrap: func(x inner) []byte { return erf(x, 22, nil, x.ip()) }, front: 2, want: noMACs},
		{name: "erf-ipv6-extension.pcap", link: decode.LinkERF, over: over6,
			wrap: func(x inner) []byte { return erf(x, 23, [][8]byte{{3}}, x.ip()) }, front: 10, want: noMACs},
		{name: "erf-infiniband.pcap", link: decode.LinkERF, over: over4, wrap: func(x inner) []byte { return erf(x, 21, nil, x.lrh(2, x.frame[42:])) },
			front: 24 - 42, behind: 2, want: byLID, rows: rows("LID 17", "LID 18", "v0")},
		{name: "erf-infiniband-grh-extension.pcap", link: decode.LinkERF, over: over1,
			wrap:  func(x inner) []byte { return erf(x, 21, [][8]byte{{3}}, x.lrh(3, x.ip())) },
			front: 32 - 14, behind: 2, want: native, rows: rows("fe80::e42:a1ff:fe00:1", "fe80::e42:a1ff:fe00:2", "v0")},

		{name: "mpacket-express.pcap", link: decode.LinkMPacket, over: over4,
			wrap:  func(x inner) []byte { return cat([]byte("\x55\x55\x55\x55\x55\x55\x55\xD5"), x.frame, fcs(x.frame)) },
			front: 8, behind: 4},
		{name: "mpacket-start.pcap", link: decode.LinkMPacket, over: over6, // which may give way; the start byte counts frames
			wrap: func(x inner) []byte {
				start := []byte{0xE6, 0x4C, 0x7F, 0xB3}[x.i%4]
				return cat([]byte("\x55\x55\x55\x55\x55\x55\x55"), []byte{start}, x.frame, fcs(x.frame))
			}, front: 8, behind: 4},
	}
	var out []sample
	for _, w := range ws {
		out = append(out, w.sample())
	}
	return append(out, statedFCS(), manyLinks())
}

// byLID is native InfiniBand without a GRH: nothing but LIDs stands for a
// network. Its ICRC is not checked.
func byLID(i int, p *decode.Packet) {
	p.Src, p.Dst = addr("100::11"), addr("100::12")
	if isBack(i) {
		p.Src, p.Dst = p.Dst, p.Src
	}
	p.SrcPort, p.DstPort, p.IPID = 0, 0, 0
	p.DSCP, p.ECN, p.TTL, p.Proto = 0, decode.NotECT, 0, 0
	native(i, p)
}

// native is InfiniBand, with a GRH or not.
func native(i int, p *decode.Packet) {
	noMACs(i, p)
	p.Version, p.EtherType, p.IPv6 = 0, 0, true
	p.ICRC, p.ICRCVal = decode.ICRCUnchecked, 0
}

// cooked1 is a Linux cooked header: packet type (0 to us, 4 from us), ARP type,
// length of the sender's address, the address in 8 bytes, EtherType.
func cooked1(x inner, arp, n uint16, etherType uint16, rest []byte) []byte {
	kind := uint16(4)
	if x.back {
		kind = 0
	}
	return cat(u16(kind), u16(arp), u16(n), x.frame[6:12], []byte{0, 0}, u16(etherType), rest)
}

// cooked2 is its second version, of interface 3.
func cooked2(x inner, etherType uint16, rest []byte) []byte {
	kind := uint8(4)
	if x.back {
		kind = 0
	}
	return cat(u16(etherType), []byte{0, 0}, u32(3), u16(1), []byte{kind, 6}, x.frame[6:12], []byte{0, 0}, rest)
}

// statedFCS is a capture that says of its frames that an FCS ends them.
func statedFCS() sample {
	s := wrapping{name: "ethernet-fcs.pcapng", link: decode.LinkEthernet, over: over4,
		wrap: func(x inner) []byte { return cat(x.frame, fcs(x.frame)) }, behind: 4}.sample()
	s.fcs = 4
	return s
}

// manyLinks has an interface of another link type for each frame of the
// exchange, as where `tcpdump -i any` and a tunnel's interface are merged.
func manyLinks() sample {
	each := []wrapping{
		{link: decode.LinkEthernet, wrap: func(x inner) []byte { return x.frame }},
		{link: decode.LinkSLL, wrap: func(x inner) []byte { return cooked1(x, 1, 6, 0x0800, x.ip()) }, front: 2, want: noDst},
		{link: decode.LinkRaw, wrap: inner.ip, front: -14, want: noMACs},
		{link: decode.LinkSLL2, wrap: func(x inner) []byte { return cooked2(x, 0x0800, x.ip()) }, front: 6, want: noDst},
		{link: decode.LinkNull, wrap: func(x inner) []byte { return cat([]byte{2, 0, 0, 0}, x.ip()) }, front: -10, want: noMACs},
	}
	out := sample{name: "many-links.pcapng", rows: rowsOf(&over4, "")}
	for i, w := range each {
		w.over = over4
		s := w.sample()
		s.frames[i].Iface, s.want[i].Iface = uint16(i), uint16(i)
		out.frames = append(out.frames, s.frames[i])
		out.want = append(out.want, s.want[i])
	}
	return out
}
