package synth

// damageScenarios show what hardware breaks.
func damageScenarios() []*Scenario {
	return []*Scenario{badCable(), badCableReads(), damagedMemory(), unanswered(), readsUnanswered()}
}

// badCable drops what its frame check sequence tells: nobody counts it but the
// port behind it.
func badCable() *Scenario {
	return &Scenario{
		Name: "bad-cable", Seed: 501,
		About: "one uplink flips a bit now and then; the port behind it drops such frames",
		Network: Network{Shape: LeafSpine(2, 4, 2), Rate: 100,
			Cables: []Cable{{From: "leaf1", To: "spine1", BitError: 1e-6}}},
		Connections: all(pairwise(4, Write(32<<10).Times(12).Every(20*us)), wide(1024, 64)),
	}
}

func badCableReads() *Scenario {
	return &Scenario{
		Name: "bad-cable-reads", Seed: 502, Tap: AtHost(1),
		About:       "READs through a cable that flips bits: responses are missing and asked for again",
		Network:     Network{Rate: 100, Cables: []Cable{{From: "host2", To: "switch", BitError: 1e-6}}},
		Connections: all(between(1, 2, 4, Read(32<<10).Times(15).Every(40*us)), wide(1024, 64)),
	}
}

// damagedMemory harms packets inside a switch, which then gives them a check
// sequence that fits.
func damagedMemory() *Scenario {
	return &Scenario{
		Name: "damaged-memory", Seed: 503, Tap: AtHost(2),
		About:       "a switch's memory flips bits of payloads, which nothing but the ICRC can tell",
		Network:     Network{Rate: 100},
		Connections: all(between(1, 2, 4, Write(8<<10).Times(15).Every(30*us)), wide(1024, 64)),
		Faults:      []Fault{Damage(Requests(0).ByChance(0.02))},
	}
}

// unanswered has one queue pair of which nothing arrives, beside others that
// work.
func unanswered() *Scenario {
	return &Scenario{
		Name: "retries-exhausted", Seed: 504, Tap: AtHost(1),
		About:       "nothing of one queue pair arrives: it repeats its request until it gives up",
		Connections: all(between(1, 2, 4, Write(1024).Times(30).Every(30*us)), func(c *Connection) { c.AckTimeout = 10 }),
		Faults:      []Fault{Lose(Requests(2)).AfterTap()},
	}
}

func readsUnanswered() *Scenario {
	s := &Scenario{
		Name: "reads-unanswered", Seed: 505, Tap: AtHost(1),
		About:       "no response to the READs of one queue pair comes back, while WRITEs of others work",
		Connections: all(between(1, 2, 4, Write(1024).Times(30).Every(30*us)), func(c *Connection) { c.AckTimeout = 10 }),
		Faults:      []Fault{Lose(ReadResponses(2))},
	}
	s.Connections[1].Work = []Work{Read(4096).Times(4)}
	return s
}
