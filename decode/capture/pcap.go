package capture

import (
	"encoding/binary"
	"math/bits"

	"github.com/rocescope/rocescope/decode"
)

const (
	pcapHeadLen = 24 // of the file

	// classicRecord is libpcap's own limit, and so the longest captured
	// length that is believed at sight.
	classicRecord = 256 << 10
	// maxRecord is the longest one accepted at all, where its bytes are there.
	maxRecord = 16 << 20
)

// pcapMagic tells the forms of a pcap apart.
type pcapMagic struct {
	big     bool
	nano    bool
	headLen int // of a record
}

// pcapMagicOf reads a magic number; it reports false for what is none.
func pcapMagicOf(b []byte) (pcapMagic, bool) {
	m := pcapMagic{headLen: 16}
	if len(b) < 4 {
		return m, false
	}
	v := binary.LittleEndian.Uint32(b)
	if v&0xffff == 0xb2a1 { // the two high bytes of each magic, seen swapped
		m.big = true
		v = bits.ReverseBytes32(v)
	}
	return m.form(v)
}

func (m pcapMagic) form(v uint32) (pcapMagic, bool) {
	switch v {
	case 0xa1b2c3d4:
	case 0xa1b23c4d:
		m.nano = true
	case 0xa1b2cd34: // "modified": interface, protocol and packet type follow
		m.headLen = 24
	default:
		return m, false
	}
	return m, true
}

// pcap reads the records of a pcap.
type pcap struct {
	*input
	pcapMagic
	unit  int64  // nanoseconds of a time's fraction
	usual uint32 // captured lengths above this are checked before belief
	link  decode.LinkType
	iface uint16
	prev  uint32 // seconds of the last record; valid where timed
	timed bool
}

func (in *input) newPcap(m pcapMagic) (records, error) {
	in.info.Format = "pcap"
	h := in.peek(pcapHeadLen)
	if len(h) < pcapHeadLen {
		return nil, in.cutHeader("its header", len(h), pcapHeadLen)
	}
	return in.pcap(m, h), nil
}

// pcap consumes the header h. There is room for one more interface.
func (in *input) pcap(m pcapMagic, h []byte) *pcap {
	p := &pcap{input: in, pcapMagic: m, unit: 1000, usual: classicRecord}
	i := InterfaceInfo{TsResol: 6, SnapLen: p.u32(h[16:])}
	if m.nano {
		p.unit, i.TsResol = 1, 9
	}
	if i.SnapLen <= maxRecord {
		p.usual = max(p.usual, i.SnapLen)
	}
	// The low 16 bits are the link type; of those above, bit 26 says that the
	// top four count the 16 bit words of frame check sequence.
	network := p.u32(h[20:])
	i.Link = linkOf(uint16(network))
	if network&(1<<26) != 0 {
		i.FCSLen = int(network>>28) * 2
	}
	p.link = i.Link
	// Parts of one capture, as tcpdump -C cuts it, are of one interface.
	if n := len(in.info.Interfaces); n == 0 || in.info.Interfaces[n-1] != i {
		in.info.Interfaces = append(in.info.Interfaces, i)
	}
	p.iface = uint16(len(in.info.Interfaces) - 1)
	in.skip(pcapHeadLen)
	in.info.OtherBytes += pcapHeadLen
	in.info.Parts++
	return p
}

func (p *pcap) u32(b []byte) uint32 {
	v := binary.LittleEndian.Uint32(b)
	if p.big {
		v = bits.ReverseBytes32(v)
	}
	return v
}

// A pcapRecord is the header of a record.
type pcapRecord struct{ sec, frac, captured, length uint32 }

func (p *pcap) record(h []byte) pcapRecord {
	_ = h[15]
	le := binary.LittleEndian
	r := pcapRecord{le.Uint32(h), le.Uint32(h[4:]), le.Uint32(h[8:]), le.Uint32(h[12:])}
	if p.big {
		r = pcapRecord{bits.ReverseBytes32(r.sec), bits.ReverseBytes32(r.frac), bits.ReverseBytes32(r.captured), bits.ReverseBytes32(r.length)}
	}
	return r
}

func (p *pcap) next(f *decode.Frame) error {
	for {
		h := p.peek(p.headLen)
		if len(h) < p.headLen {
			return p.end("record header", len(h), p.headLen)
		}
		rec := p.record(h)
		odd := p.odd(rec)
		// Read as a record, a pcap's header has the length 0, and that of a
		// pcapng is odd.
		if (odd || rec.length == 0) && isHeader(h) {
			return errAnother
		}
		if odd && !p.borneOut(rec) {
			if err := p.resync(rec); err != nil {
				return err
			}
			continue
		}
		n := p.headLen + int(rec.captured)
		b := p.peek(n)
		if len(b) < n {
			if have := len(b); !p.overstated(have, n) {
				return p.end("record", have, n)
			}
			continue
		}
		p.skip(n)
		p.info.FrameBytes += int64(n)
		p.prev, p.timed = rec.sec, true
		p.fill(f, &rec, b[p.headLen:n:n])
		return nil
	}
}

// more reads records as most are: whole in the window, and with nothing that needs
// a closer look.
func (p *pcap) more(frames []decode.Frame) (n int) {
	const headLen = 16
	if p.headLen != headLen {
		return 0
	}
	rest := p.buf[p.r:p.w]
	for n < len(frames) && len(rest) >= headLen {
		rec := p.record(rest)
		size := headLen + uint64(rec.captured)
		if rec.captured > p.usual || rec.captured > rec.length || rec.frac >= 1e9 || rec.length == 0 || size > uint64(len(rest)) {
			break
		}
		p.fill(&frames[n], &rec, rest[headLen:size:size])
		p.prev = rec.sec
		rest = rest[size:]
		n++
	}
	used := p.w - p.r - len(rest)
	p.skip(used)
	p.info.FrameBytes += int64(used)
	return n
}

func (p *pcap) fill(f *decode.Frame, rec *pcapRecord, data []byte) {
	f.Data = data
	f.Time = int64(rec.sec)*1e9 + int64(rec.frac)*p.unit
	f.Len = wireLen(rec.captured, rec.length)
	f.Link = p.link
	f.Iface = p.iface
}
