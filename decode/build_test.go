package decode

import (
	"encoding/binary"

	"github.com/rocescope/rocescope/decode/ib"
)

// The test frames are put together from the inside out: each function wraps
// what it is given in one header.

func ethernetFrame(etherType uint16, rest []byte) []byte {
	b := []byte{0x0C, 0x42, 0xA1, 0, 0, 2, 0x0C, 0x42, 0xA1, 0, 0, 1}
	return append(binary.BigEndian.AppendUint16(b, etherType), rest...)
}

// tag is what stands behind a TPID.
func tag(tci, etherType uint16, rest []byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, tci)
	return append(binary.BigEndian.AppendUint16(b, etherType), rest...)
}

// ip4 makes DSCP 26, ECT(0), TTL 64, ID 0x1234. options must be padded.
func ip4(proto uint8, options, rest []byte) []byte {
	hdr := 20 + len(options)
	b := []byte{0x40 | uint8(hdr/4), 26<<2 | 2, 0, 0, 0x12, 0x34, 0x40, 0, 64, proto, 0, 0, 192, 168, 10, 1, 192, 168, 10, 2}
	binary.BigEndian.PutUint16(b[2:], uint16(hdr+len(rest)))
	return append(append(b, options...), rest...)
}

// ip6 makes DSCP 26, ECT(0), hop limit 64; a GRH with next header 0x1B.
func ip6(next uint8, rest []byte) []byte {
	b := make([]byte, 40)
	b[0], b[1], b[6], b[7] = 0x66, 0xA0, next, 64
	binary.BigEndian.PutUint16(b[4:], uint16(len(rest)))
	b[8], b[23], b[24], b[39] = 0xFD, 1, 0xFD, 2
	return append(b, rest...)
}

func udpTo(port uint16, rest []byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, 0xC123)
	b = binary.BigEndian.AppendUint16(b, port)
	b = binary.BigEndian.AppendUint16(b, uint16(8+len(rest)))
	return append(append(b, 0, 0), rest...)
}

// ibPart is BTH, the bytes of rest (extension headers, payload, pad) and an
// ICRC that is wrong.
func ibPart(op ib.Opcode, pad uint8, rest []byte) []byte {
	h := ib.BTH{Opcode: op, PadCnt: pad, PKey: 0xFFFF, DestQP: 0x1234, AckReq: true, PSN: 0xABCDEF}
	return append(append(h.Append(nil), rest...), 0xDE, 0xAD, 0xBE, 0xEF)
}

// The ordinary packets.

func roce4(op ib.Opcode, rest []byte) []byte {
	return sealed(ip4(protoUDP, nil, udpTo(DefaultPort, ibPart(op, 0, rest))))
}

func roce6(op ib.Opcode, rest []byte) []byte {
	return sealed(ip6(protoUDP, udpTo(DefaultPort, ibPart(op, 0, rest))))
}

func roce1(op ib.Opcode, rest []byte) []byte {
	return sealed(ip6(protoIBA, ibPart(op, 0, rest)))
}

// sealed puts the right ICRC at the end of an IP packet or GRH packet.
func sealed(b []byte) []byte {
	var c ib.ICRC
	var crc uint32
	n := len(b) - ib.ICRCLen
	switch {
	case b[0]>>4 == 4:
		crc, _ = c.IPv4(b[:n], int(b[0]&0xF)*4)
	case b[6] == protoIBA:
		crc, _ = c.GRH(b[:n])
	default:
		crc, _ = c.IPv6(b[:n])
	}
	return ib.AppendICRC(b[:n], crc)
}

// with returns a copy of b that bytes overwrite from off on.
func with(b []byte, off int, bytes ...byte) []byte {
	b = append([]byte(nil), b...)
	copy(b[off:], bytes)
	return b
}

func frameOf(link LinkType, data []byte) *Frame {
	return &Frame{Data: data, Len: len(data), Link: link, Time: 1, Number: 1}
}

func decodeOne(link LinkType, data []byte) Packet {
	var d Decoder
	var p Packet
	d.Decode(frameOf(link, data), &p)
	return p
}
