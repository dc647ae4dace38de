package synth

import (
	"fmt"
	"net"
	"net/netip"
)

// processing is how long a host takes to look at a packet, in ns.
const processing = 600

// host is an adapter with one port: what its queue pairs have to send leaves
// one by one, in turn, at the rate of the link.
type host struct {
	world     *world
	number    int
	addr      netip.Addr
	mac       net.HardwareAddr
	port      *port  // its own end of the cable
	outside   *port  // the switch's end
	id        uint16 // IPv4 ID of the next packet
	endpoints []*endpoint
	turn      int       // of the endpoints
	urgent    []*packet // CNPs and connection management, before all else
	gsi       gsi
	machine   Machine
	inbox     int64 // until when what arrived keeps the host busy
}

// host returns the host of a number, which is made when it is first asked for.
func (w *world) host(number int) *host {
	if h := w.hosts[number]; h != nil {
		return h
	}
	h := &host{
		world: w, number: number, addr: w.addr(number),
		mac:     net.HardwareAddr{0x0C, 0x42, 0xA1, 0, byte(number >> 8), byte(number)},
		id:      uint16(w.rand.Uint32()),
		machine: w.scenario.Network.Hosts[number],
	}
	h.gsi.psn = w.psn()
	h.port, h.outside = w.fabric.attach(h)
	w.hosts[number] = h
	return h
}

func (h *host) name() string { return hostName(h.number) }

// addr returns the address of a host: 10.0.0.N, fd00::N, or for RoCEv1 the
// link-local one that follows from its MAC.
func (w *world) addr(number int) netip.Addr {
	switch n := &w.scenario.Network; {
	case n.RoCEv1:
		return netip.MustParseAddr(fmt.Sprintf("fe80::e42:a1ff:fe00:%x", number))
	case n.IPv6:
		return netip.MustParseAddr(fmt.Sprintf("fd00::%x", number))
	}
	return netip.AddrFrom4([4]byte{10, 0, byte(number >> 8), byte(number)})
}

// wake has the link looked at as soon as it is free, or at t where that is
// later.
func (h *host) wake(t int64) { h.port.wake(t) }

// choose takes the next packet of the endpoint whose turn it is; failing all,
// it returns when the first of them may send, or 0.
func (h *host) choose(out *port) (p *packet, wait int64) {
	if p, wait = h.hurry(out); p != nil {
		return h.numbered(p), 0
	}
	for range h.endpoints {
		e := h.endpoints[h.turn%len(h.endpoints)]
		h.turn++
		if t := out.silent(e.priority()); t > 0 {
			wait = earlier(wait, t)
			continue
		}
		p, at := e.next()
		if p != nil {
			return h.numbered(p), 0
		}
		wait = earlier(wait, at)
	}
	return nil, wait
}

// hurry takes the first urgent packet whose class may send.
func (h *host) hurry(out *port) (*packet, int64) {
	wait := int64(0)
	for i, p := range h.urgent {
		if t := out.silent(p.priority()); t > 0 {
			wait = earlier(wait, t)
			continue
		}
		h.urgent = append(h.urgent[:i:i], h.urgent[i+1:]...)
		return p, 0
	}
	return nil, wait
}

// numbered gives a packet that is about to leave its IPv4 ID, its way, and what
// will befall it.
func (h *host) numbered(p *packet) *packet {
	w := h.world
	switch w.scenario.Network.IDs {
	case RisingIDs:
		p.id = h.id
		h.id++
	case RandomIDs:
		p.id = uint16(w.rand.Uint32())
	}
	p.path = w.fabric.path(p)
	p.faultHop = max(0, w.tap.hop(p))
	p.journey = w.plan(p)
	for _, t := range w.taps {
		t.truth.sent(p, t.hop(p) >= 0)
	}
	return p
}

func (h *host) left(*packet, *port) {}

// arrive takes in a packet: at once, or as fast as the host can, which lets its
// buffer fill.
func (h *host) arrive(p *packet, at *port) {
	clock := &h.world.clock
	if h.machine.Receive == 0 {
		clock.after(processing+ns(h.machine.Turnaround), func() { p.arrive(p) })
		return
	}
	if !at.hold(p) || !h.roomFor(p) {
		h.world.drop(p)
		return
	}
	h.inbox = max(h.inbox, clock.now) + int64(float64(8*p.size())/h.machine.Receive)
	clock.at(h.inbox, func() {
		p.release()
		p.arrive(p)
	})
}

// roomFor reports whether a buffer that no pause protects holds one packet more.
func (h *host) roomFor(p *packet) bool {
	net := &h.world.scenario.Network
	waiting := float64(h.inbox-h.world.clock.now) * h.machine.Receive / 8
	return net.Buffer == 0 || net.Pause.XOFF > 0 || int(waiting)+p.size() <= net.Buffer
}
