package decode

import (
	"encoding/binary"

	"github.com/rocescope/rocescope/decode/ib"
)

// portUET is the UDP destination port of Ultra Ethernet.
const portUET = 4793

func (d *Decoder) port() uint16 {
	if d.Port == 0 {
		return DefaultPort
	}
	return d.Port
}

// byPort leads on behind a UDP header. RoCE is not here: its port is the
// Decoder's to say.
func byPort(port uint16) step {
	switch port {
	case portVXLAN:
		return vxlan
	case portGPE:
		return vxlanGPE
	case portGENEVE:
		return geneve
	case portUET:
		return uet
	}
	return anyPort
}

func uet(_ *Decoder, p *Packet, _ []byte, _ int) (step, int) { return end(p, UET) }

// udp reads a UDP header. Only the destination port says what follows: a
// source port of 4791 is anybody's. Most senders of RoCEv2 leave the checksum
// 0, which costs nothing here.
func udp(d *Decoder, p *Packet, data []byte, off int) (step, int) {
	if d.net.room < 8 {
		return end(p, Malformed)
	}
	b := data[off:]
	if len(b) < 8 {
		return end(p, Truncated)
	}
	n := int(binary.BigEndian.Uint16(b[4:]))
	p.SrcPort, p.DstPort = binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	if n < 8 || n > d.net.room {
		return end(p, Malformed)
	}
	if p.DstPort != d.port() {
		return byPort(p.DstPort), off + 8
	}
	if b[6]|b[7] != 0 {
		return checked, off
	}
	return roce(d, p, data, off+8, n-8, 2)
}

// checked reads a UDP header of RoCEv2 again that has a checksum.
func checked(d *Decoder, p *Packet, data []byte, off int) (step, int) {
	n := int(binary.BigEndian.Uint16(data[off+4:]))
	if !d.udpOK(p, data, off, n) {
		p.Odd |= OddUDPChecksum
	}
	return roce(d, p, data, off+8, n-8, 2)
}

// tcp keeps the ports, which tell what there is where no RoCE is, and looks for
// iWARP, which has no port of its own: what opens a connection says so (RFC
// 5044, 7.1.1). What follows on the connection is not followed.
func tcp(_ *Decoder, p *Packet, data []byte, off int) (step, int) {
	b := data[off:]
	if len(b) >= 4 {
		p.SrcPort, p.DstPort = binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	}
	if len(b) < 20 {
		return end(p, Other)
	}
	if hdr := int(b[12]>>4) * 4; hdr >= 20 && len(b) >= hdr+16 {
		switch string(b[hdr : hdr+16]) {
		case "MPA ID Req Frame", "MPA ID Rep Frame":
			return end(p, IWARP)
		}
	}
	return end(p, Other)
}

// roce reads the IB part of a packet, size bytes from the BTH through the ICRC
// as the header below says. The ICRC of native InfiniBand, version 0, covers the
// LRH too, of which a switch rewrites a part; it is left unchecked.
func roce(d *Decoder, p *Packet, data []byte, off, size int, version uint8) (step, int) {
	if size < ib.BTHLen+ib.ICRCLen {
		return end(p, Malformed)
	}
	h := &d.bth
	if !h.Parse(data[off:]) {
		return end(p, Truncated)
	}
	info := h.Opcode.Info()
	ext := int(info.Len)
	unread := h.Opcode.Transport() == ib.RD // or DC: who could tell
	if unread {
		ext = 0
	}
	payload := off + ib.BTHLen + ext
	n := off + size - ib.ICRCLen - int(h.PadCnt) - payload
	if n < 0 {
		return end(p, Malformed)
	}
	// One question for all that is rare.
	if h.TVer|h.Reserved6|h.Reserved7 != 0 || !defaultPKey(h.PKey) || rareOpcodes[h.Opcode] {
		p.Odd |= oddBTH(h, info)
		if h.Opcode == ib.CNP {
			n = 0 // the 16 bytes that follow are reserved
		}
	}
	p.Version, p.PayloadLen = version, uint32(n)
	p.setBTH(h)
	if payload <= len(data) && !unread {
		p.HasExt, p.PayloadOff = true, uint16(payload)
		if ext != 0 {
			p.setExtensions(info.Headers, data[off+ib.BTHLen:payload])
		}
	} else if !unread {
		p.setCut(info, data[min(off+ib.BTHLen, len(data)):])
	}
	d.train.begin(d, p, data, off)
	if off+size <= len(data) {
		d.check(p, data[:off+size])
	}
	return end(p, RoCE)
}

