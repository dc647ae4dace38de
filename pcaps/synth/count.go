package synth

import (
	"cmp"
	"slices"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// counter builds a Truth.
type counter struct {
	snapLen int
	rows    map[rowKey]*Row
	newest  map[streamKey]int // order of the newest packet that passed
	holes   map[streamKey]*missing
	stalls  map[*endpoint]stall
}

// missing is the packets of a stream that were not where they should have been,
// by their order; row is where the stream travels.
type missing struct {
	row    *Row
	orders []int
}

// stall is an RNR NAK that passed at a time.
type stall struct {
	nak  *packet
	time int64
}

type rowKey struct {
	src, dst string
	qp       uint32
}

type streamKey struct {
	asker *endpoint
	kind  kind
}

func newCounter(snapLen int) *counter {
	return &counter{snapLen: snapLen, rows: map[rowKey]*Row{}, newest: map[streamKey]int{}, holes: map[streamKey]*missing{}, stalls: map[*endpoint]stall{}}
}

// add counts in the packet's row.
func (c *counter) add(p *packet, column string, n int64) { c.row(p).Counts[column] += n }

func (c *counter) row(p *packet) *Row {
	k := rowKey{p.from.addr.String(), p.to.addr.String(), p.bth.DestQP}
	r := c.rows[k]
	if r == nil {
		r = &Row{Src: k.src, Dst: k.dst, DestQP: k.qp, Counts: map[string]int64{}}
		if p.kind != isManagement {
			r.PeerQP = p.conn.a.qpn + p.conn.b.qpn - k.qp
		}
		c.rows[k] = r
	}
	return r
}

// seen counts a packet that was captured at t, as a frame of some bytes.
func (c *counter) seen(p *packet, bytes int, t int64) {
	c.add(p, "frames", 1)
	c.add(p, "bytes", int64(bytes))
	p.seen = true
	c.stall(p, t)
	c.integrity(p, bytes)
	if p.ecn == decode.CE {
		c.add(p, "ce_frames", 1)
	}
	switch p.kind {
	case isCNP:
		c.add(p, "cnps", 1)
	case isRequest, isManagement:
		c.request(p)
	default:
		c.response(p)
	}
}

func (c *counter) integrity(p *packet, bytes int) {
	if c.snapLen > 0 && bytes > c.snapLen {
		c.add(p, "icrc_unchecked", 1)
	} else {
		c.add(p, "icrc_good", 1)
	}
}

func (c *counter) request(p *packet) {
	c.add(p, "request_frames", 1)
	if p.kind == isManagement {
		c.add(p, "request_bytes", ib.MADLen)
		c.add(p, "messages", 1)
		return
	}
	c.add(p, "request_bytes", int64(len(p.payload)))
	if !p.bth.Opcode.Is(ib.IsRead) {
		c.add(p, "data_frames", 1)
	}
	switch {
	case p.again != "":
		c.add(p, "retransmitted", 1)
		c.add(p, "retransmitted_"+string(p.again), 1)
	case p.bth.Opcode.Is(ib.IsLast | ib.IsOnly):
		c.add(p, "messages", 1)
	}
	c.order(p, "reordered")
}

func (c *counter) response(p *packet) {
	c.add(p, "response_frames", 1)
	c.add(p, "response_bytes", int64(len(p.payload)))
	if p.bth.Opcode.Is(ib.IsReadResponse | ib.IsAtomicAck) {
		c.add(p, "data_frames", 1)
	}
	if p.kind == isReadResponse {
		if p.again != "" {
			c.add(p, "response_retransmitted", 1)
		}
		c.order(p, "response_reordered")
		return
	}
	if p.bth.Opcode.Is(ib.IsAck) {
		c.add(p, answerColumn(p.syndrome()), 1)
	}
}

func answerColumn(s ib.Syndrome) string {
	switch {
	case s.Type() == ib.ACK:
		return "acks"
	case s.Type() == ib.RNRNAK:
		return "rnr_naks"
	case s == ib.NAKInvalidRequest:
		return "naks_invalid_request"
	case s == ib.NAKRemoteAccess:
		return "naks_remote_access"
	case s == ib.NAKRemoteOperational:
		return "naks_remote_operational"
	}
	return "naks_psn_sequence"
}

// order counts a packet that comes behind one that was sent later.
func (c *counter) order(p *packet, column string) {
	k := streamKey{p.asker, p.kind}
	if p.order < c.newest[k] {
		c.add(p, column, 1)
		c.hole(p)
	}
	c.newest[k] = max(p.order, c.newest[k])
}

// needless counts a resend that the tap saw and whose receiver had the packet
// when it came.
func (c *counter) needless(p *packet) {
	if p.seen && p.again != "" {
		c.add(p, "spurious", 1)
	}
}

// copied counts a further frame of a packet.
func (c *counter) copied(p *packet, bytes int) {
	c.add(p, "frames", 1)
	c.add(p, "bytes", int64(bytes))
	c.add(p, "mirror_duplicates", 1)
}

// stall measures the time from an RNR NAK to the resend, as the tap sees it.
func (c *counter) stall(p *packet, t int64) {
	switch {
	case p.asker == nil:
	case p.syndrome().Type() == ib.RNRNAK:
		c.stalls[p.asker] = stall{p, t}
	case p.again == byRNR && c.stalls[p.asker].nak != nil:
		s := c.stalls[p.asker]
		c.add(s.nak, "rnr_stall_ns", t-s.time)
		delete(c.stalls, p.asker)
	}
}

// hole notes that the packet was missing where its successor passed.
func (c *counter) hole(p *packet) {
	k := streamKey{p.asker, p.kind}
	if c.holes[k] == nil {
		c.holes[k] = &missing{row: c.row(p)}
	}
	c.holes[k].orders = append(c.holes[k].orders, p.order)
}

// gaps counts the runs of missing packets.
func (m *missing) gaps() int64 {
	slices.Sort(m.orders)
	n := int64(0)
	for i, o := range m.orders {
		if i == 0 || o != m.orders[i-1]+1 {
			n++
		}
	}
	return n
}

func (c *counter) lostBefore(p *packet) {
	c.fate(p, "lost_upstream")
	c.hole(p)
}

// lostBehind leaves out datagrams: nothing tells of them.
func (c *counter) lostBehind(p *packet) {
	if p.bth.Opcode.Transport() == ib.RC {
		c.fate(p, "lost_downstream")
	}
}

func (c *counter) missed(p *packet) {
	c.fate(p, "not_captured")
	c.hole(p)
}

// fate counts what became of a request or a READ response.
func (c *counter) fate(p *packet, column string) {
	switch p.kind {
	case isRequest:
		c.add(p, column, 1)
	case isReadResponse:
		c.add(p, "response_"+column, 1)
	}
}

func (c *counter) truth() Truth {
	var t Truth
	for k, m := range c.holes {
		switch k.kind {
		case isRequest:
			m.row.Counts["gaps"] += m.gaps()
			m.row.Counts["gap_frames"] += int64(len(m.orders))
		case isReadResponse:
			m.row.Counts["response_gaps"] += m.gaps()
			m.row.Counts["response_gap_frames"] += int64(len(m.orders))
		}
	}
	for _, r := range c.rows {
		t.Rows = append(t.Rows, *r)
	}
	slices.SortFunc(t.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Src, b.Src), cmp.Compare(a.Dst, b.Dst), cmp.Compare(a.DestQP, b.DestQP))
	})
	return t
}
