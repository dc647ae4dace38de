package wrapped

import (
	"math/bits"
	"net/netip"
	"slices"
	"time"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
	"github.com/rocescope/rocescope/pcaps/synth"
)

// An exchange is five frames between hosts 1 and 2, and what a decoder must say
// of them where nothing is around them but Ethernet.
//
// The frames come from package synth. What they mean was read off a hex dump and
// tshark 4.0.17, once; it is not computed from the frames, for then a fault that
// writer and reader share would not show.
type exchange struct {
	frames []decode.Frame
	want   []decode.Packet
}

// inner is a frame to be wrapped.
type inner struct {
	i     int    // its place in the exchange, from 0
	back  bool   // host 2 sent it
	frame []byte // from the Ethernet header on; no padding, no frame check sequence
}

// ip is the frame without its Ethernet header.
func (x inner) ip() []byte { return x.frame[14:] }

// size is how many frames an exchange has.
const size = 5

// isBack tells who sent a frame of an exchange: host 2 acknowledges the WRITE
// and then sends.
func isBack(i int) bool { return i == 2 || i == 3 }

// The exchanges, which differ below the BTH, and one of another tenant, whose
// hosts have the same addresses and queue pairs.
var (
	over4  = newExchange(15, synth.Network{}, packets4())
	over6  = newExchange(15, synth.Network{IPv6: true}, packets6())
	over1  = newExchange(15, synth.Network{RoCEv1: true}, packets1())
	tenant = newExchange(16, synth.Network{}, packetsTenant())
)

func newExchange(seed uint64, n synth.Network, want []decode.Packet) exchange {
	c := synth.Run(&synth.Scenario{
		Seed: seed, Network: n, Tap: synth.AtHost(1),
		Connections: []synth.Connection{{
			From: 1, To: 2,
			Work: []synth.Work{synth.Write(286)}, // First, and a Last whose payload needs a pad; a Middle would show no other header
			Back: []synth.Work{synth.Send(13).After(20 * time.Microsecond)},
		}},
	})
	if len(c.Frames) != size || len(want) != size {
		panic("the scenario does not give the exchange any more")
	}
	return exchange{c.Frames, want}
}

// all hands out the frames to be wrapped.
func (e exchange) all() (out []inner) {
	for i := range e.frames {
		out = append(out, inner{i, isBack(i), slices.Clone(e.frames[i].Data)})
	}
	return out
}

var (
	mac1 = [6]byte{0x0C, 0x42, 0xA1, 0, 0, 1}
	mac2 = [6]byte{0x0C, 0x42, 0xA1, 0, 0, 2}
)

// began is 2026-01-01 00:00:00 UTC.
const began = 1767225600_000000000

// transport is what the BTH and the headers behind it say, whatever is below.
func transport(write, send ib.PSN) []decode.Packet {
	const (
		writeFirst, writeLast, sendOnly, ack = 0x06, 0x08, 0x04, 0x11
		credits                              = 0x1F // an ACK that grants no credits: 31
	)
	return []decode.Packet{
		{Op: writeFirst, QP: 0x210, PSN: write, PayloadLen: 256, PayloadOff: 16, VA: 0x7F0000000000, RKey: 0x1F00, DMALen: 286},
		{Op: writeLast, QP: 0x210, PSN: write + 1, PayloadLen: 30, PadCnt: 2, AckReq: true},
		{Op: ack, QP: 0x110, PSN: write + 1, PayloadOff: 4, Syndrome: credits, MSN: 1},
		{Op: sendOnly, QP: 0x110, PSN: send, PayloadLen: 13, PadCnt: 3, AckReq: true},
		{Op: ack, QP: 0x210, PSN: send, PayloadOff: 4, Syndrome: credits, MSN: 1},
	}
}

