package analysis

import (
	"slices"
	"testing"

	"github.com/rocescope/rocescope/decode"
)

func TestARowListsWhatItsFramesBear(t *testing.T) {
	s := newScript(rising, 100).say("A: first:0 mid:1-2 last:3!")
	for i := range s.packets {
		p := &s.packets[i]
		p.SrcPort, p.DSCP = []uint16{0xC003, 0xC001, 0xC003, 0xC002}[i], []uint8{26, 0, 63, 26}[i]
		p.Tagged, p.VLAN = i%2 == 0, []uint16{7, 0, 3, 0}[i]
	}
	f := s.play().row("A").report()
	for _, c := range []struct {
		what      string
		got, want []uint16
	}{
		{"ports", f.UDPSourcePorts, []uint16{0xC001, 0xC002, 0xC003}},
		{"codepoints", f.DSCPs, []uint16{0, 26, 63}},
		{"VLANs", f.VLANs, []uint16{3, 7}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s %v, want %v", c.what, c.got, c.want)
		}
	}
	if f.RequestBytes != 3*1024+64 || f.Bytes != 4*1100 || f.LastNs-f.FirstNs != 3*us {
		t.Errorf("%d bytes of payload, %d of frames, in %d ns", f.RequestBytes, f.Bytes, f.LastNs-f.FirstNs)
	}
}

func TestTheListOfPortsIsBounded(t *testing.T) {
	s := newScript(rising, 100)
	for n := range int32(portsMax + 50) {
		s.one("A", 0x04, 0, n).SrcPort = 0xC000 + uint16(n)
	}
	if got := len(s.play().row("A").report().UDPSourcePorts); got != portsMax {
		t.Errorf("%d ports, want %d", got, portsMax)
	}
}

func TestWhatIsNoRoCEBelongsToNoRow(t *testing.T) {
	s := newScript(rising, 100).say("A: 0-1")
	s.packets[1].Status = decode.Other
	o := s.play()
	if len(o.shard.rows) != 1 || o.flows[1] != NoFlow || o.verdicts[1] != 0 {
		t.Errorf("%d rows, of which the second frame has %d", len(o.shard.rows), o.flows[1])
	}
}

func TestRowsAreToldApart(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(*decode.Packet)
		rows   int
	}{
		{"nothing", func(*decode.Packet) {}, 1},
		{"the source port", func(p *decode.Packet) { p.SrcPort++ }, 1},
		{"the VLAN", func(p *decode.Packet) { p.Tagged, p.VLAN = true, 9 }, 1},
		{"the queue pair", func(p *decode.Packet) { p.QP++ }, 2},
		{"the direction", func(p *decode.Packet) { p.Src, p.Dst = p.Dst, p.Src }, 2},
		{"the host", func(p *decode.Packet) { p.Src[15] = 77 }, 2},
		{"the version of RoCE", func(p *decode.Packet) { p.Version = 1 }, 2},
		{"the transport", func(p *decode.Packet) { p.Op |= 0x20 }, 2},
	} {
		s := newScript(rising, 100).say("A: 0-1")
		c.change(&s.packets[1])
		sh := newShard(Defaults(1), nil)
		sh.process(&input{packets: s.packets})
		if got := len(sh.rows); got != c.rows {
			t.Errorf("two packets that differ by %s make %d rows, want %d", c.what, got, c.rows)
		}
	}
}
