package roce_test

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/rocescope/rocescope/decode/ib"
	"github.com/rocescope/rocescope/decode/roce"
)

// frames returns frames of every shape for the tests that need no expected
// values: made ones and, where they are there, the shared vectors.
func frames(t testing.TB) []vector {
	vs := made(t)
	if _, err := os.Stat(vectorFile); !errors.Is(err, fs.ErrNotExist) {
		vs = append(vs, vectors(t)...)
	}
	return vs
}

type sls = []gopacket.SerializableLayer

// made writes one frame for each way through the layers.
func made(t testing.TB) []vector {
	bth := func(o ib.Opcode) *roce.BTH {
		return &roce.BTH{BTH: ib.BTH{Opcode: o, PKey: 0xFFFF, DestQP: 1, AckReq: true, PSN: 7}}
	}
	gsi := &roce.DETH{DETH: ib.DETH{QKey: ib.GSIQKey, SrcQP: 1}}
	mad := func(a ib.CMAttr) *roce.MAD {
		return &roce.MAD{MAD: ib.MAD{BaseVersion: 1, Class: ib.ClassCM, ClassVersion: 2, Method: ib.MethodSend, AttrID: uint16(a)}}
	}
	ud := ib.Of(ib.UD, ib.SendOnly)
	var vs []vector
	for name, upper := range map[string]sls{
		"SEND":          {bth(0x04), &roce.Payload{Data: []byte("hello")}},
		"WRITE Imm":     {bth(0x0B), &roce.RETH{}, &roce.ImmDt{}, &roce.Payload{Data: []byte("hello!")}},
		"ACK":           {bth(0x11), &roce.AETH{}, &roce.Payload{}},
		"ATOMIC":        {bth(0x13), &roce.AtomicETH{}, &roce.Payload{}},
		"ATOMIC answer": {bth(0x12), &roce.AETH{}, &roce.AtomicAckETH{}, &roce.Payload{}},
		"invalidate":    {bth(0x17), &roce.IETH{}, &roce.Payload{Data: []byte("x")}},
		"FLUSH":         {bth(0x1C), &roce.FETH{}, &roce.RETH{}, &roce.Payload{}},
		"XRC":           {bth(0xA6), &roce.XRCETH{}, &roce.RETH{}, &roce.Payload{Data: make([]byte, 256)}},
		"RD":            {bth(0x46), &roce.RDETH{}, &roce.DETH{}, &roce.RETH{}, &roce.Payload{Data: []byte("data")}},
		"UD Imm":        {bth(0x65), &roce.DETH{}, &roce.ImmDt{}, &roce.Payload{Data: []byte("data")}},
		"CNP":           {bth(ib.CNP), &roce.CNP{}, &roce.Payload{}},
		"vendor":        {bth(0xE1), &roce.Payload{Data: []byte("?")}},
		"REQ":           {bth(ud), gsi, mad(ib.AttrREQ), &roce.REQ{}, &roce.Payload{Data: make([]byte, 92)}},
		"REJ":           {bth(ud), gsi, mad(ib.AttrREJ), &roce.REJ{}, &roce.Payload{Data: make([]byte, 148)}},
		"SIDR_REP":      {bth(ud), gsi, mad(ib.AttrSIDRREP), &roce.SIDRREP{}, &roce.Payload{Data: make([]byte, 136)}},
		"LAP":           {bth(ud), gsi, mad(ib.AttrLAP), &roce.Payload{Data: make([]byte, 232)}},
	} {
		for net, lower := range lowers() {
			vs = append(vs, frame(t, net+" "+name, append(lower, upper...)))
		}
	}
	mac := []byte{2, 0, 0, 0, 0, 1}
	eth := &layers.Ethernet{SrcMAC: mac, DstMAC: mac, EthernetType: roce.EtherTypeMACControl}
	return append(vs,
		frame(t, "PFC", sls{eth, &roce.MACControl{Opcode: roce.MACPFC}, &roce.PFC{Enable: 8, Quanta: [8]uint16{3: 9}}}),
		frame(t, "PAUSE", sls{eth, &roce.MACControl{Opcode: roce.MACPause}, &roce.Pause{Quanta: 9}}))
}

// lowers returns what may lie under a BTH.
func lowers() map[string]sls {
	mac := []byte{2, 0, 0, 0, 0, 1}
	eth := func(t layers.EthernetType) *layers.Ethernet {
		return &layers.Ethernet{SrcMAC: mac, DstMAC: mac, EthernetType: t}
	}
	ip4 := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: []byte{10, 0, 0, 1}, DstIP: []byte{10, 0, 0, 2}}
	ip6 := &layers.IPv6{Version: 6, NextHeader: layers.IPProtocolUDP, HopLimit: 64, SrcIP: make([]byte, 16), DstIP: make([]byte, 16)}
	udp := &layers.UDP{SrcPort: 49443, DstPort: roce.Port}
	return map[string]sls{
		"IPv4":   {eth(layers.EthernetTypeIPv4), ip4, udp},
		"tagged": {eth(layers.EthernetTypeDot1Q), &layers.Dot1Q{VLANIdentifier: 5, Type: layers.EthernetTypeIPv4}, ip4, udp},
		"IPv6":   {eth(layers.EthernetTypeIPv6), ip6, udp},
		"GRH":    {eth(roce.EtherTypeRoCEv1), &roce.GRH{Version: 6, NextHeader: 0x1B, HopLimit: 1}},
	}
}

func frame(t testing.TB, name string, ls sls) vector {
	buf := gopacket.NewSerializeBuffer()
	if err := roce.Serialize(buf, fixed, ls...); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	b := buf.Bytes()
	return vector{Name: name, Hex: hex.EncodeToString(b), LinkType: 1, Len: len(b), CapLen: len(b)}
}

// What Serialize makes decodes completely and with a good ICRC.
func TestMadeFrames(t *testing.T) {
	for _, v := range made(t) {
		p := gopacket.NewPacket(v.bytes(t), layers.LayerTypeEthernet, strict)
		if p.ErrorLayer() != nil || p.Metadata().Truncated {
			t.Errorf("%s: %v", v.Name, p)
		}
		if has(p, roce.LayerTypeBTH) && icrcState(p) != roce.ICRCGood {
			t.Errorf("%s: ICRC is %v", v.Name, icrcState(p))
		}
	}
}
