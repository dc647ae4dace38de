package decode

import (
	"encoding/binary"
	"testing"

	"github.com/rocescope/rocescope/decode/ib"
)

// to53 is RoCEv2 to a port that nobody expects it on.
var to53 = sealed(ip4(protoUDP, nil, udpTo(53, ibPart(sendOnly, 0, hello))))

// bth4 is send4 with other bytes in its BTH, and the ICRC to them.
func bth4(off int, b ...byte) []byte { return sealed(with(send4, 28+off, b...)) }

// summed puts a UDP checksum into an IP packet without options, n off the right
// one.
func summed(b []byte, n uint16) []byte {
	hdr, addrs := 20, b[12:20]
	if b[0]>>4 == 6 {
		hdr, addrs = 40, b[8:40]
	}
	u := with(b, hdr+6, 0, 0)[hdr:]
	s := sum(sum(protoUDP+uint64(len(u)), addrs), u)
	for s > 0xFFFF {
		s = s>>16 + s&0xFFFF
	}
	return with(b, hdr+6, binary.BigEndian.AppendUint16(nil, ^uint16(s)+n)...)
}

// mpa is a TCP segment with a header of 32 bytes.
func mpa(text string) []byte {
	b := make([]byte, 32)
	b[12] = 8 << 4
	return ip4(protoTCP, nil, append(b, text...))
}

var oddFrames = []struct {
	desc   string
	link   LinkType
	data   []byte
	status Status
	want   Odd
}{
	{"nothing", LinkIPv4, send4, RoCE, 0},
	{"nothing, limited member", LinkIPv4, bth4(2, 0x7F, 0xFF), RoCE, 0},
	{"CNP", LinkIPv4, roce4(ib.CNP, make([]byte, 16)), RoCE, 0},
	{"another partition", LinkIPv4, bth4(2, 0x80, 0x01), RoCE, OddPKey},
	{"transport version 2", LinkIPv4, bth4(1, 0x02), RoCE, OddTVer},
	{"a reserved bit beside BECN", LinkIPv4, bth4(4, 0x41), RoCE, OddReserved},
	{"a reserved bit beside AckReq", LinkIPv4, bth4(8, 0xC0), RoCE, OddReserved},
	{"NVIDIA DC", LinkIPv4, roce4(0x44, make([]byte, 24)), RoCE, OddDC},
	{"NVIDIA DC, no opcode of RD", LinkIPv4, roce4(0x5E, make([]byte, 24)), RoCE, OddDC},
	{"a vendor's opcode", LinkIPv4, roce4(0xC1, hello), RoCE, OddManufacturer},
	{"an opcode of UC that nobody assigned", LinkIPv4, roce4(0x31, hello), RoCE, OddOpcode},
	{"an opcode beside CNP", LinkIPv4, roce4(0x80, hello), RoCE, OddOpcode},
	{"several at once", LinkIPv4, sealed(with(roce4(0xE0, hello), 29, 0x01, 0x12, 0x34)), RoCE, OddPKey | OddTVer | OddManufacturer},

	{"IPv4 options", LinkIPv4, sealed(ip4(protoUDP, []byte{1, 1, 1, 0}, send4[20:])), RoCE, OddIPOptions},
	{"options of an outer header alone", LinkIPv4, ip4(protoIPv4, []byte{1, 1, 1, 0}, send4), RoCE, 0},
	{"IPv6 extension header", LinkIPv6, ip6(protoHopByHop, append([]byte{protoUDP, 0, 1, 4, 0, 0, 0, 0}, send6[40:]...)), RoCE, OddIPv6Ext},
	{"extension header of an outer header alone", LinkIPv6, ip6(protoDestOpts, append([]byte{protoIPv6, 0, 4, 1, 4, 1, 1, 0}, send6...)), RoCE, 0},

	{"a right UDP checksum", LinkIPv4, summed(send4, 0), RoCE, 0},
	{"a wrong UDP checksum", LinkIPv4, summed(send4, 1), RoCE, OddUDPChecksum},
	{"a right UDP checksum over IPv6, odd length", LinkIPv6, summed(ip6(protoUDP, udpTo(DefaultPort, ibPart(sendOnly, 0, hello[:11]))), 0), RoCE, 0},
	{"a wrong UDP checksum over IPv6", LinkIPv6, summed(send6, 0x100), RoCE, OddUDPChecksum},
	{"a wrong UDP checksum behind IPv4 options, where it is not asked", LinkIPv4,
		sealed(ip4(protoUDP, []byte{1, 1, 1, 0}, summed(send4, 1)[20:])), RoCE, OddIPOptions},
	{"a wrong UDP checksum, cut", LinkIPv4, summed(send4, 1)[:50], RoCE, OddTrimmed},

	{"trimmed", LinkEthernet, inside[:60], RoCE, OddTrimmed},
	{"trimmed, IPv6", LinkIPv6, send6[:70], RoCE, OddTrimmed},
	{"trimmed, RoCEv1", LinkEthernet, ethernetFrame(etherRoCE, send1)[:70], RoCE, OddTrimmed},
	{"trimmed, InfiniBand", LinkInfiniBand, lrhOf(2, ibPart(sendOnly, 0, hello))[:30], RoCE, OddTrimmed},
	{"trimmed before the BTH", LinkIPv4, send4[:30], Truncated, OddTrimmed},
	{"a TCP segment without a length", LinkIPv4, with(ip4(protoTCP, nil, make([]byte, 20)), 2, 0, 0), Other, 0},

	{"the first fragment", LinkIPv4, with(send4, 6, 0x20, 0), Fragment, OddFragment},
	{"a later fragment", LinkIPv4, with(send4, 6, 0x20, 1), Fragment, 0},
	{"the first fragment of something else", LinkIPv4, with(to53, 6, 0x20, 0), Fragment, 0},
	{"the first fragment, IPv6", LinkIPv6, ip6(protoFragment, append([]byte{protoUDP, 0, 0, 1, 0, 0, 0, 1}, send6[40:]...)), Fragment, OddFragment | OddIPv6Ext},
	{"a later fragment, IPv6", LinkIPv6, ip6(protoFragment, append([]byte{protoUDP, 0, 0, 9, 0, 0, 0, 1}, send6[40:]...)), Fragment, OddIPv6Ext},

	{"another port", LinkIPv4, to53, Other, OddPort},
	{"another port, IPv6", LinkIPv6, sealed(ip6(protoUDP, udpTo(53, ibPart(ack, 0, make([]byte, 4))))), Other, OddPort},
	{"another port, a wrong ICRC", LinkIPv4, with(to53, 41, 'H'), Other, 0},
	{"another port, an opcode nobody assigned", LinkIPv4, sealed(with(to53, 28, 0x31)), Other, 0},
	{"another port, XRC", LinkIPv4, sealed(with(to53, 28, 0xA4)), Other, 0},
	{"another port, another partition", LinkIPv4, sealed(with(to53, 30, 0x12)), Other, 0},
	{"another port, transport version 1", LinkIPv4, sealed(with(to53, 29, 0x01)), Other, 0},
	{"another port, an ACK with payload", LinkIPv4, sealed(with(to53, 28, uint8(ack))), Other, 0},
	{"another port, pad without payload", LinkIPv4, sealed(ip4(protoUDP, nil, udpTo(53, ibPart(sendOnly, 2, nil)))), Other, 0},
	{"another port, an odd length", LinkIPv4, sealed(ip4(protoUDP, nil, udpTo(53, ibPart(sendOnly, 0, hello[:11])))), Other, 0},
	{"another port, too short", LinkIPv4, ip4(protoUDP, nil, udpTo(53, []byte{4, 0, 0xFF, 0xFF})), Other, 0},

	{"iWARP request", LinkIPv4, mpa("MPA ID Req Frame\x40\x01\x00\x00"), IWARP, 0},
	{"iWARP reply", LinkIPv4, mpa("MPA ID Rep Frame"), IWARP, 0},
	{"TCP that mentions iWARP", LinkIPv4, mpa(" MPA ID Req Frame"), Other, 0},
	{"TCP with a header beyond the frame", LinkIPv4, with(mpa("MPA ID Req Frame"), 32, 0xF0), Other, 0},
}

