package roce

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/rocescope/rocescope/decode/ib"
)

// RETH is the RDMA extended transport header of WRITE and READ requests.
type RETH struct {
	layers.BaseLayer
	ib.RETH
	context
}

// LayerType returns LayerTypeRETH.
func (h *RETH) LayerType() gopacket.LayerType { return LayerTypeRETH }

// CanDecode returns LayerTypeRETH.
func (h *RETH) CanDecode() gopacket.LayerClass { return LayerTypeRETH }

// NextLayerType returns what the opcode calls for next.
func (h *RETH) NextLayerType() gopacket.LayerType { return h.after(ib.HasRETH) }

// DecodeFromBytes decodes a RETH.
func (h *RETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	return parse(LayerTypeRETH, &h.RETH, ib.RETHLen, &h.BaseLayer, data, df)
}

// SerializeTo writes the header.
func (h *RETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(&h.RETH, ib.RETHLen, b)
}

// FETH is the FLUSH extended transport header; a RETH follows it.
type FETH struct {
	layers.BaseLayer
	ib.FETH
	context
}

// LayerType returns LayerTypeFETH.
func (h *FETH) LayerType() gopacket.LayerType { return LayerTypeFETH }

// CanDecode returns LayerTypeFETH.
func (h *FETH) CanDecode() gopacket.LayerClass { return LayerTypeFETH }

// NextLayerType returns what the opcode calls for next.
func (h *FETH) NextLayerType() gopacket.LayerType { return h.after(ib.HasFETH) }

// DecodeFromBytes decodes a FETH.
func (h *FETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	return parse(LayerTypeFETH, &h.FETH, ib.FETHLen, &h.BaseLayer, data, df)
}

// SerializeTo writes the header.
func (h *FETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(&h.FETH, ib.FETHLen, b)
}

// AtomicETH is the header of CmpSwap and FetchAdd requests.
type AtomicETH struct {
	layers.BaseLayer
	ib.AtomicETH
	context
}

// LayerType returns LayerTypeAtomicETH.
func (h *AtomicETH) LayerType() gopacket.LayerType { return LayerTypeAtomicETH }

// CanDecode returns LayerTypeAtomicETH.
func (h *AtomicETH) CanDecode() gopacket.LayerClass { return LayerTypeAtomicETH }

// NextLayerType returns what the opcode calls for next.
func (h *AtomicETH) NextLayerType() gopacket.LayerType { return h.after(ib.HasAtomicETH) }

// DecodeFromBytes decodes an AtomicETH.
func (h *AtomicETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	return parse(LayerTypeAtomicETH, &h.AtomicETH, ib.AtomicETHLen, &h.BaseLayer, data, df)
}

// SerializeTo writes the header.
func (h *AtomicETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(&h.AtomicETH, ib.AtomicETHLen, b)
}

// AtomicAckETH answers an atomic request; it follows an AETH.
type AtomicAckETH struct {
	layers.BaseLayer
	ib.AtomicAckETH
	context
}

// LayerType returns LayerTypeAtomicAckETH.
func (h *AtomicAckETH) LayerType() gopacket.LayerType { return LayerTypeAtomicAckETH }

// CanDecode returns LayerTypeAtomicAckETH.
func (h *AtomicAckETH) CanDecode() gopacket.LayerClass { return LayerTypeAtomicAckETH }

// NextLayerType returns what the opcode calls for next.
func (h *AtomicAckETH) NextLayerType() gopacket.LayerType { return h.after(ib.HasAtomicAckETH) }

// DecodeFromBytes decodes an AtomicAckETH.
func (h *AtomicAckETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	return parse(LayerTypeAtomicAckETH, &h.AtomicAckETH, ib.AtomicAckETHLen, &h.BaseLayer, data, df)
}

// SerializeTo writes the header.
func (h *AtomicAckETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(&h.AtomicAckETH, ib.AtomicAckETHLen, b)
}
