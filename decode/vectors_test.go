package decode

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/decode/ib"
)

const vectorFile = "../../shared/vectors/vectors.json"

// vector is one packet with what Wireshark says of it; see the README beside
// the file.
type vector struct {
	Name       string
	LinkType   LinkType
	Len        int
	Hex        string
	ICRC       string
	ICRCState  string `json:"icrc_state"`
	PayloadLen *int   `json:"payload_len"`
	Expect     map[string]string

	data []byte
}

func loadVectors(t testing.TB) []vector {
	t.Helper()
	text, err := os.ReadFile(vectorFile)
	if os.IsNotExist(err) {
		t.Skipf("no test vectors at %s", vectorFile)
	}
	var vs []vector
	if err == nil {
		err = json.Unmarshal(text, &vs)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range vs {
		if vs[i].data, err = hex.DecodeString(vs[i].Hex); err != nil {
			t.Fatalf("%s: %v", vs[i].Name, err)
		}
	}
	return vs
}

func (v *vector) frame(caplen int) *Frame {
	return &Frame{Data: v.data[:caplen:caplen], Len: v.Len, Link: v.LinkType, Time: 1, Number: 1}
}

// fields maps Wireshark's names to what Packet holds of them.
var fields = map[string]func(p *Packet) uint64{
	"infiniband.bth.opcode":               func(p *Packet) uint64 { return uint64(p.Op) },
	"infiniband.bth.destqp":               func(p *Packet) uint64 { return uint64(p.QP) },
	"infiniband.bth.a":                    func(p *Packet) uint64 { return num(p.AckReq) },
	"infiniband.bth.m":                    func(p *Packet) uint64 { return num(p.MigReq) },
	"infiniband.bth.se":                   func(p *Packet) uint64 { return num(p.Solicited) },
	"infiniband.bth.psn":                  func(p *Packet) uint64 { return uint64(p.PSN) },
	"infiniband.bth.padcnt":               func(p *Packet) uint64 { return uint64(p.PadCnt) },
	"infiniband.reth.va":                  func(p *Packet) uint64 { return p.VA },
	"infiniband.reth.r_key":               func(p *Packet) uint64 { return uint64(p.RKey) },
	"infiniband.reth.dmalen":              func(p *Packet) uint64 { return uint64(p.DMALen) },
	"infiniband.immdt":                    func(p *Packet) uint64 { return uint64(p.Imm) },
	"infiniband.ieth":                     func(p *Packet) uint64 { return uint64(p.RKey) },
	"infiniband.deth.srcqp":               func(p *Packet) uint64 { return uint64(p.SrcQP) },
	"infiniband.aeth.syndrome":            func(p *Packet) uint64 { return uint64(p.Syndrome) },
	"infiniband.aeth.syndrome.opcode":     func(p *Packet) uint64 { return uint64(p.Syndrome.Type()) },
	"infiniband.aeth.syndrome.error_code": func(p *Packet) uint64 { return uint64(p.Syndrome.Value()) },
	"infiniband.aeth.syndrome.timer":      func(p *Packet) uint64 { return uint64(p.Syndrome.Value()) },
	"infiniband.aeth.msn":                 func(p *Packet) uint64 { return uint64(p.MSN) },
	"infiniband.grh.tclass":               func(p *Packet) uint64 { return uint64(p.DSCP)<<2 | uint64(p.ECN) },
	"infiniband.grh.nxthdr":               func(p *Packet) uint64 { return uint64(p.Proto) },
	"ip.dsfield.dscp":                     func(p *Packet) uint64 { return uint64(p.DSCP) },
	"ip.dsfield.ecn":                      func(p *Packet) uint64 { return uint64(p.ECN) },
	"ipv6.tclass.dscp":                    func(p *Packet) uint64 { return uint64(p.DSCP) },
	"ipv6.tclass.ecn":                     func(p *Packet) uint64 { return uint64(p.ECN) },
	"ip.ttl":                              func(p *Packet) uint64 { return uint64(p.TTL) },
	"udp.srcport":                         func(p *Packet) uint64 { return uint64(p.SrcPort) },
	"vlan.id":                             func(p *Packet) uint64 { return uint64(p.VLAN) },
	"vlan.priority":                       func(p *Packet) uint64 { return uint64(p.PCP) },
	"vxlan.vni":                           func(p *Packet) uint64 { return uint64(p.VNI) },
	"geneve.vni":                          func(p *Packet) uint64 { return uint64(p.VNI) },
	"erspan.spanid":                       func(p *Packet) uint64 { return uint64(p.Session) },
	"gre.sequence_number":                 func(p *Packet) uint64 { return uint64(p.GRESeq) },
	"macc.cbfc.enbv":                      func(p *Packet) uint64 { return uint64(p.Pause.Enabled) },
	"macc.cbfc.pause_time.c3":             func(p *Packet) uint64 { return uint64(p.Pause.Quanta[3]) },
	"macc.pause_time":                     func(p *Packet) uint64 { return uint64(p.Pause.Quanta[0]) },
}

func num(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// hexOnly names the fields Wireshark prints in hexadecimal without saying so.
var hexOnly = map[string]bool{"infiniband.immdt": true, "infiniband.ieth": true}

func TestVectors(t *testing.T) {
	used := map[string]bool{}
	for _, v := range loadVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			var d Decoder
			var p Packet
			d.Decode(v.frame(len(v.data)), &p)
			v.checkShape(t, &p)
			for name, text := range v.Expect {
				get := fields[name]
				if get == nil {
					continue
				}
				used[name] = true
				base := 0
				if hexOnly[name] {
					base = 16
				}
				want, err := strconv.ParseUint(text, base, 64)
				if err != nil {
					t.Fatal(err)
				}
				if got := get(&p); got != want {
					t.Errorf("%s = %#x, want %#x", name, got, want)
				}
			}
		})
	}
	for name := range fields {
		if !used[name] {
			t.Errorf("no vector tells %s", name)
		}
	}
}

