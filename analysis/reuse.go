package analysis

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// reused reports whether a request opens a new connection on the numbers of an
// old one that nobody was seen to tear down.
func (s *shard) reused(r *row, p *decode.Packet) bool {
	q := &r.req
	if !q.started || !q.known || !p.Op.Is(ib.IsFirst|ib.IsOnly) {
		return false
	}
	d := p.PSN.Sub(q.high)
	return d > 1<<16 || d < -1<<16
}
