package synth

// pauseScenarios show priority flow control, and what it does to others.
func pauseScenarios() []*Scenario {
	return []*Scenario{pfcSlowReceiver(), pfcUpstream(), pfcVictim(), pauseGlobal(), pfcStorm()}
}

// pfc is priority flow control with room for what is on its way.
var pfc = Pause{XOFF: 60_000, XON: 30_000, Headroom: 200_000}

func pfcSlowReceiver() *Scenario {
	return &Scenario{
		Name: "pfc-slow-receiver", Seed: 301, Tap: AtHost(3),
		About:       "a host takes in a third of what its link brings, and pauses its switch",
		Network:     Network{Rate: 100, Pause: pfc, Hosts: map[int]Machine{3: {Receive: 30}}},
		Connections: all(Incast(3, []int{1, 2}, Write(64<<10).Times(16).Every(20*us)), wide(1024, 128)),
	}
}

func pfcUpstream() *Scenario {
	return &Scenario{
		Name: "pfc-upstream", Seed: 302, Tap: AtLink("leaf1", "spine1"),
		About:       "the pauses of a slow host spread through its leaf to the spines and the next leaf",
		Network:     Network{Shape: LeafSpine(2, 4, 1), Rate: 100, Pause: pfc, Hosts: map[int]Machine{5: {Receive: 20}}},
		Connections: all(Incast(5, numbers(1, 4), Write(64<<10).Times(10).Every(20*us)), wide(1024, 128)),
	}
}

// pfcVictim has a connection that does not go where the congestion is.
func pfcVictim() *Scenario {
	s := &Scenario{
		Name: "pfc-victim", Seed: 303, Tap: AtHost(2),
		About:       "a sender to an idle host is stopped by the pauses that another host's incast causes",
		Network:     Network{Shape: LeafSpine(2, 4, 1), Rate: 100, Pause: pfc},
		Connections: all(Incast(5, []int{1, 2, 3, 6, 7}, Write(64<<10).Times(10).Every(15*us)), wide(1024, 128)),
	}
	victim := between(2, 8, 1, Write(16<<10).Times(20).Every(15*us))
	s.Connections = append(s.Connections, all(victim, wide(1024, 128))...)
	return s
}

func pauseGlobal() *Scenario {
	global := pfc
	global.Global = true
	return &Scenario{
		Name: "pause-global", Seed: 304, Tap: AtHost(3),
		About:       "a slow host stops its whole link (IEEE 802 pause), in place of one priority",
		Network:     Network{Rate: 100, Pause: global, Hosts: map[int]Machine{3: {Receive: 30}}},
		Connections: all(Incast(3, []int{1, 2}, Write(64<<10).Times(12).Every(20*us)), wide(1024, 128)),
	}
}

// pfcStorm has a host that is as good as stuck: what its adapter holds takes
// longer than a watchdog waits.
func pfcStorm() *Scenario {
	return &Scenario{
		Name: "pfc-storm", Seed: 305, Tap: AtHost(3),
		About:   "a stuck host holds its priority paused for longer than a watchdog would stand by",
		Network: Network{Pause: Pause{XOFF: 20_000, XON: 4_000, Headroom: 400_000}, Hosts: map[int]Machine{3: {Receive: 0.0005}}},
		Connections: all(Incast(3, []int{1, 2}, Write(8<<10).Times(3)), func(c *Connection) {
			c.PathMTU, c.AckTimeout = 1024, 20
		}),
	}
}