// checkShape holds status, lengths, tag and ICRC against the vector.
func (v *vector) checkShape(t *testing.T, p *Packet) {
	t.Helper()
	want := RoCE
	switch {
	case strings.Contains(v.Name, "_pfc_"):
		want = PFC
	case strings.Contains(v.Name, "_pause"):
		want = Pause
	}
	if p.Status != want {
		t.Fatalf("status %v, want %v", p.Status, want)
	}
	if want != RoCE {
		return
	}
	if !p.HasExt {
		t.Error("extension headers were not read")
	}
	if int(p.PayloadLen) != *v.PayloadLen {
		t.Errorf("payload %d, want %d", p.PayloadLen, *v.PayloadLen)
	}
	if _, tagged := v.Expect["vlan.id"]; tagged && !p.Tagged {
		t.Error("the tag was not seen")
	}
	state, ok := map[string]ICRCState{"good": ICRCGood, "bad": ICRCBad, "not-checkable": ICRCUnchecked, "": ICRCUnchecked, "none": ICRCUnchecked}[v.ICRCState]
	if !ok || p.ICRC != state {
		t.Errorf("ICRC state %d, want %s", p.ICRC, v.ICRCState)
	}
	wire, err := hex.DecodeString(v.ICRC)
	if err != nil {
		t.Fatal(err)
	}
	if p.ICRC != ICRCUnchecked && p.ICRCVal != ib.ReadICRC(wire) {
		t.Errorf("ICRC %08x, want %s", p.ICRCVal, v.ICRC)
	}
}

// A capture cut at any length must yield a part of what the whole one yields.
func TestVectorsCut(t *testing.T) {
	for _, v := range loadVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			var d Decoder
			var whole, p Packet
			d.Decode(v.frame(len(v.data)), &whole)
			for n := range v.data {
				d.Decode(v.frame(n), &p)
				checkCut(t, n, &p, &whole)
			}
		})
	}
}

func checkCut(t *testing.T, n int, p, whole *Packet) {
	t.Helper()
	switch p.Status {
	case Truncated:
		if whole.HasExt && n >= int(whole.PayloadOff) {
			t.Fatalf("cut at %d: %v though all headers are there", n, p.Status)
		}
		if p.PayloadLen != 0 || p.QP != 0 {
			t.Fatalf("cut at %d: transport fields without a transport header", n)
		}
		return
	case whole.Status:
	default:
		t.Fatalf("cut at %d: %v", n, p.Status)
	}
	if p.Status != RoCE {
		return
	}
	if p.HasExt != (n >= int(whole.PayloadOff)) {
		t.Fatalf("cut at %d: HasExt %v, payload starts at %d", n, p.HasExt, whole.PayloadOff)
	}
	if p.PayloadLen != whole.PayloadLen || p.QP != whole.QP || p.PSN != whole.PSN || p.Src != whole.Src {
		t.Fatalf("cut at %d: %+v", n, *p)
	}
	if p.ICRC != ICRCUnchecked && p.ICRC != whole.ICRC {
		t.Fatalf("cut at %d: ICRC state %d", n, p.ICRC)
	}
}
