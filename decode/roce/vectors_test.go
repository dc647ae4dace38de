package roce_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/rocescope/rocescope/decode/ib"
	"github.com/rocescope/rocescope/decode/roce"
)

// vector is one packet of the shared test vectors. Expect holds what Wireshark
// shows of it, by the names of its fields.
type vector struct {
	Name       string
	Hex        string
	LinkType   int
	Len        int
	CapLen     int
	ICRC       string
	ICRCState  string `json:"icrc_state"`
	PayloadLen *int   `json:"payload_len"`
	Expect     map[string]string
}

func (v *vector) bytes(t testing.TB) []byte {
	b, err := hex.DecodeString(v.Hex)
	if err != nil {
		t.Fatalf("%s: %v", v.Name, err)
	}
	return b
}

// first returns the type of the first layer, zero where gopacket has none for
// the link type.
func (v *vector) first(b []byte) gopacket.LayerType {
	switch {
	case v.LinkType == 1:
		return layers.LayerTypeEthernet
	case v.LinkType == 113:
		return layers.LayerTypeLinuxSLL
	case v.LinkType == 101 && b[0]>>4 == 4:
		return layers.LayerTypeIPv4
	case v.LinkType == 101:
		return layers.LayerTypeIPv6
	}
	return gopacket.LayerTypeZero
}

// beyond lists the vectors in encapsulations that gopacket does not decode.
var beyond = map[string]string{
	"23": "ERSPAN II", "34": "ERSPAN III", "35": "ERSPAN III", "36": "ERSPAN I", "37": "NVGRE",
	"52": "SLL2", "55": "ERF", "56": "ERF", "57": "ERF", "58": "native InfiniBand",
}

const vectorFile = "../../../shared/vectors/vectors.json"

// vectors returns the shared test vectors that gopacket can decode, and skips
// the test where they are not beside the repository.
func vectors(t testing.TB) []vector {
	b, err := os.ReadFile(vectorFile)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the shared test vectors are not here: %s", vectorFile)
	}
	if err != nil {
		t.Fatal(err)
	}
	var all, vs []vector
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	for _, v := range all {
		if beyond[v.Name[:2]] == "" {
			vs = append(vs, v)
		}
	}
	return vs
}

// strict makes a panic of a layer fail the test.
var strict = gopacket.DecodeOptions{SkipDecodeRecovery: true}

func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			b := v.bytes(t)
			p := gopacket.NewPacket(b, v.first(b), strict)
			if e := p.ErrorLayer(); e != nil {
				t.Fatalf("%v\n%v", e.Error(), p)
			}
			for name, want := range v.Expect {
				checkField(t, p, name, want)
			}
			if v.PayloadLen != nil {
				checkPayload(t, p, &v)
			}
			if got := p.Metadata().Truncated; got != (v.CapLen < v.Len) {
				t.Errorf("truncated is %v", got)
			}
		})
	}
}

func checkField(t *testing.T, p gopacket.Packet, name, want string) {
	if name == "infiniband.cm.req.ip_cm.sip4" {
		if src, _ := rdmaCM(p).Addrs(); src.String() != want {
			t.Errorf("%s is %v, want %s", name, src, want)
		}
		return
	}
	base := 0
	if name == "infiniband.immdt" || name == "infiniband.ieth" {
		base = 16
	}
	w, err := strconv.ParseUint(want, base, 64)
	if err != nil {
		t.Fatal(err)
	}
	f, ok := fields[name]
	if !ok {
		t.Fatalf("no test knows the field %s", name)
	}
	if got := f(p); got != w {
		t.Errorf("%s is %d (0x%x), want %s", name, got, got, want)
	}
}

// checkPayload compares what a Payload layer says. The vectors count the MAD
// header and the message as payload.
func checkPayload(t *testing.T, p gopacket.Packet, v *vector) {
	pl := layer[*roce.Payload](p)
	n := pl.Length
	for _, l := range p.Layers() {
		if lt := l.LayerType(); lt >= roce.LayerTypeMAD && lt <= roce.LayerTypeSIDRREP {
			n += len(l.LayerContents())
		}
	}
	if n != *v.PayloadLen {
		t.Errorf("payload length %d, want %d", n, *v.PayloadLen)
	}
	want := map[string]roce.ICRCState{"good": roce.ICRCGood, "bad": roce.ICRCBad, "not-checkable": roce.ICRCMissing}[v.ICRCState]
	if pl.ICRCState != want {
		t.Errorf("ICRC is %v, want %v", pl.ICRCState, want)
	}
	if got := hex.EncodeToString(ib.AppendICRC(nil, pl.ICRC)); want != roce.ICRCMissing && got != v.ICRC {
		t.Errorf("ICRC %s, want %s", got, v.ICRC)
	}
}

