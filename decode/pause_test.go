package decode

import "testing"

// pfcBody is what follows EtherType 0x8808: priorities 0, 3 and 7 enabled,
// with a time for each of the eight.
var pfcBody = []byte{1, 1, 0, 0x89, 0, 1, 0, 2, 0, 3, 0xFF, 0xFF, 0, 5, 0, 6, 0, 7, 0, 8}

func TestPFC(t *testing.T) {
	p := decodeOne(LinkEthernet, ethernetFrame(0x8808, pfcBody))
	want := PauseInfo{Enabled: 0x89, Quanta: [8]uint16{1, 2, 3, 0xFFFF, 5, 6, 7, 8}}
	if p.Status != PFC || p.Pause != want || p.SrcMAC[0] != 0x0C {
		t.Errorf("got %+v", p)
	}
}

func TestPFCCut(t *testing.T) {
	tests := []struct {
		desc string
		n    int // bytes captured behind the EtherType
		want Status
		info PauseInfo
	}{
		{"no opcode", 1, Truncated, PauseInfo{}},
		{"no vector", 2, PFC, PauseInfo{}},
		{"no times", 4, PFC, PauseInfo{}},
		{"one time", 6, PFC, PauseInfo{Enabled: 0x01, Quanta: [8]uint16{1}}},
		{"the third time half", 9, PFC, PauseInfo{Enabled: 0x01, Quanta: [8]uint16{1, 2}}},
		{"the fourth time", 12, PFC, PauseInfo{Enabled: 0x09, Quanta: [8]uint16{1, 2, 3, 0xFFFF}}},
	}
	for _, tt := range tests {
		t.Run(tt.desc, func(t *testing.T) {
			p := decodeOne(LinkEthernet, ethernetFrame(0x8808, pfcBody[:tt.n]))
			if p.Status != tt.want || p.Pause != tt.info {
				t.Errorf("got %v %+v", p.Status, p.Pause)
			}
		})
	}
}

func TestPause(t *testing.T) {
	p := decodeOne(LinkEthernet, ethernetFrame(0x8808, []byte{0, 1, 0x10, 0}))
	if p.Status != Pause || p.Pause != (PauseInfo{Quanta: [8]uint16{0x1000}}) {
		t.Errorf("got %v %+v", p.Status, p.Pause)
	}
	// Without the time it must not look like a resume.
	if p := decodeOne(LinkEthernet, ethernetFrame(0x8808, []byte{0, 1, 0x10})); p.Status != Truncated {
		t.Errorf("cut: %v", p.Status)
	}
	// EPON shares the EtherType.
	if p := decodeOne(LinkEthernet, ethernetFrame(0x8808, []byte{0, 2, 0, 0})); p.Status != Other {
		t.Errorf("EPON: %v", p.Status)
	}
}
