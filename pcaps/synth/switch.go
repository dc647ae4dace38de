package synth

// bridge is a switch: what comes in waits in a queue of its priority at the
// port where it has to leave.
type bridge struct {
	world *world
	label string
	ports []*port
}

func (b *bridge) name() string { return b.label }

// arrive queues a packet at the port of its path; it may be marked, and where
// there is no room it is lost.
func (b *bridge) arrive(p *packet, at *port) {
	out, n := p.path[p.hop], p.priority()
	q := &out.queues[n]
	net := &b.world.scenario.Network
	if !out.fits(p) || !b.admit(p, q, at) {
		b.world.drop(p)
		return
	}
	if chance := net.Marking.chance(q.bytes); n == lossless && chance > 0 && b.world.rand.Float64() < chance {
		p.mark()
	}
	q.packets = append(q.packets, p)
	q.bytes += p.size()
	out.wake(0)
}

// admit reports whether a packet finds room: that of its own port where pauses
// protect its class, that of the port where it leaves otherwise.
func (b *bridge) admit(p *packet, q *queue, at *port) bool {
	net := &b.world.scenario.Network
	if net.Pause.XOFF > 0 && p.priority() == lossless {
		return at.hold(p)
	}
	return net.Buffer == 0 || q.bytes+p.size() <= net.Buffer
}

// fits reports whether a packet is short enough for the link.
func (o *port) fits(p *packet) bool {
	return o.cable.mtu == 0 || p.size()-p.linkHeader() <= o.cable.mtu
}

// choose takes from the highest priority that has something and may send.
func (b *bridge) choose(out *port) (*packet, int64) {
	wait := int64(0)
	for n := priorities - 1; n >= 0; n-- {
		q := &out.queues[n]
		if len(q.packets) == 0 {
			continue
		}
		if t := out.silent(uint8(n)); t > 0 {
			wait = earlier(wait, t)
			continue
		}
		p := q.packets[0]
		q.packets = q.packets[1:]
		q.bytes -= p.size()
		return p, 0
	}
	return nil, wait
}

func (b *bridge) left(p *packet, _ *port) { p.release() }

// earlier returns the earlier of two times, of which 0 is none.
func earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
