package decode

import (
	"testing"
	"unsafe"

	"github.com/rocescope/rocescope/decode/ib"
)

var (
	sendOnly  = ib.Of(ib.RC, ib.SendOnly)
	writeOnly = ib.Of(ib.RC, ib.WriteOnly)
	ack       = ib.Of(ib.RC, ib.Acknowledge)

	hello = []byte("hello world!")
	send4 = roce4(sendOnly, hello)
	send6 = roce6(sendOnly, hello)
	send1 = roce1(sendOnly, hello)
)

func TestDecodeStatus(t *testing.T) {
	tests := []struct {
		desc string
		link LinkType
		data []byte
		want Status
	}{
		{"nothing", LinkEthernet, nil, Truncated},
		{"an unknown link type", 147, send4, Other},
		{"ARP", LinkEthernet, ethernetFrame(0x0806, make([]byte, 28)), Other},
		{"an 802.3 length", LinkEthernet, ethernetFrame(38, make([]byte, 38)), Other},
		{"more tags than any network", LinkEthernet, ethernetFrame(0x8100, manyTags(20)), Malformed},
		{"raw IPv4", LinkRaw, send4, RoCE},
		{"raw IPv6", LinkRaw, send6, RoCE},
		{"raw, no IP version", LinkRaw, with(send4, 0, 0x55), Malformed},
		{"IPv4 without a link header", LinkIPv4, send4, RoCE},
		{"IPv6 under the IPv4 link type", LinkIPv4, send6, Malformed},
		{"IPv6 without a link header", LinkIPv6, send6, RoCE},
		{"IPv4 under the IPv6 link type", LinkIPv6, with(send6, 0, 0x45), Malformed},

		{"IPv4 header length of 16", LinkIPv4, with(send4, 0, 0x44), Malformed},
		{"IPv4 total length below the header", LinkIPv4, with(send4, 2, 0, 19), Malformed},
		{"IPv4 total length without a UDP header", LinkIPv4, with(send4, 2, 0, 27), Malformed},
		{"IPv4 total length 0", LinkIPv4, with(send4, 2, 0, 0), Malformed},
		{"IPv4 total length 0 of TCP", LinkIPv4, with(ip4(protoTCP, nil, make([]byte, 20)), 2, 0, 0), Other},
		{"IPv4 options that were cut", LinkIPv4, ip4(protoUDP, make([]byte, 8), udpTo(DefaultPort, nil))[:27], Truncated},
		{"IPv4 header length beyond the total length", LinkIPv4, with(send4, 0, 0x4F), Malformed},
		{"first IPv4 fragment", LinkIPv4, with(send4, 6, 0x20, 0), Fragment},
		{"later IPv4 fragment", LinkIPv4, with(send4, 6, 0, 1), Fragment},
		{"IPv6 fragment", LinkIPv6, ip6(protoFragment, append([]byte{protoUDP, 0, 0, 1, 0, 0, 0, 1}, send6[40:]...)), Fragment},
		{"IPv6 with an endless chain", LinkIPv6, ip6(protoHopByHop, make([]byte, 200)), Malformed},
		{"IPv6 payload length below UDP's", LinkIPv6, with(send6, 4, 0, 20), Malformed},

		{"TCP", LinkIPv4, ip4(protoTCP, nil, make([]byte, 20)), Other},
		{"RoCE v1.5, IP protocol 254", LinkIPv4, ip4(254, nil, make([]byte, 20)), RoCEv15},
		{"RoCE v1.5 over IPv6", LinkIPv6, ip6(254, make([]byte, 20)), RoCEv15},
		{"an IP protocol nobody knows", LinkIPv4, ip4(253, nil, make([]byte, 20)), Other},
		{"LLDP", LinkEthernet, ethernetFrame(etherLLDP, nil), LLDP},
		{"UDP to another port", LinkIPv4, ip4(protoUDP, nil, udpTo(53, hello)), Other},
		{"UDP from 4791 to another port", LinkIPv4, with(ip4(protoUDP, nil, udpTo(53, hello)), 20, 0x12, 0xB7), Other},
		{"Ultra Ethernet", LinkIPv4, ip4(protoUDP, nil, udpTo(4793, hello)), UET},
		{"UDP length below its header", LinkIPv4, with(send4, 24, 0, 7), Malformed},
		{"UDP length beyond IP's", LinkIPv4, with(send4, 24, 0, 41), Malformed},
		{"UDP length without room for BTH and ICRC", LinkIPv4, with(send4, 24, 0, 23), Malformed},
		{"extension headers beyond the UDP length", LinkIPv4, with(send4, 28, uint8(writeOnly)), Malformed},
		{"pad beyond the UDP length", LinkIPv4, with(roce4(sendOnly, nil), 29, 0x30), Malformed},
		{"BTH cut", LinkIPv4, send4[:39], Truncated},

		{"RoCEv1", LinkEthernet, ethernetFrame(0x8915, send1), RoCE},
		{"GRH of version 8, usNIC", LinkEthernet, ethernetFrame(0x8915, with(send1, 0, 0x80)), Other},
		{"GRH of version 4", LinkEthernet, ethernetFrame(0x8915, with(send1, 0, 0x45)), Malformed},
		{"GRH before something else", LinkEthernet, ethernetFrame(0x8915, with(send1, 6, 17)), Other},
		{"GRH without room for BTH and ICRC", LinkEthernet, ethernetFrame(0x8915, with(send1, 4, 0, 15)), Malformed},
	}
	for _, tt := range tests {
		t.Run(tt.desc, func(t *testing.T) {
			p := decodeOne(tt.link, tt.data)
			if p.Status != tt.want {
				t.Errorf("got %v, want %v", p.Status, tt.want)
			}
			if p.Status != RoCE && (p.Version != 0 || p.PKey != 0 || p.HasExt || p.ICRC != ICRCUnchecked) {
				t.Errorf("transport fields are set: %+v", p)
			}
		})
	}
}

