package synth

import "github.com/rocescope/rocescope/decode"

// fabric carries packets from host to host: a fixed delay, of which a part lies
// before the tap, a port towards each host with a queue that never overflows,
// and what the scenario's faults add.
type fabric struct{ world *world }

// journey is what befalls one packet.
type journey struct {
	lost   [2]bool // before the tap, behind it
	delay  [2]int64
	marked [2]bool
	missed bool
	copies int // further ones in the capture
}

// carry takes a packet whose last bit has left its sender, and brings it past
// the tap to its receiver. The port towards the receiver lies before a tap on
// the receiver's link, and behind any other.
func (f *fabric) carry(p *packet) {
	w := f.world
	j := f.plan(p)
	before, behind := w.tap.distances(p)
	if j.lost[0] {
		w.tap.neverSaw(p)
		return
	}
	atReceiver := w.tap.host == p.to.number
	w.clock.after(before+j.delay[0], func() {
		f.leave(p, atReceiver, func() {
			f.mark(p, j.marked[0])
			w.tap.see(p, &j)
			if j.lost[1] {
				return
			}
			w.clock.after(behind+j.delay[1], func() {
				f.leave(p, !atReceiver, func() {
					f.mark(p, j.marked[1])
					w.clock.after(processing, func() { p.arrive(p) })
				})
			})
		})
	})
}

// leave passes a packet through the port towards its receiver, where it waits
// for those before it; a packet that waits long is marked. Where the port lies
// elsewhere, it does nothing but go on.
func (f *fabric) leave(p *packet, here bool, then func()) {
	if !here {
		then()
		return
	}
	w := f.world
	wait := max(0, p.to.inbound-w.clock.now)
	limit := ns(w.scenario.Network.MarkAbove)
	f.mark(p, limit > 0 && wait > limit)
	if wait > 0 { // else it is cut through, and its time on the link overlaps
		p.to.inbound += w.onLink(p)
	} else {
		p.to.inbound = w.clock.now + w.onLink(p)
	}
	w.clock.after(wait, then)
}

// mark sets Congestion Experienced on what can be marked.
func (f *fabric) mark(p *packet, yes bool) {
	if yes && p.ecn != decode.NotECT {
		p.ecn = decode.CE
	}
}

// onLink is how long a packet takes a link, in ns, with preamble, gap and frame
// check sequence.
func (w *world) onLink(p *packet) int64 { return int64(float64(8*(p.size()+24)) / w.rate()) }

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
