package capture

import "github.com/rocescope/rocescope/decode"

// enhanced fills f from an enhanced packet block. Like its neighbours here it
// reports false for a block that holds no usable frame, having noted why.
func (p *pcapng) enhanced(b []byte, at int64, f *decode.Frame) bool {
	if len(b) < packetMin {
		return p.bad(at, "packet block of %d bytes", len(b))
	}
	id := p.u32(b[8:])
	if !p.timed(b, id, at, f) {
		return false
	}
	rest := 28 + (len(f.Data)+3)&^3
	if len(b)-4-rest > 4 { // more than the mark that ends the options
		p.packetOptions(id, b[rest:len(b)-4])
	}
	return true
}

// packet fills f from an obsolete packet block, which differs from the enhanced
// one in that its first word is an interface and a count of losses.
func (p *pcapng) packet(b []byte, at int64, f *decode.Frame) bool {
	if len(b) < packetMin {
		return p.bad(at, "packet block of %d bytes", len(b))
	}
	id := uint32(p.u16(b[8:]))
	if !p.timed(b, id, at, f) {
		return false
	}
	if lost := p.u16(b[10:]); lost != 0xffff { // which stands for "not known"
		p.info.Interfaces[f.Iface].LostBefore += uint64(lost)
	}
	return true
}

// timed fills f from what the two packet blocks with a time share: from byte
// 12 on the time, the two lengths and the data.
func (p *pcapng) timed(b []byte, id uint32, at int64, f *decode.Frame) bool {
	if uint64(id) >= uint64(len(p.section)) {
		return p.bad(at, "frame of interface %d, where the section describes %d", id, len(p.section))
	}
	i := &p.section[id]
	captured := p.u32(b[20:])
	if uint64(captured) > uint64(len(b)-packetMin) {
		return p.bad(at, "frame of %d bytes in a block of %d", captured, len(b))
	}
	end := 28 + int(captured)
	f.Data = b[28:end:end]
	f.Len = wireLen(captured, p.u32(b[24:]))
	f.Time = i.nanos(uint64(p.u32(b[12:]))<<32 | uint64(p.u32(b[16:])))
	f.Link = i.link
	f.Iface = i.number
	return true
}

// simple fills f from a simple packet block, which belongs to the section's
// first interface, has no time, and leaves its captured length to be concluded.
func (p *pcapng) simple(b []byte, at int64, f *decode.Frame) bool {
	if len(b) < simpleMin {
		return p.bad(at, "packet block of %d bytes", len(b))
	}
	if len(p.section) == 0 {
		return p.bad(at, "frame of interface 0, where the section describes 0")
	}
	i := &p.section[0]
	length := p.u32(b[8:])
	captured := min(length, uint32(len(b)-simpleMin))
	if i.snapLen > 0 {
		captured = min(captured, i.snapLen)
	}
	end := 12 + int(captured)
	f.Data = b[12:end:end]
	f.Len = wireLen(captured, length)
	f.Time = p.last
	f.Link = i.link
	f.Iface = i.number
	p.info.Untimed++
	return true
}

// packetOptions takes what an enhanced packet block says besides its frame.
func (p *pcapng) packetOptions(id uint32, b []byte) {
	for o := (optionList{p: p, rest: b}); o.next(); {
		if o.code == optPacketDropped {
			p.info.Interfaces[p.section[id].number].LostBefore += o.u64()
		}
	}
}

// bad notes a block that is whole but makes no sense; reading goes on after it.
func (p *pcapng) bad(at int64, format string, args ...any) bool {
	p.damage(at, format+"; it was left out", args...)
	return false
}
