package analysis

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// messages is the newest messages of several packets in a row that passed whole
// and in order, to tell how long each took.
type messages struct {
	open  bool   // the newest has begun, and not ended
	next  uint8  // the place of the next one
	used  uint8  // a bit for each place whose last packet no ACK of its own has acknowledged
	want  ib.PSN // of the newest's next packet
	start int64  // when it began
	// Of the message at each place, the last packet and when it began.
	last  [messagesMax]ib.PSN
	began [messagesMax]int64
}

// messagesMax is a power of two, and no more than used has bits. More that wait at
// a time are rare, and then some are no samples.
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
		i := m.next % messagesMax
		m.last[i], m.began[i], m.used = p.PSN, m.start, m.used|1<<i
		m.next++
		m.open = false
	}
}

// complete measures the message whose last packet is e, now that p acknowledges
// it.
func (s *shard) complete(r *row, e *sighting, p *decode.Packet) {
	if e.op().Is(ib.IsOnly) {
		s.measure(MessageDone, r, p, e.frame(), p.Time-e.time)
		return
	}
	m := r.req.sent
	if m == nil {
		return
	}
	for i, last := range m.last {
		if last == p.PSN && m.used>>i&1 != 0 {
			m.used &^= 1 << i
			s.measure(MessageDone, r, p, e.frame(), p.Time-m.began[i])
			return
		}
	}
}
