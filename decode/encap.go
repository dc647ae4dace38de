package decode

// Encap is a set of encapsulations: those that stood around the packet, tags
// included, in no order.
type Encap uint32

// The encapsulations.
const (
	EncapVLAN     Encap = 1 << iota // one tag, 802.1Q or 802.1ad
	EncapQinQ                       // several tags, one behind the other; EncapVLAN is clear then
	EncapETag                       // of a port extender, 802.1BR
	EncapMPLS                       // with IP or Ethernet inside
	EncapVXLAN                      // RFC 7348
	EncapVXLANGPE                   // the generic protocol extension of VXLAN
	EncapGENEVE                     // RFC 8926
	EncapGRE                        // RFC 2784 and 2890, where it is none of those that follow
	EncapNVGRE                      // RFC 7637
	EncapERSPAN1                    // a mirrored frame behind GRE, without a header of its own
	EncapERSPAN2
	EncapERSPAN3
	EncapIPIP // IPv4 or IPv6 in either of them, RFC 2003, 2473, 4213
)

var encapNames = []string{
	"VLAN", "QinQ", "E-tag", "MPLS", "VXLAN", "VXLAN-GPE", "GENEVE", "GRE", "NVGRE",
	"ERSPAN I", "ERSPAN II", "ERSPAN III", "IP in IP",
}

// String lists the encapsulations, as "QinQ, MPLS"; the empty set is "none".
func (e Encap) String() string { return named(uint32(e), encapNames) }

// The EtherTypes that are met in tunnels alone.
const (
	etherTEB     = 0x6558 // transparent Ethernet bridging: a whole frame
	etherERSPAN  = 0x88BE // types I and II
	etherERSPAN3 = 0x22EB
)

// byTunnel leads on behind a header that names what it carries by EtherType. A
// tunnel carries nothing that belongs to a link, such as tags.
func byTunnel(t uint16) step {
	switch t {
	case etherIPv4:
		return ipv4
	case etherIPv6:
		return ipv6
	case etherTEB:
		return ethernet
	case etherMPLS, etherMPLS2:
		return mpls
	}
	return nil
}

// ipip4 and ipip6 read the inner header of IP in IP.

func ipip4(d *Decoder, p *Packet, data []byte, off int) (step, int) {
	p.Encap |= EncapIPIP
	return ipv4(d, p, data, off)
}

func ipip6(d *Decoder, p *Packet, data []byte, off int) (step, int) {
	p.Encap |= EncapIPIP
	return ipv6(d, p, data, off)
}
