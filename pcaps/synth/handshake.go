package synth

import (
	"github.com/rocescope/rocescope/decode/ib"
	"github.com/rocescope/rocescope/decode/roce"
)

// noticing is how long after the failure of a queue pair the application closes
// the connection, in ns.
const noticing = 50_000

// handshake is how far the opening and closing of a connection came.
type handshake struct {
	requests, replies, closes asking
	taken                     bool // To got the request
	decided                   bool // and answered it
	opened                    bool // From got the REP
	ready                     bool // To knows
	broken                    bool // a queue pair failed
	closed                    bool // either began to close
}

// asking is a message that is repeated until it is answered.
type asking struct {
	sent     int
	answered bool
	patience int64 // the other end asked to wait until then
}

// ask sends a message, and again as long as there is no answer.
func (c *conn) ask(q *asking, send func()) {
	clock := &c.world.clock
	switch {
	case q.answered || q.sent > c.Setup.retries():
	case q.patience > clock.now:
		clock.at(q.patience, func() { c.ask(q, send) })
	default:
		q.sent++
		send()
		clock.after(c.Setup.timeout().Duration().Nanoseconds(), func() { c.ask(q, send) })
	}
}

// request opens the connection: REQ, REP, RTU. Each side works once it knows
// that the other is ready.
func (c *conn) request() {
	c.ask(&c.state.requests, func() { c.manage(c.a, ib.AttrREQ, &roce.REQ{REQ: c.req()}, c.rdmaCM(), c.requested) })
	if c.Setup.Patience > 0 {
		c.world.clock.after(ns(c.Setup.Patience), c.withdraw)
	}
}

// requested has To take a request, or take it again.
func (c *conn) requested() {
	s := &c.state
	switch {
	case c.b.host.machine.NoCM:
	case s.decided && c.Setup.Rejected != 0:
		c.decide()
	case s.decided: // the REP has a timer of its own
	case s.taken && c.Setup.Silent:
	case s.taken:
		c.delay()
	case c.Setup.Deciding == 0:
		c.decide()
	default:
		s.taken = true
		if c.Setup.MRA {
			c.delay()
		}
		c.world.clock.after(ns(c.Setup.Deciding), c.decide)
	}
}

// delay asks for patience.
func (c *conn) delay() {
	mra := &roce.MRA{MRA: ib.MRA{LocalCommID: c.ids[1], RemoteCommID: c.ids[0], ServiceTimeout: c.Setup.service()}}
	c.manage(c.b, ib.AttrMRA, mra, nil, func() {
		c.state.requests.patience = c.world.clock.now + c.Setup.service().Duration().Nanoseconds()
	})
}

// decide answers the request.
func (c *conn) decide() {
	c.state.decided = true
	if c.Setup.Rejected != 0 {
		c.manage(c.b, ib.AttrREJ, &roce.REJ{REJ: c.rej()}, excuse(c.Setup.Rejected), func() { c.state.requests.answered = true })
		return
	}
	c.ask(&c.state.replies, func() { c.manage(c.b, ib.AttrREP, &roce.REP{REP: c.rep()}, []byte(greeting), c.accepted) })
}

// accepted has From take the REP, or answer it again. What it withdrew it does
// not know any more.
func (c *conn) accepted() {
	s := &c.state
	if s.requests.answered && !s.opened && c.Setup.Declined == 0 {
		return
	}
	if c.Setup.Declined != 0 {
		s.requests.answered = true
		rej := &roce.REJ{REJ: ib.REJ{LocalCommID: c.ids[0], RemoteCommID: c.ids[1], Rejected: 1, Reason: c.Setup.Declined}}
		c.manage(c.a, ib.AttrREJ, rej, excuse(c.Setup.Declined), func() { s.replies.answered = true })
		return
	}
	rtu := &roce.RTU{RTU: ib.RTU{LocalCommID: c.ids[0], RemoteCommID: c.ids[1]}}
	c.manage(c.a, ib.AttrRTU, rtu, nil, c.establish)
	if !s.opened {
		s.opened, s.requests.answered = true, true
		c.a.post(c.Work)
	}
}

// establish tells To that From is ready: by the RTU, or by its first request.
func (c *conn) establish() {
	if s := &c.state; c.ByCM && !s.ready {
		s.ready, s.replies.answered = true, true
		c.b.post(c.Back)
	}
}

// withdraw ends From's patience.
func (c *conn) withdraw() {
	if s := &c.state; !s.requests.answered {
		s.requests.answered = true
		rej := &roce.REJ{REJ: ib.REJ{LocalCommID: c.ids[0], Reason: ib.REJTimeout}}
		c.manage(c.a, ib.AttrREJ, rej, nil, func() { s.replies.answered = true })
	}
}

// disconnect closes the connection from one of its ends: DREQ, DREP.
func (c *conn) disconnect(e *endpoint) {
	own, other := c.ids[0], c.ids[1]
	if e == c.b {
		own, other = other, own
	}
	c.state.closed = true
	dreq := &roce.DREQ{DREQ: ib.DREQ{LocalCommID: own, RemoteCommID: other, RemoteQPN: e.peer.qpn}}
	drep := &roce.DREP{DREP: ib.DREP{LocalCommID: other, RemoteCommID: own}}
	c.ask(&c.state.closes, func() {
		c.manage(e, ib.AttrDREQ, dreq, nil, func() {
			if !e.peer.req.settled() {
				e.peer.die()
			}
			c.manage(e.peer, ib.AttrDREP, drep, nil, func() { c.state.closes.answered = true })
		})
	})
}
