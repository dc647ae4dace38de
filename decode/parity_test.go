package decode_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
	"github.com/rocescope/rocescope/decode/roce"
)

// FuzzParity holds the flat decoder against the gopacket layers: two ways to
// read one frame that share only the layout of the headers.
func FuzzParity(f *testing.F) {
	for _, b := range vectorFrames(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkParity(t, data) })
}

func TestFlatAndLayersAgreeOnEveryVectorAndPrefix(t *testing.T) {
	frames := vectorFrames(t)
	if len(frames) == 0 {
		t.Skip("the shared vectors are not beside this checkout")
	}
	for _, b := range frames {
		for n := range len(b) + 1 {
			checkParity(t, b[:n])
		}
	}
}

// vectorFrames returns the Ethernet frames among the shared vectors.
func vectorFrames(t testing.TB) [][]byte {
	text, err := os.ReadFile("../../shared/vectors/vectors.json")
	if err != nil {
		return nil
	}
	var vs []struct {
		LinkType int    `json:"linktype"`
		Hex      string `json:"hex"`
	}
	if err := json.Unmarshal(text, &vs); err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for _, v := range vs {
		b, err := hex.DecodeString(v.Hex)
		if err != nil {
			t.Fatal(err)
		}
		if v.LinkType == 1 {
			out = append(out, b)
		}
	}
	return out
}

func checkParity(t *testing.T, data []byte) {
	t.Helper()
	var d decode.Decoder
	var p decode.Packet
	frame := decode.Frame{Data: data, Len: len(data), Link: decode.LinkEthernet}
	status := d.Decode(&frame, &p)
	pkt := gopacket.NewPacket(data, layers.LayerTypeEthernet, gopacket.Default)
	bth, _ := pkt.Layer(roce.LayerTypeBTH).(*roce.BTH)
	if status != decode.RoCE || bth == nil || countLayers(pkt, layers.LayerTypeIPv4)+countLayers(pkt, layers.LayerTypeIPv6) > 1 {
		return // one of the two does not go as deep: tunnels, extension headers
	}
	got := ib.BTH{Opcode: p.Op, Solicited: p.Solicited, MigReq: p.MigReq, PadCnt: p.PadCnt, TVer: p.TVer, PKey: p.PKey,
		FECN: p.FECN, BECN: p.BECN, Reserved6: bth.Reserved6, DestQP: p.QP, AckReq: p.AckReq, Reserved7: bth.Reserved7, PSN: p.PSN}
	if got != bth.BTH {
		t.Errorf("%x: flat %+v, layers %+v", data, got, bth.BTH)
	}
	if l, _ := pkt.Layer(roce.LayerTypeAETH).(*roce.AETH); l != nil && p.HasExt && (l.Syndrome != p.Syndrome || l.MSN != p.MSN) {
		t.Errorf("%x: flat %v %d, layers %v %d", data, p.Syndrome, p.MSN, l.Syndrome, l.MSN)
	}
	if l, _ := pkt.Layer(roce.LayerTypeRETH).(*roce.RETH); l != nil && p.HasExt && (l.VA != p.VA || l.DMALen != p.DMALen || l.RKey != p.RKey) {
		t.Errorf("%x: flat %#x %d, layers %#x %d", data, p.VA, p.DMALen, l.VA, l.DMALen)
	}
	if l, _ := pkt.Layer(roce.LayerTypeDETH).(*roce.DETH); l != nil && p.HasExt && l.SrcQP != p.SrcQP {
		t.Errorf("%x: flat from QP %#x, layers %#x", data, p.SrcQP, l.SrcQP)
	}
	if l, _ := pkt.Layer(roce.LayerTypePayload).(*roce.Payload); l != nil && l.ICRCState != roce.ICRCMissing {
		// Missing is a CNP too short for its reserved bytes: the layers find no
		// room for an ICRC where the flat decoder goes by the length alone.
		states := map[roce.ICRCState]decode.ICRCState{roce.ICRCGood: decode.ICRCGood, roce.ICRCBad: decode.ICRCBad}
		if want := states[l.ICRCState]; want != p.ICRC {
			t.Errorf("%x: ICRC flat %d, layers %v", data, p.ICRC, l.ICRCState)
		}
	}
}

func countLayers(pkt gopacket.Packet, t gopacket.LayerType) int {
	n := 0
	for _, l := range pkt.Layers() {
		if l.LayerType() == t {
			n++
		}
	}
	return n
}
