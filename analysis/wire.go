package analysis

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
)

// wire counts, what belongs to no row: how frames
// were wrapped, what is unusual about them, and what mirrors say they lost.
type wire struct {
	encaps  tally[decode.Encap]
	odds    tally[decode.Odd]
	ports   map[uint16]int64
	mirrors map[uint32]*mirror
	others  map[protocol]int64
}

// protocol names what a frame carries that is not RoCE.
type protocol struct {
	ether uint16 // EtherType
	proto uint8  // of IP
	port  uint16 // of TCP and UDP, the lower one: that of the service, mostly
}

func (x protocol) String() string {
	switch {
	case x.ether == 0x0806:
		return "ARP"
	case x.ether == 0x88CC:
		return "LLDP"
	case x.ether == 0x8863 || x.ether == 0x8864:
		return "PPPoE"
	case x.ether < 0x0600:
		return "802.3"
	case x.ether != 0x0800 && x.ether != 0x86DD:
		return fmt.Sprintf("EtherType 0x%04X", x.ether)
	}
	switch x.proto {
	case 1, 58:
		return "ICMP"
	case 2:
		return "IGMP"
	case 6:
		return fmt.Sprintf("TCP port %d", x.port)
	case 17:
		return fmt.Sprintf("UDP port %d", x.port)
	case 89:
		return "OSPF"
	case 132:
		return "SCTP"
	case 254:
		return "RoCE v1.5 (IP protocol 254)"
	}
	return fmt.Sprintf("IP protocol %d", x.proto)
}

func protocolOf(p *decode.Packet) protocol {
	x := protocol{ether: p.EtherType, proto: p.Proto}
	if p.Proto == 6 || p.Proto == 17 {
		x.port = min(p.SrcPort, p.DstPort)
	}
	return x
}

// wireTablesMax is how many entries each table has, whatever the frames say.
const wireTablesMax = 1024

func newWire() *wire {
	return &wire{encaps: newTally[decode.Encap](), odds: newTally[decode.Odd](), ports: map[uint16]int64{}, mirrors: map[uint32]*mirror{}, others: map[protocol]int64{}}
}

// mirror follows the GRE sequence numbers of one mirror session. They are given
// when a frame is mirrored, so what is missing was lost between the mirror and
// the capture.
type mirror struct {
	frames     int64
	first, max int64 // sequence numbers, carried on past 2^32
}

func (m *mirror) seen(seq uint32) {
	if m.frames == 0 {
		m.first, m.max = int64(seq), int64(seq)
	}
	m.frames++
	at := m.max + int64(int32(seq-uint32(m.max)))
	m.first, m.max = min(m.first, at), max(m.max, at)
}

// lost returns how many frames of the session are missing. A copy hides one.
func (m *mirror) lost() int64 { return max(0, m.max-m.first+1-m.frames) }

// count takes a decoded frame that is no RoCE, is odd, or was wrapped.
func (w *wire) count(p *decode.Packet) {
	if p.Encap != 0 {
		w.encaps.add(p.Encap)
	}
	if p.Odd != 0 {
		w.odd(p)
	}
	if p.Status != decode.RoCE && p.EtherType != 0 {
		if x := protocolOf(p); len(w.others) < wireTablesMax || w.others[x] > 0 {
			w.others[x]++
		}
	}
	if p.HasGRESeq {
		m := w.mirrors[p.Mirror]
		if m == nil && len(w.mirrors) < wireTablesMax {
			m = &mirror{}
			w.mirrors[p.Mirror] = m
		}
		if m != nil {
			m.seen(p.GRESeq)
		}
	}
}

// tally counts by key, of which there are few. Frames alike come in runs, which
// cost no look-up.
type tally[K comparable] struct {
	last K
	n    *int64 // of last; nil at first
	all  map[K]*int64
}

func newTally[K comparable]() tally[K] { return tally[K]{all: map[K]*int64{}} }

