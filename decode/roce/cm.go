package roce

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/rocescope/rocescope/decode/ib"
)

// REQ asks for a connection.
type REQ struct {
	layers.BaseLayer
	ib.REQ
}

// LayerType returns LayerTypeREQ.
func (h *REQ) LayerType() gopacket.LayerType { return LayerTypeREQ }

// CanDecode returns LayerTypeREQ.
func (h *REQ) CanDecode() gopacket.LayerClass { return LayerTypeREQ }

// NextLayerType returns LayerTypePayload: the private data.
func (h *REQ) NextLayerType() gopacket.LayerType { return LayerTypePayload }

// DecodeFromBytes decodes a REQ.
func (h *REQ) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	return parse(LayerTypeREQ, &h.REQ, ib.REQLen, &h.BaseLayer, data, df)
}

// SerializeTo writes the message.
func (h *REQ) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(&h.REQ, ib.REQLen, b)
}

// REP accepts a REQ.
type REP struct {
	layers.BaseLayer
	ib.REP
}

// LayerType returns LayerTypeREP.
func (h *REP) LayerType() gopacket.LayerType { return LayerTypeREP }

// CanDecode returns LayerTypeREP.
func (h *REP) CanDecode() gopacket.LayerClass { return LayerTypeREP }

// NextLayerType returns LayerTypePayload: the private data.
func (h *REP) NextLayerType() gopacket.LayerType { return LayerTypePayload }

// DecodeFromBytes decodes a REP.
func (h *REP) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	return parse(LayerTypeREP, &h.REP, ib.REPLen, &h.BaseLayer, data, df)
}

// SerializeTo writes the message.
func (h *REP) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(&h.REP, ib.REPLen, b)
}

// RTU tells that the REP arrived.
type RTU struct {
	layers.BaseLayer
	ib.RTU
}

// LayerType returns LayerTypeRTU.
func (h *RTU) LayerType() gopacket.LayerType { return LayerTypeRTU }

// CanDecode returns LayerTypeRTU.
func (h *RTU) CanDecode() gopacket.LayerClass { return LayerTypeRTU }

// NextLayerType returns LayerTypePayload: the private data.
func (h *RTU) NextLayerType() gopacket.LayerType { return LayerTypePayload }

// DecodeFromBytes decodes an RTU.
func (h *RTU) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	return parse(LayerTypeRTU, &h.RTU, ib.RTULen, &h.BaseLayer, data, df)
}

// SerializeTo writes the message.
func (h *RTU) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(&h.RTU, ib.RTULen, b)
}

// REJ refuses a connection or gives it up.
type REJ struct {
	layers.BaseLayer
	ib.REJ
}

// LayerType returns LayerTypeREJ.
func (h *REJ) LayerType() gopacket.LayerType { return LayerTypeREJ }

// CanDecode returns LayerTypeREJ.
func (h *REJ) CanDecode() gopacket.LayerClass { return LayerTypeREJ }

// NextLayerType returns LayerTypePayload: the private data.
func (h *REJ) NextLayerType() gopacket.LayerType { return LayerTypePayload }

// DecodeFromBytes decodes a REJ.
func (h *REJ) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	return parse(LayerTypeREJ, &h.REJ, ib.REJLen, &h.BaseLayer, data, df)
}

// SerializeTo writes the message.
func (h *REJ) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(&h.REJ, ib.REJLen, b)
}

// MRA tells that an answer will take longer.
type MRA struct {
	layers.BaseLayer
	ib.MRA
}

// LayerType returns LayerTypeMRA.
func (h *MRA) LayerType() gopacket.LayerType { return LayerTypeMRA }

// CanDecode returns LayerTypeMRA.
func (h *MRA) CanDecode() gopacket.LayerClass { return LayerTypeMRA }

// NextLayerType returns LayerTypePayload: the private data.
func (h *MRA) NextLayerType() gopacket.LayerType { return LayerTypePayload }

// DecodeFromBytes decodes an MRA.
func (h *MRA) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	return parse(LayerTypeMRA, &h.MRA, ib.MRALen, &h.BaseLayer, data, df)
}

// SerializeTo writes the message.
func (h *MRA) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(&h.MRA, ib.MRALen, b)
}
