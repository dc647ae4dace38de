package roce

import (
	"fmt"

	"github.com/google/gopacket"
	"github.com/rocescope/rocescope/decode/ib"
)

// Payload is the last layer of a RoCE packet: the payload, which may be empty,
// the pad that fills it up to a multiple of four, and the ICRC over the whole
// packet. In a message of communication management Data is the private data.
type Payload struct {
	Contents []byte // all of it, as captured
	Data     []byte // the payload, as far as it was captured
	Pad      []byte // 0 to 3 bytes, zero
	// Length is the number of payload bytes that the headers tell of. It
	// exceeds len(Data) where the capture cut the packet.
	Length    int
	ICRC      uint32 // read little-endian; valid unless ICRCState is ICRCMissing
	ICRCState ICRCState

	context
	network gopacket.NetworkLayer
	crc     ib.ICRC
	zero    [3]byte
}

// LayerType returns LayerTypePayload.
func (p *Payload) LayerType() gopacket.LayerType { return LayerTypePayload }

// CanDecode returns LayerTypePayload.
func (p *Payload) CanDecode() gopacket.LayerClass { return LayerTypePayload }

// NextLayerType returns LayerTypeZero: nothing follows.
func (p *Payload) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// LayerContents returns payload, pad and ICRC.
func (p *Payload) LayerContents() []byte { return p.Contents }

// LayerPayload returns nil: nothing follows.
func (p *Payload) LayerPayload() []byte { return nil }

// Payload returns the payload without pad and ICRC. It makes the layer a
// gopacket.ApplicationLayer.
func (p *Payload) Payload() []byte { return p.Data }

// String returns the fields in gopacket's fashion, the ICRC as its four bytes
// stand on the wire.
func (p *Payload) String() string {
	icrc := "none"
	if p.ICRCState != ICRCMissing {
		icrc = fmt.Sprintf("%x", ib.AppendICRC(nil, p.ICRC))
	}
	return fmt.Sprintf("{Data=[..%d..] Pad=%d Length=%d ICRC=%s ICRCState=%v}", len(p.Data), len(p.Pad), p.Length, icrc, p.ICRCState)
}

// DecodeFromBytes decodes what stands behind the headers. It needs the BTH to
// know the pad and, in a cut packet, where the payload would end.
func (p *Payload) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	full, pad := len(data), 0
	if p.bth != nil {
		// data is the end of the BTH's payload, so what lies between is known.
		full = p.bth.Length - ib.BTHLen - (len(p.bth.Payload) - len(data))
		pad = int(p.bth.PadCnt)
	}
	p.Contents, p.Data, p.Pad = data, data, nil
	p.ICRC, p.ICRCState = 0, ICRCMissing
	p.Length = max(full-pad-ib.ICRCLen, 0)
	if full < pad+ib.ICRCLen || len(data) < full {
		df.SetTruncated()
	}
	if full >= pad+ib.ICRCLen && len(data) >= p.Length {
		p.Data = data[:p.Length]
		p.trailer(data[p.Length:], pad)
	}
	if p.network != nil {
		p.Verify(p.network)
	}
	return nil
}

// trailer reads pad and ICRC as far as they were captured.
func (p *Payload) trailer(b []byte, pad int) {
	p.Pad = b[:min(pad, len(b))]
	if len(b) >= pad+ib.ICRCLen {
		p.ICRC, p.ICRCState = ib.ReadICRC(b[pad:]), ICRCUnchecked
	}
}

// link finds the BTH and the network header that the ICRC covers: the nearest
// one below, since a tunnel has one more.
func (p *Payload) link(below []gopacket.Layer) {
	p.context.link(below)
	for i := len(below) - 1; i >= 0; i-- {
		if n, ok := below[i].(gopacket.NetworkLayer); ok {
			p.network = n
			return
		}
	}
}

// Verify computes the ICRC over the packet that starts with a network header,
// *layers.IPv4, *layers.IPv6 or *GRH, and returns the state it leaves in
// ICRCState. The layer must be as decoded, together with this payload. Decoding
// by gopacket.NewPacket does this by itself; with a DecodingLayerParser it is up
// to the caller, who knows which network layer was decoded and whether the
// computation is worth its time.
func (p *Payload) Verify(network gopacket.NetworkLayer) ICRCState {
	if p.ICRCState == ICRCMissing {
		return ICRCMissing
	}
	p.ICRCState = ICRCUnchecked
	packet := join(network.LayerContents(), network.LayerPayload())
	if sum, _, ok := icrc(&p.crc, packet, network.LayerType()); ok {
		p.ICRCState = ICRCBad
		if sum == p.ICRC {
			p.ICRCState = ICRCGood
		}
	}
	return p.ICRCState
}

// SerializeTo writes payload, pad and ICRC, with FixLengths the pad that the
// payload needs. It writes ICRC as it stands: only Serialize can compute it,
// because it covers headers that are not written yet.
func (p *Payload) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	if opts.FixLengths {
		p.fix()
	}
	w, err := b.PrependBytes(len(p.Data) + len(p.Pad) + ib.ICRCLen)
	if err != nil {
		return err
	}
	n := copy(w, p.Data)
	n += copy(w[n:], p.Pad)
	ib.AppendICRC(w[:n], p.ICRC)
	return nil
}

// fix sets pad and length to what the payload needs.
func (p *Payload) fix() {
	p.Pad = p.zero[:-len(p.Data)&3]
	p.Length = len(p.Data)
}
