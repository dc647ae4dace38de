package roce_test

import (
	"testing"

	"github.com/google/gopacket"
	"github.com/rocescope/rocescope/decode/roce"
)

func TestPFC(t *testing.T) {
	whole := unhex(t, "0101 0089 ffff 0001 0002 0010 0003 0004 0005 0007")
	p := gopacket.NewPacket(whole, roce.LayerTypeMACControl, strict)
	h := layer[*roce.PFC](p)
	if h.Enable != 0x89 || h.Quanta != [8]uint16{0xFFFF, 1, 2, 16, 3, 4, 5, 7} || p.Metadata().Truncated {
		t.Errorf("%v", p)
	}
	for prio := range 8 {
		if h.Enabled(prio) != (prio == 0 || prio == 3 || prio == 7) {
			t.Errorf("priority %d enabled is %v", prio, h.Enabled(prio))
		}
	}
}

// A PFC frame shorter than its parameters keeps what is there and enables
// nothing that is not.
func TestShortPFC(t *testing.T) {
	whole := unhex(t, "0101 00ff 0001 0002 0003 0004 0005 0006 0007 0008")
	for n := 2; n < len(whole); n++ {
		p := gopacket.NewPacket(whole[:n:n], roce.LayerTypeMACControl, strict)
		if n == 2 {
			continue // gopacket calls no decoder for no bytes
		}
		h := layer[*roce.PFC](p)
		times := max(n-4, 0) / 2
		for i, q := range h.Quanta {
			there := i < times && n >= 4
			if h.Enabled(i) != there || (q != 0) != there {
				t.Errorf("%d bytes: priority %d enabled %v, %d quanta", n, i, h.Enabled(i), q)
			}
		}
		if !p.Metadata().Truncated {
			t.Errorf("%d bytes are not marked truncated", n)
		}
	}
}

func TestPause(t *testing.T) {
	p := gopacket.NewPacket(unhex(t, "0001 1000 0000"), roce.LayerTypeMACControl, strict)
	if h := layer[*roce.Pause](p); h.Quanta != 0x1000 || len(h.Payload) != 2 {
		t.Errorf("%v", p)
	}
	p = gopacket.NewPacket(unhex(t, "0001 10"), roce.LayerTypeMACControl, strict)
	if h := layer[*roce.Pause](p); h.Quanta != 0 || !p.Metadata().Truncated {
		t.Errorf("%v", p)
	}
	if p = gopacket.NewPacket(unhex(t, "0002 1000"), roce.LayerTypeMACControl, strict); names(p) != "MACControl Payload" {
		t.Errorf("%v", p)
	}
	if p = gopacket.NewPacket(unhex(t, "00"), roce.LayerTypeMACControl, strict); p.ErrorLayer() == nil {
		t.Errorf("%v", p)
	}
}
