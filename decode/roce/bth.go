package roce

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/rocescope/rocescope/decode/ib"
)

// BTH is the base transport header, the first of every RoCE packet.
type BTH struct {
	layers.BaseLayer
	ib.BTH

	// Length is the number of bytes from the BTH through the ICRC, as the UDP
	// length or the GRH says. It exceeds Contents and Payload where the capture
	// cut the packet. SerializeTo does not look at it.
	Length int

	udp *layers.UDP
	grh *GRH
}

// LayerType returns LayerTypeBTH.
func (h *BTH) LayerType() gopacket.LayerType { return LayerTypeBTH }

// CanDecode returns LayerTypeBTH.
func (h *BTH) CanDecode() gopacket.LayerClass { return LayerTypeBTH }

// NextLayerType returns what the opcode calls for first. An opcode that is not
// assigned has no extension headers: all is payload.
func (h *BTH) NextLayerType() gopacket.LayerType {
	if h.Opcode == ib.CNP {
		return LayerTypeCNP
	}
	return extensionType(h.Opcode.Info().Headers)
}

// DecodeFromBytes decodes a BTH; data runs through the ICRC.
func (h *BTH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if err := parse(LayerTypeBTH, &h.BTH, ib.BTHLen, &h.BaseLayer, data, df); err != nil {
		return err
	}
	h.Length = h.wireLength(data)
	return nil
}

// wireLength returns how long data is on the wire. In a Stack both UDP and GRH
// are there, of which one holds an earlier packet: the one whose payload is
// data is meant.
func (h *BTH) wireLength(data []byte) int {
	n := len(data)
	if h.udp != nil && same(h.udp.Payload, data) {
		n = int(h.udp.Length) - 8 // negative for a jumbogram, which has no length
	}
	if h.grh != nil && same(h.grh.Payload, data) {
		n = int(h.grh.Length)
	}
	return max(n, len(data))
}

// same reports whether two slices, neither empty, start at the same byte.
func same(a, b []byte) bool { return len(a) > 0 && len(b) > 0 && &a[0] == &b[0] }

func (h *BTH) link(below []gopacket.Layer) {
	if len(below) == 0 {
		return
	}
	switch l := below[len(below)-1].(type) {
	case *layers.UDP:
		h.udp = l
	case *GRH:
		h.grh = l
	}
}

// SerializeTo writes the header as it stands. Only Serialize sets PadCnt to
// what the payload needs, because only it sees both layers.
func (h *BTH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(&h.BTH, ib.BTHLen, b)
}
