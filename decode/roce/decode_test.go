package roce_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/rocescope/rocescope/decode/ib"
	"github.com/rocescope/rocescope/decode/roce"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ack is an ACK from the UDP header on, 4 bytes of AETH and the ICRC last.
const ack = "c12312b7001c0000 1140ffff4000011800001234 1f000007 aabbccdd"

func names(p gopacket.Packet) string {
	var s []string
	for _, l := range p.Layers() {
		s = append(s, l.LayerType().String())
	}
	return strings.Join(s, " ")
}

func TestLayerNames(t *testing.T) {
	want := map[string]string{
		"02": "Ethernet Dot1Q IPv4 UDP BTH RETH RoCEPayload",
		"05": "Ethernet IPv6 UDP BTH RETH ImmDt RoCEPayload",
		"06": "Ethernet IPv4 UDP BTH AETH RoCEPayload",
		"09": "Ethernet IPv4 UDP BTH CNP RoCEPayload",
		"13": "Ethernet IPv4 UDP BTH AtomicETH RoCEPayload",
		"14": "Ethernet IPv4 UDP BTH AETH AtomicAckETH RoCEPayload",
		"15": "Ethernet IPv4 UDP BTH IETH RoCEPayload",
		"16": "Ethernet IPv4 UDP BTH DETH MAD REQ RoCEPayload",
		"17": "Ethernet IPv4 UDP BTH DETH MAD REP RoCEPayload",
		"18": "Ethernet GRH BTH RoCEPayload",
		"19": "Ethernet IPv4 UDP BTH RoCEPayload",
		"20": "Ethernet MACControl PFC",
		"22": "Ethernet MACControl PAUSE",
		"25": "Ethernet IPv4 UDP BTH XRCETH RoCEPayload",
		"26": "Ethernet IPv4 UDP BTH FETH RETH RoCEPayload",
		"40": "Ethernet IPv4 UDP BTH RoCEPayload",
		"44": "Ethernet IPv6 UDP BTH DETH ImmDt RoCEPayload",
	}
	for _, v := range vectors(t) {
		w, ok := want[v.Name[:2]]
		if !ok {
			continue
		}
		b := v.bytes(t)
		if got := names(gopacket.NewPacket(b, v.first(b), strict)); got != w {
			t.Errorf("%s: %s, want %s", v.Name, got, w)
		}
	}
}

// tunnel lists the vectors whose outer layers gopacket decodes with panics of
// its own where they are cut.
var tunnel = map[string]bool{"24": true, "32": true, "33": true, "38": true}

// TestEveryPrefix cuts each frame at every length: nothing panics, lazily or
// not, the layers are those of the whole packet as far as they go, and no ICRC
// is judged that was not captured.
func TestEveryPrefix(t *testing.T) {
	for _, v := range frames(t) {
		if tunnel[v.Name[:2]] {
			continue
		}
		b := v.bytes(t)
		whole := names(gopacket.NewPacket(b, v.first(b), strict))
		state := icrcState(gopacket.NewPacket(b, v.first(b), strict))
		for n := 1; n < len(b); n++ {
			p := gopacket.NewPacket(b[:n:n], v.first(b), strict)
			lazy := gopacket.NewPacket(b[:n:n], v.first(b), gopacket.DecodeOptions{Lazy: true, SkipDecodeRecovery: true})
			if l := names(lazy); l != names(p) {
				t.Errorf("%s cut to %d: lazily %s, eagerly %s", v.Name, n, l, names(p))
			}
			got, failed := strings.CutSuffix(names(p), "DecodeFailure")
			if !strings.HasPrefix(whole, strings.TrimSpace(got)) {
				t.Errorf("%s cut to %d: %s, whole %s", v.Name, n, got, whole)
			}
			if s := icrcState(p); s != roce.ICRCMissing && s != state {
				t.Errorf("%s cut to %d: the ICRC is %v, of the whole %v", v.Name, n, s, state)
			}
			if failed && strings.Contains(got, "UDP") && !p.Metadata().Truncated {
				t.Errorf("%s cut to %d is not marked truncated: %v", v.Name, n, p)
			}
			_, _ = p.String(), p.Dump()
		}
	}
}

func icrcState(p gopacket.Packet) roce.ICRCState {
	if l, ok := p.Layer(roce.LayerTypePayload).(*roce.Payload); ok {
		return l.ICRCState
	}
	return roce.ICRCMissing
}

