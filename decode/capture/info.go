package capture

import (
	"math"
	"slices"

	"github.com/rocescope/rocescope/decode"
)

// Info is what is known about an input so far: its counters grow with each
// Read, and interfaces of a pcapng appear as their descriptions are met.
type Info struct {
	// Name is the input's, as given to Open or NewReader.
	Name string
	// Format is "pcap" or "pcapng": that of the first where captures of both
	// formats stand one after the other.
	Format string
	// Parts counts the headers of captures met: more than 1 where captures
	// were concatenated. Each section of a pcapng is one.
	Parts int
	// Compression is "gzip", "zstd" or empty.
	Compression string
	// Interfaces are indexed by Frame.Iface. A pcap has exactly one; of
	// concatenated pcaps each has its own, unless it is described as that
	// before it is.
	Interfaces []InterfaceInfo
	// Frames counts the frames handed out.
	Frames uint64
	// Truncated counts the frames of which less was captured than was on the
	// wire.
	Truncated uint64
	// Untimed counts frames that carry no time (pcapng's simple packet
	// blocks); each was given the time of the frame before it.
	Untimed uint64
	// Bytes counts what was consumed of the uncompressed stream, InputBytes
	// what was taken from the input itself, read ahead included. The latter
	// over a file's size is the progress.
	Bytes, InputBytes int64
	// First and Last are the earliest and the latest time of a frame in
	// nanoseconds since the Unix epoch. Both are 0 while Frames is 0.
	First, Last int64
	// OtherBlocks counts the blocks of a pcapng that hold neither frames nor
	// anything else this package looks at.
	OtherBlocks uint64
	// Damages counts damaged places. It may exceed the length of the list
	// that File.Damage returns, which is bounded.
	Damages uint64
	// FrameBytes counts the bytes of the records or blocks whose frames were
	// handed out, with their headers, padding and options. OtherBytes counts
	// those of file headers and of blocks that hold no frame. Skipped counts
	// those of which nothing came: jumped over in search of a readable record,
	// in a block that was left out, or in the last one, which is cut. Between
	// two Reads the three add up to Bytes.
	FrameBytes, OtherBytes, Skipped int64
	// Unread is set where reading ended before the input did, for nothing that
	// follows can be trusted. Where it is not, and Read has returned io.EOF,
	// Bytes is the length of the uncompressed stream, up to where that breaks
	// off.
	Unread bool
}

// InterfaceInfo describes one capturing interface. A pcap gives only Link,
// SnapLen, TsResol and FCSLen.
type InterfaceInfo struct {
	// Link is the link type of all frames of the interface. The old numbers
	// of raw IP, 12 and 14, are given as decode.LinkRaw.
	Link decode.LinkType
	// Name is the interface's name, or its description where it has none. Of
	// a longer one only the first 255 bytes are kept.
	Name string
	// SnapLen is the most bytes captured of a frame; 0 means no limit. Files
	// state absurd values, and frames may exceed it.
	SnapLen uint32
	// TsResol is the resolution of times as pcapng encodes it: n means
	// 10^-n s, 0x80|n means 2^-n s. Writers ignore it.
	TsResol uint8
	// FCSLen is how many bytes of frame check sequence end each frame, 0
	// where that is not known.
	FCSLen int
	// Received, Dropped and OSDropped are what the capturing machine last
	// reported for the interface: packets seen, packets it had no room for,
	// and packets its operating system dropped. 0 where nothing is reported.
	Received, Dropped, OSDropped uint64
	// LostBefore sums the losses noted at single frames (epb_dropcount, and
	// the drops field of the obsolete packet block).
	LostBefore uint64
}

// count enters frames that are about to be handed out.
func (in *input) count(frames []decode.Frame) {
	i := &in.info
	first, last := i.First, i.Last
	if i.Frames == 0 {
		first, last = frames[0].Time, frames[0].Time
	}
	for k := range frames {
		f := &frames[k]
		f.Number = i.Frames + uint64(k) + 1
		if len(f.Data) < f.Len {
			i.Truncated++
		}
		first, last = min(first, f.Time), max(last, f.Time)
	}
	i.Frames += uint64(len(frames))
	i.First, i.Last = first, last
	in.last = frames[len(frames)-1].Time
}

// snapshot completes the counters kept elsewhere and returns a copy that later
// reads do not touch.
func (in *input) snapshot() Info {
	i := in.info
	i.Interfaces = slices.Clone(i.Interfaces)
	i.Bytes = in.offset()
	i.InputBytes = in.raw.n.Load()
	return i
}

// wireLen is a frame's length on the wire, never below what was captured of it.
// It fits an int of 32 bits, whatever a file claims.
func wireLen(captured, length uint32) int {
	return int(min(max(captured, length), math.MaxInt32))
}

// linkOf maps the numbers that some systems wrote for raw IP to the one that
// the registry has for it.
func linkOf(n uint16) decode.LinkType {
	if n == 12 || n == 14 {
		return decode.LinkRaw
	}
	return decode.LinkType(n)
}
