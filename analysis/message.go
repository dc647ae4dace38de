package analysis

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// messages is the newest messages of several packets in a row that passed whole
// and in order, to tell how long each took.
type messages struct {
	open  bool   // the newest has begun, and not ended
	want  ib.PSN // of its next packet
	start int64  // when it began
	whole [messagesMax]wholeMessage
	next  uint8 // the place of the next one
}

// wholeMessage is one whose last packet has not been acknowledged by an ACK of
// its own.
type wholeMessage struct {
	used  bool
	last  ib.PSN
	start int64
}

// messagesMax is a power of two. More that wait at a time are rare, and then some
// are no samples.
const messagesMax = 8

// sentFirst takes a packet that was sent the first time.
func (q *requests) sentFirst(p *decode.Packet) {
	if p.Op.Is(ib.IsFirst) {
		if q.sent == nil {
			q.sent = new(messages) // once in a row's life
		}
		q.sent.open, q.sent.want, q.sent.start = true, p.PSN.Add(1), p.Time
		return
	}
	m := q.sent
	if m == nil || !m.open {
		return
	}
	m.open = p.PSN == m.want && p.Op.Is(ib.IsMiddle|ib.IsLast)
	m.want = p.PSN.Add(1)
	if m.open && p.Op.Is(ib.IsLast) {
		m.whole[m.next%messagesMax] = wholeMessage{true, p.PSN, m.start}
		m.next++
		m.open = false
	}
}

// complete measures the message whose last packet is e, now that p acknowledges
// it.
func (s *shard) complete(r *row, e *sighting, p *decode.Packet) {
	if e.op.Is(ib.IsOnly) {
		s.measure(MessageDone, r, p, e.frame, p.Time-e.time)
		return
	}
	m := r.req.sent
	if m == nil {
		return
	}
	for i := range m.whole {
		if x := &m.whole[i]; x.used && x.last == p.PSN {
			x.used = false
			s.measure(MessageDone, r, p, e.frame, p.Time-x.start)
			return
		}
	}
}
