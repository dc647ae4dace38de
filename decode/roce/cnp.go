package roce

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// cnpLen is the length of the reserved bytes of a CNP.
const cnpLen = 16

// CNP is what follows the BTH in a congestion notification packet: 16 reserved
// bytes, zero. What the packet says stands in the BTH: DestQP is the queue pair
// that shall slow down.
type CNP struct {
	layers.BaseLayer
	Reserved [cnpLen]byte
}

// LayerType returns LayerTypeCNP.
func (h *CNP) LayerType() gopacket.LayerType { return LayerTypeCNP }

// CanDecode returns LayerTypeCNP.
func (h *CNP) CanDecode() gopacket.LayerClass { return LayerTypeCNP }

// NextLayerType returns LayerTypePayload, which holds the ICRC.
func (h *CNP) NextLayerType() gopacket.LayerType { return LayerTypePayload }

// DecodeFromBytes decodes the reserved bytes.
func (h *CNP) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if len(data) < cnpLen {
		return short(LayerTypeCNP, len(data), cnpLen, df)
	}
	copy(h.Reserved[:], data)
	h.BaseLayer = layers.BaseLayer{Contents: data[:cnpLen], Payload: data[cnpLen:]}
	return nil
}

// SerializeTo writes the reserved bytes.
func (h *CNP) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	w, err := b.PrependBytes(cnpLen)
	copy(w, h.Reserved[:])
	return err
}
