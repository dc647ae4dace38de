package synth

import "time"

// signalScenarios show senders that are not told to slow down, or to go on.
func signalScenarios() []*Scenario {
	return []*Scenario{cnpsOff(), cnpsOffEverywhere(), cnpsLost(), cnpsLostBefore(), cnpsLostAllTaps(), xoffLost(), xonLost()}
}

// twoReceivers has three senders each for two hosts, so that both links are
// marked.
func twoReceivers(s *Scenario) *Scenario {
	s.Network = Network{Rate: 100, Marking: dcqcn}
	w := Write(64 << 10).Times(10).Every(15 * us)
	s.Connections = all(append(Incast(4, []int{1, 2, 3}, w), Incast(5, []int{1, 2, 3}, w)...), wide(4096, 64))
	return s
}

// cnpsOff has one of two receivers that does not notify.
func cnpsOff() *Scenario {
	s := twoReceivers(&Scenario{
		Name: "cnps-off", Seed: 211, Tap: AtHost(4),
		About: "one of two receivers sends no CNPs for the marks it gets: its senders do not slow down",
	})
	s.Network.Hosts = map[int]Machine{4: {NoCNPs: true}}
	return s
}

func cnpsOffEverywhere() *Scenario {
	s := twoReceivers(&Scenario{
		Name: "cnps-off-everywhere", Seed: 212, Tap: AtLink("leaf1", "spine1"),
		About: "switches mark, and no host of the fabric sends CNPs",
	})
	s.Network.Shape = LeafSpine(2, 3, 1)
	s.Network.Hosts = map[int]Machine{}
	for n := range 6 {
		s.Network.Hosts[n+1] = Machine{NoCNPs: true}
	}
	return s
}

// cnpsLost has a receiver that does what it should.
func cnpsLost() *Scenario {
	return &Scenario{
		Name: "cnps-lost", Seed: 213, Tap: AtHost(4),
		About:       "the class of CNPs is dropped behind the tap: no sender is told, and none is to blame",
		Network:     Network{Rate: 100, Marking: dcqcn},
		Connections: all(Incast(4, []int{1, 2, 3}, Write(64<<10).Times(60).Every(10*us)), wide(4096, 64)),
		Faults:      []Fault{Lose(CNPs(0)).AfterTap()},
	}
}

// cnpsLostBefore is seen from between the leaves, where marks pass and CNPs do
// not come by.
func cnpsLostBefore() *Scenario {
	return &Scenario{
		Name: "cnps-lost-before", Seed: 214, Tap: AtLink("leaf2", "spine1"),
		About:       "CNPs are dropped between the receivers and the tap, which sees the marks alone",
		Network:     Network{Shape: LeafSpine(2, 4, 1), Rate: 100, Marking: dcqcn},
		Connections: all(pairwise(4, Write(64<<10).Times(20).Every(15*us)), wide(4096, 64)),
		Faults:      []Fault{Lose(CNPs(0))},
	}
}

// cnpsLostAllTaps is seen before the queue, where the senders' rates show that
// they go on.
func cnpsLostAllTaps() *Scenario {
	s := cnpsLost()
	s.Name, s.Seed, s.Tap = "cnps-lost-all-taps", 215, Tap{}
	s.About = "a mirror of all ports sees CNPs, and senders that go on: the CNPs never reach them"
	s.Connections = all(Incast(4, []int{1, 2, 3}, Write(64<<10).Times(300).Every(15*us)), wide(4096, 512))
	return s
}

// xoffLost has a link on which the receiver's requests for silence get lost, so
// that what it cannot hold is dropped.
func xoffLost() *Scenario {
	return &Scenario{
		Name: "xoff-lost", Seed: 311, Tap: AtHost(3),
		About:       "a slow host's requests for silence are lost on their way to the switch: it drops packets",
		Network:     Network{Rate: 100, Pause: Pause{XOFF: 60_000, XON: 30_000, Headroom: 40_000}, Hosts: map[int]Machine{3: {Receive: 30}}},
		Connections: all(Incast(3, []int{1, 2}, Write(64<<10).Times(16).Every(20*us)), wide(1024, 128)),
		Faults:      []Fault{Lose(XOFFs("host3", "switch").ByChance(0.5)).AfterTap()},
	}
}

// xonLost leaves each pause to run out, 335 us at this rate.
func xonLost() *Scenario {
	s := pfcSlowReceiver()
	s.Name, s.Seed = "xon-lost", 312
	s.About = "the frames that end a slow host's pauses are lost: each pause runs out by itself"
	s.Connections = all(Incast(3, []int{1, 2}, Write(64<<10).Times(16).Every(40*us)), wide(1024, 128))
	s.Faults = []Fault{Lose(XONs("host3", "switch")).AfterTap()}
	return s
}

// rnrExhausted has receivers that never post a buffer again, and senders with
// other patience each. One opens the connection anew.
func rnrExhausted() *Scenario {
	s := &Scenario{
		Name: "rnr-exhausted", Seed: 711, Tap: AtHost(1),
		About:       "receivers stay without buffers until their senders give up; one of them connects again",
		Connections: between(1, 2, 5, Send(1024).Times(25).Every(100*us)),
	}
	for i, tries := range []int{1, 3, 7} {
		c := &s.Connections[i]
		c.ByCM, c.NeverReady, c.RNRTries, c.RNRTimer = true, 10, tries, 14
	}
	s.Connections[1].Reconnect = 50 * ms
	s.Connections[4].Work = []Work{Send(1024).Times(40).Every(2 * ms)}
	return s
}

// rnrExhaustedInSilence is the same of queue pairs without management: nothing
// but silence tells.
func rnrExhaustedInSilence() *Scenario {
	s := rnrExhausted()
	s.Name, s.Seed, s.Tap = "rnr-exhausted-silent", 712, AtHost(2)
	s.About = "senders give up on receivers without buffers, and nothing tells of it but their silence"
	for i := range s.Connections {
		s.Connections[i].ByCM, s.Connections[i].Reconnect = false, 0
	}
	s.Connections[3].NotReady, s.Connections[3].RNRTimer = []int{4}, 14
	s.Connections[4].Work = []Work{Send(1024).Times(40).Every(time.Millisecond)}
	return s
}
