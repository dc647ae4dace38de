// Package roce provides gopacket layers, decoding and serializing, for RoCEv1,
// RoCEv2 and PFC; importing it registers EtherType 0x8915, UDP port 4791 and
// EtherType 0x8808.
//
// After the import, packets decode as any other:
//
//	p := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.Default)
//	if bth, ok := p.Layer(roce.LayerTypeBTH).(*roce.BTH); ok {
//		fmt.Println(bth.Opcode, bth.DestQP, bth.PSN)
//	}
//
// A RoCE packet is GRH (RoCEv1) or UDP (RoCEv2), BTH, the extension headers
// that the opcode calls for, and a Payload. Payload is always the last layer:
// it holds the payload proper, which may be empty, the pad and the ICRC, and
// tells whether the ICRC is right. A CNP layer stands before it in a congestion
// notification, MAD and one message of communication management (REQ, REP ...)
// in a datagram to queue pair 1. Where a packet ends stands in the UDP length or
// in the GRH, so neither Ethernet padding nor a frame check sequence is taken
// for an ICRC.
//
// A packet that the capture cut is marked truncated and keeps the layers that
// were complete; a cut payload is kept as far as it goes.
//
// To decode without allocating, use a Stack with gopacket's
// DecodingLayerParser. To write packets, use Serialize, which knows about pad
// and ICRC.
//
// The layouts of the headers stand in package ib; each layer embeds its header.
package roce
