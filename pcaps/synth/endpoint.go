package synth

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// cnpSpacing is the least time between two CNPs of a queue pair, in ns.
const cnpSpacing = 50_000

// endpoint is one queue pair: it asks, and it answers what its peer asks.
type endpoint struct {
	host        *host
	conn        *conn
	peer        *endpoint
	qpn         uint32
	first       ib.PSN // of its requests
	req         requester
	rsp         responder
	ordered     map[kind]int // packets sent so far, by kind, of this asker
	counted     map[kind]int // those sent for the first time
	told        int64        // when the last CNP was sent; 0 never
	rate        rate         // of what it sends
	lastRefusal *packet      // the RNR NAK that ended it
	missedReads int          // that the tap at hand let pass unseen
}

// newEndpoint gives a host one more queue pair.
func newEndpoint(h *host, c *conn) *endpoint {
	e := &endpoint{host: h, conn: c, ordered: map[kind]int{}, counted: map[kind]int{}}
	e.qpn = uint32(h.number)<<8 | uint32(0x10+len(h.endpoints))
	h.endpoints = append(h.endpoints, e)
	return e
}

// start sets the PSN of the first request, and with it what the peer expects.
func (e *endpoint) start(psn ib.PSN) {
	e.first, e.req = psn, newRequester(e, psn)
	e.peer.rsp = responder{e: e.peer, expected: psn, high: psn, atomics: map[ib.PSN]uint64{}, early: map[ib.PSN]*packet{}}
	e.peer.rsp.delivered = map[int][]func(){}
}

// next returns what the endpoint sends when its turn comes: answers first. It
// returns no packet, and when there may be one, where it has to wait.
func (e *endpoint) next() (*packet, int64) {
	p, wait := e.rsp.next()
	if p == nil {
		var later int64
		p, later = e.req.nextPacket()
		wait = earlier(wait, later)
	}
	if p != nil && (p.kind == isRequest || p.kind == isReadResponse) {
		e.rate.sent(e, p.size())
	}
	return p, wait
}

// priority is that of what the endpoint sends.
func (e *endpoint) priority() uint8 { return e.host.priority(e.dscp()) }

func (e *endpoint) dscp() uint8 {
	if c := e.conn; e == c.b && c.Class == Lossless {
		return c.BackClass.dscp()
	}
	return e.conn.Class.dscp()
}

func (e *endpoint) ecn() decode.ECN {
	if e.conn.NotECT {
		return decode.NotECT
	}
	return decode.ECT0
}

// port is the UDP source port of what the endpoint sends.
func (e *endpoint) port() uint16 {
	if c := e.conn; e == c.b && c.BackPort != 0 {
		return c.BackPort
	}
	return e.conn.port
}

// wake tells the host that there may be something to send.
func (e *endpoint) wake() { e.host.wake(0) }

// packet starts a packet to the peer's queue pair. The asker is the endpoint
// whose request it is or answers, nil for a CNP.
func (e *endpoint) packet(k kind, op ib.Op, psn ib.PSN, asker *endpoint) *packet {
	return &packet{
		from: e.host, to: e.peer.host, conn: e.conn, kind: k,
		bth:  ib.BTH{Opcode: ib.Of(e.conn.Transport, op), MigReq: true, PKey: 0xFFFF, DestQP: e.peer.qpn, PSN: psn},
		port: e.port(), dscp: e.dscp(), ecn: e.ecn(), asker: asker, arrive: e.peer.receive,
	}
}

// count gives a packet its place among those of its asker and kind.
func (p *packet) count() {
	a := p.asker
	a.ordered[p.kind]++
	p.order = a.ordered[p.kind]
	if p.again != "" {
		p.repeat = a.ordered[p.kind] - a.counted[p.kind]
		return
	}
	a.counted[p.kind]++
	p.number = a.counted[p.kind]
}

// receive takes a packet that arrived.
func (e *endpoint) receive(p *packet) {
	if p.damaged {
		e.host.world.drop(p)
		return
	}
	p.reached = e.host.world.clock.now
	if p.ecn == decode.CE && (p.kind == isRequest || p.kind == isReadResponse) {
		e.notify()
	}
	switch p.kind {
	case isRequest:
		if e == e.conn.b {
			e.conn.establish()
		}
		e.rsp.request(p)
	case isCNP:
		e.slowDown()
	default:
		e.req.response(p)
	}
}

// die ends the queue pair: what it has queued still leaves, and after that
// nothing.
func (e *endpoint) die() {
	e.req.dead, e.rsp.dead = true, true
	e.req.stop()
}

// fail ends the queue pair for a fault that its own requester met. Nothing that
// is queued leaves any more.
func (e *endpoint) fail() {
	e.die()
	e.rsp.queue = nil
	e.conn.fail(e)
}

// notify sends the peer a CNP, unless it was told a moment ago. Datagrams have
// no rate to cut.
func (e *endpoint) notify() {
	now := e.host.world.clock.now
	if e.host.machine.NoCNPs || e.conn.Transport == ib.UD || e.told != 0 && now-e.told < cnpSpacing {
		return
	}
	e.told = now
	p := e.packet(isCNP, 0, 0, nil)
	p.bth = ib.BTH{Opcode: ib.CNP, PKey: 0xFFFF, BECN: true, DestQP: e.peer.qpn}
	p.ext = cnpBody()
	p.dscp, p.ecn = cnpClass, decode.ECT0
	e.conn.cnps++
	p.number = e.conn.cnps
	e.host.urgent = append(e.host.urgent, p)
	e.wake()
}