func TestOdd(t *testing.T) {
	for _, tt := range oddFrames {
		t.Run(tt.desc, func(t *testing.T) {
			p := decodeOne(tt.link, tt.data)
			checkPacket(t, &p, len(tt.data))
			if p.Status != tt.status || p.Odd != tt.want {
				t.Errorf("got %v, %v, want %v, %v", p.Status, p.Odd, tt.status, tt.want)
			}
		})
	}
}

// What a snap length cut is not trimmed, and what of it cannot be checked is
// judged by the header alone.
func TestOddCut(t *testing.T) {
	var d Decoder
	var p Packet
	for _, tt := range []struct {
		desc string
		data []byte
		n    int
		want Odd
	}{
		{"by a snap length", send4, 44, 0},
		{"on another port", to53, 44, OddPort},
		{"on another port with a reserved bit", with(to53, 32, 1), 44, 0},
		{"on another port before the BTH ends", to53, 39, 0},
	} {
		f := frameOf(LinkIPv4, tt.data)
		f.Data = f.Data[:tt.n]
		if d.Decode(f, &p); p.Odd != tt.want {
			t.Errorf("%s: %v", tt.desc, p.Odd)
		}
	}
}

// A record that the card cut has the length on the wire in its own header.
func TestOddRecord(t *testing.T) {
	whole := erfOf(22, 0, send4)
	if p := decodeOne(LinkERF, whole[:60]); p.Odd != 0 || p.Len != uint32(len(whole)) || p.CapLen != 60 {
		t.Errorf("got %v, length %d of %d", p.Odd, p.CapLen, p.Len)
	}
}

func TestOddPortNumber(t *testing.T) {
	if p := decodeOne(LinkIPv4, to53); p.DstPort != 53 || p.QP != 0 || p.PKey != 0 {
		t.Errorf("got %+v", p)
	}
	p := decodeOne(LinkIPv4, with(send4, 6, 0x20, 0))
	if p.SrcPort != 0xC123 || p.DstPort != DefaultPort || p.PSN != 0 {
		t.Errorf("first fragment: %+v", p)
	}
}

func TestOddString(t *testing.T) {
	for o, want := range map[Odd]string{0: "none", OddTrimmed | OddPKey: "trimmed on the way, P_Key", OddOpcode: "unassigned opcode"} {
		if got := o.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if OddOpcode != 1<<(len(oddNames)-1) {
		t.Error("an oddity has no name")
	}
}

// The sum of RFC 1071, eight bytes at a time and two.
func TestSum(t *testing.T) {
	b := make([]byte, 70)
	for i := range b {
		b[i] = byte(i*i*37 + 251)
	}
	for n := range b {
		want := uint32(0)
		for i, x := range b[:n] {
			want += uint32(x) << (8 - i%2*8)
		}
		got := sum(0, b[:n])
		for got > 0xFFFF {
			got = got>>16 + got&0xFFFF
		}
		if got%0xFFFF != uint64(want)%0xFFFF {
			t.Errorf("%d bytes: %#x, want %#x", n, got, want)
		}
	}
}
