package roce

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/rocescope/rocescope/decode/ib"
)

// MAD is the header of a management datagram, which a UD SEND Only to queue pair 1
// carries.
type MAD struct {
	layers.BaseLayer
	ib.MAD
}

// LayerType returns LayerTypeMAD.
func (h *MAD) LayerType() gopacket.LayerType { return LayerTypeMAD }

// CanDecode returns LayerTypeMAD.
func (h *MAD) CanDecode() gopacket.LayerClass { return LayerTypeMAD }

// NextLayerType returns the message's type in a MAD of communication
// management; what any other carries is payload.
func (h *MAD) NextLayerType() gopacket.LayerType {
	a := ib.CMAttr(h.AttrID)
	if h.Class != ib.ClassCM || a < ib.AttrREQ || a > ib.AttrSIDRREP {
		return LayerTypePayload
	}
	return LayerTypeREQ + gopacket.LayerType(a-ib.AttrREQ)
}

// DecodeFromBytes decodes a MAD header.
func (h *MAD) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	return parse(LayerTypeMAD, &h.MAD, ib.MADHeaderLen, &h.BaseLayer, data, df)
}

// SerializeTo writes the header.
func (h *MAD) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(&h.MAD, ib.MADHeaderLen, b)
}
