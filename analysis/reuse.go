package analysis

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// reused reports whether a request opens a new connection on the numbers of an
// old one that nobody was seen to tear down: its PSN is far from those. Amid a
// message it may stand behind many packets that the capture missed, if there was
// time for so many; else the message's first packet comes late.
func (s *shard) reused(r *row, p *decode.Packet) bool {
	const far = 1 << 16
	q := &r.req
	if !q.started || !q.known {
		return false
	}
	d := p.PSN.Sub(q.high)
	if -far <= d && d <= far {
		return false
	}
	return p.Op.Is(ib.IsFirst|ib.IsOnly) || d < 0 || int64(d)*fastestPacket > p.Time-q.last
}

// fastestPacket is the time, ns, in which no sender sends more than a packet: 800 Gb/s
// of 2 KB.
const fastestPacket = 20
