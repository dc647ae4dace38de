package wrapped

import (
	"slices"

	"github.com/rocescope/rocescope/decode"
)

const noRoCE = "capture.no-roce"

// oddSamples has a sample for each oddity and for what is met beside RoCE.
func oddSamples() []sample {
	ws := []wrapping{
		{name: "ip-options.pcap", over: over4, wrap: withOptions, front: 4, resealed: true, want: odd(decode.OddIPOptions)},
		{name: "ipv6-hop-by-hop.pcap", over: over6, wrap: withHopByHop, front: 8, want: then(odd(decode.OddIPv6Ext), unchecked)},
		{name: "udp-checksum.pcap", over: over4, wrap: summed, want: oddAt(1, decode.OddUDPChecksum)},
		{name: "udp-checksum-ipv6.pcap", over: over6, wrap: summed, want: oddAt(1, decode.OddUDPChecksum)},
		{name: "port-1021.pcap", over: over4, wrap: toPort1021, finds: []string{noRoCE}, rows: []string{},
			want: func(i int, p *decode.Packet) {
				*p = below4(p)
				p.Status, p.DstPort, p.Odd = decode.Other, 1021, decode.OddPort
			}},
		{name: "rocev15.pcap", over: over4, wrap: withoutUDP, front: -8, finds: []string{noRoCE}, rows: []string{},
			want: asRoCEv15},
		{name: "pkey.pcap", over: over4, wrap: func(x inner) []byte { return patched(x.frame, 44, 0x80, 0x01) }, resealed: true,
			want: then(odd(decode.OddPKey), func(_ int, p *decode.Packet) { p.PKey = 0x8001 })},
		{name: "pkey-limited-member.pcap", over: over4, wrap: func(x inner) []byte { return patched(x.frame, 44, 0x7F) }, resealed: true, // not odd
			want: func(_ int, p *decode.Packet) { p.PKey = 0x7FFF }},
		{name: "reserved-bits.pcap", over: over4, // as some adapters set them: one beside AckReq in all, one beside BECN in one
			wrap: func(x inner) []byte {
				b := patched(x.frame, 50, x.frame[50]|0x40)
				if x.i == 0 {
					b = patched(b, 46, 0x01)
				}
				return b
			}, resealed: true, want: odd(decode.OddReserved)},
		{name: "transport-version.pcap", over: over4,
			wrap:     func(x inner) []byte { return patched(x.frame, 43, x.frame[43]|0x02) },
			resealed: true, want: then(odd(decode.OddTVer), func(_ int, p *decode.Packet) { p.TVer = 2 })},
		{name: "trimmed.pcap", over: over4, // by a switch: the record says that no more was on the wire
			wrap: func(x inner) []byte {
				if x.i == 0 {
					return x.frame[:128]
				}
				return x.frame
			},
			want: func(i int, p *decode.Packet) {
				if i == 0 {
					p.Len, p.CapLen, p.Odd = 128, 128, decode.OddTrimmed
					unchecked(i, p)
				}
			}},
	}
	var out []sample
	for _, w := range ws {
		w.link = decode.LinkEthernet
		out = append(out, w.sample())
	}
	return append(append(out, otherPort(), snapped(), snappedVXLAN(), snappedERF(), fragments4(), fragments6(), preempted()), besides()...)
}

func odd(o decode.Odd) func(int, *decode.Packet) {
	return func(_ int, p *decode.Packet) { p.Odd |= o }
}

func oddAt(at int, o decode.Odd) func(int, *decode.Packet) {
	return func(i int, p *decode.Packet) {
		if i == at {
			p.Odd |= o
		}
	}
}

func unchecked(_ int, p *decode.Packet) { p.ICRC, p.ICRCVal = decode.ICRCUnchecked, 0 }

// below4 is what remains of a packet where no BTH was read.
func below4(p *decode.Packet) decode.Packet {
	return decode.Packet{
		Time: p.Time, Frame: p.Frame, Len: p.Len, CapLen: p.CapLen, Iface: p.Iface,
		SrcMAC: p.SrcMAC, DstMAC: p.DstMAC, EtherType: p.EtherType,
		Src: p.Src, Dst: p.Dst, IPID: p.IPID, IPv6: p.IPv6, Proto: p.Proto, DSCP: p.DSCP, ECN: p.ECN, TTL: p.TTL,
		SrcPort: p.SrcPort, DstPort: p.DstPort,
	}
}

