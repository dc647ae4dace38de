package synth

// settingScenarios show what somebody configured, and did not mean to.
func settingScenarios() []*Scenario {
	return []*Scenario{mtuBlackhole(), mtuMismatch(), classOutlier(), classOneWay(), pfcWithoutMarks(), wrongPriority(), wrongDSCP()}
}

// mtuBlackhole lets commands and answers pass, so that connecting works.
func mtuBlackhole() *Scenario {
	s := &Scenario{
		Name: "mtu-blackhole", Seed: 601, Tap: AtHost(1),
		About:       "one cable carries 1500 bytes at most: small messages pass, large ones never",
		Network:     Network{Rate: 100, Cables: []Cable{{From: "host2", To: "switch", MTU: 1500}}},
		Connections: all(between(1, 2, 6, Send(256).Times(40).Every(25*us)), func(c *Connection) { c.PathMTU, c.AckTimeout = 4096, 10 }),
	}
	for i := 4; i < 6; i++ {
		s.Connections[i].Work = []Work{Send(256).Times(3).Every(20 * us), Write(16 << 10).Times(4).After(100 * us)}
	}
	return s
}

func mtuMismatch() *Scenario {
	s := &Scenario{
		Name: "mtu-mismatch", Seed: 602, Tap: AtHost(1),
		About:       "path MTU 4096 at one end and 1024 at the other: the first long message is refused",
		Network:     Network{Rate: 100},
		Connections: all(between(1, 2, 4, Write(16<<10).Times(20).Every(30*us)), wide(4096, 64)),
	}
	s.Connections[2].MTUOfTo = 1024
	return s
}

// classOutlier is one queue pair that the pauses do not protect.
func classOutlier() *Scenario {
	s := &Scenario{
		Name: "class-outlier", Seed: 603,
		About:       "one of five queue pairs rides in best effort: it alone is dropped when queues fill",
		Network:     Network{Rate: 100, Pause: pfc, Buffer: 20_000},
		Connections: all(Incast(4, []int{1, 1, 1, 2, 1, 1, 3}, Write(32<<10).Times(14).Every(30*us)), wide(1024, 64)),
	}
	s.Connections[4].Class = BestEffort
	return s
}

func classOneWay() *Scenario {
	work := []Work{Write(16 << 10).Times(15).Every(10 * us)}
	s := &Scenario{
		Name: "class-one-way", Seed: 604,
		About:       "data goes out in the lossless class and comes back in best effort, where it is dropped",
		Network:     Network{Rate: 25, Pause: pfc, Buffer: 30_000},
		Connections: all(append(between(1, 4, 2), between(1, 5, 2)...), wide(1024, 64)),
	}
	for i := range s.Connections {
		c := &s.Connections[i]
		c.Work, c.Back, c.BackClass = work, work, BestEffort
	}
	return s
}

// tagged is four hosts whose data the pauses protect by the tag's priority.
func tagged(s *Scenario) *Scenario {
	s.Network = Network{Rate: 100, VLAN: 100, TrustPCP: true, Pause: pfc, Buffer: 20_000}
	s.Connections = all(Incast(4, []int{1, 2, 3, 1, 2, 3}, Write(32<<10).Times(10).Every(30*us)), wide(1024, 64))
	return s
}

// wrongPriority has a host with a map of its own from DSCP to priority.
func wrongPriority() *Scenario {
	s := tagged(&Scenario{
		Name: "pcp-wrong", Seed: 606, Tap: Tap{},
		About: "one of four hosts tags its data with priority 0: the switch trusts that, and drops it",
	})
	s.Network.Hosts = map[int]Machine{2: {PCP: Priority(0)}}
	return s
}

// wrongDSCP has the priority right, so that this fabric serves it well.
func wrongDSCP() *Scenario {
	s := tagged(&Scenario{
		Name: "dscp-wrong", Seed: 607, Tap: Tap{},
		About: "one of four hosts has the right priority in its tags, and another DSCP than all",
	})
	s.Network.Hosts = map[int]Machine{2: {PCP: Priority(3)}}
	for _, i := range []int{1, 4} {
		s.Connections[i].Class = Background
	}
	return s
}

// pfcWithoutMarks has pauses begin where marks would, so that no sender is
// told to slow down.
func pfcWithoutMarks() *Scenario {
	s := pfcSlowReceiver()
	s.Name, s.Seed, s.Tap = "pfc-before-ecn", 605, AtHost(1)
	s.About = "marks begin above the pause threshold: senders are paused, and never marked"
	s.Network.Hosts = nil
	s.Connections = all(Incast(3, []int{1, 2}, Write(64<<10).Times(16)), wide(1024, 128))
	s.Network.Marking = Marking{Kmin: 4_000_000, Kmax: 8_000_000, Pmax: 0.1}
	return s
}
