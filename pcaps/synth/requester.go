package synth

import (
	"time"

	"github.com/rocescope/rocescope/decode/ib"
)

const (
	readDepth = 4 // READs and atomics that may be under way
	retries   = 7
)

// cause is why packets are sent again, as the report's columns name it.
type cause string

const (
	byNAK     cause = "nak"
	byTimeout cause = "timeout"
	byRNR     cause = "rnr"
	byImplied cause = "implied" // a response showed that one before it is missing
)

// requester is the send queue of a queue pair. It repeats from the oldest
// packet that is not acknowledged (go-back-N).
type requester struct {
	e        *endpoint
	messages []*message
	unposted int     // messages still to come
	una      ib.PSN  // the oldest PSN that is not acknowledged
	cursor   ib.PSN  // the next to send
	high     ib.PSN  // one past the highest sent
	end      ib.PSN  // one past the last posted
	cause    cause   // why PSNs before high are sent
	trigger  *packet // what told so; nil for a timeout
	pass     int     // how often it went back
	alone    bool    // only the packet at cursor is sent again
	asked    bool    // una was asked for again, and nothing came since
	tries    int
	refusals int   // RNR NAKs since the last progress
	timer    int   // the one that counts; older ones have been stopped
	running  bool  // that timer
	silent   int64 // nothing is sent before, after an RNR NAK
	dead     bool
	sendings map[ib.PSN]int  // how often each packet was sent
	got      map[ib.PSN]bool // responses that came before earlier ones, in any order
	acked    ib.PSN          // one past the newest acknowledged PSN, in any order
}

func newRequester(e *endpoint, psn ib.PSN) requester {
	return requester{e: e, una: psn, cursor: psn, high: psn, end: psn, acked: psn, sendings: map[ib.PSN]int{}, got: map[ib.PSN]bool{}}
}

// post plans what the endpoint is asked to do.
func (e *endpoint) post(work []Work) {
	clock := &e.host.world.clock
	for _, w := range work {
		e.req.unposted += w.times
		for i := range w.times {
			if w.following > 0 {
				e.follow(w, i+1)
				continue
			}
			clock.after(ns(w.after+time.Duration(i)*w.every), func() { e.req.add(w) })
		}
	}
	e.conn.settled()
}

// follow posts a message once the connection that it follows has brought one.
func (e *endpoint) follow(w Work, number int) {
	other := e.host.world.conns[w.following-1]
	rsp := &other.b.rsp
	if other.a.host == e.host {
		rsp = &other.a.rsp
	}
	rsp.delivered[number] = append(rsp.delivered[number], func() {
		e.host.world.clock.after(processing+ns(w.after), func() { e.req.add(w) })
	})
}

// add appends a message to the queue.
func (q *requester) add(w Work) {
	m := newMessage(w, len(q.messages), q.end, q.e.conn)
	q.messages = append(q.messages, m)
	q.unposted--
	q.end = m.end
	q.e.wake()
}

func (q *requester) settled() bool { return q.unposted == 0 && q.una == q.end }

// nextPacket returns the packet at the cursor, if it may be sent now.
func (q *requester) nextPacket() (*packet, int64) {
	now := q.e.host.world.clock.now
	if q.dead || q.cursor == q.end {
		return nil, 0
	}
	m := q.at(q.cursor)
	if q.cursor.Sub(q.una) >= q.e.conn.window() || m.op.responded() && q.pending() >= readDepth {
		return nil, 0
	}
	if t := max(q.silent, q.e.rate.ready); t > now {
		return nil, t
	}
	p, next := m.packet(q.e, q.cursor)
	if q.cursor.Before(q.high) {
		p.again, p.trigger = q.cause, q.trigger
	}
	p.pass, p.made = q.pass, now
	p.count()
	q.sendings[p.bth.PSN]++
	q.cursor = next
	if next.After(q.high) {
		q.high = next
	}
	if q.alone {
		q.alone, q.cursor = false, q.high
	}
	q.afterSend()
	return p, 0
}

// afterSend takes what is not acknowledged for done, and starts the timer where
// there are acknowledgements.
func (q *requester) afterSend() {
	if q.e.conn.Transport != ib.RC {
		q.una = q.cursor
		q.e.conn.settled()
	} else if !q.running {
		q.restart()
	}
}

// at returns the message that uses a PSN.
func (q *requester) at(psn ib.PSN) *message {
	for i := len(q.messages) - 1; ; i-- {
		if !psn.Before(q.messages[i].start) {
			return q.messages[i]
		}
	}
}

// pending counts READs and atomics under way.
func (q *requester) pending() int {
	n := 0
	for _, m := range q.messages {
		if m.op.responded() && m.start.Before(q.cursor) && q.una.Before(m.end) {
			n++
		}
	}
	return n
}

