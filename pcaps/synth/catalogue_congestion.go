package synth

// congestionScenarios show queues that fill, marks, CNPs, and drops.
func congestionScenarios() []*Scenario {
	return []*Scenario{dcqcnIncast(), incastTailDrop(), cnpIgnored(), notECT(), uplinkTooSmall(), straggler()}
}

// dcqcn are the marks of a fabric that lets DCQCN work.
var dcqcn = Marking{Kmin: 20_000, Kmax: 120_000, Pmax: 0.2}

// dcqcnIncast has the first sender begin alone and end alone.
func dcqcnIncast() *Scenario {
	s := &Scenario{
		Name: "dcqcn-incast", Seed: 201, Tap: AtHost(5),
		About:       "three senders join a fourth: marks draw CNPs, all slow down, and it recovers behind them",
		Network:     Network{Rate: 100, Marking: dcqcn},
		Connections: all(Incast(5, numbers(1, 4), Write(64<<10).Times(24).Every(10*us).After(200*us)), wide(4096, 64)),
	}
	s.Connections[0].Work = []Work{Write(64 << 10).Times(100).Every(8 * us)}
	return s
}

func incastTailDrop() *Scenario {
	return &Scenario{
		Name: "incast-tail-drop", Seed: 202,
		About:       "eight senders burst at one receiver whose switch port drops what does not fit",
		Network:     Network{Rate: 100, Buffer: 200_000},
		Connections: all(Incast(9, numbers(1, 8), Write(64<<10).Times(4).Every(60*us)), wide(1024, 64)),
	}
}

// cnpIgnored has all but one sender obey.
func cnpIgnored() *Scenario {
	s := &Scenario{
		Name: "cnp-ignored", Seed: 203, Tap: AtHost(4),
		About:       "one of three senders takes no notice of CNPs, and the others pay for it",
		Network:     Network{Rate: 100, Marking: dcqcn},
		Connections: all(Incast(4, numbers(1, 3), Write(64<<10).Times(50).Every(10*us)), wide(4096, 64)),
	}
	s.Connections[1].Unmoved = true
	return s
}

func notECT() *Scenario {
	s := &Scenario{
		Name: "not-ect", Seed: 204, Tap: AtHost(4),
		About:       "one of three senders is not ECN-capable: its packets are never marked, and dropped",
		Network:     Network{Rate: 100, Buffer: 150_000, Marking: dcqcn},
		Connections: all(Incast(4, numbers(1, 3), Write(64<<10).Times(16).Every(15*us)), wide(1024, 128)),
	}
	s.Connections[2].NotECT = true
	return s
}

// uplinkTooSmall overloads the spine links, and no host's.
func uplinkTooSmall() *Scenario {
	return &Scenario{
		Name: "oversubscribed-uplink", Seed: 205, Tap: AtLink("leaf1", "spine1"),
		About:       "four hosts share one uplink of their own rate: it is marked, their links are not",
		Network:     Network{Shape: LeafSpine(2, 4, 1), Rate: 100, Marking: dcqcn},
		Connections: all(pairwise(4, Write(64<<10).Times(40).Every(15*us)), wide(4096, 64)),
	}
}

// pairwise has the first hosts write to as many that follow.
func pairwise(n int, w Work) []Connection {
	var out []Connection
	for i := range n {
		out = append(out, Connection{From: i + 1, To: i + 1 + n, Work: []Work{w}})
	}
	return out
}

func straggler() *Scenario {
	return &Scenario{
		Name: "straggler", Seed: 206,
		About:       "one of eight hosts takes 300 us to look at what arrives, and the ring waits for it",
		Network:     Network{Shape: LeafSpine(2, 4, 4), Rate: 100, Hosts: map[int]Machine{6: {Turnaround: 300 * us}}},
		Connections: Ring(numbers(1, 8), 2, Write(32<<10).Times(5)),
	}
}