// manyTags is what follows a first TPID.
func manyTags(n int) (b []byte) {
	for range n {
		b = tag(1, 0x8100, b)
	}
	return b
}

// One packet compared whole, behind each header that may stand before it.
func TestDecodePacket(t *testing.T) {
	data := ethernetFrame(0x88A8, tag(5<<13|200, 0x8100, tag(3<<13|100, etherIPv4, send4)))
	want := Packet{
		Time: 7, Frame: 9, Len: uint32(len(data)) + 4, CapLen: uint32(len(data)), Iface: 2,
		Status: RoCE, Version: 2,
		Src:  [16]byte{10: 0xFF, 0xFF, 192, 168, 10, 1},
		Dst:  [16]byte{10: 0xFF, 0xFF, 192, 168, 10, 2},
		IPID: 0x1234, SrcPort: 0xC123, DstPort: 4791,
		EtherType: etherIPv4, VLAN: 100, PCP: 3, Tagged: true,
		SrcMAC: [6]byte{0x0C, 0x42, 0xA1, 0, 0, 1}, DstMAC: [6]byte{0x0C, 0x42, 0xA1, 0, 0, 2},
		Proto: 17, DSCP: 26, ECN: ECT0, TTL: 64,
		Op: sendOnly, AckReq: true, PKey: 0xFFFF, QP: 0x1234, PSN: 0xABCDEF,
		PayloadLen: 12, PayloadOff: 62, HasExt: true,
		ICRCVal: ib.ReadICRC(send4[len(send4)-4:]), ICRC: ICRCGood,
		Encap: EncapQinQ, OuterVLAN: 200,
	}
	var d Decoder
	p := dirty()
	d.Decode(&Frame{Data: data, Time: 7, Number: 9, Len: len(data) + 4, Link: LinkEthernet, Iface: 2}, &p)
	if p != want {
		t.Errorf("got  %+v\nwant %+v", p, want)
	}
}

// dirty has every byte set, to show what Decode leaves behind.
func dirty() (p Packet) {
	b := unsafe.Slice((*byte)(unsafe.Pointer(&p)), unsafe.Sizeof(p))
	for i := range b {
		b[i] = 1
	}
	return p
}

func TestDecodeNoAllocs(t *testing.T) {
	var d Decoder
	var p Packet
	frames := []*Frame{
		frameOf(LinkEthernet, ethernetFrame(etherIPv4, send4)),
		frameOf(LinkEthernet, ethernetFrame(etherIPv6, send6)),
		frameOf(LinkEthernet, ethernetFrame(0x8915, send1)),
		frameOf(LinkEthernet, ethernetFrame(etherIPv4, ip4(protoTCP, nil, make([]byte, 20)))),
		frameOf(LinkEthernet, ethernetFrame(0x8808, pfcBody)),
		frameOf(LinkEthernet, nil),
	}
	for _, e := range wrapped {
		frames = append(frames, frameOf(e.link, e.data))
	}
	for _, f := range frames {
		if n := testing.AllocsPerRun(100, func() { d.Decode(f, &p) }); n != 0 {
			t.Errorf("%v: %v allocations", p.Status, n)
		}
	}
}

// A Packet is zeroed for every frame and copied to a batch, so its size is
// paid for by each frame: three cache lines are the most it may take.
func TestPacketSize(t *testing.T) {
	const most = 3 * 64
	if n := unsafe.Sizeof(Packet{}); n > most {
		t.Errorf("Packet has %d bytes, more than %d", n, most)
	}
}