// layer returns the last layer of a type; the packet must have one.
func layer[P gopacket.Layer](p gopacket.Packet) P {
	ls := p.Layers()
	for i := len(ls) - 1; i >= 0; i-- {
		if l, ok := ls[i].(P); ok {
			return l
		}
	}
	panic("the packet has no such layer: " + p.String())
}

func has(p gopacket.Packet, t gopacket.LayerType) bool { return p.Layer(t) != nil }

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

type packet = gopacket.Packet

// fields reads from the layers what Wireshark calls by these names.
var fields = map[string]func(packet) uint64{
	"infiniband.bth.opcode": func(p packet) uint64 { return uint64(layer[*roce.BTH](p).Opcode) },
	"infiniband.bth.se":     func(p packet) uint64 { return flag(layer[*roce.BTH](p).Solicited) },
	"infiniband.bth.m":      func(p packet) uint64 { return flag(layer[*roce.BTH](p).MigReq) },
	"infiniband.bth.padcnt": func(p packet) uint64 { return uint64(layer[*roce.BTH](p).PadCnt) },
	"infiniband.bth.destqp": func(p packet) uint64 { return uint64(layer[*roce.BTH](p).DestQP) },
	"infiniband.bth.a":      func(p packet) uint64 { return flag(layer[*roce.BTH](p).AckReq) },
	"infiniband.bth.psn":    func(p packet) uint64 { return uint64(layer[*roce.BTH](p).PSN) },

	"infiniband.aeth.msn":                   func(p packet) uint64 { return uint64(layer[*roce.AETH](p).MSN) },
	"infiniband.aeth.syndrome":              func(p packet) uint64 { return uint64(layer[*roce.AETH](p).Syndrome) },
	"infiniband.aeth.syndrome.opcode":       func(p packet) uint64 { return uint64(layer[*roce.AETH](p).Syndrome.Type()) },
	"infiniband.aeth.syndrome.credit_count": func(p packet) uint64 { return uint64(layer[*roce.AETH](p).Syndrome.Value()) },
	"infiniband.aeth.syndrome.error_code":   func(p packet) uint64 { return uint64(layer[*roce.AETH](p).Syndrome.Value()) },
	"infiniband.aeth.syndrome.timer":        func(p packet) uint64 { return uint64(layer[*roce.AETH](p).Syndrome.Value()) },
	"infiniband.atomicacketh.origremdt":     func(p packet) uint64 { return layer[*roce.AtomicAckETH](p).Original },
	"infiniband.atomiceth.cmpdt":            func(p packet) uint64 { return layer[*roce.AtomicETH](p).Compare },
	"infiniband.atomiceth.swapdt":           func(p packet) uint64 { return layer[*roce.AtomicETH](p).SwapAdd },
	"infiniband.deth.q_key":                 func(p packet) uint64 { return uint64(layer[*roce.DETH](p).QKey) },
	"infiniband.deth.srcqp":                 func(p packet) uint64 { return uint64(layer[*roce.DETH](p).SrcQP) },
	"infiniband.ieth":                       func(p packet) uint64 { return uint64(layer[*roce.IETH](p).RKey) },
	"infiniband.immdt":                      func(p packet) uint64 { return uint64(layer[*roce.ImmDt](p).Data) },
	"infiniband.reth.dmalen":                func(p packet) uint64 { return uint64(layer[*roce.RETH](p).DMALen) },
	"infiniband.reth.r_key": func(p packet) uint64 {
		if has(p, roce.LayerTypeAtomicETH) {
			return uint64(layer[*roce.AtomicETH](p).RKey)
		}
		return uint64(layer[*roce.RETH](p).RKey)
	},
	"infiniband.reth.va": func(p packet) uint64 {
		if has(p, roce.LayerTypeAtomicETH) {
			return layer[*roce.AtomicETH](p).VA
		}
		return layer[*roce.RETH](p).VA
	},

	"infiniband.grh.nxthdr": func(p packet) uint64 { return uint64(layer[*roce.GRH](p).NextHeader) },
	"infiniband.grh.paylen": func(p packet) uint64 { return uint64(layer[*roce.GRH](p).Length) },
	"infiniband.grh.tclass": func(p packet) uint64 { return uint64(layer[*roce.GRH](p).TrafficClass) },

	"infiniband.mad.attributeid":          func(p packet) uint64 { return uint64(layer[*roce.MAD](p).AttrID) },
	"infiniband.mad.mgmtclass":            func(p packet) uint64 { return uint64(layer[*roce.MAD](p).Class) },
	"infiniband.cm.rep.localqpn":          func(p packet) uint64 { return uint64(layer[*roce.REP](p).LocalQPN) },
	"infiniband.cm.rep.remotecommid":      func(p packet) uint64 { return uint64(layer[*roce.REP](p).RemoteCommID) },
	"infiniband.cm.rep.rnrretrcount":      func(p packet) uint64 { return uint64(layer[*roce.REP](p).RNRRetry) },
	"infiniband.cm.rep.startpsn":          func(p packet) uint64 { return uint64(layer[*roce.REP](p).StartPSN) },
	"infiniband.cm.rep.tgtackdelay":       func(p packet) uint64 { return uint64(layer[*roce.REP](p).TargetAckDelay) },
	"infiniband.cm.req.initdepth":         func(p packet) uint64 { return uint64(layer[*roce.REQ](p).InitiatorDepth) },
	"infiniband.cm.req.responderres":      func(p packet) uint64 { return uint64(layer[*roce.REQ](p).ResponderResources) },
	"infiniband.cm.req.localqpn":          func(p packet) uint64 { return uint64(layer[*roce.REQ](p).LocalQPN) },
	"infiniband.cm.req.pppmtu":            func(p packet) uint64 { return uint64(layer[*roce.REQ](p).PathMTU) },
	"infiniband.cm.req.prim_localacktout": func(p packet) uint64 { return uint64(layer[*roce.REQ](p).Primary.AckTimeout) },
	"infiniband.cm.req.retrcount":         func(p packet) uint64 { return uint64(layer[*roce.REQ](p).RetryCount) },
	"infiniband.cm.req.rnrretrcount":      func(p packet) uint64 { return uint64(layer[*roce.REQ](p).RNRRetry) },
	"infiniband.cm.req.serviceid.dport":   func(p packet) uint64 { _, port, _ := layer[*roce.REQ](p).ServiceID.Split(); return uint64(port) },
	"infiniband.cm.req.startpsn":          func(p packet) uint64 { return uint64(layer[*roce.REQ](p).StartPSN) },
	"infiniband.cm.req.ip_cm.sport":       func(p packet) uint64 { return uint64(rdmaCM(p).SrcPort) },

	"macc.opcode":             func(p packet) uint64 { return uint64(layer[*roce.MACControl](p).Opcode) },
	"macc.cbfc.enbv":          func(p packet) uint64 { return uint64(layer[*roce.PFC](p).Enable) },
	"macc.cbfc.pause_time.c3": func(p packet) uint64 { return uint64(layer[*roce.PFC](p).Quanta[3]) },
	"macc.pause_time":         func(p packet) uint64 { return uint64(layer[*roce.Pause](p).Quanta) },

	"ip.dsfield.dscp":  func(p packet) uint64 { return uint64(layer[*layers.IPv4](p).TOS >> 2) },
	"ip.dsfield.ecn":   func(p packet) uint64 { return uint64(layer[*layers.IPv4](p).TOS & 3) },
	"ip.len":           func(p packet) uint64 { return uint64(layer[*layers.IPv4](p).Length) },
	"ip.ttl":           func(p packet) uint64 { return uint64(layer[*layers.IPv4](p).TTL) },
	"ipv6.flow":        func(p packet) uint64 { return uint64(layer[*layers.IPv6](p).FlowLabel) },
	"ipv6.tclass.dscp": func(p packet) uint64 { return uint64(layer[*layers.IPv6](p).TrafficClass >> 2) },
	"ipv6.tclass.ecn":  func(p packet) uint64 { return uint64(layer[*layers.IPv6](p).TrafficClass & 3) },
	"udp.checksum":     func(p packet) uint64 { return uint64(layer[*layers.UDP](p).Checksum) },
	"udp.length":       func(p packet) uint64 { return uint64(layer[*layers.UDP](p).Length) },
	"udp.srcport":      func(p packet) uint64 { return uint64(layer[*layers.UDP](p).SrcPort) },
	"vlan.id":          func(p packet) uint64 { return uint64(layer[*layers.Dot1Q](p).VLANIdentifier) },
	"vlan.priority":    func(p packet) uint64 { return uint64(layer[*layers.Dot1Q](p).Priority) },
	"sll.pkttype":      func(p packet) uint64 { return uint64(layer[*layers.LinuxSLL](p).PacketType) },
	"vxlan.vni":        func(p packet) uint64 { return uint64(layer[*layers.VXLAN](p).VNI) },
	"geneve.vni":       func(p packet) uint64 { return uint64(layer[*layers.Geneve](p).VNI) },
	"mpls.exp":         func(p packet) uint64 { return uint64(layer[*layers.MPLS](p).TrafficClass) },
	"mpls.label":       func(p packet) uint64 { return uint64(layer[*layers.MPLS](p).Label) },
}

// rdmaCM reads RDMA-CM's header from the private data.
func rdmaCM(p packet) *ib.RDMACM {
	var h ib.RDMACM
	h.Parse(layer[*roce.Payload](p).Data)
	return &h
}