// patched overwrites bytes of a RoCEv2 frame over IPv4 and mends the ICRC.
func patched(frame []byte, off int, b ...byte) []byte {
	frame = slices.Clone(frame)
	copy(frame[off:], b)
	return cat(frame[:14], sealed(frame[14:], 20))
}

// withOptions adds a Router Alert (RFC 2113), which the ICRC covers.
func withOptions(x inner) []byte {
	ip := x.ip()
	h := cat(ip[:20], []byte{0x94, 4, 0, 0})
	h[0] = 0x46
	be.PutUint16(h[2:], be.Uint16(h[2:])+4)
	return cat(x.frame[:14], sealed(cat(sum4(h), ip[20:]), 24))
}

// withHopByHop adds an extension header: PadN of six bytes.
func withHopByHop(x inner) []byte {
	ip := x.ip()
	h := cat(ip[:40], []byte{17, 0, 1, 4, 0, 0, 0, 0})
	h[6] = 0
	be.PutUint16(h[4:], be.Uint16(h[4:])+8)
	return cat(x.frame[:14], sealed(cat(h, ip[40:]), 48))
}

// summed writes UDP checksums, of which that of frame 1 is wrong.
func summed(x inner) []byte {
	b := slices.Clone(x.frame)
	udp, addrs := 14+20, b[14+12:14+20]
	if b[14]>>4 == 6 {
		udp, addrs = 14+40, b[14+8:14+40]
	}
	be.PutUint16(b[udp+6:], 0)
	s := ^fold(addrs, u16(17), u16(uint16(len(b)-udp)), b[udp:])
	if x.i == 1 {
		s ^= 0x0101
	}
	be.PutUint16(b[udp+6:], s)
	return b
}

func toPort1021(x inner) []byte { return patched(x.frame, 36, 0x03, 0xFD) }

// withoutUDP has the BTH behind the IPv4 header. What its ICRC covers is not
// known, and not asked.
func withoutUDP(x inner) []byte {
	ip := x.ip()
	h := slices.Clone(ip[:20])
	h[9] = 254
	be.PutUint16(h[2:], be.Uint16(h[2:])-8)
	return cat(x.frame[:14], sum4(h), ip[28:])
}

func asRoCEv15(_ int, p *decode.Packet) {
	*p = below4(p)
	p.Status, p.Proto, p.SrcPort, p.DstPort = decode.RoCEv15, 254, 0, 0
}

// otherPort is port-1021.pcap as it is read by who knows the port.
func otherPort() sample {
	s := wrapping{name: "port-1021.pcap", link: decode.LinkEthernet, over: over4, wrap: toPort1021, resealed: true,
		want:   func(_ int, p *decode.Packet) { p.DstPort = 1021 },
		tshark: "it looks for RoCE on port 4791 alone"}.sample()
	s.port = 1021
	return s
}

// snapped keeps 60 bytes, which is less than the RETH ends at, and than the ACK
// does.
func snapped() sample {
	return cut(wrapping{name: "snapped.pcap", link: decode.LinkEthernet, over: over4, wrap: func(x inner) []byte { return x.frame },
		want: then(unchecked, withoutRETH)}.sample(), 60)
}

// snappedVXLAN keeps 96, where 50 belong to the tunnel: the BTH ends at 104.
func snappedVXLAN() sample {
	return cut(wrapping{name: "snapped-vxlan.pcap", link: decode.LinkEthernet, over: over4,
		wrap:  func(x inner) []byte { return x.overUDP(4789, vxlan(0x08, 0, 5001, x.frame)) },
		front: 50, rows: []string{}, finds: []string{}, // the snap length may hide RoCE
		want: func(i int, p *decode.Packet) {
			*p = below4(p)
			p.Status = decode.Truncated
			network(decode.EncapVXLAN, 5001)(i, p)
		}}.sample(), 96)
}

