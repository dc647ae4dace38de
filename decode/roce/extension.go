package roce

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/rocescope/rocescope/decode/ib"
)

// context is the BTH to which an extension header belongs. Without one the
// header is taken for the last before the payload.
type context struct {
	bth *BTH
}

func (c *context) link(below []gopacket.Layer) {
	for i := len(below) - 1; i >= 0; i-- {
		if h, ok := below[i].(*BTH); ok {
			c.bth = h
			return
		}
	}
}

// after returns the type of the layer that follows an extension header.
func (c *context) after(one ib.Headers) gopacket.LayerType {
	if c.bth == nil {
		return LayerTypePayload
	}
	return extensionType(c.bth.Opcode.Info().Headers &^ (one<<1 - 1))
}

// RDETH names the end-to-end context of a reliable datagram.
type RDETH struct {
	layers.BaseLayer
	ib.RDETH
	context
}

// LayerType returns LayerTypeRDETH.
func (h *RDETH) LayerType() gopacket.LayerType { return LayerTypeRDETH }

// CanDecode returns LayerTypeRDETH.
func (h *RDETH) CanDecode() gopacket.LayerClass { return LayerTypeRDETH }

// NextLayerType returns what the opcode calls for next.
func (h *RDETH) NextLayerType() gopacket.LayerType { return h.after(ib.HasRDETH) }

// DecodeFromBytes decodes an RDETH.
func (h *RDETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	return parse(LayerTypeRDETH, &h.RDETH, ib.RDETHLen, &h.BaseLayer, data, df)
}

// SerializeTo writes the header.
func (h *RDETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(&h.RDETH, ib.RDETHLen, b)
}

// DETH is the datagram extended transport header, which names the sending queue
// pair.
type DETH struct {
	layers.BaseLayer
	ib.DETH
	context
}

// LayerType returns LayerTypeDETH.
func (h *DETH) LayerType() gopacket.LayerType { return LayerTypeDETH }

// CanDecode returns LayerTypeDETH.
func (h *DETH) CanDecode() gopacket.LayerClass { return LayerTypeDETH }

// NextLayerType returns what the opcode calls for next, LayerTypeMAD in a
// datagram of the general services interface.
func (h *DETH) NextLayerType() gopacket.LayerType {
	if h.bth != nil && ib.IsMAD(&h.bth.BTH, &h.DETH) {
		return LayerTypeMAD
	}
	return h.after(ib.HasDETH)
}

// DecodeFromBytes decodes a DETH.
func (h *DETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	return parse(LayerTypeDETH, &h.DETH, ib.DETHLen, &h.BaseLayer, data, df)
}

// SerializeTo writes the header.
func (h *DETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(&h.DETH, ib.DETHLen, b)
}

// XRCETH names the shared receive queue of an XRC request.
type XRCETH struct {
	layers.BaseLayer
	ib.XRCETH
	context
}

// LayerType returns LayerTypeXRCETH.
func (h *XRCETH) LayerType() gopacket.LayerType { return LayerTypeXRCETH }

// CanDecode returns LayerTypeXRCETH.
func (h *XRCETH) CanDecode() gopacket.LayerClass { return LayerTypeXRCETH }

// NextLayerType returns what the opcode calls for next.
func (h *XRCETH) NextLayerType() gopacket.LayerType { return h.after(ib.HasXRCETH) }

// DecodeFromBytes decodes an XRCETH.
func (h *XRCETH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	return parse(LayerTypeXRCETH, &h.XRCETH, ib.XRCETHLen, &h.BaseLayer, data, df)
}

// SerializeTo writes the header.
func (h *XRCETH) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prepend(&h.XRCETH, ib.XRCETHLen, b)
}
