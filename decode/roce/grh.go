package roce

import (
	"encoding/binary"
	"fmt"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/rocescope/rocescope/decode/ib"
)

const (
	grhLen = 40
	// grhNextBTH is the next header of a GRH that a BTH follows.
	grhNextBTH = 0x1B
)

// GRH is the global route header, the network header of RoCEv1. It has the
// layout of an IPv6 header.
type GRH struct {
	layers.BaseLayer
	Version      uint8 // 6; DecodeFromBytes takes no other
	TrafficClass uint8 // DSCP in the high six bits, ECN in the low two
	FlowLabel    uint32
	Length       uint16 // bytes from the BTH through the ICRC
	NextHeader   uint8  // 0x1B: BTH
	HopLimit     uint8
	SGID, DGID   ib.GID
}

// LayerType returns LayerTypeGRH.
func (h *GRH) LayerType() gopacket.LayerType { return LayerTypeGRH }

// CanDecode returns LayerTypeGRH.
func (h *GRH) CanDecode() gopacket.LayerClass { return LayerTypeGRH }

// NextLayerType returns LayerTypeBTH unless the GRH says otherwise.
func (h *GRH) NextLayerType() gopacket.LayerType {
	if h.NextHeader == grhNextBTH {
		return LayerTypeBTH
	}
	return gopacket.LayerTypePayload
}

// NetworkFlow returns the flow between the two GIDs, as IPv6 endpoints.
func (h *GRH) NetworkFlow() gopacket.Flow {
	return gopacket.NewFlow(layers.EndpointIPv6, h.SGID[:], h.DGID[:])
}

// DecodeFromBytes decodes a GRH. It refuses other versions than 6, since other
// protocols use the EtherType of RoCEv1 too.
func (h *GRH) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if len(data) < grhLen {
		return short(LayerTypeGRH, len(data), grhLen, df)
	}
	w := binary.BigEndian.Uint32(data)
	if v := w >> 28; v != 6 {
		return fmt.Errorf("roce: GRH of version %d, want 6", v)
	}
	h.Version, h.TrafficClass, h.FlowLabel = 6, uint8(w>>20), w&0xFFFFF
	h.Length = binary.BigEndian.Uint16(data[4:])
	h.NextHeader, h.HopLimit = data[6], data[7]
	copy(h.SGID[:], data[8:])
	copy(h.DGID[:], data[24:])

	end := grhLen + int(h.Length)
	if end > len(data) {
		df.SetTruncated()
		end = len(data)
	}
	h.BaseLayer = layers.BaseLayer{Contents: data[:grhLen], Payload: data[grhLen:end]}
	return nil
}

// SerializeTo writes the GRH, with FixLengths its Length too.
func (h *GRH) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	if n := len(b.Bytes()); opts.FixLengths {
		if n > 0xFFFF {
			return fmt.Errorf("roce: %d bytes are too many for a GRH", n)
		}
		h.Length = uint16(n)
	}
	w, err := b.PrependBytes(grhLen)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(w, uint32(h.Version)<<28|uint32(h.TrafficClass)<<20|h.FlowLabel&0xFFFFF)
	binary.BigEndian.PutUint16(w[4:], h.Length)
	w[6], w[7] = h.NextHeader, h.HopLimit
	copy(w[8:], h.SGID[:])
	copy(w[24:], h.DGID[:])
	return nil
}
