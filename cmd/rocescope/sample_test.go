package main

import (
	"bytes"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/capture"
	"github.com/rocescope/rocescope/decode/ib"
	"github.com/rocescope/rocescope/decode/roce"
)

// smallCapture is a pcap of a connection that loses one of its writes: PSN 2 is
// skipped, NAKed, and sent again.
func smallCapture() []byte {
	var out bytes.Buffer
	w, err := capture.NewPcapWriter(&out, decode.LinkEthernet, 0)
	must(err)
	at := int64(1_700_000_000_000_000_000)
	put := func(frame []byte) {
		must(w.Write(&decode.Frame{Data: frame, Len: len(frame), Time: at, Link: decode.LinkEthernet}))
		at += 2_000
	}
	for _, psn := range []ib.PSN{0, 1, 3, 4} {
		put(writeFrame(psn))
	}
	put(ackFrame(2, ib.NAKPSNSequence))
	for psn := ib.PSN(2); psn < 6; psn++ {
		put(writeFrame(psn))
	}
	put(ackFrame(5, 31))
	return out.Bytes()
}

func writeFrame(psn ib.PSN) []byte {
	return roceFrame("\x0a\x00\x00\x01", "\x0a\x00\x00\x02",
		&roce.BTH{BTH: ib.BTH{Opcode: ib.Of(ib.RC, ib.WriteOnly), PKey: 0xFFFF, DestQP: 0x12, AckReq: true, PSN: psn}},
		&roce.RETH{RETH: ib.RETH{VA: 0x1000, RKey: 0x99, DMALen: 8}},
		&roce.Payload{Data: []byte("8 octets")})
}

func ackFrame(psn ib.PSN, s ib.Syndrome) []byte {
	return roceFrame("\x0a\x00\x00\x02", "\x0a\x00\x00\x01",
		&roce.BTH{BTH: ib.BTH{Opcode: ib.Of(ib.RC, ib.Acknowledge), PKey: 0xFFFF, DestQP: 0x34, PSN: psn}},
		&roce.AETH{AETH: ib.AETH{Syndrome: s, MSN: uint32(psn)}},
		&roce.Payload{})
}

func roceFrame(src, dst string, upper ...gopacket.SerializableLayer) []byte {
	buf := gopacket.NewSerializeBuffer()
	below := []gopacket.SerializableLayer{
		&layers.Ethernet{SrcMAC: []byte{2, 0, 0, 0, 0, src[3]}, DstMAC: []byte{2, 0, 0, 0, 0, dst[3]}, EthernetType: layers.EthernetTypeIPv4},
		&layers.IPv4{Version: 4, TOS: 26<<2 | 2, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: []byte(src), DstIP: []byte(dst)},
		&layers.UDP{SrcPort: 49443, DstPort: roce.Port},
	}
	must(roce.Serialize(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, append(below, upper...)...))
	return bytes.Clone(buf.Bytes())
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
