package capture

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/rocescope/rocescope/decode"
)

// A PcapWriter writes a pcap with times in nanoseconds, little endian. Each
// frame becomes one Write of the underlying writer: give it a buffered one, and
// flush that at the end.
type PcapWriter struct {
	w       io.Writer
	buf     []byte // of one record, reused
	link    decode.LinkType
	snapLen uint32
}

// NewPcapWriter writes the header of a pcap of one link type. Of each frame at
// most snaplen bytes will be written; 0 stands for no limit.
func NewPcapWriter(w io.Writer, link decode.LinkType, snaplen uint32) (*PcapWriter, error) {
	p := &PcapWriter{w: w, link: link, snapLen: snaplen}
	stated := snaplen
	if stated == 0 {
		stated = classicRecord // what other readers take for no limit
	}
	b := p.buf
	b = binary.LittleEndian.AppendUint32(b, 0xa1b23c4d)
	b = binary.LittleEndian.AppendUint16(b, 2)
	b = binary.LittleEndian.AppendUint16(b, 4)
	b = binary.LittleEndian.AppendUint64(b, 0) // time zone and accuracy: never used
	b = binary.LittleEndian.AppendUint32(b, stated)
	b = binary.LittleEndian.AppendUint32(b, uint32(link))
	p.buf = b
	if _, err := w.Write(b); err != nil {
		return nil, fmt.Errorf("writing a pcap header: %w", err)
	}
	return p, nil
}

// Write writes one frame; Number and Iface are not kept, for the format has no
// place for them. It refuses a frame of another link type than the file's, and
// a time that a pcap cannot hold (before 1970 or after 2106).
func (p *PcapWriter) Write(f *decode.Frame) error {
	if f.Link != p.link {
		return fmt.Errorf("writing frame %d: its link type is %d, and a pcap holds one only, here %d", f.Number, f.Link, p.link)
	}
	if f.Time < 0 || f.Time/1e9 > math.MaxUint32 {
		return fmt.Errorf("writing frame %d: its time, %d ns, is outside of what a pcap can hold", f.Number, f.Time)
	}
	data := f.Data
	if p.snapLen > 0 && uint64(len(data)) > uint64(p.snapLen) {
		data = data[:p.snapLen]
	}
	b := p.buf[:0]
	b = binary.LittleEndian.AppendUint32(b, uint32(f.Time/1e9))
	b = binary.LittleEndian.AppendUint32(b, uint32(f.Time%1e9))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	b = binary.LittleEndian.AppendUint32(b, lengthOf(f))
	b = append(b, data...)
	p.buf = b
	if _, err := p.w.Write(b); err != nil {
		return fmt.Errorf("writing frame %d: %w", f.Number, err)
	}
	return nil
}

// lengthOf is a frame's length on the wire, never below what was captured.
func lengthOf(f *decode.Frame) uint32 { return uint32(max(f.Len, len(f.Data))) }
