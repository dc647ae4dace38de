package capture

import "math"

// maxInterfaces is what Frame.Iface can number.
const maxInterfaces = math.MaxUint16 + 1

// maxName bounds what is kept of each interface's name.
const maxName = 255

// describe takes a block that holds no frame, and reports whether it was of
// use. Its error is what Read returns from now on.
func (p *pcapng) describe(kind uint32, b []byte, at int64) (used bool, err error) {
	switch kind {
	case blockSection:
		err = p.newSection(b, at)
	case blockInterface:
		err = p.newInterface(b, at)
	case blockStats:
		return p.statistics(b, at), nil
	default:
		p.info.OtherBlocks++
	}
	return err == nil, err
}

func (p *pcapng) newSection(b []byte, at int64) error {
	if len(b) < sectionMin {
		return p.stopAt(at, "section header of %d bytes", len(b))
	}
	if major := p.u16(b[12:]); major != 1 {
		return p.stopAt(at, "section of the unknown pcapng version %d.%d", major, p.u16(b[14:]))
	}
	p.info.Parts++
	p.section = p.section[:0]
	p.first = len(p.info.Interfaces)
	return nil
}

func (p *pcapng) newInterface(b []byte, at int64) error {
	if len(b) < interfaceMin {
		return p.stopAt(at, "interface description of %d bytes", len(b))
	}
	number := len(p.info.Interfaces)
	if number == maxInterfaces {
		return p.stopAt(at, "more than %d interfaces", maxInterfaces)
	}
	i := InterfaceInfo{Link: linkOf(p.u16(b[8:])), SnapLen: p.u32(b[12:]), TsResol: 6}
	offset := p.interfaceOptions(&i, b[16:len(b)-4])
	p.info.Interfaces = append(p.info.Interfaces, i)
	p.section = append(p.section, iface{
		clock:   newClock(i.TsResol, offset),
		link:    i.Link,
		number:  uint16(number),
		snapLen: i.SnapLen,
	})
	return nil
}

// interfaceOptions fills i from its options and returns if_tsoffset.
func (p *pcapng) interfaceOptions(i *InterfaceInfo, b []byte) (offset int64) {
	described := ""
	for o := (optionList{p: p, rest: b}); o.next(); {
		switch o.code {
		case optIfName:
			i.Name = name(o.value)
		case optIfDesc:
			described = name(o.value)
		case optIfResol:
			if len(o.value) == 1 {
				i.TsResol = o.value[0]
			}
		case optIfOffset:
			offset = int64(o.u64())
		case optIfFCSLen:
			if len(o.value) == 1 {
				i.FCSLen = fcsBytes(int(o.value[0]))
			}
		}
	}
	if i.Name == "" {
		i.Name = described
	}
	return offset
}

// fcsBytes reads if_fcslen, which the specification gives in bits while its own
// example and Wireshark give bytes.
func fcsBytes(n int) int {
	if n > 8 {
		return n / 8
	}
	return n
}

func name(b []byte) string {
	for len(b) > 0 && b[len(b)-1] == 0 { // some writers end it as C does
		b = b[:len(b)-1]
	}
	return string(b[:min(len(b), maxName)])
}

// statistics takes the last word on an interface: its counters are totals. It
// reports false for a block that it could make nothing of.
func (p *pcapng) statistics(b []byte, at int64) bool {
	if len(b) < statsMin {
		return p.bad(at, "interface statistics of %d bytes", len(b))
	}
	id := p.u32(b[8:])
	if uint64(id) >= uint64(len(p.section)) {
		return p.bad(at, "statistics of interface %d, where the section describes %d", id, len(p.section))
	}
	i := &p.info.Interfaces[p.first+int(id)]
	for o := (optionList{p: p, rest: b[20 : len(b)-4]}); o.next(); {
		switch o.code {
		case optStatsReceived:
			i.Received = o.u64()
		case optStatsDropped:
			i.Dropped = o.u64()
		case optStatsOSDropped:
			i.OSDropped = o.u64()
		}
	}
	return true
}
