package roce

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/rocescope/rocescope/decode/ib"
)

// AETH is the ACK extended transport header: ACK, NAK or RNR NAK.
type AETH struct {
	layers.BaseLayer
	ib.AETH
	context
}

// LayerType returns LayerTypeAETH.
func (h *AETH) LayerType() gopacket.LayerType { return LayerTypeAETH }

// CanDecode returns LayerTypeAETH.
func (h *AETH) CanDecode() gopacket.LayerClass { return LayerTypeAETH }

// NextLayerType returns what the opcode calls for next.
func (h *AETH) NextLayerType() gopacket.LayerType { return h.after(ib.HasAETH) }

// DecodeFromBytes decodes an AETH.
func (h *AETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	return parse(LayerTypeAETH, &h.AETH, ib.AETHLen, &h.BaseLayer, data, df)
}

// SerializeTo writes the header.
func (h *AETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(&h.AETH, ib.AETHLen, b)
}

// ImmDt is the immediate data of SEND and WRITE.
type ImmDt struct {
	layers.BaseLayer
	ib.ImmDt
	context
}

// LayerType returns LayerTypeImmDt.
func (h *ImmDt) LayerType() gopacket.LayerType { return LayerTypeImmDt }

// CanDecode returns LayerTypeImmDt.
func (h *ImmDt) CanDecode() gopacket.LayerClass { return LayerTypeImmDt }

// NextLayerType returns what the opcode calls for next.
func (h *ImmDt) NextLayerType() gopacket.LayerType { return h.after(ib.HasImmDt) }

// DecodeFromBytes decodes an ImmDt.
func (h *ImmDt) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	return parse(LayerTypeImmDt, &h.ImmDt, ib.ImmDtLen, &h.BaseLayer, data, df)
}

// SerializeTo writes the header.
func (h *ImmDt) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(&h.ImmDt, ib.ImmDtLen, b)
}

// IETH names the memory key that a SEND invalidates.
type IETH struct {
	layers.BaseLayer
	ib.IETH
	context
}

// LayerType returns LayerTypeIETH.
func (h *IETH) LayerType() gopacket.LayerType { return LayerTypeIETH }

// CanDecode returns LayerTypeIETH.
func (h *IETH) CanDecode() gopacket.LayerClass { return LayerTypeIETH }

// NextLayerType returns what the opcode calls for next.
func (h *IETH) NextLayerType() gopacket.LayerType { return h.after(ib.HasIETH) }

// DecodeFromBytes decodes an IETH.
func (h *IETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	return parse(LayerTypeIETH, &h.IETH, ib.IETHLen, &h.BaseLayer, data, df)
}

// SerializeTo writes the header.
func (h *IETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(&h.IETH, ib.IETHLen, b)
}
