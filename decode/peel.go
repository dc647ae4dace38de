package decode

import "encoding/binary"

// step reads the header that starts at data[off], writes what it learns to p,
// and returns the step for what follows and where that starts, at most
// len(data). Without a next step the frame is done and p.Status stands.
//
// A step overwrites every field of p it is answerable for, so that the
// innermost header wins; what it took off it adds to p.Encap. To add an
// encapsulation, write its step and give it a line in the list (byLink,
// byEtherType, byProto, byPort, byTunnel) that leads to it.
type step func(d *Decoder, p *Packet, data []byte, off int) (next step, at int)

const (
	// maxDepth bounds the steps: a RoCEv2 packet takes four, and six more
	// where a mirror wrapped it.
	maxDepth = 16
	// maxOffset keeps every offset within the 16 bits of PayloadOff, with
	// room for the headers of the last step.
	maxOffset = 1 << 15
)

// peel takes one header after another off the frame.
func peel(d *Decoder, p *Packet, next step, data []byte) {
	p.Status = Other
	at := 0
	for range maxDepth {
		if next == nil {
			return
		}
		if at > maxOffset {
			break
		}
		next, at = next(d, p, data, at)
	}
	if next != nil {
		p.Status = Malformed
	}
}

// end is what a step returns that knows the frame's status.
func end(p *Packet, s Status) (step, int) {
	p.Status = s
	return nil, 0
}

func byLink(l LinkType) step {
	switch l {
	case LinkEthernet:
		return ethernet
	case LinkSLL:
		return sll
	case LinkSLL2:
		return sll2
	case LinkRaw, LinkRaw12, LinkRaw14:
		return raw
	case LinkIPv4:
		return ipv4
	case LinkIPv6:
		return ipv6
	case LinkERF:
		return erf
	case LinkInfiniBand:
		return lrh
	case LinkMPacket:
		return mpacket
	case LinkNull, LinkLoop:
		return loopback
	}
	return nil
}

const (
	etherIPv4  = 0x0800
	etherVLAN  = 0x8100
	etherIPv6  = 0x86DD
	etherMPLS  = 0x8847
	etherMPLS2 = 0x8848 // with labels that the upstream router assigned
	etherMAC   = 0x8808 // MAC control
	etherLLDP  = 0x88CC
	etherRoCE  = 0x8915 // version 1
	etherETag  = 0x893F
)

func byEtherType(t uint16) step {
	if t == etherIPv4 { // by far the most frequent
		return ipv4
	}
	switch t {
	case etherIPv6:
		return ipv6
	case etherVLAN, 0x88A8, 0x9100, 0x9200, 0x9300: // C-tag, S-tag, and what QinQ used before it
		return vlan
	case etherETag:
		return etag
	case etherMPLS, etherMPLS2:
		return mpls
	case etherRoCE:
		return grh
	case etherMAC:
		return macControl
	case etherLLDP:
		return lldp
	}
	return nil
}

// ethernet forgets the tag of an outer frame: it is no tag of this one.
func ethernet(_ *Decoder, p *Packet, data []byte, off int) (step, int) {
	b := data[off:]
	if len(b) < 14 {
		return end(p, Truncated)
	}
	b = b[:14:14] // one check for all that follow
	p.DstMAC, p.SrcMAC = [6]byte(b[0:6]), [6]byte(b[6:12])
	p.Tagged, p.VLAN, p.PCP = false, 0, 0
	p.EtherType = binary.BigEndian.Uint16(b[12:])
	return byEtherType(p.EtherType), off + 14
}

// vlan reads what follows the TPID: the tag and the next EtherType (802.1Q,
// 802.1ad).
func vlan(_ *Decoder, p *Packet, data []byte, off int) (step, int) {
	b := data[off:]
	if len(b) < 4 {
		return end(p, Truncated)
	}
	e := p.Encap | EncapVLAN
	if p.Tagged {
		p.OuterVLAN, e = p.VLAN, p.Encap&^EncapVLAN|EncapQinQ
	}
	p.Encap = e
	tci := binary.BigEndian.Uint16(b)
	p.Tagged, p.VLAN, p.PCP = true, tci&0xFFF, uint8(tci>>13)
	p.EtherType = binary.BigEndian.Uint16(b[2:])
	return byEtherType(p.EtherType), off + 4
}

// etag reads what follows the TPID of a port extender (802.1BR): priority and
// channel numbers, six bytes, and the next EtherType.
func etag(_ *Decoder, p *Packet, data []byte, off int) (step, int) {
	b := data[off:]
	if len(b) < 8 {
		return end(p, Truncated)
	}
	p.Encap |= EncapETag
	p.EtherType = binary.BigEndian.Uint16(b[6:])
	return byEtherType(p.EtherType), off + 8
}

// sll reads a Linux cooked header: packet type, ARP type, address length,
// address (8 bytes), EtherType.
func sll(_ *Decoder, p *Packet, data []byte, off int) (step, int) {
	b := data[off:]
	if len(b) < 16 {
		return end(p, Truncated)
	}
	cooked(p, binary.BigEndian.Uint16(b[4:]), [6]byte(b[6:12]), binary.BigEndian.Uint16(b[14:]))
	return byEtherType(p.EtherType), off + 16
}

// sll2 reads the second version: EtherType, two reserved bytes, interface
// index (4), ARP type (2), packet type, address length, address (8 bytes).
func sll2(_ *Decoder, p *Packet, data []byte, off int) (step, int) {
	b := data[off:]
	if len(b) < 20 {
		return end(p, Truncated)
	}
	cooked(p, uint16(b[11]), [6]byte(b[12:18]), binary.BigEndian.Uint16(b))
	return byEtherType(p.EtherType), off + 20
}

// cooked keeps what both cooked headers tell. An address of another length is
// no MAC: InfiniBand's has 20 bytes, of which the header shows eight.
func cooked(p *Packet, n uint16, addr [6]byte, etherType uint16) {
	if n == 6 {
		p.SrcMAC = addr
	}
	p.EtherType = etherType
}

// raw tells IPv4 from IPv6 by the version nibble.
func raw(_ *Decoder, p *Packet, data []byte, off int) (step, int) {
	if off >= len(data) {
		return end(p, Truncated)
	}
	switch data[off] >> 4 {
	case 4:
		return ipv4, off
	case 6:
		return ipv6, off
	}
	return end(p, Malformed)
}