func (t *tally[K]) add(k K) {
	if k != t.last || t.n == nil {
		n := t.all[k]
		if n == nil {
			n = new(int64)
			t.all[k] = n
		}
		t.last, t.n = k, n
	}
	*t.n++
}

func (w *wire) odd(p *decode.Packet) {
	w.odds.add(p.Odd)
	if p.Odd&decode.OddPort != 0 && (len(w.ports) < wireTablesMax || w.ports[p.DstPort] > 0) {
		w.ports[p.DstPort]++
	}
}

// report adds the counts to a report, and what LLDP told.
func (w *wire) report(r *report.Report, d dcbs) {
	frames := []report.Column{{Name: "frames", Unit: "frames", Kind: report.Sum}}
	wrapped := report.Table{Name: report.WrappedTable, Help: "How frames were wrapped.", Keys: []string{"encapsulation"}, Columns: frames}
	for e, n := range w.encaps.all {
		wrapped.Rows = append(wrapped.Rows, report.Row{Key: []string{e.String()}, Values: []int64{*n}})
	}
	odd := report.Table{Name: report.OddTable, Help: "What is unusual about frames, though they could be read.", Keys: []string{"oddity"}, Columns: frames}
	var odds [16]int64 // by bit
	for o, n := range w.odds.all {
		for i := range odds {
			odds[i] += int64(o>>i&1) * *n
		}
	}
	for i, n := range odds {
		if n > 0 {
			odd.Rows = append(odd.Rows, report.Row{Key: []string{decode.Odd(1 << i).String()}, Values: []int64{n}})
		}
	}
	ports := report.Table{Name: report.PortTable, Help: "UDP ports other than RoCEv2's with traffic that reads as RoCEv2.", Keys: []string{"udp_port"}, Columns: frames}
	for port, n := range w.ports {
		ports.Rows = append(ports.Rows, report.Row{Key: []string{strconv.Itoa(int(port))}, Values: []int64{n}})
	}
	mirrors := report.Table{Name: report.MirrorTable, Help: "Mirror sessions, and the frames that their GRE sequence numbers say are missing.", Keys: []string{"session"},
		Columns: append(slices.Clone(frames), report.Column{Name: "lost", Unit: "frames", Kind: report.Sum})}
	for id, m := range w.mirrors {
		mirrors.Rows = append(mirrors.Rows, report.Row{Key: []string{fmt.Sprintf("%08x", id)}, Values: []int64{m.frames, m.lost()}})
		r.Totals.MirrorLost += m.lost()
	}
	others := report.Table{Name: report.OthersTable, Help: "What frames carry that is not RoCE; of TCP and UDP, the lower port.", Keys: []string{"protocol"}, Columns: frames}
	for x, n := range w.others {
		others.Rows = append(others.Rows, report.Row{Key: []string{x.String()}, Values: []int64{n}})
	}
	s := r.Section(report.WireSection)
	for _, t := range []report.Table{wrapped, odd, ports, mirrors, d.pfcTable(), d.etsTable(), d.appTable(), joined(others)} {
		if len(t.Rows) > 0 {
			slices.SortFunc(t.Rows, func(a, b report.Row) int { return slices.Compare(a.Key, b.Key) })
			s.Tables = append(s.Tables, t)
		}
	}
	if len(s.Tables) == 0 {
		r.Sections = slices.DeleteFunc(r.Sections, func(s report.Section) bool { return s.Name == report.WireSection })
	}
}

// joined adds up rows of one key, which several kinds of frame may share.
func joined(t report.Table) report.Table {
	slices.SortFunc(t.Rows, func(a, b report.Row) int { return slices.Compare(a.Key, b.Key) })
	out := t.Rows[:0]
	for _, row := range t.Rows {
		if n := len(out); n > 0 && slices.Equal(out[n-1].Key, row.Key) {
			out[n-1].Values[0] += row.Values[0]
		} else {
			out = append(out, row)
		}
	}
	t.Rows = out
	return t
}
