package roce_test

import (
	"fmt"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/rocescope/rocescope/decode/ib"
	"github.com/rocescope/rocescope/decode/roce"
)

// writeFrame returns an RDMA WRITE of five bytes in an Ethernet frame.
func writeFrame() []byte {
	buf := gopacket.NewSerializeBuffer()
	err := roce.Serialize(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true},
		&layers.Ethernet{SrcMAC: []byte{2, 0, 0, 0, 0, 1}, DstMAC: []byte{2, 0, 0, 0, 0, 2}, EthernetType: layers.EthernetTypeIPv4},
		&layers.IPv4{Version: 4, TOS: 26<<2 | 2, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: []byte{10, 0, 0, 1}, DstIP: []byte{10, 0, 0, 2}},
		&layers.UDP{SrcPort: 49443, DstPort: roce.Port},
		&roce.BTH{BTH: ib.BTH{Opcode: ib.Of(ib.RC, ib.WriteOnly), PKey: 0xFFFF, DestQP: 0x1234, AckReq: true, PSN: 7}},
		&roce.RETH{RETH: ib.RETH{VA: 0x1000, RKey: 0x99, DMALen: 5}},
		&roce.Payload{Data: []byte("hello")},
	)
	if err != nil {
		panic(err)
	}
	return buf.Bytes()
}

// Decode a frame with gopacket and print the RoCE layers.
func Example() {
	p := gopacket.NewPacket(writeFrame(), layers.LayerTypeEthernet, gopacket.Default)
	for _, l := range p.Layers()[3:] {
		fmt.Println(gopacket.LayerString(l))
	}
	if bth, ok := p.Layer(roce.LayerTypeBTH).(*roce.BTH); ok {
		fmt.Printf("%v to QP 0x%06x, PSN %d: %q\n", bth.Opcode, bth.DestQP, bth.PSN, p.ApplicationLayer().Payload())
	}
	// Output:
	// BTH	{Contents=[..12..] Payload=[..28..] Opcode=RC RDMA WRITE Only Solicited=false MigReq=false PadCnt=3 TVer=0 PKey=65535 FECN=false BECN=false Reserved6=0 DestQP=4660 AckReq=true Reserved7=0 PSN=7 Length=40}
	// RETH	{Contents=[..16..] Payload=[..12..] VA=4096 RKey=153 DMALen=5}
	// RoCEPayload	{Data=[..5..] Pad=3 Length=5 ICRC=d51b80fc ICRCState=good}
	// RC RDMA WRITE Only to QP 0x001234, PSN 7: "hello"
}

// Decode many frames without allocating.
func ExampleStack() {
	var eth layers.Ethernet
	var ip4 layers.IPv4
	var s roce.Stack
	parser := gopacket.NewDecodingLayerParser(layers.LayerTypeEthernet, append(s.Layers(), &eth, &ip4)...)

	var decoded []gopacket.LayerType
	for _, frame := range [][]byte{writeFrame()} {
		if err := parser.DecodeLayers(frame, &decoded); err != nil {
			fmt.Println(err)
		}
		fmt.Println(decoded)
		if decoded[len(decoded)-1] == roce.LayerTypePayload {
			fmt.Println(s.BTH.Opcode, s.RETH.DMALen, s.Payload.Verify(&ip4))
		}
	}
	// Output:
	// [Ethernet IPv4 UDP BTH RETH RoCEPayload]
	// RC RDMA WRITE Only 5 good
}

// Write a pause frame for priority 3.
func ExampleSerialize() {
	buf := gopacket.NewSerializeBuffer()
	err := roce.Serialize(buf, gopacket.SerializeOptions{FixLengths: true},
		&layers.Ethernet{SrcMAC: []byte{2, 0, 0, 0, 0, 1}, DstMAC: []byte{1, 0x80, 0xC2, 0, 0, 1}, EthernetType: roce.EtherTypeMACControl},
		&roce.MACControl{Opcode: roce.MACPFC},
		&roce.PFC{Enable: 1 << 3, Quanta: [8]uint16{3: 0xFFFF}},
	)
	fmt.Println(err)
	fmt.Printf("%x\n", buf.Bytes()[12:34])
	// Output:
	// <nil>
	// 880801010008000000000000ffff0000000000000000
}
