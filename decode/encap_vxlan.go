package decode

import "encoding/binary"

// The UDP destination ports of tunnels.
const (
	portVXLAN  = 4789
	portGPE    = 4790
	portGENEVE = 6081
)

// vxlanLen is the length of a VXLAN header: flags, three bytes reserved, VNI,
// one byte reserved (RFC 7348, 5).
const vxlanLen = 8

// vxlan reads a VXLAN header. Without the I flag it is something else. The
// fields that extensions use, such as a group policy, are left alone.
func vxlan(_ *Decoder, p *Packet, data []byte, off int) (step, int) {
	b := data[off:]
	if len(b) < vxlanLen {
		return end(p, Truncated)
	}
	if b[0]&0x08 == 0 {
		return end(p, Other)
	}
	p.Encap |= EncapVXLAN
	p.VNI = binary.BigEndian.Uint32(b[4:]) >> 8
	return ethernet, off + vxlanLen
}

// vxlanGPE reads a VXLAN header whose fourth byte says what follows, where the
// P flag is set (draft-ietf-nvo3-vxlan-gpe, 3); Ethernet does where it is clear.
func vxlanGPE(_ *Decoder, p *Packet, data []byte, off int) (step, int) {
	const version, vni, next, oam = 0x30, 0x08, 0x04, 0x01
	b := data[off:]
	if len(b) < vxlanLen {
		return end(p, Truncated)
	}
	if b[0]&(version|vni|oam) != vni {
		return end(p, Other)
	}
	p.Encap |= EncapVXLANGPE
	p.VNI = binary.BigEndian.Uint32(b[4:]) >> 8
	if b[0]&next == 0 {
		return ethernet, off + vxlanLen
	}
	return byGPE(b[3]), off + vxlanLen
}

func byGPE(next uint8) step {
	switch next {
	case 1:
		return ipv4
	case 2:
		return ipv6
	case 3:
		return ethernet
	case 5:
		return mpls
	}
	return nil
}

// geneve reads a GENEVE header (RFC 8926, 3.4): version and length of the
// options in words, flags, protocol, VNI, one byte reserved, and the options.
func geneve(_ *Decoder, p *Packet, data []byte, off int) (step, int) {
	const fixed, control = 8, 0x80
	b := data[off:]
	if len(b) < fixed {
		return end(p, Truncated)
	}
	if b[0]>>6 != 0 || b[1]&control != 0 {
		return end(p, Other)
	}
	n := fixed + int(b[0]&0x3F)*4
	if len(b) < n {
		return end(p, Truncated)
	}
	p.Encap |= EncapGENEVE
	p.VNI = binary.BigEndian.Uint32(b[4:]) >> 8
	return byTunnel(binary.BigEndian.Uint16(b[2:])), off + n
}
