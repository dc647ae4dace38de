package analysis

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// heldPacket waits for the pairing of its row.
type heldPacket struct {
	row    *row
	packet decode.Packet
}

// heldMax bounds how many packets of a bundle wait.
const heldMax = 512

// hold keeps a packet back while the bundle has responses that may answer
// several rows: taken now, a NAK would be news about nobody. It reports false
// where the packet need not wait.
func (s *shard) hold(r *row, p *decode.Packet) bool {
	b := r.bundle
	if b.unsure == 0 || r.peer != nil {
		return false
	}
	if len(b.held) >= heldMax {
		h := b.held[0]
		b.held = b.held[:copy(b.held, b.held[1:])]
		s.follow(h.row, &h.packet)
	}
	b.held = append(b.held, heldPacket{r, *p})
	return true
}

// release takes the held packets of rows that are paired by now, or of all
// rows where nothing is unsure any more.
func (s *shard) release(b *bundle) {
	if len(b.held) == 0 {
		return
	}
	held := b.held
	b.held = nil
	for i := range held {
		h := &held[i]
		if h.row.peer != nil || b.unsure == 0 {
			s.follow(h.row, &h.packet)
		} else {
			b.held = append(b.held, *h)
		}
	}
}

// follow takes a packet that was held.
func (s *shard) follow(r *row, p *decode.Packet) {
	if p.Op.Is(ib.IsRequest) {
		s.request(r, p)
	} else {
		s.news(r, p)
	}
}
