package synth

// pathScenarios show how traffic spreads over links of equal cost, and does
// not.
func pathScenarios() []*Scenario {
	return []*Scenario{
		ecmpCollision(), onePort(), byQueuePair(), flowlets(), sprayingHealthy(), sprayingNAKs(), oneSlowSpine(),
	}
}

// fourSpines joins two leaves of four hosts each.
var fourSpines = Network{Shape: LeafSpine(2, 4, 4), Rate: 100}

// ecmpCollision is bad luck of the hash: the ports differ, the way does not.
func ecmpCollision() *Scenario {
	return &Scenario{
		Name: "ecmp-collision", Seed: 401, Tap: AtLink("leaf1", "spine1"),
		About:       "four flows have UDP ports that hash onto one of four spines; the others idle",
		Network:     fourSpines,
		Connections: colliding(all(pairwise(4, Write(64<<10).Times(12).Every(10*us)), wide(1024, 128)), 4),
	}
}

// colliding gives connections UDP ports with which a leaf that hashes flows
// sends all of them to the first of its spines.
func colliding(conns []Connection, spines uint32) []Connection {
	port := uint16(0xC000)
	for i := range conns {
		c := &conns[i]
		for (flow{src: c.From, dst: c.To, port: port}).hash()%spines != 0 {
			port++
		}
		c.Port = port
		port++
	}
	return conns
}

func onePort() *Scenario {
	return &Scenario{
		Name: "one-port-ecmp", Seed: 402,
		About:       "sixteen queue pairs share one UDP source port, so that they share one spine",
		Network:     fourSpines,
		Connections: all(between(1, 5, 16, Write(16<<10).Times(6).Every(20*us)), func(c *Connection) { c.PathMTU, c.Port = 1024, 0xC123 }),
	}
}

// byQueuePair is onePort where the leaves look into the BTH.
func byQueuePair() *Scenario {
	s := onePort()
	s.Name, s.Seed = "hash-by-queue-pair", 403
	s.About = "sixteen queue pairs share one UDP source port; the leaves hash the queue pair, too"
	s.Network.Routing = ByFlowAndQP
	return s
}

func flowlets() *Scenario {
	s := &Scenario{
		Name: "flowlets", Seed: 404, Tap: AtHost(5),
		About:       "after each pause of a flow the leaf chooses its spine anew; nothing is reordered",
		Network:     fourSpines,
		Connections: all(between(1, 5, 2, Write(32<<10).Times(20).Every(150*us)), wide(1024, 64)),
	}
	s.Network.Routing = ByFlowlet
	return s
}

// sprayed has four hosts send four others some messages, with a spine for each
// packet.
func sprayed(s *Scenario, messages int) *Scenario {
	s.Network = fourSpines
	s.Network.Routing = PacketSpraying
	s.Connections = all(pairwise(4, Write(32<<10).Times(messages).Every(10*us)), wide(1024, 64))
	return s
}

func sprayingHealthy() *Scenario {
	s := sprayed(&Scenario{
		Name: "spraying", Seed: 405, Tap: AtHost(5),
		About: "each packet takes a spine of its own, and the receivers place them in any order",
	}, 10)
	s.Connections = all(s.Connections, anyOrder)
	return s
}

func sprayingNAKs() *Scenario {
	return sprayed(&Scenario{
		Name: "spraying-naks", Seed: 406, Tap: AtHost(5),
		About: "packets are sprayed to receivers that want them in order: needless NAKs and resends",
	}, 5)
}

// oneSlowSpine has an uplink that came up at a lower rate: which flows are slow,
// the hash decides.
func oneSlowSpine() *Scenario {
	s := &Scenario{
		Name: "slow-uplink", Seed: 407,
		About:       "one of four uplinks runs at a tenth of its rate: what hashes onto it is slow",
		Network:     fourSpines,
		Connections: all(between(1, 5, 8, Write(32<<10).Times(6).Every(40*us)), wide(1024, 64)),
	}
	s.Network.Cables = []Cable{{From: "leaf1", To: "spine2", Rate: 10}}
	return s
}