func (p *Packet) setBTH(h *ib.BTH) {
	p.Op = h.Opcode
	p.Solicited, p.MigReq = h.Solicited, h.MigReq
	p.FECN, p.BECN, p.AckReq = h.FECN, h.BECN, h.AckReq
	p.PadCnt, p.TVer, p.PKey = h.PadCnt, h.TVer, h.PKey
	p.QP, p.PSN = h.DestQP, h.PSN
}

// setExtensions reads the headers of the set hs, which fill b. They stand in
// the order of the questions.
func (p *Packet) setExtensions(hs ib.Headers, b []byte) {
	if hs&ib.HasDETH != 0 {
		var h ib.DETH
		h.Parse(b)
		p.SrcQP, b = h.SrcQP, b[ib.DETHLen:]
	}
	if hs&ib.HasXRCETH != 0 {
		b = b[ib.XRCETHLen:]
	}
	if hs&ib.HasFETH != 0 {
		b = b[ib.FETHLen:]
	}
	if hs&ib.HasRETH != 0 {
		var h ib.RETH
		h.Parse(b)
		p.VA, p.RKey, p.DMALen, b = h.VA, h.RKey, h.DMALen, b[ib.RETHLen:]
	}
	if hs&ib.HasAtomicETH != 0 {
		var h ib.AtomicETH
		h.Parse(b)
		p.VA, p.RKey, b = h.VA, h.RKey, b[ib.AtomicETHLen:]
	}
	if hs&ib.HasAETH != 0 {
		var h ib.AETH
		h.Parse(b)
		p.Syndrome, p.MSN, b = h.Syndrome, h.MSN, b[ib.AETHLen:]
	}
	if hs&ib.HasAtomicAckETH != 0 {
		b = b[ib.AtomicAckETHLen:]
	}
	if hs&ib.HasImmDt != 0 {
		var h ib.ImmDt
		h.Parse(b)
		p.Imm, b = h.Data, b[ib.ImmDtLen:]
	}
	if hs&ib.HasIETH != 0 {
		var h ib.IETH
		h.Parse(b)
		p.RKey = h.RKey
	}
}

// setCut reads what stands first in extension headers that were cut, as far as rows and
// sequences are told apart by it.
func (p *Packet) setCut(info *ib.Info, b []byte) {
	switch {
	case info.Headers&ib.HasDETH != 0 && len(b) >= ib.DETHLen:
		p.setExtensions(ib.HasDETH, b)
	case info.Kind&ib.IsAck != 0 && len(b) > 0:
		p.Syndrome, p.MSN = ib.Syndrome(b[0]), MSNCut
	}
}

// check holds the ICRC at the end of data against the packet.
func (d *Decoder) check(p *Packet, data []byte) {
	if p.Version == 0 {
		return
	}
	at := len(data) - ib.ICRCLen
	want, ok := d.invariant(p, p.Version, data[d.net.off:at])
	if !ok {
		return
	}
	p.ICRCVal, p.ICRC = ib.ReadICRC(data[at:]), ICRCBad
	if p.ICRCVal == want {
		p.ICRC = ICRCGood
	}
}

// invariant computes the ICRC over what it covers, from the network header
// through the pad. It reports false behind IPv6 extension headers: whether they
// count is nowhere told.
func (d *Decoder) invariant(p *Packet, version uint8, covered []byte) (uint32, bool) {
	switch {
	case version == 1:
		return d.icrc.GRH(covered)
	case !p.IPv6:
		return d.icrc.IPv4(covered, d.net.hdr)
	case d.net.hdr == 40:
		return d.icrc.IPv6(covered)
	}
	return 0, false
}
