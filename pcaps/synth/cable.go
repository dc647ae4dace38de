package synth

import (
	"math"

	"github.com/rocescope/rocescope/decode"
)

// cable joins two ports. What is sent into one end comes out of the other.
type cable struct {
	world    *world
	ends     [2]*port
	rate     float64 // bits per ns
	delay    int64   // ns
	mtu      int     // 0 any
	bitError float64
}

// join lays a cable between two devices.
func (w *world) join(a, b device, rate float64, delay int64) *cable {
	c := &cable{world: w, rate: rate, delay: delay}
	for _, x := range w.scenario.Network.Cables {
		if x.From == a.name() && x.To == b.name() || x.From == b.name() && x.To == a.name() {
			c.adjust(x)
		}
	}
	c.ends[0], c.ends[1] = newPort(a, c), newPort(b, c)
	c.ends[0].far, c.ends[1].far = c.ends[1], c.ends[0]
	return c
}

func (c *cable) adjust(x Cable) {
	if x.Rate > 0 {
		c.rate = x.Rate
	}
	if x.Delay > 0 {
		c.delay = ns(x.Delay)
	}
	c.mtu, c.bitError = x.MTU, x.BitError
}

// time is how long bytes take the link, with preamble, gap and frame check
// sequence.
func (c *cable) time(bytes int) int64 { return int64(float64(8*(bytes+24)) / c.rate) }

// carry takes a packet whose last bit has left a port, past the taps to the
// port at the other end. What the scenario's faults do to it happens where the
// main tap stands, or on its first cable where it does not come by.
func (c *cable) carry(p *packet, from *port) {
	clock := &c.world.clock
	j := &p.journey
	if p.hop != p.faultHop {
		j = &journey{}
	}
	before := c.world.tap.before(c, from)
	clock.after(before+j.delay[0], func() {
		if j.lost[0] {
			c.world.drop(p)
			return
		}
		j.hurt(p, 0)
		for _, t := range c.world.taps {
			t.see(p, c, j)
		}
		if j.lost[1] {
			c.world.drop(p)
			return
		}
		j.hurt(p, 1)
		clock.after(c.delay-before+j.delay[1], func() { c.land(p, from.far) })
	})
}

// land hands a packet to the device at the end, unless a bit was damaged: the
// frame check sequence tells.
func (c *cable) land(p *packet, at *port) {
	if c.bitError > 0 && c.world.rand.Float64() > math.Pow(1-c.bitError, float64(8*p.size())) {
		c.world.drop(p)
		return
	}
	p.hop++
	at.of.arrive(p, at)
}

// drop ends a packet's journey.
func (w *world) drop(p *packet) {
	if p.kind == isRequest && p.asker != nil {
		p.asker.peer.rsp.lacks(p)
	}
	for _, t := range w.taps {
		t.dropped(p)
	}
}

// journey is what the scenario's faults do to one packet, before the tap and
// behind it.
type journey struct {
	lost, marked, damaged [2]bool
	delay                 [2]int64
	missed                bool
	copies                int // further ones in the capture
}

// hurt marks and damages a packet on one side of the tap.
func (j *journey) hurt(p *packet, side int) {
	if j.marked[side] {
		p.mark()
	}
	if j.damaged[side] {
		p.damaged = true
	}
}

// mark sets Congestion Experienced on what can be marked.
func (p *packet) mark() {
	if p.ecn != decode.NotECT {
		p.ecn = decode.CE
	}
}

// plan asks each fault whether it means this packet.
func (w *world) plan(p *packet) journey {
	var j journey
	for i := range w.scenario.Faults {
		fault := &w.scenario.Faults[i]
		if !fault.packets.selects(w, p) {
			continue
		}
		side := 0
		if fault.behind {
			side = 1
		}
		switch fault.what {
		case lost:
			j.lost[side] = true
		case delayed:
			j.delay[side] += ns(fault.delay)
		case marked:
			j.marked[side] = true
		case damaged:
			j.damaged[side] = true
		case missed:
			j.missed = true
		case doubled:
			j.copies++
		}
	}
	return j
}
