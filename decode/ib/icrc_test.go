package ib_test

import (
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/rocescope/rocescope/decode/ib"
)

// cnp is a congestion notification packet that a ConnectX-4 Lx sent, from the
// IPv4 header on.
const cnp = "45c2003c718c4000401191610a0011010a001201" + "000012b700280000" +
	"8100ffff4000011800000000" + "00000000000000000000000000000000" + "82fd002a"

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestICRCOfRealCNP(t *testing.T) {
	b := unhex(t, cnp)
	var c ib.ICRC
	end := len(b) - ib.ICRCLen
	got, ok := c.IPv4(b[:end], 20)
	if want := ib.ReadICRC(b[end:]); !ok || got != want {
		t.Errorf("ICRC %08x %v, want %08x", got, ok, want)
	}
	if w := ib.AppendICRC(nil, got); hex.EncodeToString(w) != "82fd002a" {
		t.Errorf("wire form %x", w)
	}
}

// What a switch or router rewrites on the way must leave the ICRC as it is;
// what it must not touch changes it.
func TestICRCMasks(t *testing.T) {
	b := unhex(t, cnp)
	var c ib.ICRC
	want, _ := c.IPv4(b[:len(b)-4], 20)
	masked := map[int]bool{1: true, 8: true, 10: true, 11: true, 20 + 6: true, 20 + 7: true, 28 + 4: true}
	for i := range b[:len(b)-4] {
		m := append([]byte(nil), b...)
		m[i] ^= 0x10
		got, _ := c.IPv4(m[:len(m)-4], 20)
		if same := got == want; same != masked[i] {
			t.Errorf("byte %d: ICRC unchanged is %v, want %v", i, same, masked[i])
		}
	}
}

func TestICRCShort(t *testing.T) {
	var c ib.ICRC
	b := make([]byte, 100)
	for n := range 60 {
		if _, ok := c.IPv4(b[:n], 20); ok != (n >= 40) {
			t.Errorf("IPv4 with %d bytes: %v", n, ok)
		}
		if _, ok := c.IPv6(b[:n]); ok != (n >= 60) {
			t.Errorf("IPv6 with %d bytes: %v", n, ok)
		}
		if _, ok := c.GRH(b[:n]); ok != (n >= 52) {
			t.Errorf("GRH with %d bytes: %v", n, ok)
		}
	}
	for _, hdr := range []int{-1, 0, 19, 61} {
		if _, ok := c.IPv4(b, hdr); ok {
			t.Errorf("an IPv4 header of %d bytes was taken", hdr)
		}
	}
}

// TestICRCVectors computes the ICRC of every untunnelled vector that has one.
func TestICRCVectors(t *testing.T) {
	var c ib.ICRC
	checked := 0
	for _, v := range vectors(t) {
		if v.ICRCState != "good" && v.ICRCState != "bad" {
			continue
		}
		got, wire, ok := vectorICRC(&c, v.bytes(t), v.LinkType)
		if !ok {
			continue
		}
		checked++
		if hex.EncodeToString(ib.AppendICRC(nil, wire)) != v.ICRC {
			t.Errorf("%s: found %08x where the ICRC should be", v.Name, wire)
		}
		if good := got == wire; good != (v.ICRCState == "good") {
			t.Errorf("%s: computed %08x, wire %08x, want %s", v.Name, got, wire, v.ICRCState)
		}
	}
	if checked < 38 {
		t.Errorf("only %d vectors were checked", checked)
	}
}

// vectorICRC computes the ICRC of a packet under one or two VLAN tags, and
// returns the one that stands in the packet.
func vectorICRC(c *ib.ICRC, b []byte, link int) (got, wire uint32, ok bool) {
	be := binary.BigEndian
	var typ uint16
	switch link {
	case 1:
		typ, b = be.Uint16(b[12:]), b[14:]
		for typ == 0x8100 || typ == 0x88A8 {
			typ, b = be.Uint16(b[2:]), b[4:]
		}
	case 101:
		typ = map[byte]uint16{4: 0x0800, 6: 0x86DD}[b[0]>>4]
	}
	end := 0
	switch {
	case typ == 0x0800 && b[9] == 17 && be.Uint16(b[22:]) == 4791:
		end = 20 + int(be.Uint16(b[24:])) - 4
		got, ok = c.IPv4(b[:end], 20)
	case typ == 0x86DD && b[6] == 17:
		end = 40 + int(be.Uint16(b[44:])) - 4
		got, ok = c.IPv6(b[:end])
	case typ == 0x8915:
		end = 40 + int(be.Uint16(b[4:])) - 4
		got, ok = c.GRH(b[:end])
	}
	if !ok {
		return 0, 0, false
	}
	return got, ib.ReadICRC(b[end:]), true
}

func TestICRCAllocatesNothing(t *testing.T) {
	b := unhex(t, cnp)
	b = append(b, make([]byte, 64)...)
	var c ib.ICRC
	if n := testing.AllocsPerRun(100, func() {
		c.IPv4(b, 20)
		c.IPv6(b)
		c.GRH(b)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkICRC(b *testing.B) {
	p := append(unhex(b, cnp), make([]byte, 4096)...)
	var c ib.ICRC
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		c.IPv4(p, 20)
	}
}
