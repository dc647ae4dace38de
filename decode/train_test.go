package decode

import (
	"bytes"
	"slices"
	"testing"

	"github.com/rocescope/rocescope/decode/ib"
)

// message is the frames of a message of n packets, as wrap sends them.
func message(first ib.Op, n int, wrap func(op ib.Opcode, rest []byte) []byte) [][]byte {
	var frames [][]byte
	for i := range n {
		op, rest := ib.Of(ib.RC, first+1), make([]byte, 256)
		switch i {
		case 0:
			op, rest = ib.Of(ib.RC, first), append(make([]byte, ib.Of(ib.RC, first).Info().Len), rest...)
		case n - 1:
			op = ib.Of(ib.RC, first+2)
			rest = append(make([]byte, op.Info().Len), rest[:61]...)
		}
		b := wrap(op, rest)
		frames = append(frames, b)
	}
	return frames
}

// A frame is read the same whatever came before it, and a train is known as one.
func TestDecodeTrains(t *testing.T) {
	over := func(ether uint16, ip func(ib.Opcode, []byte) []byte) func(ib.Opcode, []byte) []byte {
		return func(op ib.Opcode, rest []byte) []byte { return ethernetFrame(ether, ip(op, rest)) }
	}
	tagged := func(op ib.Opcode, rest []byte) []byte {
		return ethernetFrame(0x88A8, tag(200, 0x8100, tag(100, etherIPv4, roce4(op, rest))))
	}
	tunnel := func(op ib.Opcode, rest []byte) []byte {
		return toVXLAN(vxlanOf(8, 0, 42, over(etherIPv4, roce4)(op, rest)))
	}
	for _, c := range []struct {
		name string
		wrap func(ib.Opcode, []byte) []byte
		op   ib.Op
		on   int // frames that go on with the message, of four behind the first
	}{
		{"IPv4", over(etherIPv4, roce4), ib.WriteFirst, 4},
		{"IPv6", over(etherIPv6, roce6), ib.WriteFirst, 4},
		{"RoCEv1", over(0x8915, roce1), ib.SendFirst, 4},
		{"two tags", tagged, ib.WriteFirst, 4},
		{"READ responses, of which the last has an AETH", over(etherIPv4, roce4), ib.ReadResponseFirst, 3},
		{"in a tunnel, whose lengths hold the last one up, and too long", tunnel, ib.WriteFirst, 0},
	} {
		for _, snap := range []int{1 << 16, 96} {
			var frames []Frame
			var wants []Packet
			for i, b := range message(c.op, 5, c.wrap) {
				f, want := frameOf(LinkEthernet, b), Packet{}
				f.Data = b[:min(snap, len(b))]
				f.Number, f.Time = uint64(i), int64(1000*i)
				new(Decoder).Decode(f, &want)
				frames, wants = append(frames, *f), append(wants, want)
			}
			var d Decoder
			p := dirty()
			ps := []Packet{p, p, p, p, p, p}
			d.Decode(&frames[0], &ps[0])
			n := d.GoOn(frames[1:], ps[1:])
			if n != c.on || !slices.Equal(ps[:n+1], wants[:n+1]) {
				t.Errorf("%s: %d frames go on with the message, not %d, or are read otherwise:\n%+v\n%+v", c.name, n, c.on, ps[:n+1], wants)
			}
			if d.Decode(&frames[4], &p); p != wants[4] || d.GoOn(frames[1:], ps) != 0 {
				t.Errorf("%s: behind a train a frame is read\n%+v, not\n%+v, or others go on with it", c.name, p, wants[4])
			}
		}
	}
}

