package wrapped

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/capture"
)

// sample is one file with all that must be found in it.
type sample struct {
	name   string // of the file
	frames []decode.Frame
	fcs    int             // bytes of frame check sequence that the file states; pcapng alone
	want   []decode.Packet // one for each frame; Mirror, a hash, is looked at apart
	rows   []string        // of the report, as rowText writes them, in any order
	finds  []string        // the rules found with a severity above info
	dcb    *decode.DCB     // what the LLDP frame says, where there is one
	port   uint16          // of RoCEv2; 0 the usual

	tshark string           // why tshark knows less; its other frames are compared
	blind  func(i int) bool // whether it knows less of frame i; nil all, where there is a reason
}

// wrapping is a sample of an exchange whose frames all have the same around them.
type wrapping struct {
	name          string
	link          decode.LinkType
	over          exchange
	wrap          func(x inner) []byte
	front, behind int                           // bytes added before and behind the packet inside, against plain Ethernet
	resealed      bool                          // the ICRC is another, and ends the frame
	want          func(i int, p *decode.Packet) // what else changes
	rows          []string                      // nil: those of the exchange
	finds         []string
	tshark        string
	blind         func(i int) bool
}

func (w wrapping) sample() sample {
	s := sample{name: w.name, want: slices.Clone(w.over.want), rows: w.rows, finds: w.finds, tshark: w.tshark, blind: w.blind}
	for _, x := range w.over.all() {
		f := w.over.frames[x.i]
		f.Data, f.Link = w.wrap(x), w.link
		f.Len = len(f.Data)
		s.frames = append(s.frames, f)

		p := &s.want[x.i]
		p.Len += uint32(w.front + w.behind)
		p.CapLen = p.Len
		p.PayloadOff += uint16(w.front)
		if w.resealed {
			p.ICRCVal = binary.LittleEndian.Uint32(f.Data[f.Len-4:])
		}
		if w.want != nil {
			w.want(x.i, p)
		}
	}
	if s.rows == nil {
		s.rows = rowsOf(&w.over, "")
	}
	return s
}

// rowsOf are the two rows that an exchange makes.
func rowsOf(e *exchange, vni string) []string {
	ends := map[uint16][2]string{0x0800: {"10.0.0.1", "10.0.0.2"}, 0x86DD: {"fd00::1", "fd00::2"}, 0x8915: {"fe80::e42:a1ff:fe00:1", "fe80::e42:a1ff:fe00:2"}}
	p := e.want[0]
	version := map[uint8]string{1: "v1", 2: "v2"}[p.Version]
	a, b := ends[p.EtherType][0], ends[p.EtherType][1]
	return rows(a, b, version+vni)
}

func rows(a, b, version string) []string {
	return []string{
		a + " → " + b + " QP 0x210 RC " + version + ": 3 frames, asks 286 B in 2, answers 1, peer 0x110 by responses",
		b + " → " + a + " QP 0x110 RC " + version + ": 2 frames, asks 13 B in 1, answers 1, peer 0x210 by responses",
	}
}

// then makes one of several changes.
func then(changes ...func(i int, p *decode.Packet)) func(i int, p *decode.Packet) {
	return func(i int, p *decode.Packet) {
		for _, c := range changes {
			c(i, p)
		}
	}
}

// adds is what a header leaves behind in Packet.Encap.
func adds(e decode.Encap) func(int, *decode.Packet) {
	return func(_ int, p *decode.Packet) { p.Encap |= e }
}

// network adds a number that tells tenants apart.
func network(e decode.Encap, vni uint32) func(int, *decode.Packet) {
	return func(_ int, p *decode.Packet) { p.Encap |= e; p.VNI = vni }
}

// vlan is the innermost tag.
func vlan(vid uint16, pcp uint8) func(int, *decode.Packet) {
	return func(_ int, p *decode.Packet) {
		p.Encap |= decode.EncapVLAN
		p.Tagged, p.VLAN, p.PCP = true, vid, pcp
	}
}

// qinq is the innermost tag and the one before it.
func qinq(outer, vid uint16, pcp uint8) func(int, *decode.Packet) {
	return func(_ int, p *decode.Packet) {
		p.Encap |= decode.EncapQinQ
		p.Tagged, p.OuterVLAN, p.VLAN, p.PCP = true, outer, vid, pcp
	}
}

// betweenLeaves is for tunnels that carry IP: the only MACs are the switches'.
func betweenLeaves(i int, p *decode.Packet) {
	p.SrcMAC, p.DstMAC = leaf1, leaf2
	if isBack(i) {
		p.SrcMAC, p.DstMAC = leaf2, leaf1
	}
}

// toCollector is for a mirror that carries IP.
func toCollector(_ int, p *decode.Packet) { p.SrcMAC, p.DstMAC = leaf1, leaf2 }

// numbered is the sequence number of GRE, which starts at first.
func numbered(first uint32) func(int, *decode.Packet) {
	return func(i int, p *decode.Packet) { p.HasGRESeq, p.GRESeq = true, first+uint32(i) }
}

// session is that of ERSPAN.
func session(e decode.Encap, id uint16) func(int, *decode.Packet) {
	return func(_ int, p *decode.Packet) { p.Encap |= e; p.Session = id }
}

// noMACs is for links that have none.
func noMACs(_ int, p *decode.Packet) { p.SrcMAC, p.DstMAC = [6]byte{}, [6]byte{} }

// noDst is for cooked captures.
func noDst(_ int, p *decode.Packet) { p.DstMAC = [6]byte{} }

// bytesOf writes the file, a pcapng where the name says so.
func (s *sample) bytesOf(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := s.writer(&out)
	for i := 0; i < len(s.frames) && err == nil; i++ {
		err = w.Write(&s.frames[i])
	}
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	return out.Bytes()
}

func (s *sample) writer(out *bytes.Buffer) (interface{ Write(*decode.Frame) error }, error) {
	if strings.HasSuffix(s.name, ".pcap") {
		return capture.NewPcapWriter(out, s.frames[0].Link, 0)
	}
	w, err := capture.NewPcapngWriter(out, nil)
	n := 0 // interfaces, which come in the order of their first frames
	for i := range s.frames {
		if err == nil && int(s.frames[i].Iface) == n {
			_, err = w.AddInterface(capture.InterfaceInfo{Link: s.frames[i].Link, FCSLen: s.fcs})
			n++
		}
	}
	return w, err
}
