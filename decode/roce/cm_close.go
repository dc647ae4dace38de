package roce

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/rocescope/rocescope/decode/ib"
)

// DREQ asks to close a connection.
type DREQ struct {
	layers.BaseLayer
	ib.DREQ
}

// LayerType returns LayerTypeDREQ.
func (h *DREQ) LayerType() gopacket.LayerType { return LayerTypeDREQ }

// CanDecode returns LayerTypeDREQ.
func (h *DREQ) CanDecode() gopacket.LayerClass { return LayerTypeDREQ }

// NextLayerType returns LayerTypePayload: the private data.
func (h *DREQ) NextLayerType() gopacket.LayerType { return LayerTypePayload }

// DecodeFromBytes decodes a DREQ.
func (h *DREQ) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	return parse(LayerTypeDREQ, &h.DREQ, ib.DREQLen, &h.BaseLayer, data, df)
}

// SerializeTo writes the message.
func (h *DREQ) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(&h.DREQ, ib.DREQLen, b)
}

// DREP answers a DREQ.
type DREP struct {
	layers.BaseLayer
	ib.DREP
}

// LayerType returns LayerTypeDREP.
func (h *DREP) LayerType() gopacket.LayerType { return LayerTypeDREP }

// CanDecode returns LayerTypeDREP.
func (h *DREP) CanDecode() gopacket.LayerClass { return LayerTypeDREP }

// NextLayerType returns LayerTypePayload: the private data.
func (h *DREP) NextLayerType() gopacket.LayerType { return LayerTypePayload }

// DecodeFromBytes decodes a DREP.
func (h *DREP) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	return parse(LayerTypeDREP, &h.DREP, ib.DREPLen, &h.BaseLayer, data, df)
}

// SerializeTo writes the message.
func (h *DREP) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(&h.DREP, ib.DREPLen, b)
}
