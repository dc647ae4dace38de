package analysis

import (
	"slices"

	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// row is everything that travels from one address to another towards one
// queue pair: requests of the peer's send queue, and responses to that queue
// pair's own requests.
//
// There may be a hundred thousand of them, so that fields stand in an order that
// leaves no gaps.
type row struct {
	bundle    *bundle
	peer      *row
	id        FlowID
	qp        uint32
	srcQP     uint32 // UD; 0 where it was cut
	hash      uint32 // of its packets
	peerQP    uint32
	mtu       uint32 // of First and Middle payloads here, or of CM; 0 unknown
	dir       uint8  // 0 from the bundle's lower address to the higher one
	version   uint8
	vlan      uint8 // which of the bundle's tags, where they tell tenants apart
	tag       uint8 // number of its first packet's, in the bundle
	transport ib.Transport
	peerBy    peerBy
	retired   bool // the queue pair number was given to a new connection
	shared    bool // UD: its sender has other rows, too
	// suspect marks a row of a single frame with a bad ICRC. Its numbers may be
	// the damage, so the report leaves it out; a second frame clears it.
	suspect  bool
	counting bool   // msn changes
	amid     bool   // the answer to a READ goes on behind the last response, while the row has no partner
	msn      uint32 // of the last ACK, while the row has no partner

	count rowCount
	twice stretch // where its frames stand twice
	dscps uint64  // a bit for each
	more  *rowMore
	port  uint16 // UDP source port of the newest packet that has one
	ports uint16 // how many there were, at most portsMax

	win    window
	req    requests
	rsp    responses
	cnp    *sighting   // the last CNP; nil while there was none
	cand   []candidate // rows that the responses here may answer, while several may
	tries  uint32      // searches for them
	looked uint32      // number of the newest row at the last search
	// named is what had arrived by the last response while the row had no partner, and
	// heardBy the number of the next row by then; 0 there was none.
	named   ib.PSN
	heardBy uint32
	// began is the first PSN in view of the answer to a READ in which the last response
	// stood then, valid iff amid.
	began ib.PSN
}

// rowMore is what of a row the frames bear that have more than a queue pair's
// one source port: the others, and VLANs.
type rowMore struct{ ports, vlans []uint16 }

func (r *row) moreOf() *rowMore {
	if r.more == nil {
		r.more = new(rowMore) // once in a row's life
	}
	return r.more
}

// rowCount is what the engine itself counts of a row, which is far less than a
// report.Flow has: that has room for names and for what analyzers count.
type rowCount struct {
	Frames, Bytes                 int64
	RequestFrames, RequestBytes   int64
	ResponseFrames, ResponseBytes int64
	DataFrames, Acks, Messages    int64
	MirrorDuplicates              int64
	FirstNs, LastNs               int64
}

// report returns a row of a report with nothing but these.
func (c *rowCount) report() report.Flow {
	return report.Flow{
		Frames: c.Frames, Bytes: c.Bytes, FirstNs: c.FirstNs, LastNs: c.LastNs,
		RequestFrames: c.RequestFrames, RequestBytes: c.RequestBytes, ResponseFrames: c.ResponseFrames, ResponseBytes: c.ResponseBytes,
		DataFrames: c.DataFrames, Acks: c.Acks, Messages: c.Messages, MirrorDuplicates: c.MirrorDuplicates,
	}
}

// responses is what a row keeps of the responses that travel in it.
type responses struct {
	recent   recent
	earlier  *earlier // those whose PSN came again; nil while none did
	high     ib.PSN   // the highest so far
	ids      idOrder
	previous uint16 // the ID of the packet before the newest
	any      bool
}

const portsMax = 256

// reliable reports whether requests of this row are acknowledged and repaired.
func (r *row) reliable() bool { return r.transport == ib.RC || r.transport == ib.XRC }

// readMTU returns the path MTU that READs of this row's requester are cut by;
// 0 unknown. Both directions of a connection use one path MTU, and the
// requester's own packets are the better witness.
func (r *row) readMTU() uint32 {
	if r.mtu != 0 || r.peer == nil {
		return r.mtu
	}
	return r.peer.mtu
}

// touch counts a frame, copy or not.
func (r *row) touch(p *decode.Packet) {
	c := &r.count
	if c.Frames == 0 || p.Time < c.FirstNs {
		c.FirstNs = p.Time
	}
	if c.Frames == 0 || p.Time > c.LastNs {
		c.LastNs = p.Time
	}
	c.Frames++
	c.Bytes += int64(p.Len)
	r.bundle.passed(p.Time)
	r.dscps |= 1 << (p.DSCP & 63)
	if p.Version == 2 && (r.port != p.SrcPort || r.ports == 0) {
		r.newPort(p.SrcPort)
	}
	if p.Tagged {
		if m := r.moreOf(); !slices.Contains(m.vlans, p.VLAN) && len(m.vlans) < 16 {
			m.vlans = append(m.vlans, p.VLAN)
		}
	}
}

// newPort takes a source port that is not the newest.
func (r *row) newPort(port uint16) {
	if r.ports == 0 {
		r.port, r.ports = port, 1
		return
	}
	m := r.moreOf()
	if i := slices.Index(m.ports, port); i >= 0 {
		m.ports[i], r.port = r.port, port
	} else if r.ports < portsMax {
		m.ports = append(m.ports, r.port)
		r.port, r.ports = port, r.ports+1
	}
}

// countFirst counts what a copy must not count in.
func (r *row) countFirst(p *decode.Packet) {
	c := &r.count
	info := p.Op.Info()
	switch {
	case info.Kind&ib.IsRequest != 0:
		c.RequestFrames++
		c.RequestBytes += int64(p.PayloadLen)
	case info.Kind&ib.IsResponse != 0:
		c.ResponseFrames++
		c.ResponseBytes += int64(p.PayloadLen)
	}
	if p.MovesData() {
		c.DataFrames++
	}
	if p.HasSyndrome() && p.Syndrome.Type() == ib.ACK {
		c.Acks++
	}
	r.mtuOf(p)
}

// mtuOf keeps the payload of a packet as path MTU, if it is none of the last.
func (r *row) mtuOf(p *decode.Packet) {
	if p.Op.Is(ib.IsFirst|ib.IsMiddle) && validMTU(p.PayloadLen) {
		r.mtu = p.PayloadLen
	}
}

// mtuOn learns from packets of one message what mtuOf learns from each.
func (r *row) mtuOn(ps []decode.Packet) {
	for i := len(ps) - 1; i >= 0; i-- {
		if p := &ps[i]; p.Op.Is(ib.IsFirst|ib.IsMiddle) && validMTU(p.PayloadLen) {
			r.mtu = p.PayloadLen
			return
		}
	}
}

func validMTU(n uint32) bool { return n >= leastMTU && n <= 4096 && n&(n-1) == 0 }

// countMessage counts the first sending of a message's last packet.
func (r *row) countMessage(p *decode.Packet) {
	if p.Op.Is(ib.IsLast | ib.IsOnly) {
		r.count.Messages++
	}
}

// countEnd counts the message that ends with what closed a hole, and was not sent again
// after all: behind a hole of the first pass it was the first sending.
func (r *row) countEnd(h *hole) {
	if h.ended && h.pass == 0 {
		r.count.Messages++
	}
}

// report returns the row as it stands.
func (r *row) report() report.Flow {
	f := r.count.report()
	f.Src, f.Dst = r.bundle.name(r.dir), r.bundle.name(1-r.dir)
	f.DestQP, f.Version, f.Transport = r.qp, int(r.version), r.transport.String()
	if r.transport == ib.UD && r.knowsSender() {
		qp := r.srcQP
		f.SrcQP = &qp
	}
	if r.peerBy != byNothing {
		qp := r.peerQP
		f.PeerQP, f.PeerBy = &qp, r.peerBy.String()
	}
	if r.bundle.tenant {
		vni := r.bundle.vni
		f.VNI = &vni
	}
	if t := &r.bundle.tags; t.split {
		vid := uint32(t.list[r.vlan].vid)
		if vid == noTag {
			vid = 0
		}
		f.VLAN = &vid
	}
	f.PathMTU = int64(r.mtu)
	if m := r.more; m != nil {
		f.UDPSourcePorts, f.VLANs = sorted(m.ports), sorted(m.vlans)
	} else {
		f.UDPSourcePorts, f.VLANs = []uint16{}, []uint16{}
	}
	if r.ports > 0 {
		i, _ := slices.BinarySearch(f.UDPSourcePorts, r.port)
		f.UDPSourcePorts = slices.Insert(f.UDPSourcePorts, i, r.port)
	}
	f.DSCPs = []uint16{}
	for d := range uint16(64) {
		if r.dscps>>d&1 != 0 {
			f.DSCPs = append(f.DSCPs, d)
		}
	}
	return f
}

func sorted(s []uint16) []uint16 {
	out := append([]uint16{}, s...)
	slices.Sort(out)
	return out
}
