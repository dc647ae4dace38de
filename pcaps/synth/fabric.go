package synth

import (
	"encoding/binary"
	"hash/crc32"
)

// fabric is the switches and the cables between them.
type fabric struct {
	world    *world
	leaves   []*bridge // of one switch: that one
	up       [][]*port // of each leaf, towards each spine
	down     [][]*port // of each spine, towards each leaf
	flowlets map[flow]flowlet
}

// flow is what a hash tells apart.
type flow struct {
	src, dst int
	port     uint16
	qp       uint32
}

// flowlet is where a flow goes since when, and when it was seen last.
type flowlet struct {
	draw uint32
	last int64
}

func newFabric(w *world) *fabric {
	f := &fabric{world: w, flowlets: map[flow]flowlet{}}
	s := w.scenario.Network.Shape
	if s.leaves == 0 {
		f.leaves = []*bridge{{world: w, label: "switch"}}
		return f
	}
	for i := range s.leaves {
		f.leaves = append(f.leaves, &bridge{world: w, label: leafName(i + 1)})
	}
	f.up = make([][]*port, s.leaves)
	for i := range s.spines {
		f.addSpine(&bridge{world: w, label: spineName(i + 1)})
	}
	return f
}

func (f *fabric) addSpine(b *bridge) {
	net := &f.world.scenario.Network
	var down []*port
	for i, leaf := range f.leaves {
		c := f.world.join(leaf, b, net.uplink(), net.delay()/4)
		leaf.ports, b.ports = append(leaf.ports, c.ends[0]), append(b.ports, c.ends[1])
		f.up[i] = append(f.up[i], c.ends[0])
		down = append(down, c.ends[1])
	}
	f.down = append(f.down, down)
}

// attach joins a host with its switch, and returns the host's port and the
// switch's.
func (f *fabric) attach(h *host) (inside, outside *port) {
	net := &f.world.scenario.Network
	leaf, share := 0, int64(2)
	if net.Shape.leaves > 0 {
		leaf, share = net.Shape.leafOf(h.number)-1, 4
	}
	b := f.leaves[leaf]
	c := f.world.join(h, b, net.rate(), net.delay()/share)
	b.ports = append(b.ports, c.ends[1])
	return c.ends[0], c.ends[1]
}

// path returns the ports that a packet leaves by, from its sender on.
func (f *fabric) path(p *packet) []*port {
	s := f.world.scenario.Network.Shape
	if s.leaves == 0 || s.leafOf(p.from.number) == s.leafOf(p.to.number) {
		return []*port{p.from.port, p.to.outside}
	}
	up := f.up[s.leafOf(p.from.number)-1]
	spine := int(f.choose(p) % uint32(len(up)))
	return []*port{p.from.port, up[spine], f.down[spine][s.leafOf(p.to.number)-1], p.to.outside}
}

// choose draws or computes the number by which a packet's way is chosen.
func (f *fabric) choose(p *packet) uint32 {
	key := flow{src: p.from.number, dst: p.to.number, port: p.port}
	switch f.world.scenario.Network.Routing {
	case ByFlowAndQP:
		key.qp = p.bth.DestQP
	case ByFlowlet:
		return f.flowlet(key)
	case PacketSpraying:
		return f.world.rand.Uint32()
	}
	return key.hash()
}

func (f *fabric) flowlet(key flow) uint32 {
	now := f.world.clock.now
	x, known := f.flowlets[key]
	if !known || now-x.last > flowletPause {
		x.draw = f.world.rand.Uint32()
	}
	x.last = now
	f.flowlets[key] = x
	return x.draw
}

func (k flow) hash() uint32 {
	b := binary.BigEndian.AppendUint32(nil, uint32(k.src))
	b = binary.BigEndian.AppendUint32(b, uint32(k.dst))
	b = binary.BigEndian.AppendUint16(b, k.port)
	b = binary.BigEndian.AppendUint32(b, k.qp)
	return crc32.ChecksumIEEE(b) >> 7 // its low bits differ in few places
}
