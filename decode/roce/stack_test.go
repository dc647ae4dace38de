package roce_test

import (
	"bytes"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/rocescope/rocescope/decode/roce"
)

// parser is a whole DecodingLayerParser around a Stack.
type parser struct {
	eth     layers.Ethernet
	tag     layers.Dot1Q
	ip4     layers.IPv4
	ip6     layers.IPv6
	stack   roce.Stack
	payload gopacket.Payload
	p       *gopacket.DecodingLayerParser
	byType  map[gopacket.LayerType]gopacket.DecodingLayer
	decoded []gopacket.LayerType
}

func newParser(first gopacket.LayerType) *parser {
	p := new(parser)
	ls := append(p.stack.Layers(), &p.eth, &p.tag, &p.ip4, &p.ip6, &p.payload)
	p.p = gopacket.NewDecodingLayerParser(first, ls...)
	p.p.IgnorePanic = true // a panic shall fail the test
	p.p.IgnoreUnsupported = true
	p.byType = map[gopacket.LayerType]gopacket.DecodingLayer{}
	for _, l := range ls {
		for _, t := range l.CanDecode().LayerTypes() {
			p.byType[t] = l
		}
	}
	return p
}

// decode decodes a frame and checks the ICRC as a user would.
func (p *parser) decode(b []byte) error {
	err := p.p.DecodeLayers(b, &p.decoded)
	if n := len(p.decoded); n == 0 || p.decoded[n-1] != roce.LayerTypePayload {
		return err
	}
	for i := len(p.decoded) - 1; i >= 0; i-- {
		switch p.decoded[i] {
		case layers.LayerTypeIPv4:
			p.stack.Payload.Verify(&p.ip4)
			return err
		case layers.LayerTypeIPv6:
			p.stack.Payload.Verify(&p.ip6)
			return err
		case roce.LayerTypeGRH:
			p.stack.Payload.Verify(&p.stack.GRH)
			return err
		}
	}
	return err
}

// compare holds what the parser decoded against gopacket.NewPacket, layer by
// layer.
func (p *parser) compare(t *testing.T, b []byte, first gopacket.LayerType) {
	t.Helper()
	err := p.decode(b)
	want := gopacket.NewPacket(b, first, strict)
	ls := want.Layers()
	if want.ErrorLayer() != nil {
		ls = ls[:len(ls)-1]
	}
	for i, lt := range p.decoded {
		if i >= len(ls) || ls[i].LayerType() != lt {
			t.Fatalf("decoded %v (%v), want %v", p.decoded, err, want)
		}
		if lt < roce.LayerTypeGRH || lt > roce.LayerTypePause {
			continue
		}
		// As strings, which hold all exported fields: cmp takes ten times as long.
		w, g := ls[i], p.byType[lt].(gopacket.Layer)
		if gopacket.LayerString(w) != gopacket.LayerString(g) || !bytes.Equal(w.LayerContents(), g.LayerContents()) {
			t.Errorf("NewPacket: %s\nStack: %s", gopacket.LayerString(w), gopacket.LayerString(g))
		}
	}
	// The parser knows fewer of gopacket's own layers, but all of ours.
	for _, l := range ls[min(len(p.decoded), len(ls)):] {
		if lt := l.LayerType(); lt == roce.LayerTypeGRH || lt == roce.LayerTypeMACControl {
			t.Errorf("decoded %v (%v), want %v", p.decoded, err, want)
		}
	}
	if n := len(p.decoded); n > 0 && n < len(ls) && p.decoded[n-1] >= roce.LayerTypeGRH && p.decoded[n-1] <= roce.LayerTypePause {
		t.Errorf("decoded %v (%v), want %v", p.decoded, err, want)
	}
}

// One Stack decodes all frames, one after the other and cut at every length,
// and always says what NewPacket says.
func TestStackEqualsNewPacket(t *testing.T) {
	p := newParser(layers.LayerTypeEthernet)
	for _, v := range frames(t) {
		if v.LinkType != 1 || tunnel[v.Name[:2]] {
			continue
		}
		b := v.bytes(t)
		for n := len(b); n > 0; n-- {
			if n > 160 && n < len(b)-8 && n%16 != 0 {
				continue // within the payload one length is like the next
			}
			p.compare(t, b[:n:n], layers.LayerTypeEthernet)
			if t.Failed() {
				t.Fatalf("%s cut to %d", v.Name, n)
			}
		}
	}
}

func TestStackAllocatesNothing(t *testing.T) {
	p := newParser(layers.LayerTypeEthernet)
	for _, v := range frames(t) {
		if v.LinkType != 1 {
			continue
		}
		b := v.bytes(t)
		if err := p.decode(b); err != nil {
			continue // what gopacket cannot decode it reports in an error, which it allocates
		}
		if n := testing.AllocsPerRun(10, func() { p.decode(b) }); n != 0 {
			t.Errorf("%s: %v allocations for %v", v.Name, n, p.decoded)
		}
	}
}

func BenchmarkStack(b *testing.B) {
	for _, v := range vectors(b) {
		switch v.Name[:2] {
		case "01", "02", "05", "06", "09", "16", "18", "20", "45":
		default:
			continue
		}
		frame := v.bytes(b)
		b.Run(v.Name, func(b *testing.B) {
			p := newParser(layers.LayerTypeEthernet)
			b.SetBytes(int64(len(frame)))
			for b.Loop() {
				p.p.DecodeLayers(frame, &p.decoded)
			}
		})
	}
}
