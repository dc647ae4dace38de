package roce

import (
	"encoding/binary"
	"errors"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/rocescope/rocescope/decode/ib"
)

var errNoPayload = errors.New("roce: a BTH needs a roce.Payload behind it, which holds pad and ICRC")

// Serialize writes layers as gopacket.SerializeLayers does, and with the options
// does also what concerns several layers at once:
//
//   - FixLengths pads the payload and sets the BTH's PadCnt.
//   - ComputeChecksums computes the ICRC over the finished packet, from the
//     nearest IPv4, IPv6 or GRH layer on, and sets the Payload's ICRC.
//   - ComputeChecksums leaves the UDP checksum zero where the layer's Checksum
//     is zero, as RoCE senders do; it replaces any other value by the right
//     one. There is no need for SetNetworkLayerForChecksum.
//
// Like gopacket's, it changes the layers it fixes, and invalidates what
// buf.Bytes returned before. Without options it writes what the layers say, a
// wrong ICRC for instance.
func Serialize(buf gopacket.SerializeBuffer, opts gopacket.SerializeOptions, ls ...gopacket.SerializableLayer) error {
	if err := prepare(opts, ls); err != nil {
		return err
	}
	if err := buf.Clear(); err != nil {
		return err
	}
	s := serializer{buf: buf, opts: opts}
	for i := len(ls) - 1; i >= 0; i-- {
		if err := s.write(ls[i]); err != nil {
			return err
		}
		buf.PushLayer(ls[i].LayerType())
	}
	return nil
}

// prepare fits each BTH to its payload.
func prepare(opts gopacket.SerializeOptions, ls []gopacket.SerializableLayer) error {
	var payload *Payload
	for i := len(ls) - 1; i >= 0; i-- {
		switch l := ls[i].(type) {
		case *Payload:
			payload = l
		case *BTH:
			if payload == nil {
				return errNoPayload
			}
			if opts.FixLengths {
				payload.fix()
				l.PadCnt = uint8(len(payload.Pad))
			}
			payload = nil
		}
	}
	return nil
}

// serializer writes layers from the last to the first.
type serializer struct {
	buf     gopacket.SerializeBuffer
	opts    gopacket.SerializeOptions
	payload *Payload    // written, its ICRC still to be computed
	udp     *layers.UDP // written, its checksum still to be computed
}

func (s *serializer) write(l gopacket.SerializableLayer) error {
	opts := s.opts
	switch l := l.(type) {
	case *Payload:
		s.payload = l
	case *layers.UDP:
		if s.payload != nil {
			// It covers the ICRC, which does not stand yet.
			opts.ComputeChecksums = false
			s.udp = l
		}
	}
	if err := l.SerializeTo(s.buf, opts); err != nil {
		return err
	}
	if s.opts.ComputeChecksums && s.payload != nil {
		s.checksums(l.LayerType())
	}
	return nil
}

// checksums fills ICRC and UDP checksum in once a network layer is written. The
// ICRC does not cover the UDP checksum, so that comes last.
func (s *serializer) checksums(t gopacket.LayerType) {
	packet := s.buf.Bytes()
	sum, end, ok := icrc(&s.payload.crc, packet, t)
	if !ok {
		return
	}
	s.payload.ICRC, s.payload.ICRCState = sum, ICRCGood
	ib.AppendICRC(packet[:end-ib.ICRCLen], sum)
	if s.udp != nil && s.udp.Checksum != 0 {
		hdr, _, _ := extent(packet, t)
		s.udp.Checksum = udpChecksum(packet[:end], hdr, t)
		binary.BigEndian.PutUint16(packet[hdr+6:], s.udp.Checksum)
	}
	s.payload, s.udp = nil, nil
}

// udpChecksum computes the checksum of a datagram under a network header.
func udpChecksum(packet []byte, hdr int, t gopacket.LayerType) uint16 {
	addrs := packet[12:20]
	if t == layers.LayerTypeIPv6 {
		addrs = packet[8:40]
	}
	udp := packet[hdr:]
	sum := words(addrs) + words(udp) - uint32(binary.BigEndian.Uint16(udp[6:]))
	sum += uint32(layers.IPProtocolUDP) + uint32(len(udp))
	for sum > 0xFFFF {
		sum = sum>>16 + sum&0xFFFF
	}
	if sum == 0xFFFF { // zero on the wire would mean "no checksum"
		return 0xFFFF
	}
	return ^uint16(sum)
}

// words adds up b as 16-bit words. 64 KiB of them do not overflow.
func words(b []byte) uint32 {
	sum := uint32(0)
	for ; len(b) > 1; b = b[2:] {
		sum += uint32(binary.BigEndian.Uint16(b))
	}
	if len(b) == 1 {
		sum += uint32(b[0]) << 8
	}
	return sum
}
