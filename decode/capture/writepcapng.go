package capture

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/rocescope/rocescope/decode"
)

// A PcapngWriter writes a pcapng of one section with times in nanoseconds,
// little endian. Each block becomes one Write of the underlying writer: give it
// a buffered one, and flush that at the end.
type PcapngWriter struct {
	w      io.Writer
	buf    []byte // of one block, reused
	ifaces []decode.LinkType
}

// NewPcapngWriter writes the section's header and the descriptions of its
// interfaces, of which Link, Name, SnapLen and FCSLen are used. Each comment
// becomes one of the section's.
func NewPcapngWriter(w io.Writer, ifaces []InterfaceInfo, comments ...string) (*PcapngWriter, error) {
	p := &PcapngWriter{w: w}
	p.begin(blockSection)
	p.u32(0x1a2b3c4d)
	p.u32(1)                              // version 1.0
	p.u32(math.MaxUint32, math.MaxUint32) // length of the section: not stated
	p.comments(comments)
	if err := p.finish(); err != nil {
		return nil, fmt.Errorf("writing a section header: %w", err)
	}
	for _, i := range ifaces {
		if _, err := p.AddInterface(i); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// AddInterface describes one more interface and returns the number by which
// frames name it, which counts from 0. It may be called between frames.
func (p *PcapngWriter) AddInterface(i InterfaceInfo) (uint16, error) {
	number := len(p.ifaces)
	if number == maxInterfaces {
		return 0, fmt.Errorf("adding interface %q: there are %d, and frames can name no more", i.Name, number)
	}
	p.begin(blockInterface)
	p.u32(uint32(i.Link))
	p.u32(i.SnapLen)
	if i.Name != "" {
		p.option(optIfName, i.Name)
	}
	p.option(optIfResol, "\x09")
	if i.FCSLen > 0 && i.FCSLen <= 8 { // in bytes, as Wireshark reads it
		p.option(optIfFCSLen, string([]byte{byte(i.FCSLen)}))
	}
	p.u32(optEnd)
	if err := p.finish(); err != nil {
		return 0, fmt.Errorf("describing interface %q: %w", i.Name, err)
	}
	p.ifaces = append(p.ifaces, i.Link)
	return uint16(number), nil
}

// Write writes one frame of the interface that f.Iface names; its Number is
// not kept. It refuses an interface that was not described, a link type that is
// not the interface's, and a time before 1970.
func (p *PcapngWriter) Write(f *decode.Frame) error { return p.write(f, nil) }

// WriteComment is Write with comments added to the frame, which Wireshark shows
// with it. Of one longer than a pcapng can hold the beginning is written.
func (p *PcapngWriter) WriteComment(f *decode.Frame, comments ...string) error {
	return p.write(f, comments)
}

func (p *PcapngWriter) write(f *decode.Frame, comments []string) error {
	if err := p.refuse(f); err != nil {
		return err
	}
	p.begin(blockEnhanced)
	p.u32(uint32(f.Iface))
	p.u32(uint32(f.Time>>32), uint32(f.Time))
	p.u32(uint32(len(f.Data)), lengthOf(f))
	p.buf = append(p.buf, f.Data...)
	p.pad(len(f.Data))
	p.comments(comments)
	if err := p.finish(); err != nil {
		return fmt.Errorf("writing frame %d: %w", f.Number, err)
	}
	return nil
}

func (p *PcapngWriter) refuse(f *decode.Frame) error {
	if int(f.Iface) >= len(p.ifaces) {
		return fmt.Errorf("writing frame %d: interface %d was not described", f.Number, f.Iface)
	}
	if link := p.ifaces[f.Iface]; f.Link != link {
		return fmt.Errorf("writing frame %d: its link type is %d, and that of interface %d is %d", f.Number, f.Link, f.Iface, link)
	}
	if f.Time < 0 {
		return fmt.Errorf("writing frame %d: its time, %d ns, is before 1970", f.Number, f.Time)
	}
	return nil
}

// begin starts a block; its length is filled in by finish.
func (p *PcapngWriter) begin(kind uint32) {
	p.buf = p.buf[:0]
	p.u32(kind, 0)
}

func (p *PcapngWriter) finish() error {
	n := uint32(len(p.buf) + 4)
	p.u32(n)
	binary.LittleEndian.PutUint32(p.buf[4:], n)
	_, err := p.w.Write(p.buf)
	return err
}

func (p *PcapngWriter) u32(vs ...uint32) {
	for _, v := range vs {
		p.buf = binary.LittleEndian.AppendUint32(p.buf, v)
	}
}

func (p *PcapngWriter) option(code uint16, value string) {
	p.u32(uint32(code) | uint32(len(value))<<16)
	p.buf = append(p.buf, value...)
	p.pad(len(value))
}

// comments writes options that are comments, and the mark that ends options.
func (p *PcapngWriter) comments(cs []string) {
	for _, c := range cs {
		p.option(optComment, clip(c))
	}
	if len(cs) > 0 {
		p.u32(optEnd)
	}
}

// pad fills up to a multiple of 4 after n bytes.
func (p *PcapngWriter) pad(n int) {
	p.buf = append(p.buf, "\x00\x00\x00"[:-n&3]...)
}

// clip makes a comment valid UTF-8 that fits the 16 bits of an option's length.
func clip(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= math.MaxUint16 {
		return s
	}
	n := math.MaxUint16
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
