package roce

import (
	"fmt"
	"math/bits"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/rocescope/rocescope/decode/ib"
)

// Port is the UDP port of RoCEv2.
const Port = 4791

// The EtherTypes of RoCEv1 and of MAC control, which carries PFC and PAUSE.
const (
	EtherTypeRoCEv1     layers.EthernetType = 0x8915
	EtherTypeMACControl layers.EthernetType = 0x8808
)

// The layer types. Those of the extension headers stand in the order of their
// bits in ib.Headers, those of the messages in the order of ib.CMAttr; both are
// computed from that.
const (
	LayerTypeGRH gopacket.LayerType = 1791 + iota
	LayerTypeBTH
	LayerTypeRDETH
	LayerTypeDETH
	LayerTypeXRCETH
	LayerTypeFETH
	LayerTypeRETH
	LayerTypeAtomicETH
	LayerTypeAETH
	LayerTypeAtomicAckETH
	LayerTypeImmDt
	LayerTypeIETH
	LayerTypeCNP
	LayerTypeMAD
	LayerTypeREQ
	LayerTypeMRA
	LayerTypeREJ
	LayerTypeREP
	LayerTypeRTU
	LayerTypeDREQ
	LayerTypeDREP
	LayerTypeSIDRREQ
	LayerTypeSIDRREP
	LayerTypePayload
	LayerTypeMACControl
	LayerTypePFC
	LayerTypePause
)

// gopacket looks layers up in tables that are filled while the program
// initializes, which is why this package has an init function.
func init() {
	register[GRH](LayerTypeGRH, "GRH")
	register[BTH](LayerTypeBTH, "BTH")
	register[RDETH](LayerTypeRDETH, "RDETH")
	register[DETH](LayerTypeDETH, "DETH")
	register[XRCETH](LayerTypeXRCETH, "XRCETH")
	register[FETH](LayerTypeFETH, "FETH")
	register[RETH](LayerTypeRETH, "RETH")
	register[AtomicETH](LayerTypeAtomicETH, "AtomicETH")
	register[AETH](LayerTypeAETH, "AETH")
	register[AtomicAckETH](LayerTypeAtomicAckETH, "AtomicAckETH")
	register[ImmDt](LayerTypeImmDt, "ImmDt")
	register[IETH](LayerTypeIETH, "IETH")
	register[CNP](LayerTypeCNP, "CNP")
	register[MAD](LayerTypeMAD, "MAD")
	register[REQ](LayerTypeREQ, "REQ")
	register[MRA](LayerTypeMRA, "MRA")
	register[REJ](LayerTypeREJ, "REJ")
	register[REP](LayerTypeREP, "REP")
	register[RTU](LayerTypeRTU, "RTU")
	register[DREQ](LayerTypeDREQ, "DREQ")
	register[DREP](LayerTypeDREP, "DREP")
	register[SIDRREQ](LayerTypeSIDRREQ, "SIDR_REQ")
	register[SIDRREP](LayerTypeSIDRREP, "SIDR_REP")
	register[Payload](LayerTypePayload, "RoCEPayload")
	register[MACControl](LayerTypeMACControl, "MACControl")
	register[PFC](LayerTypePFC, "PFC")
	register[Pause](LayerTypePause, "PAUSE")

	layers.EthernetTypeMetadata[EtherTypeRoCEv1] = layers.EnumMetadata{
		DecodeWith: LayerTypeGRH, Name: "RoCEv1", LayerType: LayerTypeGRH}
	layers.EthernetTypeMetadata[EtherTypeMACControl] = layers.EnumMetadata{
		DecodeWith: LayerTypeMACControl, Name: "MACControl", LayerType: LayerTypeMACControl}
	RegisterPort(Port)
}

// RegisterPort makes gopacket take a further UDP port for RoCEv2; some NICs can
// be set to another than 4791, old Windows drivers used 1021. gopacket looks at
// the destination port first and, where that is not registered, at the source
// port. RegisterPort must not run while packets are decoded.
func RegisterPort(port uint16) {
	layers.RegisterUDPPortLayerType(layers.UDPPort(port), LayerTypeBTH)
}

// layer is what each layer of this package can do.
type layer interface {
	gopacket.Layer
	gopacket.DecodingLayer
	gopacket.SerializableLayer
}

// linker is a layer that has to know others below it: which headers follow
// depends on the opcode, where the packet ends on the UDP length.
type linker interface {
	link(below []gopacket.Layer)
}

// register enters a layer into gopacket's table.
func register[T any, P interface {
	*T
	layer
}](t gopacket.LayerType, name string) {
	gopacket.RegisterLayerType(int(t), gopacket.LayerTypeMetadata{Name: name, Decoder: gopacket.DecodeFunc(
		func(data []byte, p gopacket.PacketBuilder) error { return decode(P(new(T)), data, p) },
	)})
}

// decode is the way of gopacket.NewPacket.
func decode(l layer, data []byte, p gopacket.PacketBuilder) error {
	// Every builder of gopacket is a packet too. Asking a lazy one for its
	// layers does not decode further while one is being decoded.
	if k, ok := l.(linker); ok {
		if pkt, ok := p.(gopacket.Packet); ok {
			k.link(pkt.Layers())
		}
	}
	if err := l.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(l)
	switch l := l.(type) {
	case *GRH:
		p.SetNetworkLayer(l)
	case *Payload:
		p.SetApplicationLayer(l)
	}
	if next := l.NextLayerType(); next != gopacket.LayerTypeZero {
		return p.NextDecoder(next)
	}
	return nil
}

// header is a header of package ib.
type header interface {
	Parse([]byte) bool
	Append([]byte) []byte
}

// parse reads h, which is n bytes long, and sets the layer's bytes.
func parse(t gopacket.LayerType, h header, n int, base *layers.BaseLayer, data []byte, df gopacket.DecodeFeedback) error {
	if !h.Parse(data) {
		return short(t, len(data), n, df)
	}
	*base = layers.BaseLayer{Contents: data[:n], Payload: data[n:]}
	return nil
}

// short reports a layer that does not fit into the bytes there are.
func short(t gopacket.LayerType, had, need int, df gopacket.DecodeFeedback) error {
	df.SetTruncated()
	return fmt.Errorf("roce: %v cut short: %d of %d bytes", t, had, need)
}

// prepend writes h, which is n bytes long, before what the buffer holds.
func prepend(h header, n int, b gopacket.SerializeBuffer) error {
	w, err := b.PrependBytes(n)
	if err != nil {
		return err
	}
	h.Append(w[:0])
	return nil
}

// extensionType returns the layer type of the first of a set of extension
// headers, LayerTypePayload for the empty set.
func extensionType(set ib.Headers) gopacket.LayerType {
	if set == 0 {
		return LayerTypePayload
	}
	return LayerTypeRDETH + gopacket.LayerType(bits.TrailingZeros16(uint16(set)))
}
