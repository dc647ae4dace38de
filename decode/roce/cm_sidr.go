package roce

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/rocescope/rocescope/decode/ib"
)

// SIDRREQ (SIDR_REQ) asks for the UD queue pair behind a service ID.
type SIDRREQ struct {
	layers.BaseLayer
	ib.SIDRREQ
}

// LayerType returns LayerTypeSIDRREQ.
func (h *SIDRREQ) LayerType() gopacket.LayerType { return LayerTypeSIDRREQ }

// CanDecode returns LayerTypeSIDRREQ.
func (h *SIDRREQ) CanDecode() gopacket.LayerClass { return LayerTypeSIDRREQ }

// NextLayerType returns LayerTypePayload: the private data.
func (h *SIDRREQ) NextLayerType() gopacket.LayerType { return LayerTypePayload }

// DecodeFromBytes decodes a SIDRREQ.
func (h *SIDRREQ) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	return parse(LayerTypeSIDRREQ, &h.SIDRREQ, ib.SIDRREQLen, &h.BaseLayer, data, df)
}

// SerializeTo writes the message.
func (h *SIDRREQ) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(&h.SIDRREQ, ib.SIDRREQLen, b)
}

// SIDRREP (SIDR_REP) answers a SIDR_REQ.
type SIDRREP struct {
	layers.BaseLayer
	ib.SIDRREP
}

// LayerType returns LayerTypeSIDRREP.
func (h *SIDRREP) LayerType() gopacket.LayerType { return LayerTypeSIDRREP }

// CanDecode returns LayerTypeSIDRREP.
func (h *SIDRREP) CanDecode() gopacket.LayerClass { return LayerTypeSIDRREP }

// NextLayerType returns LayerTypePayload: the private data.
func (h *SIDRREP) NextLayerType() gopacket.LayerType { return LayerTypePayload }

// DecodeFromBytes decodes a SIDRREP.
func (h *SIDRREP) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	return parse(LayerTypeSIDRREP, &h.SIDRREP, ib.SIDRREPLen, &h.BaseLayer, data, df)
}

// SerializeTo writes the message.
func (h *SIDRREP) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(&h.SIDRREP, ib.SIDRREPLen, b)
}
