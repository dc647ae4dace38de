package synth

import (
	"fmt"
	"net"
	"net/netip"
)

// host is an adapter with one port: what its queue pairs have to send leaves
// one by one, in turn, at the rate of the link.
type host struct {
	world     *world
	number    int
	addr      netip.Addr
	mac       net.HardwareAddr
	id        uint16 // IPv4 ID of the next packet; rises by one
	endpoints []*endpoint
	turn      int       // of the endpoints
	urgent    []*packet // CNPs and connection management, before all else
	gsi       gsi

	busy    int64 // until when the link is taken, outwards
	inbound int64 // and inwards
	next    int64 // when the link will be looked at again; 0 not planned
}

// host returns the host of a number, which is made when it is first asked for.
func (w *world) host(number int) *host {
	if h := w.hosts[number]; h != nil {
		return h
	}
	h := &host{
		world: w, number: number, addr: w.addr(number),
		mac: net.HardwareAddr{0x0C, 0x42, 0xA1, 0, 0, byte(number)},
		id:  uint16(w.rand.Uint32()),
	}
	h.gsi.psn = w.psn()
	w.hosts[number] = h
	return h
}

// addr returns the address of a host: 10.0.0.N, fd00::N, or for RoCEv1 the
// link-local one that follows from its MAC.
func (w *world) addr(number int) netip.Addr {
	switch n := &w.scenario.Network; {
	case n.RoCEv1:
		return netip.MustParseAddr(fmt.Sprintf("fe80::e42:a1ff:fe00:%x", number))
	case n.IPv6:
		return netip.MustParseAddr(fmt.Sprintf("fd00::%x", number))
	}
	return netip.AddrFrom4([4]byte{10, 0, 0, byte(number)})
}

// wake has the link looked at as soon as it is free, or at t where that is
// later.
func (h *host) wake(t int64) {
	t = max(t, h.busy, h.world.clock.now)
	if h.next != 0 && h.next <= t {
		return
	}
	h.next = t
	h.world.clock.at(t, func() {
		if h.next == t {
			h.next = 0
			h.transmit()
		}
	})
}

// transmit puts the next packet on the link, where there is one.
func (h *host) transmit() {
	p, wait := h.choose()
	switch {
	case p != nil:
		h.send(p)
		h.wake(h.busy)
	case wait != 0:
		h.wake(wait)
	}
}

// choose takes the next packet of the endpoint whose turn it is; failing all,
// it returns when the first of them may send, or 0.
func (h *host) choose() (p *packet, wait int64) {
	if len(h.urgent) > 0 {
		p, h.urgent = h.urgent[0], h.urgent[1:]
		return p, 0
	}
	for range h.endpoints {
		e := h.endpoints[h.turn%len(h.endpoints)]
		h.turn++
		p, at := e.next()
		if p != nil {
			return p, 0
		}
		if at != 0 && (wait == 0 || at < wait) {
			wait = at
		}
	}
	return nil, wait
}

// send serializes a packet onto the link; it is on its way when its last bit
// has left.
func (h *host) send(p *packet) {
	p.id = h.id
	h.id++
	h.busy = h.world.clock.now + h.world.onLink(p)
	h.world.clock.at(h.busy, func() { h.world.fabric.carry(p) })
}
