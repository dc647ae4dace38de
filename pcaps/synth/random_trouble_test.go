package synth_test

import (
	"math/rand/v2"
	"time"

	"github.com/rocescope/rocescope/decode/ib"
	"github.com/rocescope/rocescope/pcaps/synth"
)

// beside draws on its own, so that what is drawn elsewhere stays as it was.
func beside(seed uint64) draw { return draw{rand.New(rand.NewPCG(seed, 0x636D))} }

// setups lets some connections be set up with difficulties that end well: lost
// messages that are repeated, and servers that take their time.
func (d draw) setups(s *synth.Scenario) {
	for i := range s.Connections {
		c := &s.Connections[i]
		if !c.ByCM || !d.often(0.4) {
			continue
		}
		c.Setup.Timeout = ib.Timeout(d.between(14, 20))
		if d.often(0.4) {
			c.Setup.Deciding, c.Setup.MRA, c.Setup.Silent = d.duration(us, 6*time.Second), d.often(0.5), d.often(0.3)
			continue
		}
		attr := pick(d, ib.AttrREQ, ib.AttrREQ, ib.AttrREP, ib.AttrRTU, ib.AttrDREQ, ib.AttrDREP)
		s.Faults = append(s.Faults, d.side(synth.Lose(synth.Management(i+1, attr).Number(pick(d, 1, 1, 1, 2)))))
	}
}

// side lets a fault happen before or behind the tap.
func (d draw) side(f synth.Fault) synth.Fault {
	if d.often(0.5) {
		return f.AfterTap()
	}
	return f
}

// troubled draws a fabric in which something is wrong that takes no packet of
// data: with connections, with those who should tell of congestion, with receive
// buffers, or with priorities.
func (d draw) troubled(seed uint64) *synth.Scenario {
	s := d.fabric(seed)
	d.unsprayed(s)
	s.Tap = d.tap([]int{s.Connections[0].From, s.Connections[0].To})
	d = beside(seed + 1<<32)
	switch d.IntN(6) {
	case 0:
		d.refuse(s)
	case 1:
		d.ignore(s)
	case 2:
		d.exhaust(s)
	case 3:
		d.marked(s)
		s.Network.Hosts = map[int]synth.Machine{s.Connections[0].To: {NoCNPs: true}}
	case 4:
		d.marked(s)
		s.Faults = []synth.Fault{d.side(synth.Lose(synth.CNPs(0).ByChance(pick(d, 0.3, 1, 1))))}
	default:
		s.Network.VLAN = uint16(d.between(2, 4000))
		s.Network.TrustPCP = d.often(0.5)
		s.Network.Hosts = map[int]synth.Machine{s.Connections[0].From: {PCP: synth.Priority(uint8(d.between(0, 7)))}}
	}
	return s
}

// managed has all connections opened by connection management.
func (d draw) managed(s *synth.Scenario) {
	for i := range s.Connections {
		s.Connections[i].ByCM = s.Connections[i].Transport != ib.UD
	}
}

// refuse has a server refuse some connections.
func (d draw) refuse(s *synth.Scenario) {
	d.managed(s)
	why := pick(d, ib.REJInvalidServiceID, ib.REJConsumerDefined, ib.REJNoQP, ib.REJStaleConnection)
	for i := range s.Connections {
		if i == 0 || d.often(0.3) {
			s.Connections[i].Setup = synth.Setup{Rejected: why, Deciding: pick(d, 0, d.duration(us, 8*time.Second)), MRA: d.often(0.3)}
		}
	}
}

// ignore has a host answer no request, or the requests of one connection vanish.
func (d draw) ignore(s *synth.Scenario) {
	d.managed(s)
	if d.often(0.5) {
		s.Network.Hosts = map[int]synth.Machine{s.Connections[0].To: {NoCM: true}}
	} else {
		s.Faults = []synth.Fault{d.side(synth.Lose(synth.Management(1, pick(d, ib.AttrREQ, ib.AttrREP))))}
	}
	for i := range s.Connections {
		setup := &s.Connections[i].Setup
		setup.Timeout, setup.Retries = ib.Timeout(d.between(14, 20)), d.between(1, 15)
		if d.often(0.3) {
			setup.Patience = d.duration(time.Millisecond, 10*time.Second)
		}
	}
}

// exhaust has a receiver without buffers.
func (d draw) exhaust(s *synth.Scenario) {
	c := &s.Connections[0]
	c.Transport, c.Work = ib.RC, []synth.Work{synth.Send(d.between(1, 5000)).Times(d.between(8, 20)).Every(d.duration(2*us, 60*us))}
	c.NeverReady, c.RNRTries, c.RNRTimer = d.between(2, 8), d.between(1, 7), uint8(d.between(1, 20))
	c.ByCM = d.often(0.5)
	if d.often(0.3) {
		c.Reconnect = d.duration(time.Millisecond, 100*time.Millisecond)
	}
}

// marked has switches mark early.
func (d draw) marked(s *synth.Scenario) {
	s.Network.Marking = synth.Marking{Kmin: 5_000, Kmax: 20_000, Pmax: 0.5}
}
