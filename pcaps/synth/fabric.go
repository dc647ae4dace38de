package synth

import "github.com/rocescope/rocescope/decode"

// fabric carries packets from host to host: a fixed delay, of which a part lies
// before the tap, and what the scenario's faults add.
type fabric struct{ world *world }

// journey is what befalls one packet.
type journey struct {
	lost   [2]bool // before the tap, behind it
	delay  [2]int64
	marked [2]bool
	missed bool
	copies int // further ones in the capture
}

// carry takes a packet whose last bit has left its sender.
func (f *fabric) carry(p *packet) {
	w := f.world
	j := f.plan(p)
	before, behind := w.tap.distances(p)
	if j.lost[0] {
		w.tap.neverSaw(p)
		return
	}
	w.clock.after(before+j.delay[0], func() {
		if j.marked[0] {
			p.ecn = decode.CE
		}
		w.tap.see(p, &j)
		if j.lost[1] {
			return
		}
		if j.marked[1] {
			p.ecn = decode.CE
		}
		w.clock.after(behind+j.delay[1]+processing, func() { p.arrive(p) })
	})
}

// plan asks each fault whether it means this packet.
func (f *fabric) plan(p *packet) journey {
	var j journey
	for i := range f.world.scenario.Faults {
		fault := &f.world.scenario.Faults[i]
		if !fault.packets.selects(f.world, p) {
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
		case missed:
			j.missed = true
		case doubled:
			j.copies++
		}
	}
	return j
}

// rate is that of a link in bits per ns.
func (w *world) rate() float64 {
	if r := w.scenario.Network.Rate; r > 0 {
		return r
	}
	return 25
}

// delay is the time from host to host in ns.
func (w *world) delay() int64 {
	if d := w.scenario.Network.Delay; d > 0 {
		return ns(d)
	}
	return 5_000
}
