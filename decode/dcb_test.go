package decode

import (
	"encoding/binary"
	"testing"
)

// tlv is an LLDP TLV or one inside of CEE's: 7 bits of type, 9 of length.
func tlv(kind uint16, body ...byte) []byte {
	return append(binary.BigEndian.AppendUint16(nil, kind<<9|uint16(len(body))), body...)
}

func lldpOf(tlvs ...[]byte) (b []byte) {
	b = append(tlv(1, 4, 0x0C, 0x42, 0xA1, 0, 0, 1), tlv(2, 3, 0x0C, 0x42, 0xA1, 0, 0, 1)...)
	b = append(b, tlv(3, 0, 120)...)
	for _, t := range tlvs {
		b = append(b, t...)
	}
	return append(b, 0, 0)
}

func ieeeTLV(subtype byte, body ...byte) []byte {
	return tlv(127, append([]byte{0x00, 0x80, 0xC2, subtype}, body...)...)
}

func ceeTLV(features ...[]byte) []byte {
	b := []byte{0x00, 0x1B, 0x21, 2}
	for _, f := range features {
		b = append(b, f...)
	}
	return tlv(127, b...)
}

// feature is a TLV inside of CEE's; 0xC0 is enabled and willing.
func feature(kind uint16, flags, subtype byte, setting ...byte) []byte {
	return tlv(kind, append([]byte{0, 0, flags, subtype}, setting...)...)
}

// Priority 3 has class 3, 6 has 6, the rest 0, as on a switch set up for RoCE.
var (
	etsTables   = []byte{0x00, 0x03, 0x00, 0x60, 50, 0, 0, 50, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 0, 2}
	etsClass    = [8]uint8{3: 3, 6: 6}
	etsShare    = [8]uint8{50, 0, 0, 50}
	etsSchedule = [8]uint8{2, 2, 2, 2, 2, 2, 0, 2}
	ets         = ieeeTLV(9, append([]byte{0x83}, etsTables...)...)
	advised     = ieeeTLV(10, append([]byte{0}, etsTables...)...)
	pfcTLV      = ieeeTLV(11, 0xC8, 0x08)
	apps        = ieeeTLV(12, 0, 3<<5|3, 0x12, 0xB7, 3<<5|1, 0x89, 0x15, 6<<5|5, 0, 48)
	cee         = ceeTLV(
		tlv(1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2), // control
		feature(2, 0xC0, 0, 0x00, 0x03, 0x00, 0xF0, 50, 0, 0, 50, 0, 0, 0, 0, 8),
		feature(3, 0x80, 0, 0x08, 8),
		feature(4, 0xC0, 0, 0x12, 0xB7, 0x01, 0x1B, 0x21, 0x08, 0x89, 0x15, 0x00, 0x1B, 0x21, 0x18))
)

