package analysis

import (
	"slices"

	"github.com/rocescope/rocescope/decode/ib"
)

// conn is a connection as CM set it up.
type conn struct {
	from       uint8 // direction of the REQ
	a, b       uint32
	commID     uint32 // of the REQ's sender
	remoteID   uint32 // of the REP's sender
	psnA, psnB ib.PSN // what a and b expect first
	mtu        uint32
	replied    bool
}

const connsMax = 4096

// cm takes a connection management message.
func (s *shard) cm(b *bundle, dir uint8, m *ib.CM) {
	switch m.Attr {
	case ib.AttrREQ:
		for i := range b.conns {
			if c := &b.conns[i]; c.from == dir && c.commID == m.LocalCommID && c.a == m.QPN {
				return // asked again
			}
		}
		if len(b.conns) >= connsMax {
			b.conns = slices.Delete(b.conns, 0, 1)
		}
		s.retire(b, 1-dir, m.QPN)
		b.conns = append(b.conns, conn{from: dir, a: m.QPN, commID: m.LocalCommID, psnA: m.StartPSN, mtu: uint32(m.PathMTU.Bytes())})
	case ib.AttrREP:
		for i := len(b.conns) - 1; i >= 0; i-- {
			c := &b.conns[i]
			if c.from == dir || c.commID != m.RemoteCommID || c.replied {
				continue
			}
			s.retire(b, 1-dir, m.QPN)
			c.b, c.remoteID, c.psnB, c.replied = m.QPN, m.LocalCommID, m.StartPSN, true
			return
		}
	}
}

// retire ends the row towards a queue pair whose number a new connection gets.
// dir is the direction of that row.
func (s *shard) retire(b *bundle, dir uint8, qp uint32) {
	for _, r := range b.rows[dir] {
		if r.qp == qp && r.reliable() {
			s.retireRow(r)
			return
		}
	}
}

func (s *shard) retireRow(r *row) {
	s.settleEnding(r)
	for _, x := range [...]*row{r, r.peer} {
		if x == nil || x.retired {
			continue
		}
		s.flush(x)
		x.retired = true
		s.finishRow(x)
		for _, live := range [...]*[]*row{&x.bundle.rows[x.dir], &x.bundle.asking[x.dir]} {
			if i := slices.Index(*live, x); i >= 0 {
				*live = slices.Delete(*live, i, i+1)
			}
		}
		x.forgetCandidates()
		s.index.remove(x)
	}
	for _, x := range [...]*row{r, r.peer} {
		if x != nil {
			x.req.recent.forget(x.bundle.room)
			x.rsp.recent.forget(x.bundle.room)
		}
	}
	s.release(r.bundle)
}

// byConn pairs a new row by what CM said of its queue pair.
func (s *shard) byConn(r *row) {
	b := r.bundle
	for i := len(b.conns) - 1; i >= 0; i-- {
		c := &b.conns[i]
		// A row towards a travels against the REQ.
		var other uint32
		switch {
		case r.dir != c.from && r.qp == c.a:
			other = c.b
		case r.dir == c.from && c.replied && r.qp == c.b:
			other = c.a
		default:
			continue
		}
		if r.mtu == 0 {
			r.mtu = c.mtu
		}
		if !c.replied {
			return
		}
		r.peerQP, r.peerBy = other, byCM
		for _, g := range b.rows[1-r.dir] {
			if g.qp == other && g.transport == r.transport && g.peer == nil {
				s.pair(r, g, byCM)
				return
			}
		}
		return
	}
}
