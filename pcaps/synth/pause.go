package synth

import (
	"encoding/binary"
	"hash/crc32"
)

// pauseTo is the group address of MAC control.
var pauseTo = [6]byte{0x01, 0x80, 0xC2, 0, 0, 1}

const (
	macControl  = 0x8808
	pauseOpcode = 0x0001 // IEEE 802.3x
	pfcOpcode   = 0x0101
	shortest    = 60 // bytes of a frame without its check sequence
)

// pauseFrame asks for silence of one priority, or of all. No quanta lift it.
func pauseFrame(from device, priority uint8, quanta int, global bool) []byte {
	b := append(pauseTo[:], macOf(from)...)
	b = binary.BigEndian.AppendUint16(b, macControl)
	if global {
		b = binary.BigEndian.AppendUint16(b, pauseOpcode)
		b = binary.BigEndian.AppendUint16(b, uint16(quanta))
	} else {
		b = binary.BigEndian.AppendUint16(b, pfcOpcode)
		b = binary.BigEndian.AppendUint16(b, 1<<priority)
		for n := range priorities {
			times := 0
			if n == int(priority) {
				times = quanta
			}
			b = binary.BigEndian.AppendUint16(b, uint16(times))
		}
	}
	return append(b, make([]byte, shortest-len(b))...)
}

// macOf returns the address from which a device sends pauses.
func macOf(d device) []byte {
	if h, ok := d.(*host); ok {
		return h.mac
	}
	sum := crc32.ChecksumIEEE([]byte(d.name()))
	return []byte{0x7C, 0xFE, 0x90, byte(sum >> 16), byte(sum >> 8), byte(sum)}
}
