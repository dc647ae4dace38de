package roce

import (
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// Stack is one of each layer that a gopacket.DecodingLayerParser needs from UDP
// or GRH upwards, linked with each other: which layer follows an extension
// header depends on the BTH, and where a cut packet would have ended on the
// UDP layer.
//
//	var eth layers.Ethernet
//	var ip4 layers.IPv4
//	var s roce.Stack
//	parser := gopacket.NewDecodingLayerParser(layers.LayerTypeEthernet,
//		append(s.Layers(), &eth, &ip4)...)
//
// As with gopacket's own layers, a field holds what the last packet that had
// the layer left there; which layers the present one has, DecodeLayers tells.
// The ICRC is not checked while decoding: call Payload.Verify with the network
// layer. A Stack must not be copied once Layers was called.
type Stack struct {
	UDP layers.UDP
	GRH GRH
	BTH BTH

	RDETH        RDETH
	DETH         DETH
	XRCETH       XRCETH
	FETH         FETH
	RETH         RETH
	AtomicETH    AtomicETH
	AETH         AETH
	AtomicAckETH AtomicAckETH
	ImmDt        ImmDt
	IETH         IETH

	CNP     CNP
	MAD     MAD
	REQ     REQ
	MRA     MRA
	REJ     REJ
	REP     REP
	RTU     RTU
	DREQ    DREQ
	DREP    DREP
	SIDRREQ SIDRREQ
	SIDRREP SIDRREP
	Payload Payload

	MACControl MACControl
	PFC        PFC
	Pause      Pause
}

// Layers links the layers and returns them all.
func (s *Stack) Layers() []gopacket.DecodingLayer {
	s.BTH.udp, s.BTH.grh = &s.UDP, &s.GRH
	for _, c := range []*context{
		&s.RDETH.context, &s.DETH.context, &s.XRCETH.context, &s.FETH.context, &s.RETH.context, &s.AtomicETH.context,
		&s.AETH.context, &s.AtomicAckETH.context, &s.ImmDt.context, &s.IETH.context, &s.Payload.context,
	} {
		c.bth = &s.BTH
	}
	return []gopacket.DecodingLayer{
		&s.UDP, &s.GRH, &s.BTH,
		&s.RDETH, &s.DETH, &s.XRCETH, &s.FETH, &s.RETH, &s.AtomicETH, &s.AETH, &s.AtomicAckETH, &s.ImmDt, &s.IETH,
		&s.CNP, &s.MAD, &s.REQ, &s.MRA, &s.REJ, &s.REP, &s.RTU, &s.DREQ, &s.DREP, &s.SIDRREQ, &s.SIDRREP, &s.Payload,
		&s.MACControl, &s.PFC, &s.Pause,
	}
}