// response takes an answer of the peer.
func (q *requester) response(p *packet) {
	switch s := p.syndrome(); {
	case q.dead || p.bth.PSN.Before(q.una) || !p.bth.PSN.Before(q.high):
	case q.e.conn.AnyOrder && s.Type() == ib.ACK:
		q.collect(p)
	case p.kind == isReadResponse || p.bth.Opcode.Is(ib.IsAtomicAck):
		if q.cover(p.bth.PSN, p) {
			q.advance(p.bth.PSN.Add(1))
		}
	case s.Type() == ib.ACK:
		q.cover(p.bth.PSN.Add(1), p)
	case s.Type() == ib.RNRNAK:
		if q.cover(p.bth.PSN, p) {
			q.notReady(p)
		}
	case s == ib.NAKPSNSequence:
		if q.cover(p.bth.PSN, p) {
			q.rewind(byNAK, p)
		}
	default:
		q.e.fail()
	}
}

// notReady waits as long as an RNR NAK asks for, or gives up.
func (q *requester) notReady(p *packet) {
	q.refusals++
	if tries := q.e.conn.rnrTries(); tries > 0 && q.e == q.e.conn.a && q.refusals >= tries {
		q.e.lastRefusal = p
		q.e.fail()
		return
	}
	q.silent = q.e.host.world.clock.now + p.syndrome().RNRTimer().Nanoseconds()
	q.rewind(byRNR, p)
}

// collect takes an answer in whatever order: what is missing may still come, so
// that nothing but the timer has it asked for again.
func (q *requester) collect(p *packet) {
	if p.kind == isReadResponse || p.bth.Opcode.Is(ib.IsAtomicAck) {
		q.got[p.bth.PSN] = true
	} else if end := p.bth.PSN.Add(1); end.After(q.acked) {
		q.acked = end
	}
	una := q.una
	for una != q.high && (q.got[una] || !q.at(una).op.responded() && (una.Before(q.acked) || q.answeredBeyond(una))) {
		delete(q.got, una)
		una = una.Add(1)
	}
	if una != q.una {
		q.advance(una)
	}
}

// answeredBeyond reports whether a response to a later READ or atomic shows that
// the request of a PSN arrived: requests are executed in their order.
func (q *requester) answeredBeyond(psn ib.PSN) bool {
	for got := range q.got {
		if psn.Before(got) {
			return true
		}
	}
	return false
}

// cover takes all before end for arrived. It reports false where a READ or an
// atomic before it still lacks its response, and asks for that again.
func (q *requester) cover(end ib.PSN, by *packet) bool {
	for q.una.Before(end) {
		m := q.at(q.una)
		if m.op.responded() {
			if !q.asked {
				q.asked = true
				q.rewind(byImplied, by)
			}
			return false
		}
		to := m.end
		if end.Before(to) {
			to = end
		}
		q.advance(to)
	}
	return true
}

// advance moves the oldest PSN that is not acknowledged.
func (q *requester) advance(to ib.PSN) {
	q.una, q.asked, q.tries, q.refusals = to, false, 0, 0
	if q.cursor.Before(to) {
		q.cursor = to
		if q.alone { // it came after all
			q.alone, q.cursor = false, q.high
		}
	}
	if q.una == q.high {
		q.stop()
	} else {
		q.restart()
	}
	q.e.wake()
	q.e.conn.settled()
}

// rewind goes back to the oldest PSN that is not acknowledged.
func (q *requester) rewind(why cause, trigger *packet) {
	q.cursor, q.cause, q.trigger = q.una, why, trigger
	q.pass++
	q.alone = q.e.conn.Recovery == SelectiveRepeat && why != byRNR && !q.at(q.una).op.responded()
	q.restart()
	q.e.wake()
}

// restart runs the timer from now on.
func (q *requester) restart() {
	q.timer++
	q.running = true
	timer := q.timer
	wait := q.timeout() + max(0, q.silent-q.e.host.world.clock.now)
	q.e.host.world.clock.after(wait, func() {
		if q.running && q.timer == timer {
			q.expired()
		}
	})
}

// timeout is how long the requester waits for an answer.
func (q *requester) timeout() int64 {
	longest := q.e.conn.ackTimeout().Duration().Nanoseconds()
	if first := ns(q.e.conn.FirstTimeout); first > 0 {
		return min(first<<q.tries, longest)
	}
	return longest
}

func (q *requester) stop() { q.running = false }

func (q *requester) expired() {
	if q.tries++; q.tries > retries {
		q.e.fail()
		return
	}
	q.rewind(byTimeout, nil)
}
