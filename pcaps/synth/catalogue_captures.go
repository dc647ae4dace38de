package synth

// captureScenarios show what is wrong with captures, and not with networks.
func captureScenarios() []*Scenario {
	return []*Scenario{lossyMirror(), oneWayTap(), midstream(), jitteryClock(), twoTaps(), constantIDs(), snapped()}
}

// busy is a healthy pair of hosts that the capture is taken of.
func busy(s *Scenario) *Scenario {
	s.Network.Rate = 100
	s.Connections = append(
		all(between(1, 2, 4, Write(8<<10).Times(20).Every(30*us)), wide(1024, 64)),
		all(between(2, 1, 2, Read(4<<10).Times(20).Every(30*us)), wide(1024, 64))...)
	return s
}

func lossyMirror() *Scenario {
	return busy(&Scenario{
		Name: "lossy-mirror", Seed: 801, Tap: Tap{}.Losing(0.02).Doubling(0.05),
		About: "a mirror loses and doubles frames of a fabric in which nothing is wrong",
	})
}

func oneWayTap() *Scenario {
	s := busy(&Scenario{
		Name: "one-way-tap", Seed: 802, Tap: AtHost(1).OneWay(),
		About: "only what one host sends is captured, so that what answers said is not known",
	})
	s.Faults = []Fault{Lose(Requests(2).ByChance(0.02)).AfterTap()}
	return s
}

// midstream begins between two packets of messages, and has its PSNs wrap.
func midstream() *Scenario {
	s := busy(&Scenario{
		Name: "midstream-wrap", Seed: 803, Tap: AtHost(1).Between(200*us, 500*us),
		About: "the capture begins and ends in the middle of all, and PSNs wrap in it",
	})
	s.Connections = all(s.Connections, func(c *Connection) { c.FirstPSN = PSN(0xFFFFFF - 70) })
	return s
}

func jitteryClock() *Scenario {
	return busy(&Scenario{
		Name: "jittery-clock", Seed: 804, Tap: AtHost(2).Clock(-3*us, 2*us),
		About: "times vary by 2 us from frame to frame, so that their order is not that of the wire",
	})
}

// twoTaps has a loss between both, which each sees from its side.
func twoTaps() *Scenario {
	s := busy(&Scenario{
		Name: "two-taps", Seed: 805, Tap: AtHost(1), MoreTaps: []Tap{AtHost(2)},
		About: "two captures, at either host; what one shows and the other does not was lost between",
	})
	for conn := 1; conn <= 4; conn++ {
		s.Faults = append(s.Faults, Lose(Requests(conn).ByChance(0.01)).AfterTap())
	}
	s.Faults = append(s.Faults, Lose(ReadResponses(5).Number(11, 50)).AfterTap())
	return s
}

func constantIDs() *Scenario {
	s := sprayed(&Scenario{
		Name: "constant-ids", Seed: 806, Tap: AtHost(5),
		About: "packets are sprayed and lost, and all IPv4 IDs are 0: only PSNs and times tell which",
	}, 10)
	s.Network.IDs = ConstantIDs
	s.Connections = all(s.Connections, func(c *Connection) { c.AnyOrder, c.AckTimeout = true, 9 })
	s.Faults = []Fault{Lose(Requests(1).Number(100, 222))}
	return s
}

// snapped keeps what a RETH needs, and no whole packet of data.
func snapped() *Scenario {
	return lossy(&Scenario{
		Name: "snapped", Seed: 807, File: File{Format: Pcap, SnapLen: 96},
		About: "frames are cut to 96 bytes: losses are found all the same, checksums cannot be",
	}, 0.01)
}