// below is what the headers under the BTH say, those of a packet of host 1;
// headers is their length together with the BTH.
func below(ps []decode.Packet, headers uint16, base decode.Packet, times [size]int64, lengths [size]uint32, icrcs [size]uint32) []decode.Packet {
	for i := range ps {
		p := &ps[i]
		p.Time, p.Frame, p.Len, p.CapLen = began+times[i], uint64(i+1), lengths[i], lengths[i]
		p.Status, p.Version, p.HasExt, p.MigReq, p.PKey = decode.RoCE, base.Version, true, true, 0xFFFF
		p.PayloadOff += headers
		p.ICRC, p.ICRCVal = decode.ICRCGood, bits.ReverseBytes32(icrcs[i]) // they are written here as they stand on the wire
		p.SrcMAC, p.DstMAC, p.Src, p.Dst = mac1, mac2, base.Src, base.Dst
		if isBack(i) {
			p.SrcMAC, p.DstMAC, p.Src, p.Dst = mac2, mac1, base.Dst, base.Src
		}
		p.EtherType, p.IPv6, p.Proto, p.DSCP, p.ECN, p.TTL = base.EtherType, base.IPv6, base.Proto, 26, decode.ECT0, 64
		p.SrcPort, p.DstPort = base.SrcPort, base.DstPort
	}
	return ps
}

func packets4() []decode.Packet {
	ps := below(transport(303837, 14307122), 14+20+8+12,
		decode.Packet{Version: 2, EtherType: 0x0800, Proto: 17, SrcPort: 61704, DstPort: 4791, Src: addr("10.0.0.1"), Dst: addr("10.0.0.2")},
		[size]int64{163, 199, 10866, 25012, 25739},
		[size]uint32{330, 90, 62, 74, 62},
		[size]uint32{0xeaa9d807, 0x76d3ad28, 0xc36d0456, 0x8b05a04a, 0xd2864a9d})
	return identified(ps, 0xEDBF, 0x8B25)
}

// identified sets the IPv4 IDs, which each host counts by itself.
func identified(ps []decode.Packet, host1, host2 uint16) []decode.Packet {
	for i, p := range []uint16{host1, host1 + 1, host2, host2 + 1, host1 + 2} {
		ps[i].IPID = p
	}
	return ps
}

func packets6() []decode.Packet {
	return below(transport(303837, 14307122), 14+40+8+12,
		decode.Packet{Version: 2, EtherType: 0x86DD, IPv6: true, Proto: 17, SrcPort: 61704, DstPort: 4791, Src: addr("fd00::1"), Dst: addr("fd00::2")},
		[size]int64{169, 211, 10896, 25024, 25757},
		[size]uint32{350, 110, 82, 94, 82},
		[size]uint32{0x4fd2bfbc, 0x41e6b27c, 0xd93eace5, 0x0857df35, 0xb1de3d64})
}

func packets1() []decode.Packet {
	return below(transport(303837, 14307122), 14+40+12,
		decode.Packet{Version: 1, EtherType: 0x8915, IPv6: true, Proto: 0x1B, Src: addr("fe80::e42:a1ff:fe00:1"), Dst: addr("fe80::e42:a1ff:fe00:2")},
		[size]int64{167, 207, 10886, 25020, 25751},
		[size]uint32{342, 102, 74, 86, 74},
		[size]uint32{0xbcc8614f, 0x0aa6dbdc, 0x5cdb6189, 0xccebd0ac, 0x54d0d9d6})
}

func packetsTenant() []decode.Packet {
	ps := below(transport(11647709, 7473043), 14+20+8+12,
		decode.Packet{Version: 2, EtherType: 0x0800, Proto: 17, SrcPort: 61704, DstPort: 4791, Src: addr("10.0.0.1"), Dst: addr("10.0.0.2")},
		[size]int64{163, 199, 10866, 25012, 25739},
		[size]uint32{330, 90, 62, 74, 62},
		[size]uint32{0x2a35b88d, 0x59a254a9, 0x585b7692, 0x5cf1676c, 0x18c4be37})
	return identified(ps, 0xA676, 0x175C)
}

// addr writes an address as decode.Packet does.
func addr(s string) [16]byte { return netip.MustParseAddr(s).As16() }
