package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
)

// errAnother is what records return where the header of another capture stands
// in the place of a record or block.
var errAnother = errors.New("another capture follows")

// headerLook is how many bytes isHeader needs to see.
const headerLook = 16

// isHeader reports whether b begins with the header of a capture, as it stands
// in the middle of a stream where files were concatenated. What it looks at
// comes together in no record: read as one, the header of a pcap is of 2055 or
// 2082 and has a length of 0. The snap length and link type are not looked at,
// for files state absurd ones.
func isHeader(b []byte) bool {
	if len(b) < headerLook {
		return false
	}
	if bytes.HasPrefix(b, sectionMagic) {
		n := binary.LittleEndian.Uint32(b[4:])
		big, ok := orderOf(b)
		if big {
			n = bits.ReverseBytes32(n)
		}
		return ok && n >= sectionMin && n <= maxBlock && n%4 == 0
	}
	m, ok := pcapMagicOf(b)
	if !ok {
		return false
	}
	version, zone := binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])
	if m.big {
		version, zone = bits.RotateLeft32(bits.ReverseBytes32(version), 16), bits.ReverseBytes32(zone)
	}
	major, minor := version&0xffff, version>>16
	const day = 24 * 60 * 60 // no time zone is as far from UTC
	return major == 2 && minor <= 4 &&
		int32(zone) > -day && int32(zone) < day &&
		binary.LittleEndian.Uint32(b[12:]) == 0 // accuracy: no writer states any
}

// another reads on after errAnother, whatever the format that follows.
func (in *input) another() (records, error) {
	h := in.peek(pcapHeadLen)
	if bytes.HasPrefix(h, sectionMagic) {
		return &pcapng{input: in}, nil
	}
	if len(h) < pcapHeadLen {
		return nil, in.end("file header", len(h), pcapHeadLen)
	}
	if len(in.info.Interfaces) == maxInterfaces {
		return nil, in.stopAt(in.offset(), "more than %d interfaces", maxInterfaces)
	}
	m, ok := pcapMagicOf(h)
	if !ok { // isHeader saw it
		return nil, io.EOF
	}
	return in.pcap(m, h), nil
}
