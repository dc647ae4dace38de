package roce_test

import (
	"bytes"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/rocescope/rocescope/decode/roce"
)

// starts are where FuzzLayers begins to decode. gopacket's own tunnel decoders
// panic on some input, so it does not begin at Ethernet.
var starts = []gopacket.LayerType{
	roce.LayerTypeGRH, roce.LayerTypeBTH, roce.LayerTypeDETH, roce.LayerTypeMAD, roce.LayerTypeMACControl, roce.LayerTypeRETH,
}

// FuzzLayers decodes any bytes in three ways: none panics, a Stack agrees with
// NewPacket, and what is decoded is written as the same bytes and layers.
func FuzzLayers(f *testing.F) {
	for _, v := range frames(f) {
		b := v.bytes(f)
		p := gopacket.NewPacket(b, v.first(b), strict)
		for i, start := range starts {
			if l := p.Layer(start); l != nil {
				f.Add(append(append([]byte(nil), l.LayerContents()...), l.LayerPayload()...), byte(i))
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, i byte) {
		start := starts[int(i)%len(starts)]
		p := gopacket.NewPacket(b, start, strict)
		_, _ = p.String(), p.Dump()
		if start == roce.LayerTypeGRH || start == roce.LayerTypeBTH || start == roce.LayerTypeMACControl {
			newParser(start).compare(t, b, start)
		}
		rewrite(t, p, start)
	})
}

// rewrite writes a decoded packet and decodes it again.
func rewrite(t *testing.T, p gopacket.Packet, start gopacket.LayerType) {
	ls, ok := serializable(p)
	if !ok || p.ErrorLayer() != nil || p.Metadata().Truncated || len(ls) == 0 {
		return
	}
	if has(p, roce.LayerTypeBTH) && !has(p, roce.LayerTypePayload) {
		return
	}
	buf := gopacket.NewSerializeBuffer()
	if err := roce.Serialize(buf, literal, ls...); err != nil {
		t.Fatal(err)
	}
	again := gopacket.NewPacket(buf.Bytes(), start, strict)
	if names(again) != names(p) {
		t.Fatalf("%v became %v", p, again)
	}
	if start == roce.LayerTypeBTH && !has(p, roce.LayerTypeMAD) && !bytes.Equal(buf.Bytes(), p.Data()) {
		t.Fatalf("%x became %x", p.Data(), buf.Bytes())
	}
	if err := roce.Serialize(buf, fixed, ls...); err != nil {
		t.Fatal(err)
	}
	fixedAgain := gopacket.NewPacket(buf.Bytes(), start, strict)
	if has(p, roce.LayerTypeGRH) && has(p, roce.LayerTypePayload) && layer[*roce.Payload](fixedAgain).ICRCState != roce.ICRCGood {
		t.Fatalf("%v", fixedAgain)
	}
}

// FuzzFrame decodes any Ethernet frame through a Stack and the few layers below
// it, none of which may panic.
func FuzzFrame(f *testing.F) {
	for _, v := range frames(f) {
		if v.LinkType == 1 {
			f.Add(v.bytes(f))
		}
	}
	p := newParser(layers.LayerTypeEthernet)
	f.Fuzz(func(t *testing.T, b []byte) { p.decode(b) })
}
