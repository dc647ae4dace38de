package synth_test

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/rocescope/rocescope/decode/ib"
	"github.com/rocescope/rocescope/pcaps/synth"
)

// draw makes scenarios by chance. What it makes depends on its seed alone.
type draw struct{ *rand.Rand }

func newDraw(seed uint64) draw { return draw{rand.New(rand.NewPCG(seed, 0x6472))} }

func (d draw) often(probability float64) bool { return d.Float64() < probability }

func pick[T any](d draw, from ...T) T { return from[d.IntN(len(from))] }

func (d draw) between(low, high int) int { return low + d.IntN(high-low+1) }

func (d draw) duration(low, high time.Duration) time.Duration {
	return low + time.Duration(d.Int64N(int64(high-low)+1))
}

// healthy draws a fabric that works: any shape, any workload, any tap that sees
// both directions, congestion control at work, paths of any kind.
func (d draw) healthy(seed uint64) *synth.Scenario {
	s := d.fabric(seed)
	beside(seed).setups(s)
	return s
}

func (d draw) fabric(seed uint64) *synth.Scenario {
	s := &synth.Scenario{Seed: seed, Network: d.network()}
	hosts := d.shape(s)
	s.Connections = d.workload(hosts)
	s.Tap = d.tap(hosts)
	d.adapters(s)
	if d.often(0.2) {
		s.Tap = s.Tap.Between(d.duration(0, 60*us), d.duration(150*us, 400*us))
	}
	if d.often(0.3) {
		s.File.SnapLen = pick(d, 96, 128, 256)
	}
	return s
}

const us = time.Microsecond

func (d draw) network() synth.Network {
	n := synth.Network{
		IPv6: d.often(0.25), IDs: pick(d, synth.RisingIDs, synth.RisingIDs, synth.ConstantIDs, synth.RandomIDs),
		Rate: pick(d, 25.0, 100, 200, 400), Delay: d.duration(2*us, 30*us),
	}
	if d.often(0.2) {
		n.VLAN = uint16(d.between(2, 4000))
	}
	n.RoCEv1 = d.often(0.05)
	return n
}

// shape draws how hosts are joined, and returns them.
func (d draw) shape(s *synth.Scenario) []int {
	n := d.between(2, 8)
	if d.often(0.5) {
		s.Network.Shape = synth.LeafSpine(2, (n+1)/2, d.between(1, 4))
		s.Network.Routing = pick(d, synth.ByFlow, synth.ByFlowAndQP, synth.PacketSpraying)
	}
	hosts := make([]int, n)
	for i := range hosts {
		hosts[i] = i + 1
	}
	return hosts
}

func (d draw) workload(hosts []int) []synth.Connection {
	switch d.IntN(6) {
	case 0:
		return synth.Ring(hosts, d.between(1, 3), synth.Write(d.between(500, 9000)).Times(d.between(4, 12)))
	case 1:
		return synth.AllToAll(hosts[:min(len(hosts), 5)], synth.Write(d.between(200, 9000)).Times(d.between(2, 8)).Every(d.duration(us, 40*us)))
	case 2:
		return synth.Incast(hosts[0], hosts[1:], synth.Write(d.between(2000, 30000)).Times(d.between(3, 10)).Every(d.duration(5*us, 50*us)))
	case 3:
		return synth.Storage(hosts[0], hosts[1], d.between(1, 5), 2*d.between(2, 12))
	case 4:
		return d.equalPairs(hosts)
	}
	return d.mixture(hosts)
}

// equalPairs joins two hosts by many queue pairs whose sequences all start at
// 0: what NCCL does, with nothing but the traffic to tell them apart.
func (d draw) equalPairs(hosts []int) []synth.Connection {
	var out []synth.Connection
	for i := range d.between(2, 16) {
		w := synth.Write(d.between(300, 9000)).Times(d.between(4, 20)).Every(d.duration(3*us, 40*us))
		c := synth.Connection{From: hosts[0], To: hosts[1], FirstPSN: synth.PSN(0), PathMTU: 1024, Start: time.Duration(i) * d.duration(0, 4*us), Work: []synth.Work{w}}
		if d.often(0.5) {
			c.Back = []synth.Work{synth.Write(d.between(300, 5000)).Times(d.between(4, 12)).Every(d.duration(3*us, 40*us))}
		}
		if d.often(0.5) {
			c.Port, c.BackPort = uint16(d.between(49152, 65535)), uint16(d.between(49152, 65535))
		}
		out = append(out, c)
	}
	return out
}

// mixture is connections of all kinds between any hosts.
func (d draw) mixture(hosts []int) []synth.Connection {
	var out []synth.Connection
	for range d.between(1, 8) {
		from := pick(d, hosts...)
		to := pick(d, hosts...)
		if from == to {
			to = hosts[(from)%len(hosts)]
		}
		c := synth.Connection{From: from, To: to, PathMTU: pick(d, 256, 1024, 4096), Start: d.duration(0, 30*us), ByCM: d.often(0.3)}
		c.Transport = pick(d, ib.RC, ib.RC, ib.RC, ib.RC, ib.UC, ib.UD)
		c.Work = d.work(c.Transport)
		if c.Transport == ib.RC && d.often(0.4) {
			c.Back = d.work(c.Transport)
		}
		if d.often(0.2) {
			c.FirstPSN = synth.PSN(1<<24 - uint32(d.between(1, 40)))
		}
		out = append(out, c)
	}
	return out
}

