package synth

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/capture"
)

// File is the form in which a capture is written.
type File struct {
	Format  Format
	SnapLen int // bytes kept of a frame; 0 all
	Gzip    bool
}

// Format is a file format.
type Format int

// The formats.
const (
	Pcapng    Format = iota
	Pcap             // times in nanoseconds
	PcapMicro        // the classic form, times in microseconds
)

// Extension returns how the names of such files end.
func (f File) Extension() string {
	ext := ".pcapng"
	if f.Format != Pcapng {
		ext = ".pcap"
	}
	if f.Gzip {
		ext += ".gz"
	}
	return ext
}

// frameWriter is one of the writers of package capture, or the one below.
type frameWriter interface {
	Write(*decode.Frame) error
}

// Write writes the capture in the form that its scenario asks for.
func (c *Capture) Write(w io.Writer) error {
	if !c.file.Gzip {
		return c.write(w)
	}
	z := gzip.NewWriter(w)
	if err := c.write(z); err != nil {
		return err
	}
	return z.Close()
}

func (c *Capture) write(w io.Writer) error {
	buf := bufio.NewWriter(w)
	fw, err := c.file.writer(buf)
	if err != nil {
		return err
	}
	for i := range c.Frames {
		f := c.Frames[i]
		if n := c.file.SnapLen; n > 0 {
			f.Data = f.Data[:min(n, len(f.Data))]
		}
		if err := fw.Write(&f); err != nil {
			return fmt.Errorf("writing a capture: %w", err)
		}
	}
	return buf.Flush()
}

func (f File) writer(w io.Writer) (frameWriter, error) {
	switch f.Format {
	case Pcap:
		return capture.NewPcapWriter(w, decode.LinkEthernet, uint32(f.SnapLen))
	case PcapMicro:
		return newMicroWriter(w, uint32(f.SnapLen))
	}
	return capture.NewPcapngWriter(w, []capture.InterfaceInfo{{Link: decode.LinkEthernet, Name: "tap0", SnapLen: uint32(f.SnapLen)}})
}

// microWriter writes the classic pcap, whose times are cut to microseconds. It
// is here for samples of it alone: nobody should write it who can choose.
type microWriter struct{ w io.Writer }

func newMicroWriter(w io.Writer, snapLen uint32) (microWriter, error) {
	if snapLen == 0 {
		snapLen = 1 << 18
	}
	b := binary.LittleEndian.AppendUint32(nil, 0xA1B2C3D4)
	b = append(b, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, snapLen)
	b = binary.LittleEndian.AppendUint32(b, uint32(decode.LinkEthernet))
	_, err := w.Write(b)
	return microWriter{w}, err
}

func (m microWriter) Write(f *decode.Frame) error {
	b := binary.LittleEndian.AppendUint32(nil, uint32(f.Time/1e9))
	b = binary.LittleEndian.AppendUint32(b, uint32(f.Time%1e9/1e3))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.Data)))
	b = binary.LittleEndian.AppendUint32(b, uint32(f.Len))
	_, err := m.w.Write(append(b, f.Data...))
	return err
}
