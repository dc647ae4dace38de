package synth

// healthyScenarios show fabrics that have no fault: whatever is reported of
// them above information is a false alarm.
func healthyScenarios() []*Scenario {
	return []*Scenario{ncclRing(), ncclAllToAll(), fast400G(), storageMix(), lightMarks()}
}

func ncclRing() *Scenario {
	return &Scenario{
		Name: "nccl-ring", Seed: 101,
		About:       "NCCL's ring of eight hosts over leaves and spines, two channels, nothing wrong",
		Network:     Network{Shape: LeafSpine(2, 4, 4), Rate: 100},
		Connections: Ring(numbers(1, 8), 2, Write(32<<10).Times(6)),
	}
}

func ncclAllToAll() *Scenario {
	return &Scenario{
		Name: "nccl-all-to-all", Seed: 102,
		About:       "each of eight hosts writes to every other over leaves and spines, nothing wrong",
		Network:     Network{Shape: LeafSpine(2, 4, 4), Rate: 100},
		Connections: AllToAll(numbers(1, 8), Write(16<<10).Times(4)),
	}
}

func fast400G() *Scenario {
	return &Scenario{
		Name: "fast-400g", Seed: 103, Tap: AtHost(1),
		About:       "a link of 400 Gbit/s that eight queue pairs fill with packets of 4096 bytes",
		Network:     Network{Rate: 400, Delay: 2 * us},
		Connections: all(between(1, 2, 8, Write(512<<10).Times(3)), wide(4096, 512)),
	}
}

func storageMix() *Scenario {
	return &Scenario{
		Name: "storage-mix", Seed: 104,
		About:       "two storage clients and two targets: commands, READs, WRITEs and answers",
		Network:     Network{Shape: LeafSpine(2, 2, 2), Rate: 100},
		Connections: append(Storage(1, 3, 4, 24), Storage(2, 4, 4, 24)...),
	}
}

// lightMarks is what congestion control does all day where it works.
func lightMarks() *Scenario {
	return &Scenario{
		Name: "light-marks", Seed: 105, Tap: AtHost(3),
		About:       "two senders share a link: a few marks, a few CNPs, no loss and no pause",
		Network:     Network{Rate: 100, Marking: Marking{Kmin: 30_000, Kmax: 400_000, Pmax: 0.01}},
		Connections: all(Incast(3, []int{1, 2}, Write(32<<10).Times(40).Every(5*us)), wide(1024, 128)),
	}
}
