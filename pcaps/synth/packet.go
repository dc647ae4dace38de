package synth

import (
	"bytes"
	"net/netip"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
	"github.com/rocescope/rocescope/decode/roce"
)

// The classes of the fabric, as DSCP.
const (
	dataClass = 26
	cnpClass  = 48
)

// kind says what a packet is to those who select and count.
type kind int

const (
	isRequest kind = iota + 1
	isReadResponse
	isAck // ACK, NAK and atomic acknowledge
	isCNP
	isManagement
	isXOFF // pauses are not packets of anyone's, so nothing but their link is known of them
	isXON
)

// packet is one packet on its way. Its bytes are made where the tap sees it,
// because a queue before may have marked it.
type packet struct {
	from, to *host
	conn     *conn
	kind     kind
	bth      ib.BTH
	ext      []gopacket.SerializableLayer // between BTH and payload
	payload  []byte
	port     uint16
	dscp     uint8
	ecn      decode.ECN
	id       uint16 // IPv4 ID

	asker    *endpoint // whose request it is, or answers; nil where there is none
	number   int       // among the first sendings of its kind for the asker; 0 where sent again
	repeat   int       // among those of its kind sent again for the asker; 0 the first time
	order    int       // among all of its kind for the asker, in the order of sending
	again    cause     // why it was sent again; empty the first time
	trigger  *packet   // what had it sent again; nil for a timeout
	pass     int       // how often its requester had gone back before
	reached  int64     // when its receiver looked at it
	made     int64     // when it was queued
	blames   int       // of a NAK: how often what it asks for had been sent
	needless bool      // its receiver had it when it came, or was lost
	arrive   func(*packet)

	path     []*port // by which it leaves the devices of its way
	hop      int     // how many of them are behind it
	faultHop int     // where the scenario's faults befall it
	journey  journey
	heldBy   *port // the port of a device that counts its bytes as its own
	damaged  bool
}

// priority is the class that a packet queues in.
func (p *packet) priority() uint8 {
	if p.kind == isCNP {
		return p.dscp >> 3
	}
	return p.from.priority(p.dscp)
}

// pcp is the priority in the packet's tag.
func (p *packet) pcp() uint8 {
	if own := p.from.machine.PCP; own != nil && p.kind != isCNP {
		return *own
	}
	return p.dscp >> 3
}

// priority is the class in which what the host sends with a DSCP queues.
func (h *host) priority(dscp uint8) uint8 {
	net := &h.world.scenario.Network
	if net.TrustPCP && net.VLAN != 0 && h.machine.PCP != nil {
		return *h.machine.PCP
	}
	return dscp >> 3
}

// linkHeader is how much of the frame lies before IP.
func (p *packet) linkHeader() int {
	if p.from.world.scenario.Network.VLAN != 0 {
		return 18
	}
	return 14
}

func (p *packet) isPause() bool { return p.kind == isXOFF || p.kind == isXON }

// ofBack reports whether the packet concerns requests of the connection's To.
func (p *packet) ofBack() bool { return p.asker != nil && p.asker == p.conn.b }

// size is the length of the frame on the wire.
func (p *packet) size() int {
	body := len(p.payload)
	switch p.kind {
	case isCNP:
		body = 16
	case isManagement:
		body = ib.MADLen
	}
	n := 14 + ib.BTHLen + int(p.bth.Opcode.Info().Len) + (body+3)&^3 + ib.ICRCLen
	net := &p.from.world.scenario.Network
	if net.VLAN != 0 {
		n += 4
	}
	switch {
	case net.RoCEv1:
		return n + 40
	case net.IPv6:
		return n + 48
	}
	return n + 28
}

// frame returns the packet as bytes.
func (p *packet) frame() []byte {
	payload := &roce.Payload{Data: p.payload}
	ls := append(p.below(), &roce.BTH{BTH: p.bth})
	ls = append(append(ls, p.ext...), payload)
	buf := gopacket.NewSerializeBuffer()
	if err := roce.Serialize(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, ls...); err != nil {
		panic(err) // the layers are this package's own
	}
	out := bytes.Clone(buf.Bytes())
	if p.damaged { // the first byte of the payload; of what has none, that of the ICRC
		out[len(out)-ib.ICRCLen-(len(p.payload)+3)&^3] ^= 1 << (p.number & 7)
	}
	return out
}

// below returns the layers under the BTH.
func (p *packet) below() []gopacket.SerializableLayer {
	net := &p.from.world.scenario.Network
	tos := p.dscp<<2 | uint8(p.ecn)
	src, dst := p.from.addr, p.to.addr
	udp := &layers.UDP{SrcPort: layers.UDPPort(p.port), DstPort: roce.Port}
	switch {
	case net.RoCEv1:
		grh := &roce.GRH{Version: 6, TrafficClass: tos, NextHeader: 0x1B, HopLimit: 64, SGID: gid(src), DGID: gid(dst)}
		return append(p.ethernet(roce.EtherTypeRoCEv1), grh)
	case net.IPv6:
		ip := &layers.IPv6{Version: 6, TrafficClass: tos, NextHeader: layers.IPProtocolUDP, HopLimit: 64, SrcIP: src.AsSlice(), DstIP: dst.AsSlice()}
		return append(p.ethernet(layers.EthernetTypeIPv6), ip, udp)
	}
	ip := &layers.IPv4{Version: 4, TOS: tos, Id: p.id, Flags: layers.IPv4DontFragment, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: src.AsSlice(), DstIP: dst.AsSlice()}
	return append(p.ethernet(layers.EthernetTypeIPv4), ip, udp)
}

// ethernet returns the link layer, with its tag where the network has one. The
// priority follows from the class.
func (p *packet) ethernet(of layers.EthernetType) []gopacket.SerializableLayer {
	eth := &layers.Ethernet{SrcMAC: p.from.mac, DstMAC: p.to.mac, EthernetType: of}
	vlan := p.from.world.scenario.Network.VLAN
	if vlan == 0 {
		return []gopacket.SerializableLayer{eth}
	}
	eth.EthernetType = layers.EthernetTypeDot1Q
	return []gopacket.SerializableLayer{eth, &layers.Dot1Q{Priority: p.pcp(), VLANIdentifier: vlan, Type: of}}
}

func gid(a netip.Addr) ib.GID { return ib.GID(a.As16()) }
