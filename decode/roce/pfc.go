package roce

import (
	"encoding/binary"
	"fmt"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// MACOpcode says what a MAC control frame is.
type MACOpcode uint16

// The MAC control frames that are decoded.
const (
	MACPause MACOpcode = 0x0001 // 802.3x: pause the link
	MACPFC   MACOpcode = 0x0101 // 802.1Qbb: pause single priorities
)

// String returns "PAUSE", "PFC" or the number.
func (o MACOpcode) String() string {
	switch o {
	case MACPause:
		return "PAUSE"
	case MACPFC:
		return "PFC"
	}
	return fmt.Sprintf("0x%04X", uint16(o))
}

// MACControl is the start of a frame of EtherType 0x8808.
type MACControl struct {
	layers.BaseLayer
	Opcode MACOpcode
}

// LayerType returns LayerTypeMACControl.
func (h *MACControl) LayerType() gopacket.LayerType { return LayerTypeMACControl }

// CanDecode returns LayerTypeMACControl.
func (h *MACControl) CanDecode() gopacket.LayerClass { return LayerTypeMACControl }

// NextLayerType returns LayerTypePFC or LayerTypePause.
func (h *MACControl) NextLayerType() gopacket.LayerType {
	switch h.Opcode {
	case MACPFC:
		return LayerTypePFC
	case MACPause:
		return LayerTypePause
	}
	return gopacket.LayerTypePayload
}

// DecodeFromBytes decodes the opcode.
func (h *MACControl) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if len(data) < 2 {
		return short(LayerTypeMACControl, len(data), 2, df)
	}
	h.Opcode = MACOpcode(binary.BigEndian.Uint16(data))
	h.BaseLayer = layers.BaseLayer{Contents: data[:2], Payload: data[2:]}
	return nil
}

// SerializeTo writes the opcode.
func (h *MACControl) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prependWords(b, uint16(h.Opcode))
}

// pfcLen is the length of a PFC frame's parameters in bytes.
const pfcLen = 18

// PFC is priority flow control. What a frame does not enable it leaves as it
// is. The frame's padding is the layer's Payload.
type PFC struct {
	layers.BaseLayer
	Enable uint16    // bit i: Quanta[i] is valid
	Quanta [8]uint16 // how long priority i shall pause, in 512 bit times of the link; 0 resumes it (XON)
}

// Enabled reports whether the frame says anything about a priority, 0 to 7.
func (h *PFC) Enabled(priority int) bool { return h.Enable>>priority&1 != 0 }

// LayerType returns LayerTypePFC.
func (h *PFC) LayerType() gopacket.LayerType { return LayerTypePFC }

// CanDecode returns LayerTypePFC.
func (h *PFC) CanDecode() gopacket.LayerClass { return LayerTypePFC }

// NextLayerType returns LayerTypeZero: nothing follows.
func (h *PFC) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes decodes the parameters. A frame that is too short is marked
// truncated; what it does not hold is zero and, in Enable, not enabled.
func (h *PFC) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	n := cut(data, pfcLen, df)
	h.Enable = word(data[:n], 0)
	for i := range h.Quanta {
		h.Quanta[i] = word(data[:n], 2+2*i)
		if n < 4+2*i {
			h.Enable &^= 1 << i
		}
	}
	h.BaseLayer = layers.BaseLayer{Contents: data[:n], Payload: data[n:]}
	return nil
}

// SerializeTo writes the parameters.
func (h *PFC) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	q := &h.Quanta
	return prependWords(b, h.Enable, q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7])
}

// Pause is 802.3x flow control. The frame's padding is the layer's Payload.
type Pause struct {
	layers.BaseLayer
	Quanta uint16 // how long the link shall pause, in 512 bit times; 0 resumes it
}

// LayerType returns LayerTypePause.
func (h *Pause) LayerType() gopacket.LayerType { return LayerTypePause }

// CanDecode returns LayerTypePause.
func (h *Pause) CanDecode() gopacket.LayerClass { return LayerTypePause }

// NextLayerType returns LayerTypeZero: nothing follows.
func (h *Pause) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes decodes the time. A frame that is too short is marked
// truncated.
func (h *Pause) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	n := cut(data, 2, df)
	h.Quanta = word(data[:n], 0)
	h.BaseLayer = layers.BaseLayer{Contents: data[:n], Payload: data[n:]}
	return nil
}

// SerializeTo writes the time.
func (h *Pause) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	return prependWords(b, h.Quanta)
}

// cut returns how many of n bytes there are.
func cut(data []byte, n int, df gopacket.DecodeFeedback) int {
	if len(data) < n {
		df.SetTruncated()
		return len(data)
	}
	return n
}

// word returns the 16 bits at off, 0 where data ends before.
func word(data []byte, off int) uint16 {
	if len(data) < off+2 {
		return 0
	}
	return binary.BigEndian.Uint16(data[off:])
}

func prependWords(b gopacket.SerializeBuffer, words ...uint16) error {
	w, err := b.PrependBytes(2 * len(words))
	if err != nil {
		return err
	}
	for i, v := range words {
		binary.BigEndian.PutUint16(w[2*i:], v)
	}
	return nil
}