func (d draw) work(of ib.Transport) []synth.Work {
	if of == ib.UD {
		return []synth.Work{synth.Send(d.between(1, 250)).Times(d.between(10, 60)).Every(d.duration(us, 10*us))}
	}
	var out []synth.Work
	for range d.between(1, 4) {
		w := pick(d, synth.Write(d.between(1, 12000)), synth.Send(d.between(0, 6000)))
		if of == ib.RC && d.often(0.4) {
			w = pick(d, synth.Read(d.between(1, 12000)), synth.FetchAdd(), synth.CompareSwap())
		}
		w = w.Times(d.between(3, 25)).Every(d.duration(2*us, 60*us)).After(d.duration(0, 40*us))
		if d.often(0.1) {
			w = w.After(3 * time.Millisecond) // idle before
		}
		out = append(out, w)
	}
	return out
}

// tap draws a place where every connection of some host is seen whole.
func (d draw) tap(hosts []int) synth.Tap {
	if d.often(0.3) {
		return synth.Tap{}
	}
	return synth.AtHost(pick(d, hosts[:2]...))
}

// adapters draws how the hosts behave, the same for all, as in one cluster.
func (d draw) adapters(s *synth.Scenario) {
	window, coalesce := pick(d, 0, 64, 128), pick(d, 0, 0, 2*us, 8*us)
	if d.often(0.4) {
		s.Network.Marking = synth.Marking{Kmin: 20_000, Kmax: 80_000, Pmax: 0.2}
	}
	for i := range s.Connections {
		c := &s.Connections[i]
		c.Window, c.Coalesce = window, coalesce
		c.AnyOrder = s.Network.Routing == synth.PacketSpraying
		c.AckTimeout = 12
	}
}

// faulty draws a healthy fabric, and one thing that goes wrong in it.
func (d draw) faulty(seed uint64) *synth.Scenario {
	s := d.fabric(seed)
	d.unsprayed(s)
	s.Tap = d.tap([]int{s.Connections[0].From, s.Connections[0].To})
	s.Faults = []synth.Fault{d.fault(d.packets(s), pick(d, 1, 1, 2, 3))}
	return s
}

// mixed draws a fabric in which several things go wrong at once.
func (d draw) mixed(seed uint64) *synth.Scenario {
	s := d.fabric(seed)
	d.unsprayed(s)
	s.Tap = d.tap([]int{s.Connections[0].From, s.Connections[0].To}).Losing(pick(d, 0, 0.003, 0.01)).Doubling(pick(d, 0, 0, 0.02))
	all := synth.Everything()
	s.Faults = []synth.Fault{
		synth.Lose(all.ByChance(pick(d, 0, 0.002, 0.008))),
		synth.Lose(all.ByChance(pick(d, 0, 0.002, 0.008))).AfterTap(),
		synth.Delay(all.ByChance(pick(d, 0, 0.002, 0.005)), d.duration(us, 4*us)),
	}
	return s
}

// unsprayed leaves the capture of faults to fabrics where a packet that comes
// late is one that was held up.
func (d draw) unsprayed(s *synth.Scenario) {
	if s.Network.Routing == synth.PacketSpraying {
		s.Network.Routing = synth.ByFlow
	}
	recovery := pick(d, synth.GoBackN, synth.GoBackN, synth.GoBackN, synth.SelectiveRepeat)
	for i := range s.Connections {
		s.Connections[i].AnyOrder = false
		s.Connections[i].Recovery = recovery
	}
}

// packets draws a connection's packets of one kind.
func (d draw) packets(s *synth.Scenario) synth.Packets {
	conn := 1 + d.IntN(len(s.Connections))
	reads := slices.ContainsFunc(s.Connections[conn-1].Work, synth.Work.IsRead)
	if reads && d.often(0.5) {
		return synth.ReadResponses(conn)
	}
	return synth.Requests(conn)
}

// fault draws what befalls n of the packets, or n times adjoining ones.
func (d draw) fault(p synth.Packets, n int) synth.Fault {
	numbers, at := []int{}, d.between(2, 12)
	for range n {
		numbers = append(numbers, at)
		at += pick(d, 1, 1, 5, 20)
	}
	p = p.Number(numbers...)
	switch d.IntN(6) {
	case 0:
		return synth.Lose(p)
	case 1:
		return synth.Lose(p).AfterTap()
	case 2:
		return synth.Miss(p)
	case 3:
		return synth.Double(p)
	case 4:
		return synth.Delay(p, d.duration(us, 3*us))
	}
	return synth.Damage(p).AfterTap()
}