// A cut payload is kept, and its length is still known.
func TestTruncatedPayload(t *testing.T) {
	for _, c := range []struct {
		desc             string
		drop             int // bytes cut off the end
		data, pad, total int
		state            roce.ICRCState
	}{
		{"whole", 0, 5, 3, 5, roce.ICRCUnchecked},
		{"without the last byte of the ICRC", 1, 5, 3, 5, roce.ICRCMissing},
		{"without ICRC", 4, 5, 3, 5, roce.ICRCMissing},
		{"within the pad", 6, 5, 1, 5, roce.ICRCMissing},
		{"within the payload", 9, 3, 0, 5, roce.ICRCMissing},
		{"one byte of payload", 11, 1, 0, 5, roce.ICRCMissing},
	} {
		t.Run(c.desc, func(t *testing.T) {
			b := unhex(t, "c12312b700200000 0430ffff0000011800001234 4142434445 000000 aabbccdd")
			p := gopacket.NewPacket(b[:len(b)-c.drop], layers.LayerTypeUDP, strict)
			pl := layer[*roce.Payload](p)
			if len(pl.Data) != c.data || len(pl.Pad) != c.pad || pl.Length != c.total || pl.ICRCState != c.state {
				t.Errorf("%v", pl)
			}
			if p.Metadata().Truncated != (c.drop > 0) {
				t.Errorf("truncated is %v", p.Metadata().Truncated)
			}
			if string(p.ApplicationLayer().Payload()) != "ABCDE"[:c.data] {
				t.Errorf("payload %q", p.ApplicationLayer().Payload())
			}
		})
	}
}

// Lengths that leave no room for the ICRC must not underflow.
func TestNoRoomForICRC(t *testing.T) {
	b := unhex(t, ack)
	for n := 8; n <= len(b); n++ {
		b[5] = byte(n)
		p := gopacket.NewPacket(b, layers.LayerTypeUDP, strict)
		if l, ok := p.Layer(roce.LayerTypePayload).(*roce.Payload); ok {
			if l.Length < 0 || len(l.Data) > len(b) || (n < len(b)) != (l.ICRCState == roce.ICRCMissing) {
				t.Errorf("UDP length %d: %v", n, l)
			}
		}
	}
}

// What follows the UDP datagram is not taken for the ICRC.
func TestBytesBehind(t *testing.T) {
	b := append(unhex(t, ack), 1, 2, 3, 4, 5, 6)
	p := gopacket.NewPacket(b, layers.LayerTypeUDP, strict)
	if pl := layer[*roce.Payload](p); pl.ICRC != 0xDDCCBBAA || pl.Length != 0 || len(pl.Contents) != 4 {
		t.Errorf("%v", pl)
	}
	if p.Metadata().Truncated {
		t.Error("marked truncated")
	}
}

func TestUnknownOpcode(t *testing.T) {
	b := unhex(t, ack)
	b[8] = 0xE5
	p := gopacket.NewPacket(b, layers.LayerTypeUDP, strict)
	if names(p) != "UDP BTH RoCEPayload" || layer[*roce.Payload](p).Length != 4 {
		t.Error(p)
	}
}

func TestGRHVersion(t *testing.T) {
	b := append(unhex(t, "8000000000181b40"), make([]byte, 32+24)...)
	p := gopacket.NewPacket(b, roce.LayerTypeGRH, strict)
	if p.ErrorLayer() == nil || has(p, roce.LayerTypeGRH) {
		t.Errorf("version 8 was taken: %v", p)
	}
	b[0] = 0x60
	p = gopacket.NewPacket(b, roce.LayerTypeGRH, strict)
	if names(p) != "GRH BTH RoCEPayload" || p.NetworkLayer() == nil {
		t.Error(p)
	}
	b[6] = 59
	if p = gopacket.NewPacket(b, roce.LayerTypeGRH, strict); names(p) != "GRH Payload" {
		t.Error(p)
	}
}

func TestRegisterPort(t *testing.T) {
	b := unhex(t, ack)
	b[2], b[3] = 1021>>8, 1021&0xFF
	if p := gopacket.NewPacket(b, layers.LayerTypeUDP, strict); has(p, roce.LayerTypeBTH) {
		t.Error("port 1021 is RoCE without being registered")
	}
	roce.RegisterPort(1021)
	defer layers.RegisterUDPPortLayerType(1021, 0)
	if p := gopacket.NewPacket(b, layers.LayerTypeUDP, strict); !has(p, roce.LayerTypeBTH) {
		t.Error("port 1021 was registered and is not RoCE")
	}
}

// Every message of communication management has its layer.
func TestCMLayers(t *testing.T) {
	for a, want := range map[ib.CMAttr]string{
		ib.AttrREQ: "REQ", ib.AttrMRA: "MRA", ib.AttrREJ: "REJ", ib.AttrREP: "REP", ib.AttrRTU: "RTU", ib.AttrDREQ: "DREQ",
		ib.AttrDREP: "DREP", ib.AttrSIDRREQ: "SIDR_REQ", ib.AttrSIDRREP: "SIDR_REP", ib.AttrLAP: "", 0x0F: "", 0x20: "",
	} {
		b := unhex(t, "6400ffff0000000100000015 8001000000000001 0107020300000000 0000000100000002 0000000000000000")
		b = append(b, make([]byte, ib.MADLen-ib.MADHeaderLen+ib.ICRCLen)...)
		b[20+17] = byte(a)
		p := gopacket.NewPacket(b, roce.LayerTypeBTH, strict)
		w := strings.Join(strings.Fields("BTH DETH MAD "+want+" RoCEPayload"), " ")
		if names(p) != w {
			t.Errorf("%v: %s, want %s", a, names(p), w)
		}
	}
}