func TestParseDCB(t *testing.T) {
	roceApps := [8]DCBApp{{ByUDP, 3, 4791}, {ByEtherType, 3, 0x8915}, {ByDSCP, 6, 48}}
	tests := []struct {
		desc string
		data []byte
		want DCB
	}{
		{"nothing", nil, DCB{}},
		{"LLDP without DCBX", lldpOf(ieeeTLV(1, 0, 1)), DCB{}},
		{"another organization", lldpOf(tlv(127, 0x00, 0x12, 0x0F, 11, 0xC8, 0x08)), DCB{}},
		{"PFC", lldpOf(pfcTLV), DCB{Has: DCBPFC, PFCWilling: true, PFCBypass: true, PFCCap: 8, PFCEnabled: 0x08}},
		{"ETS", lldpOf(ets), DCB{Has: DCBETS, ETSWilling: true, ETSMax: 3, Class: etsClass, Share: etsShare, Schedule: etsSchedule}},
		{"advice", lldpOf(advised), DCB{Has: DCBAdvised, Advised: DCBAdvice{etsClass, etsShare, etsSchedule}}},
		{"applications", lldpOf(apps), DCB{Has: DCBApps, Apps: roceApps, NumApps: 3}},
		{"all of 802.1Qaz", lldpOf(ets, advised, pfcTLV, apps), DCB{
			Has: DCBETS | DCBAdvised | DCBPFC | DCBApps, ETSWilling: true, ETSMax: 3, Class: etsClass, Share: etsShare, Schedule: etsSchedule,
			Advised: DCBAdvice{etsClass, etsShare, etsSchedule}, PFCWilling: true, PFCBypass: true, PFCCap: 8, PFCEnabled: 0x08,
			Apps: roceApps, NumApps: 3}},
		{"nine applications", lldpOf(ieeeTLV(12, append([]byte{0}, bytesOf(9, 3<<5|2, 0x0C, 0xBC)...)...)), DCB{
			Has: DCBApps, NumApps: 8, AppsCut: true, Apps: [8]DCBApp{
				{ByTCP, 3, 3260}, {ByTCP, 3, 3260}, {ByTCP, 3, 3260}, {ByTCP, 3, 3260},
				{ByTCP, 3, 3260}, {ByTCP, 3, 3260}, {ByTCP, 3, 3260}, {ByTCP, 3, 3260}}}},
		{"CEE", lldpOf(cee), DCB{
			Has: DCBCEE | DCBETS | DCBPFC | DCBApps, ETSWilling: true, Class: [8]uint8{3: 3, 6: 15}, Share: etsShare,
			PFCCap: 8, PFCEnabled: 0x08, NumApps: 3,
			Apps: [8]DCBApp{{ByPort, 3, 4791}, {ByEtherType, 3, 0x8915}, {ByEtherType, 4, 0x8915}}}},
		{"CEE with settings nobody defined", lldpOf(ceeTLV(feature(3, 0x80, 1, 0xFF, 8), feature(4, 0, 0, 0x12, 0xB7, 2, 0, 0, 0xFF))),
			DCB{Has: DCBCEE | DCBApps}},
		{"settings that are too short", lldpOf(ieeeTLV(9, 0x83, 0), ieeeTLV(10), ieeeTLV(11, 1), ieeeTLV(12), ceeTLV(feature(3, 0, 0, 1))), DCB{}},
		{"behind the end", append(lldpOf(), pfcTLV...), DCB{}},
	}
	for _, tt := range tests {
		t.Run(tt.desc, func(t *testing.T) {
			got, ok := ParseDCB(tt.data)
			if got != tt.want || ok != (tt.want.Has != 0) {
				t.Errorf("got %v %+v\nwant %+v", ok, got, tt.want)
			}
		})
	}
}

// A cut frame says less, and nothing else.
func TestParseDCBCut(t *testing.T) {
	b := lldpOf(ets, advised, pfcTLV, apps, cee)
	for n := range b {
		d, ok := ParseDCB(b[:n:n])
		if ok != (d.Has != 0) || d.Has&DCBPFC != 0 && d.PFCEnabled != 0x08 || d.Has&DCBETS != 0 && d.Class[3] != 3 {
			t.Fatalf("cut at %d: %+v", n, d)
		}
	}
}

func TestDecodeLLDP(t *testing.T) {
	data := ethernetFrame(0x8100, tag(0, etherLLDP, lldpOf(pfcTLV)))
	p := decodeOne(LinkEthernet, data)
	if d, ok := ParseDCB(data[p.PayloadOff:]); p.Status != LLDP || p.PayloadOff != 18 || !ok || d.PFCEnabled != 0x08 {
		t.Errorf("got %+v, %+v", p, d)
	}
}

func TestParseDCBNoAllocs(t *testing.T) {
	b := lldpOf(ets, advised, pfcTLV, apps, cee)
	if n := testing.AllocsPerRun(100, func() { ParseDCB(b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestDCBSelectorString(t *testing.T) {
	for s, want := range map[DCBSelector]string{ByEtherType: "EtherType", ByTCP: "TCP", ByUDP: "UDP", ByPort: "port", ByDSCP: "DSCP", 7: "selector 7"} {
		if got := s.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// FuzzParseDCB takes any bytes. What it finds must be in range.
func FuzzParseDCB(f *testing.F) {
	f.Add(lldpOf(ets, advised, pfcTLV, apps))
	f.Add(lldpOf(cee))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, ok := ParseDCB(b)
		if ok != (d.Has != 0) || d.Has >= 1<<5 || int(d.NumApps) > len(d.Apps) || d.AppsCut && d.NumApps != 8 {
			t.Fatalf("%v %+v", ok, d)
		}
		for i, a := range d.Apps {
			if a.Priority > 7 || a.Selector > 7 || i >= int(d.NumApps) && a != (DCBApp{}) {
				t.Fatalf("application %d: %+v", i, a)
			}
		}
		for i := range 8 {
			if d.Class[i] > 15 || d.Advised.Class[i] > 15 {
				t.Fatalf("class: %+v", d)
			}
		}
	})
}