// snappedERF was cut by the card, which tells the file the cut length alone; the
// record header has the other.
func snappedERF() sample {
	s := cut(wrapping{name: "erf-snapped.pcap", link: decode.LinkERF, over: over4,
		wrap: func(x inner) []byte {
			b := erf(x, 2, nil, x.frame)
			be.PutUint16(b[10:], 78)
			return b
		}, front: 18, want: then(unchecked, withoutRETH)}.sample(), 78)
	for i := range s.frames {
		s.frames[i].Len = 78
	}
	return s
}

// cut keeps n bytes of each frame.
func cut(s sample, n int) sample {
	for i := range s.frames {
		s.frames[i].Data, s.want[i].CapLen = s.frames[i].Data[:n], uint32(n)
	}
	return s
}

func withoutRETH(i int, p *decode.Packet) {
	if i == 0 {
		p.HasExt, p.PayloadOff, p.VA, p.RKey, p.DMALen = false, 0, 0, 0, 0
	}
}

// cutAt is where the first frame's IP payload is cut in two.
const cutAt = 152

// fragmented replaces the first frame of an exchange by its two fragments.
func fragmented(name string, e exchange, row string, split func(x inner) (first, rest []byte)) sample {
	s := wrapping{link: decode.LinkEthernet, over: e, wrap: func(x inner) []byte { return x.frame }}.sample()
	s.name = name
	first, rest := split(e.all()[0])
	s.frames = append([]decode.Frame{{Data: first, Len: len(first), Time: s.frames[0].Time, Link: decode.LinkEthernet}}, s.frames...)
	s.frames[1].Data, s.frames[1].Len = rest, len(rest)
	s.want = append([]decode.Packet{below4(&s.want[0])}, s.want...)
	s.want[1] = below4(&s.want[0])
	for i := range s.want {
		s.want[i].Frame = uint64(i + 1)
	}
	for i := range 2 {
		p := &s.want[i]
		p.Status = decode.Fragment
		p.Len, p.CapLen = uint32(s.frames[i].Len), uint32(s.frames[i].Len)
	}
	s.want[0].Odd = decode.OddFragment
	s.want[1].SrcPort, s.want[1].DstPort = 0, 0
	s.rows[0] = row
	s.blind = func(i int) bool { return i < 2 }
	s.tshark = "it puts fragments together, and tells what is in them at the last"
	return s
}

func fragments4() sample {
	return fragmented("fragments.pcap", over4, "10.0.0.1 → 10.0.0.2 QP 0x210 RC v2: 2 frames, asks 30 B in 1, answers 1, peer 0x110 by responses",
		func(x inner) (first, rest []byte) {
			ip := slices.Clone(x.ip())
			ip[6] = 0 // DF, which the ICRC covers
			ip = sealed(ip, 20)
			part := func(b []byte, moreAndOffset uint16) []byte {
				h := slices.Clone(ip[:20])
				be.PutUint16(h[2:], uint16(20+len(b)))
				be.PutUint16(h[6:], moreAndOffset)
				return cat(x.frame[:14], sum4(h), b)
			}
			return part(ip[20:20+cutAt], 0x2000), part(ip[20+cutAt:], cutAt/8)
		})
}

func fragments6() sample {
	s := fragmented("fragments-ipv6.pcap", over6, "fd00::1 → fd00::2 QP 0x210 RC v2: 2 frames, asks 30 B in 1, answers 1, peer 0x110 by responses",
		func(x inner) (first, rest []byte) {
			part := func(b []byte, offsetAndMore uint16) []byte {
				h := slices.Clone(x.ip()[:40])
				h[6] = 44
				be.PutUint16(h[4:], uint16(8+len(b)))
				return cat(x.frame[:14], h, []byte{17, 0}, u16(offsetAndMore), u32(0xCAFE), b)
			}
			all := x.ip()[40:]
			return part(all[:cutAt], 1), part(all[cutAt:], cutAt)
		})
	s.want[0].Odd |= decode.OddIPv6Ext
	s.want[1].Odd |= decode.OddIPv6Ext
	return s
}
