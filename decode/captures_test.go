package decode_test

import (
	"io"
	"maps"
	"os"
	"testing"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/capture"
)

// A capture is counted by what its frames turn out to be; each says what it may
// have in common with no other.
func TestCaptures(t *testing.T) {
	tests := []struct {
		file string
		want map[decode.Status]int
		each func(t *testing.T, p *decode.Packet, data []byte)
	}{
		{"softroce/vxlan_mirror.u2.pcap", map[decode.Status]int{decode.RoCE: 42, decode.Other: 5}, inVXLAN},
		{"public/erspan-type-i-1.pcap", map[decode.Status]int{decode.Other: 2}, inERSPAN1},
		{"public/erspan-type-iii-pb-1.pcap", map[decode.Status]int{decode.Truncated: 1}, nil},
		{"public/dcb_pfc.pcap", map[decode.Status]int{decode.Other: 1, decode.LLDP: 4}, ofDCB},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			got := map[decode.Status]int{}
			for p, data := range packets(t, "../../shared/captures/"+tt.file) {
				got[p.Status]++
				if tt.each != nil {
					tt.each(t, p, data)
				}
			}
			if !maps.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// packets yields the decoded frames of a capture. It skips the test where the
// capture is not there.
func packets(t *testing.T, name string) func(func(*decode.Packet, []byte) bool) {
	t.Helper()
	if _, err := os.Stat(name); err != nil {
		t.Skip("the shared captures are not beside this checkout")
	}
	f, err := capture.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(*decode.Packet, []byte) bool) {
		defer f.Close()
		var d decode.Decoder
		var fr decode.Frame
		var p decode.Packet
		for {
			if err := f.Read(&fr); err == io.EOF {
				return
			} else if err != nil {
				t.Fatal(err)
			}
			if d.Decode(&fr, &p); !yield(&p, fr.Data) {
				return
			}
		}
	}
}

func inVXLAN(t *testing.T, p *decode.Packet, _ []byte) {
	if p.Status != decode.RoCE {
		return
	}
	if p.Encap != decode.EncapVXLAN || p.VNI != 42 || p.ICRC != decode.ICRCGood || p.Odd != 0 || p.Dst[12] != 10 || p.DstMAC[0] != 2 {
		t.Errorf("frame %d: %+v", p.Frame, *p)
	}
}

func inERSPAN1(t *testing.T, p *decode.Packet, _ []byte) {
	if p.Encap != decode.EncapERSPAN1|decode.EncapVLAN || p.VLAN != 0x65 || p.Proto != 1 || p.HasGRESeq || p.Dst[12] != 10 {
		t.Errorf("frame %d: %+v", p.Frame, *p)
	}
}

func ofDCB(t *testing.T, p *decode.Packet, data []byte) {
	if p.Status != decode.LLDP {
		return
	}
	want := decode.DCB{Has: decode.DCBPFC, PFCCap: 4, PFCEnabled: 0x34}
	if got, ok := decode.ParseDCB(data[p.PayloadOff:]); !ok || got != want {
		t.Errorf("frame %d: %+v", p.Frame, got)
	}
}
