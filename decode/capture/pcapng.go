package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/rocescope/rocescope/decode"
)

// Block types of pcapng, and the bytes each has at the least.
const (
	blockSection   = 0x0a0d0d0a
	blockInterface = 1
	blockPacket    = 2 // obsolete
	blockSimple    = 3
	blockNames     = 4
	blockStats     = 5
	blockEnhanced  = 6
	blockSecrets   = 10

	blockMin     = 12 // type, length, length again
	sectionMin   = 28
	interfaceMin = 20
	simpleMin    = 16
	packetMin    = 32 // enhanced and obsolete
	statsMin     = 24

	// maxBlock leaves room for the options of a packet of maxRecord bytes.
	maxBlock = maxRecord + 1<<20
)

// sectionMagic begins every pcapng, whatever its byte order.
var sectionMagic = []byte{0x0a, 0x0d, 0x0d, 0x0a}

// pcapng reads the blocks of a pcapng.
type pcapng struct {
	*input
	big     bool
	section []iface // of the current section, by the number packets give
	first   int     // the number in Info.Interfaces of section[0]
}

// An iface is what reading a packet needs to know of its interface.
type iface struct {
	clock
	link    decode.LinkType
	number  uint16 // over the whole input
	snapLen uint32
}

func (in *input) newPcapng() (records, error) {
	in.info.Format = "pcapng"
	b := in.peek(sectionMin)
	if len(b) < sectionMin {
		return nil, in.cutHeader("its section header", len(b), sectionMin)
	}
	p := &pcapng{input: in}
	if !p.readOrder(b) {
		return nil, in.wrapped(&FormatError{
			Name:  in.info.Name,
			Looks: fmt.Sprintf("it begins as pcapng but has the unknown byte order mark % x", b[8:12]),
			Hint:  hintGive,
		})
	}
	return p, nil
}

// readOrder takes the byte order from the section header that b begins with.
func (p *pcapng) readOrder(b []byte) bool {
	big, ok := orderOf(b)
	if ok {
		p.big = big
	}
	return ok
}

func orderOf(section []byte) (big, ok bool) {
	switch binary.LittleEndian.Uint32(section[8:]) {
	case 0x1a2b3c4d:
		return false, true
	case 0x4d3c2b1a:
		return true, true
	}
	return false, false
}

func (p *pcapng) u32(b []byte) uint32 {
	v := binary.LittleEndian.Uint32(b)
	if p.big {
		v = bits.ReverseBytes32(v)
	}
	return v
}

func (p *pcapng) u16(b []byte) uint16 {
	v := binary.LittleEndian.Uint16(b)
	if p.big {
		v = bits.ReverseBytes16(v)
	}
	return v
}

// more reads packet blocks as most are: enhanced ones, whole in the window, in which
// nothing is wrong. All others it leaves to next.
func (p *pcapng) more(frames []decode.Frame) (n int) {
	for n < len(frames) {
		b := p.sound()
		if b == nil {
			break
		}
		at := p.offset()
		p.skip(len(b))
		p.enhanced(b, at, &frames[n])
		p.info.FrameBytes += int64(len(b))
		n++
	}
	return n
}

// sound returns the block that comes next where enhanced has nothing to say against it,
// and nil for any other.
func (p *pcapng) sound() []byte {
	b := p.buf[p.r:p.w]
	if len(b) < packetMin || p.u32(b) != blockEnhanced {
		return nil
	}
	n := p.u32(b[4:])
	if n < packetMin || n%4 != 0 || n > maxBlock || uint64(n) > uint64(len(b)) {
		return nil
	}
	if p.u32(b[n-4:]) != n || uint64(p.u32(b[8:])) >= uint64(len(p.section)) || p.u32(b[20:]) > n-packetMin {
		return nil
	}
	return b[:n]
}

func (p *pcapng) next(f *decode.Frame) error {
	for {
		at := p.offset()
		kind, b, err := p.block()
		if err == errJumped {
			continue
		}
		if err != nil {
			return err
		}
		n := p.offset() - at
		got := false
		switch kind {
		case blockEnhanced:
			got = p.enhanced(b, at, f)
		case blockSimple:
			got = p.simple(b, at, f)
		case blockPacket:
			got = p.packet(b, at, f)
		default:
			used, err := p.describe(kind, b, at)
			if used {
				p.info.OtherBytes += n
			} else {
				p.info.Skipped += n
			}
			if err != nil {
				return err
			}
			continue
		}
		if got {
			p.info.FrameBytes += n
			return nil
		}
		p.info.Skipped += n
	}
}

// errJumped is what block returns where it has jumped to the next readable
// block.
var errJumped = errors.New("jumped to the next readable block")

// block consumes the next block and returns it whole, or nil for one of a kind
// not looked at that is too long to be held.
func (p *pcapng) block() (kind uint32, b []byte, err error) {
	h := p.peek(blockMin)
	if len(h) < blockMin {
		return 0, nil, p.end("block header", len(h), blockMin)
	}
	kind = p.u32(h)
	if kind == blockSection && !p.readOrder(h) {
		return 0, nil, p.resync("section header with the unknown byte order mark % x", h[8:12])
	}
	n := p.u32(h[4:])
	if _, ok := pcapMagicOf(h); ok && isHeader(p.peek(headerLook)) {
		return 0, nil, errAnother
	}
	if n < blockMin || n%4 != 0 {
		return 0, nil, p.resync("block with the impossible length %d", n)
	}
	if n > maxBlock {
		return kind, nil, p.long(kind, n)
	}
	b = p.peek(int(n))
	if len(b) < int(n) {
		return 0, nil, p.overstated(len(b), int(n))
	}
	if again := p.u32(b[n-4:]); again != n {
		return 0, nil, p.resync("block of %d bytes that ends with the length %d", n, again)
	}
	p.skip(int(n))
	return kind, b, nil
}

// long passes over a block too long to be held, if it is of a kind that need
// not be.
func (p *pcapng) long(kind, n uint32) error {
	if needed(kind) {
		return p.resync("block of %d bytes, longer than any that holds a frame", n)
	}
	if p.enclosing(n) {
		return errJumped
	}
	const tail = 4
	at, body := p.offset(), int64(n)-tail
	have := p.discard(body)
	if have < body {
		p.info.Skipped += have
		return p.endAt(at, "block", have, int64(n))
	}
	b := p.peek(tail)
	if len(b) < tail {
		have += int64(len(b))
		p.skip(len(b))
		p.info.Skipped += have
		return p.endAt(at, "block", have, int64(n))
	}
	if again := p.u32(b); again != n {
		p.info.Skipped += have
		return p.resync("block of %d bytes, begun at byte %d, that ends with the length %d", n, at, again)
	}
	p.skip(tail)
	return nil
}

// needed reports whether a kind of block holds frames or says how to read them.
func needed(kind uint32) bool {
	switch kind {
	case blockSection, blockInterface, blockPacket, blockSimple, blockStats, blockEnhanced:
		return true
	}
	return false
}
