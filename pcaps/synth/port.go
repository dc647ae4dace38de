package synth

import "math"

// device stands at the ends of cables: a host or a switch.
type device interface {
	name() string
	// arrive takes a packet whose last bit came in at one of its ports.
	arrive(p *packet, at *port)
	// choose takes the packet that a port may send next; failing that it returns
	// when there may be one, or 0.
	choose(out *port) (*packet, int64)
	// left is told when a packet's last bit has left by a port.
	left(p *packet, out *port)
}

// priorities is how many classes a link tells apart.
const priorities = 8

// port is one end of a cable.
type port struct {
	of     device
	far    *port
	cable  *cable
	busy   int64             // until when the link is taken, outwards
	next   int64             // when the link will be looked at again; 0 not planned
	paused [priorities]int64 // until when the far end asked for silence
	queues [priorities]queue // of a switch: what waits to leave here
	held   [priorities]int   // bytes that came in here and have not left the device
	asked  [priorities]bool  // the far end was asked for silence
	asking int               // which request for silence is the last
	pauses [2]int            // XOFF and XON frames sent so far
}

// queue is packets of one priority, in the order of their coming.
type queue struct {
	packets []*packet
	bytes   int
}

func newPort(of device, c *cable) *port { return &port{of: of, cable: c} }

// wake has the link looked at as soon as it is free, or at t where that is
// later.
func (o *port) wake(t int64) {
	clock := &o.cable.world.clock
	t = max(t, o.busy, clock.now)
	if o.next != 0 && o.next <= t {
		return
	}
	o.next = t
	clock.at(t, func() {
		if o.next == t {
			o.next = 0
			o.transmit()
		}
	})
}

// transmit puts the next packet on the link, where there is one.
func (o *port) transmit() {
	p, wait := o.of.choose(o)
	switch {
	case p != nil:
		o.send(p)
		o.wake(o.busy)
	case wait != 0:
		o.wake(wait)
	}
}

// send serializes a packet onto the link; it is on its way when its last bit
// has left.
func (o *port) send(p *packet) {
	clock := &o.cable.world.clock
	o.busy = clock.now + o.cable.time(p.size())
	clock.at(o.busy, func() {
		o.of.left(p, o)
		o.cable.carry(p, o)
	})
}

// silent returns until when nothing of a priority may be sent; 0 where it may.
func (o *port) silent(priority uint8) int64 {
	if t := o.paused[priority]; t > o.cable.world.clock.now {
		return t
	}
	return 0
}

// hold counts bytes that came in, and asks the far end for silence where they
// become too many. It reports whether there was room.
func (o *port) hold(p *packet) bool {
	n, w := p.priority(), o.cable.world
	pause := &w.scenario.Network.Pause
	if n != lossless || pause.XOFF == 0 {
		return true
	}
	if o.held[n]+p.size() > pause.XOFF+pause.Headroom {
		return false
	}
	o.held[n] += p.size()
	p.heldBy = o
	if o.held[n] > pause.XOFF && !o.asked[n] {
		o.asked[n] = true
		o.asking++
		o.ask(n, o.asking)
	}
	return true
}

// release counts bytes that left, and lets the far end go on.
func (p *packet) release() {
	o := p.heldBy
	if o == nil {
		return
	}
	p.heldBy = nil
	n := p.priority()
	o.held[n] -= p.size()
	if o.asked[n] && o.held[n] < o.cable.world.scenario.Network.Pause.XON {
		o.asked[n] = false
		o.sendPause(n, 0)
	}
}

// ask sends a pause as long as it can be, again and again until it is no longer
// needed.
func (o *port) ask(priority uint8, asking int) {
	if !o.asked[priority] || o.asking != asking {
		return
	}
	o.sendPause(priority, longestStandstill)
	o.cable.world.clock.after(o.quanta(longestStandstill)/2, func() { o.ask(priority, asking) })
}

// quanta is how long a pause of some quanta lasts, in ns: one is the time of 512
// bits.
func (o *port) quanta(n int) int64 { return int64(math.Round(float64(n) * 512 / o.cable.rate)) }

// sendPause sends a pause frame past all queues.
func (o *port) sendPause(priority uint8, quanta int) {
	w, c := o.cable.world, o.cable
	frame := pauseFrame(o.of, priority, quanta, w.scenario.Network.Pause.Global)
	before := w.tap.before(c, o)
	x := o.pausePacket(quanta)
	j := w.plan(x)
	w.clock.after(c.time(len(frame))+before, func() {
		for _, t := range w.taps {
			t.seePause(frame, x, &j)
		}
		if !j.lost[0] && !j.lost[1] {
			w.clock.after(c.delay-before, func() { o.far.pause(priority, quanta) })
		}
	})
}

// pausePacket is what faults know of a pause frame that leaves the port.
func (o *port) pausePacket(quanta int) *packet {
	x := &packet{kind: isXOFF, path: []*port{o}}
	if quanta == 0 {
		x.kind = isXON
	}
	n := &o.pauses[x.kind-isXOFF]
	*n++
	x.number = *n
	return x
}

// pause takes a pause frame.
func (o *port) pause(priority uint8, quanta int) {
	until := o.cable.world.clock.now + o.quanta(quanta)
	for n := range o.paused {
		if n == int(priority) || o.cable.world.scenario.Network.Pause.Global {
			o.paused[n] = until
		}
	}
	o.wake(0)
}
