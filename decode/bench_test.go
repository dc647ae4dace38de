package decode

import (
	"slices"
	"testing"

	"github.com/rocescope/rocescope/decode/ib"
)

// The frames end before their ICRC unless the name says that it is checked:
// the CRC of a whole payload would hide what the headers cost.
func BenchmarkDecode(b *testing.B) {
	var (
		kib   = make([]byte, 1024)
		write = append((&ib.RETH{DMALen: 1024}).Append(nil), kib...)
		plain = ethernetFrame(etherIPv4, roce4(ib.Of(ib.RC, ib.WriteMiddle), kib))
		snap  = func(d []byte) []byte { return d[:len(d)-1] }
	)
	for _, bb := range []struct {
		name string
		data []byte
	}{
		{"ipv4", snap(plain)},
		{"vlan", snap(ethernetFrame(0x8100, tag(100, etherIPv4, plain[14:])))},
		{"qinq", snap(ethernetFrame(0x88A8, tag(200, 0x8100, tag(100, etherIPv4, plain[14:]))))},
		{"ipv6", snap(ethernetFrame(etherIPv6, roce6(ib.Of(ib.RC, ib.WriteMiddle), kib)))},
		{"rocev1", snap(ethernetFrame(0x8915, roce1(ib.Of(ib.RC, ib.WriteMiddle), kib)))},
		{"write only", snap(ethernetFrame(etherIPv4, roce4(writeOnly, write)))},
		{"snap 96", plain[:96]},
		{"tcp", ethernetFrame(etherIPv4, ip4(protoTCP, nil, make([]byte, 60)))},
		{"pfc", ethernetFrame(0x8808, pfcBody)},
		{"vxlan", snap(toVXLAN(vxlanOf(8, 0, 42, plain)))},
		{"geneve", snap(toGENEVE(geneveOf(make([]byte, 8), etherTEB, 42, plain)))},
		{"erspan 2", snap(toGRE(greOf(greSequence, etherERSPAN, erspan2(7, false, plain))))},
		{"erspan 3", snap(toGRE(greOf(greSequence, etherERSPAN3, erspan3(7, 0x1A, plain))))},
		{"mpls", snap(outerFrame(etherMPLS, labels(2, checksummed(plain[14:]))))},
		{"another port", ethernetFrame(etherIPv4, ip4(protoUDP, nil, udpTo(53, kib)))},
		{"udp checksum", snap(ethernetFrame(etherIPv4, summed(plain[14:], 0)))},
		{"ack checked", ethernetFrame(etherIPv4, roce4(ack, make([]byte, 4)))},
		{"ipv4 4096 checked", ethernetFrame(etherIPv4, roce4(ib.Of(ib.RC, ib.WriteMiddle), make([]byte, 4096)))},
	} {
		b.Run(bb.name, func(b *testing.B) {
			var d Decoder
			var p Packet
			f := frameOf(LinkEthernet, bb.data)
			f.Len += 4096 // cut by a snap length, not trimmed
			b.ReportAllocs()
			for b.Loop() {
				d.Decode(f, &p)
			}
		})
	}
	b.Run("train", func(b *testing.B) {
		var d Decoder
		ps := make([]Packet, 64)
		f := frameOf(LinkEthernet, plain[:96])
		f.Len = len(plain)
		frames := slices.Repeat([]Frame{*f}, len(ps))
		d.Decode(f, &ps[0])
		b.ReportAllocs()
		for b.Loop() {
			if d.GoOn(frames, ps) != len(ps) {
				b.Fatal("a frame does not go on")
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(ps)), "ns/frame")
	})
}
