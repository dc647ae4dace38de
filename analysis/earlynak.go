package analysis

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// A capture that begins, or goes on again, amid a repetition may hold the NAK and then
// the resend before anything shows that the two belong to one connection. The PSN does,
// where no other queue pair has sent it.

// earlyNAK is a sequence NAK of a row that had no partner when it came.
type earlyNAK struct {
	row   *row
	psn   ib.PSN
	time  int64
	frame uint64
}

// earlyMax bounds how many such NAKs are kept between two hosts.
const earlyMax = 8

// keepNAK keeps the NAK of a row without a partner for those who may have drawn it.
func (b *bundle) keepNAK(g *row, p *decode.Packet) {
	if len(b.early) >= earlyMax {
		b.early = b.early[:copy(b.early, b.early[1:])]
	}
	b.early = append(b.early, earlyNAK{g, p.PSN, p.Time, p.Frame})
}

// adoptNAK takes such a NAK for one of the packet, which is sent again or late, and to
// this row.
func (s *shard) adoptNAK(r *row, p *decode.Packet) {
	b := r.bundle
	for i := range b.early {
		n := b.early[i]
		if n.psn != p.PSN || n.row.dir == r.dir || r.peer != nil && r.peer != n.row || n.row.peer != nil && n.row.peer != r || b.othersSent(r, p) {
			continue
		}
		r.req.recovery().naks.add(nakInfo{set: true, psn: n.psn, time: n.time, frame: n.frame})
		b.early = b.early[:i+copy(b.early[i:], b.early[i+1:])]
		return
	}
}

// othersSent reports whether another row that may be the partner of a NAK's row has
// come as far as the packet.
func (b *bundle) othersSent(r *row, p *decode.Packet) bool {
	for _, x := range b.asking[r.dir] {
		if x != r && x.peer == nil && p.PSN.Before(x.win.high) && x.win.high.Sub(p.PSN) < 1<<16 {
			return true
		}
	}
	return false
}
