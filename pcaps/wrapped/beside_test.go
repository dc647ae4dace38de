package wrapped

import (
	"encoding/binary"
	"slices"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// extra is a frame that follows an exchange.
type extra struct {
	data []byte
	want decode.Packet
}

// beside is the exchange over IPv4 on plain Ethernet, and what else there is.
func beside(name string, extras ...extra) sample {
	s := wrapping{name: name, link: decode.LinkEthernet, over: over4, wrap: func(x inner) []byte { return x.frame }}.sample()
	for i, e := range extras {
		at := began + 30_000 + 1000*int64(i)
		s.frames = append(s.frames, decode.Frame{Data: e.data, Len: len(e.data), Time: at, Link: decode.LinkEthernet})
		e.want.Time, e.want.Frame = at, uint64(size+i+1)
		e.want.Len, e.want.CapLen = uint32(len(e.data)), uint32(len(e.data))
		s.want = append(s.want, e.want)
	}
	return s
}

// finding returns the sample with what is found in it.
func (s sample) finding(rules ...string) sample {
	s.finds = rules
	return s
}

// from1 is a packet from host 1 to host 2 in the class of data.
func from1(proto uint8, rest []byte) []byte {
	ip := ip4([]byte{10, 0, 0, 1}, []byte{10, 0, 0, 2}, proto, rest)
	ip[1] = 26<<2 | 2
	return cat(mac2[:], mac1[:], u16(0x0800), sum4(ip[:20]), ip[20:])
}

func plain(change func(p *decode.Packet)) decode.Packet {
	p := decode.Packet{SrcMAC: mac1, DstMAC: mac2, EtherType: 0x0800, Src: addr("10.0.0.1"), Dst: addr("10.0.0.2"), IPID: 0x0BAD, DSCP: 26, ECN: decode.ECT0, TTL: 255}
	change(&p)
	return p
}

// rdma is RoCEv2 to queue pair 0x300 with PSN 77, of any opcode: se is the bit
// SE, and rest is all between BTH and ICRC.
func rdma(op uint8, se bool, rest []byte) []byte {
	flags := byte(0x40)
	if se {
		flags |= 0x80
	}
	b := cat([]byte{op, flags, 0xFF, 0xFF, 0, 0, 0x03, 0x00, 0x80, 0, 0, 77}, rest, []byte{0, 0, 0, 0})
	frame := from1(17, udp(49152, 4791, b))
	return cat(frame[:14], sealed(frame[14:], 20))
}

// rare is an RDMA packet whose opcode says nothing of what follows the BTH.
func rare(op uint8, se bool, rest []byte, o decode.Odd) extra {
	data := rdma(op, se, rest)
	return extra{data, plain(func(p *decode.Packet) {
		p.Status, p.Version, p.Odd = decode.RoCE, 2, o
		p.Proto, p.SrcPort, p.DstPort = 17, 49152, 4791
		p.MigReq, p.AckReq, p.PKey, p.QP, p.PSN, p.Solicited = true, true, 0xFFFF, 0x300, 77, se
		p.Op = ib.Opcode(op)
		p.HasExt, p.PayloadOff, p.PayloadLen = true, 14+20+8+12, uint32(len(rest))
		if o == decode.OddDC {
			p.HasExt, p.PayloadOff = false, 0
		}
		p.ICRC, p.ICRCVal = decode.ICRCGood, binary.LittleEndian.Uint32(data[len(data)-4:])
	})}
}

// besides has a sample for each thing that is met beside RoCE.
func besides() []sample {
	return slices.Concat(opcodes(), []sample{
		beside("uet.pcap", extra{from1(17, udp(49152, 4793, []byte("\x08\x00\x00\x00\x00\x01 Ultra Ethernet of some kind"))),
			plain(func(p *decode.Packet) { p.Status, p.Proto, p.SrcPort, p.DstPort = decode.UET, 17, 49152, 4793 })}),
		beside("iwarp.pcap",
			extra{from1(6, tcp(45000, 4420, "MPA ID Req Frame\x40\x01\x00\x00")), iwarp(45000, 4420)},
			extra{from1(6, tcp(4420, 45000, "MPA ID Rep Frame\x40\x01\x00\x00")), iwarp(4420, 45000)}),
		lldp("lldp-dcbx-ieee.pcap", ieee(), decode.DCB{
			Has:        decode.DCBETS | decode.DCBAdvised | decode.DCBPFC | decode.DCBApps,
			ETSWilling: true, ETSMax: 7, Class: [8]uint8{3: 3, 6: 6}, Share: [8]uint8{50, 0, 0, 50}, Schedule: [8]uint8{2, 2, 2, 2, 2, 2, 0, 2},
			Advised:    decode.DCBAdvice{Class: [8]uint8{3: 1, 6: 2}, Share: [8]uint8{30, 70}, Schedule: [8]uint8{2, 2}},
			PFCWilling: true, PFCCap: 8, PFCEnabled: 1 << 3,
			NumApps: 3, Apps: [8]decode.DCBApp{{Selector: decode.ByUDP, Priority: 3, Protocol: 4791}, {Selector: decode.ByEtherType, Priority: 3, Protocol: 0x8915}, {Selector: decode.ByDSCP, Priority: 6, Protocol: 48}},
		}),
		lldp("lldp-dcbx-cee.pcap", cee(), decode.DCB{
			Has:        decode.DCBCEE | decode.DCBETS | decode.DCBPFC | decode.DCBApps,
			ETSWilling: true, Class: [8]uint8{3: 3, 6: 15}, Share: [8]uint8{50, 0, 0, 50},
			PFCCap: 8, PFCEnabled: 1 << 3,
			NumApps: 2, Apps: [8]decode.DCBApp{{Selector: decode.ByPort, Priority: 3, Protocol: 4791}, {Selector: decode.ByEtherType, Priority: 4, Protocol: 0x8915}},
		}),
		beside("pfc-pause.pcap",
			control(0x0101, cat(u16(1<<3|1<<4), u16(0), u16(0), u16(0), u16(0xFFFF), u16(0), u16(7), u16(0), u16(0)),
				decode.PFC, decode.PauseInfo{Enabled: 1<<3 | 1<<4, Quanta: [8]uint16{3: 0xFFFF, 5: 7}}), // 4 resumes; 5 is not meant
			control(0x0001, u16(0x1234), decode.Pause, decode.PauseInfo{Quanta: [8]uint16{0x1234}})).finding("pause.global"),
	})
}

// control is a MAC control frame, padded to 60 bytes.
func control(op uint16, body []byte, s decode.Status, want decode.PauseInfo) extra {
	data := make([]byte, 60)
	copy(data, cat([]byte{0x01, 0x80, 0xC2, 0, 0, 1}, leaf1[:], u16(0x8808), u16(op), body))
	return extra{data, decode.Packet{Status: s, SrcMAC: leaf1, DstMAC: [6]byte{0x01, 0x80, 0xC2, 0, 0, 1}, EtherType: 0x8808, Pause: want}}
}

// tcp is a segment with a header of 20 bytes, ACK and PSH set.
func tcp(src, dst uint16, text string) []byte {
	return cat(u16(src), u16(dst), u32(1), u32(1), []byte{5 << 4, 0x18}, u16(0xFFFF), u16(0), u16(0), []byte(text))
}

func iwarp(src, dst uint16) decode.Packet {
	return plain(func(p *decode.Packet) { p.Status, p.Proto, p.SrcPort, p.DstPort = decode.IWARP, 6, src, dst })
}

// opcodes are those whose further headers nobody can tell. Each makes a row
// of its own.
func opcodes() []sample {
	out := []sample{
		// NVIDIA DC, which takes its opcodes from RD: a header of 8 bytes, and 16 more
		// where SE is clear.
		beside("opcode-dc.pcap", rare(0x44, false, []byte("\x00\x00\x00\x11\x22\x33\x44\x55 sixteen to join, then data. "), decode.OddDC)),
		beside("opcode-dc-read.pcap", rare(0x4C, true, cat([]byte("\x00\x00\x00\x11\x22\x33\x44\x55"), make([]byte, 16)), decode.OddDC)),
		beside("opcode-manufacturer.pcap", rare(0xC1, false, []byte("whatever it means..."), decode.OddManufacturer)),
		beside("opcode-unassigned.pcap", rare(0x31, false, []byte("UC has no READ response."), decode.OddOpcode)),
	}
	for i, known := range []string{"RD v2: 1 frames, asks 37 B in 1", "RD v2: 1 frames, asks 24 B in 1", "MANUF v2: 1 frames, asks 0 B in 0", "UC v2: 1 frames, asks 0 B in 0"} {
		out[i].rows = append(out[i].rows, "10.0.0.1 → 10.0.0.2 QP 0x300 "+known+", answers 0, no peer")
	}
	return out
}

// lldp is a frame of LLDP with DCBX TLVs from a switch.
func lldp(name string, tlvs []byte, want decode.DCB) sample {
	to := [6]byte{0x01, 0x80, 0xC2, 0, 0, 0x0E}
	head := cat(tlv(1, cat([]byte{4}, leaf1[:])), tlv(2, []byte("\x05swp1")), tlv(3, u16(120)))
	s := beside(name, extra{cat(to[:], leaf1[:], u16(0x88CC), head, tlvs, []byte{0, 0}),
		decode.Packet{Status: decode.LLDP, SrcMAC: leaf1, DstMAC: to, EtherType: 0x88CC, PayloadOff: 14}})
	s.dcb = &want
	return s
}

// tlv is 7 bits of type, 9 of length, and a body.
func tlv(kind uint16, body []byte) []byte { return cat(u16(kind<<9|uint16(len(body))), body) }

// ieee has the TLVs of 802.1Qaz.
func ieee() []byte {
	own := func(subtype byte, body ...byte) []byte { return tlv(127, cat([]byte{0x00, 0x80, 0xC2, subtype}, body)) }
	return cat(
		own(9, 0x87, 0x00, 0x03, 0x00, 0x60, 50, 0, 0, 50, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 0, 2),
		own(10, 0x00, 0x00, 0x01, 0x00, 0x20, 30, 70, 0, 0, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 0, 0),
		own(11, 0x88, 0x08),
		own(12, 0, 3<<5|3, 0x12, 0xB7, 3<<5|1, 0x89, 0x15, 6<<5|5, 0, 48))
}

// cee has that of the older form, and in it one for each feature: versions,
// flags (0x80 enabled, 0x40 willing), subtype, setting.
func cee() []byte {
	feature := func(kind uint16, flags byte, setting ...byte) []byte {
		return tlv(kind, cat([]byte{0, 0, flags, 0}, setting))
	}
	return tlv(127, cat([]byte{0x00, 0x1B, 0x21, 2},
		tlv(1, []byte{0, 0, 0, 0, 0, 1, 0, 0, 0, 2}),
		feature(2, 0xC0, 0x00, 0x03, 0x00, 0xF0, 50, 0, 0, 50, 0, 0, 0, 0, 8),
		feature(3, 0x80, 0x08, 8),
		feature(4, 0x80, 0x12, 0xB7, 0x01, 0x1B, 0x21, 1<<3, 0x89, 0x15, 0x00, 0x1B, 0x21, 1<<4)))
}

// preempted is an 802.3br link on which a PFC frame cuts in: the WRITE First
// starts, the pause comes, and the rest follows. Parts are not put together.
func preempted() sample {
	const start = 128 // bytes of the first part
	preamble := func(seventh, eighth byte, rest []byte, crc []byte) []byte {
		return cat([]byte("\x55\x55\x55\x55\x55\x55"), []byte{seventh, eighth}, rest, crc)
	}
	s := wrapping{name: "mpacket-preempted.pcap", link: decode.LinkMPacket, over: over4, front: 8, behind: 4,
		wrap: func(x inner) []byte { return preamble(0x55, 0xD5, x.frame, fcs(x.frame)) }}.sample()
	first := s.frames[0].Data[8 : len(s.frames[0].Data)-4]
	mcrc := fcs(first[:start])
	mcrc[0], mcrc[1] = ^mcrc[0], ^mcrc[1] // it differs from an FCS, which says that more comes
	pfc := control(0x0101, cat(u16(1<<3), make([]byte, 6), u16(9)), decode.PFC, decode.PauseInfo{Enabled: 1 << 3, Quanta: [8]uint16{3: 9}})

	s.frames[0].Data = preamble(0x55, 0xE6, first[:start], mcrc)
	more := []decode.Frame{{Data: preamble(0x55, 0xD5, pfc.data, fcs(pfc.data)), Time: began + 170}, {Data: preamble(0x61, 0xE6, first[start:], fcs(first)), Time: began + 180}}
	cut := &s.want[0]
	cut.Len, cut.CapLen = 8+start+4, 8+start+4
	cut.Odd, cut.ICRC, cut.ICRCVal = decode.OddTrimmed, decode.ICRCUnchecked, 0
	pfc.want.Len, pfc.want.Time = 8+60+4, began+170
	rest := decode.Packet{Status: decode.Fragment, Len: 8 + 330 - start + 4, Time: began + 180}
	s.tshark, s.blind = "it puts mPackets together, and tells what is in them at the last", func(i int) bool { return i == 0 || i == 2 }
	s.frames = slices.Insert(s.frames, 1, more...)
	s.want = slices.Insert(s.want, 1, pfc.want, rest)
	for i := range s.frames {
		s.frames[i].Link, s.frames[i].Len = decode.LinkMPacket, len(s.frames[i].Data)
		s.want[i].Frame, s.want[i].CapLen = uint64(i+1), s.want[i].Len
	}
	return s
}