// What a train must not take over.
func TestDecodeEndOfTrain(t *testing.T) {
	frame := ethernetFrame(etherIPv4, roce4(ib.Of(ib.RC, ib.WriteMiddle), make([]byte, 256)))[:96]
	for _, c := range []struct {
		name  string
		off   int
		value byte
		goes  bool
	}{
		{"nothing", 0, frame[0], true},
		{"an address of the link", 5, 9, false},
		{"the congestion mark", 15, frame[15] ^ 1, false},
		{"the length beyond what was sent", 16, 0xF0, false},
		{"the ID", 18, 0xAB, true},
		{"a fragment's offset", 21, 1, false},
		{"the hop limit", 22, 1, false},
		{"the checksum of IP", 25, 0x77, true},
		{"the source", 29, 0x77, false},
		{"the destination", 33, 0x77, false},
		{"the source port", 34, 0x77, false},
		{"the port", 37, 0x77, false},
		{"a length of UDP above that of IP", 38, 0x7F, false},
		{"a checksum of UDP", 41, 1, false},
		{"the opcode, a LAST", 42, byte(ib.Of(ib.RC, ib.WriteLast)), true},
		{"the opcode, a SEND", 42, byte(ib.Of(ib.RC, ib.SendMiddle)), false},
		{"the opcode, a READ response", 42, byte(ib.Of(ib.RC, ib.ReadResponseMiddle)), false},
		{"the padding", 43, frame[43] | 0x10, true},
		{"the transport version", 43, frame[43] | 1, false},
		{"the P_Key", 44, 1, false},
		{"a reserved bit", 46, 1, false},
		{"the queue pair", 49, frame[49] + 1, false},
		{"the wish for an answer", 50, 0x80, true},
		{"the PSN", 53, frame[53] + 9, true},
	} {
		var d Decoder
		var p, want Packet
		f := frameOf(LinkEthernet, frame)
		f.Len = 14 + 20 + 8 + 12 + 256 + 4
		d.Decode(f, &p)
		f.Data = bytes.Clone(frame)
		f.Data[c.off] = c.value
		goes := goOn(&d, f, &p)
		new(Decoder).Decode(f, &want)
		if p != want || goes != c.goes {
			t.Errorf("another %s: goes on is %v, read\n%+v, not\n%+v", c.name, goes, p, want)
		}
	}
}

// goOn reads a frame that may go on with the one decoded last.
func goOn(d *Decoder, f *Frame, p *Packet) bool {
	ps := []Packet{dirty()}
	goes := d.GoOn([]Frame{*f}, ps) == 1
	if *p = ps[0]; !goes {
		d.Decode(f, p)
	}
	return goes
}

// FuzzTrain reads a frame, and then one like it, which must say what it says alone.
func FuzzTrain(f *testing.F) {
	for _, op := range []ib.Op{ib.WriteMiddle, ib.SendFirst, ib.ReadResponseMiddle} {
		rest := make([]byte, 64)
		f.Add(uint16(LinkEthernet), ethernetFrame(etherIPv4, roce4(ib.Of(ib.RC, op), rest)), uint16(14+20+8), []byte{byte(op) + 1}, uint16(3))
		f.Add(uint16(LinkEthernet), ethernetFrame(etherIPv6, roce6(ib.Of(ib.UC, op), rest)), uint16(14+4), []byte{0, 90}, uint16(0))
		f.Add(uint16(LinkEthernet), ethernetFrame(0x8915, roce1(ib.Of(ib.RC, op), rest)), uint16(14+40+9), []byte{0, 0, 7}, uint16(0))
		f.Add(uint16(LinkRaw), roce4(ib.Of(ib.RC, op), rest), uint16(2), []byte{0, 70, 1, 2}, uint16(8))
	}
	f.Fuzz(func(t *testing.T, link uint16, data []byte, at uint16, patch []byte, cut uint16) {
		var d, fresh Decoder
		var p, q Packet
		frame := frameOf(LinkType(link), data)
		for range 2 {
			goes := goOn(&d, frame, &p)
			fresh = Decoder{}
			if fresh.Decode(frame, &q); p != q {
				t.Fatalf("goes on is %v:\n%+v\nalone:\n%+v", goes, p, q)
			}
			if p.Status != RoCE && goes {
				t.Fatalf("a frame that is %v goes on with a message", p.Status)
			}
			next := bytes.Clone(data)
			if int(at) < len(next) {
				copy(next[at:], patch)
			}
			frame = frameOf(LinkType(link), next)
			frame.Number++
			frame.Data = next[:len(next)-min(int(cut), len(next))]
		}
	})
}
