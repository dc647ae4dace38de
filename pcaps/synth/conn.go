package synth

import "github.com/rocescope/rocescope/decode/ib"

// conn is a connection: two endpoints, and the state of their management.
type conn struct {
	*Connection
	world  *world
	number int       // in the scenario, from 1
	a, b   *endpoint // of From and To
	port   uint16
	ids    [2]uint32 // communication IDs of a and b

	round    int // how often it was opened again
	state    handshake
	messages map[ib.CMAttr]int // of connection management, sent so far
	cnps     int               // sent so far, by either end
}

func newConn(w *world, number int, c *Connection) *conn {
	out := &conn{Connection: c, world: w, number: number, messages: map[ib.CMAttr]int{}}
	out.a = newEndpoint(w.host(c.From), out)
	out.b = newEndpoint(w.host(c.To), out)
	out.a.peer, out.b.peer = out.b, out.a
	out.a.start(out.firstPSN())
	out.b.start(out.firstPSN())
	out.port = out.sourcePort()
	out.ids = [2]uint32{w.rand.Uint32(), w.rand.Uint32()}
	return out
}

// psn draws a first PSN.
func (w *world) psn() ib.PSN { return ib.PSN(w.rand.Uint32() & ib.PSNMask) }

func (c *conn) firstPSN() ib.PSN {
	if c.FirstPSN != nil {
		return *c.FirstPSN
	}
	return c.world.psn()
}

func (c *conn) window() int32 {
	if c.Window == 0 {
		return 32
	}
	return int32(c.Window)
}

// mtuOf is what an endpoint takes for the path MTU.
func (c *conn) mtuOf(e *endpoint) int {
	if e == c.b && c.MTUOfTo != 0 {
		return c.MTUOfTo
	}
	return c.mtu()
}

func (c *conn) mtu() int {
	if c.PathMTU == 0 {
		return 256
	}
	return c.PathMTU
}

// rnrTries bounds how often From sends what meets no buffer; 0 nothing does.
func (c *conn) rnrTries() int {
	if c.RNRTries == 0 && c.NeverReady > 0 {
		return 7
	}
	return c.RNRTries
}

func (c *conn) ackTimeout() ib.Timeout {
	if c.AckTimeout == 0 {
		return 14
	}
	return c.AckTimeout
}

// open begins the work, after an exchange of messages where the connection has
// management.
func (c *conn) open() {
	if c.ByCM {
		c.request()
		return
	}
	c.a.post(c.Work)
	c.b.post(c.Back)
}

// settled is called when an endpoint has nothing left to do.
func (c *conn) settled() {
	if c.ByCM && !c.state.closed && c.a.req.settled() && c.b.req.settled() {
		c.disconnect(c.a)
	}
}

// fail is called when a queue pair failed: its application notices after a
// while, closes what is left, and may open it anew.
func (c *conn) fail(e *endpoint) {
	if c.state.broken {
		return
	}
	c.state.broken = true
	clock := &c.world.clock
	if c.ByCM && !c.state.closed {
		clock.after(noticing, func() { c.disconnect(e) })
	}
	if c.Reconnect > 0 {
		clock.after(ns(c.Reconnect), c.again)
	}
}

// again opens the connection with new queue pairs.
func (c *conn) again() {
	anew := *c.Connection
	anew.NotReady, anew.NeverReady, anew.Refused, anew.Reconnect = nil, 0, 0, 0
	next := newConn(c.world, c.number, &anew)
	next.round = c.round + 1
	next.port = next.sourcePort()
	next.open()
}

// sourcePort is that of both directions: by the formula that most drivers share,
// from the flow label of connection management, or from the queue pairs.
func (c *conn) sourcePort() uint16 {
	switch {
	case c.Port != 0:
		return c.Port
	case c.ByCM:
		return flowLabelPort(c.flowLabel())
	}
	return queuePairPort(c.a.qpn, c.b.qpn)
}

// queuePairPort folds the product of two queue pair numbers into a port.
func queuePairPort(a, b uint32) uint16 {
	v := uint64(a) * uint64(b)
	v ^= v >> 20
	v ^= v >> 40
	return flowLabelPort(uint32(v) & 0xFFFFF)
}

// flowLabelPort folds a flow label of 20 bits into a port.
func flowLabelPort(label uint32) uint16 {
	return uint16(label&0x3FFF^label>>14) | 0xC000
}
