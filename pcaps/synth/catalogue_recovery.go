package synth

import (
	"time"

	"github.com/rocescope/rocescope/decode/ib"
)

// recoveryScenarios show how adapters repair what was lost, by other ways than
// go-back-N.
func recoveryScenarios() []*Scenario {
	return []*Scenario{selectiveRepeat(), adaptiveTimeouts(), lostACKs(), tailLoss(), coalescedACKs()}
}

// lossy loses some requests between two hosts behind the tap.
func lossy(s *Scenario, probability float64) *Scenario {
	s.Tap = AtHost(1)
	s.Network.Rate = 100
	s.Connections = all(between(1, 2, 4, Write(8<<10).Times(20).Every(30*us)), wide(1024, 64))
	s.Faults = []Fault{Lose(Requests(0).ByChance(probability)).AfterTap()}
	return s
}

func selectiveRepeat() *Scenario {
	s := lossy(&Scenario{
		Name: "selective-repeat", Seed: 701,
		About: "adapters send again only what is missing, and keep what came behind it",
	}, 0.02)
	s.Connections = all(s.Connections, func(c *Connection) { c.Recovery = SelectiveRepeat })
	return s
}

// adaptiveTimeouts loses the first packets of single messages, so that no NAK
// tells, and their first repeats.
func adaptiveTimeouts() *Scenario {
	return &Scenario{
		Name: "adaptive-timeouts", Seed: 702, Tap: AtHost(1),
		About: "an adapter waits 2 ms for an answer and twice as long each further time",
		Connections: all(between(1, 2, 4, Send(128).Times(50).Every(40*ms)), func(c *Connection) {
			c.FirstTimeout, c.AckTimeout = 2*ms, 18
		}),
		Faults: []Fault{Lose(Requests(0).ByChance(0.3)).AfterTap()},
	}
}

func lostACKs() *Scenario {
	return &Scenario{
		Name: "lost-acks", Seed: 703, Tap: AtHost(1),
		About:       "acknowledgements are lost before the tap: timers run out, and resends were needless",
		Connections: all(between(1, 2, 4, Write(1024).Times(30).Every(20*ms)), func(c *Connection) { c.AckTimeout = 10 }),
		Faults:      []Fault{Lose(Acks(0).ByChance(0.15))},
	}
}

// tailLoss loses the last packets of messages behind which nothing comes.
func tailLoss() *Scenario {
	return &Scenario{
		Name: "tail-loss", Seed: 704, Tap: AtHost(1),
		About:       "the ends of messages are lost, behind which nothing draws a NAK: only timers help",
		Connections: all(between(1, 2, 3, Write(2048).Times(20).Every(20*ms)), func(c *Connection) { c.AckTimeout = 10 }),
		Faults: []Fault{
			Lose(Requests(1).Number(40, 80, 120)).AfterTap(),
			Lose(Requests(2).Number(15, 16, 63, 64)).AfterTap(),
		},
	}
}

func coalescedACKs() *Scenario {
	s := lossy(&Scenario{
		Name: "coalesced-acks", Seed: 705,
		About: "the receiver answers for several messages at once; losses among them are repaired",
	}, 0.01)
	s.Connections = all(s.Connections, func(c *Connection) { c.Coalesce = 20 * us })
	return s
}

// repairScenarios show refusals, stalls, and losses that nobody repairs.
func repairScenarios() []*Scenario {
	return []*Scenario{rnrCodes(), rnrExhausted(), rnrExhaustedInSilence(), ucUD(), refused(), mixedFaults()}
}

// rnrCodes has a timer of its own for each receiver, from 10 us to 82 ms.
func rnrCodes() *Scenario {
	s := &Scenario{
		Name: "rnr-codes", Seed: 706, Tap: AtHost(1),
		About:       "receivers without buffers ask for waits from 10 us to 82 ms, each with another code",
		Connections: between(1, 2, 6, Send(1024).Times(25).Every(100*us)),
	}
	for i, code := range []uint8{1, 5, 10, 14, 20, 26} {
		s.Connections[i].NotReady, s.Connections[i].RNRTimer = []int{3, 4, 12}, code
	}
	return s
}

func ucUD() *Scenario {
	s := &Scenario{
		Name: "uc-ud-drops", Seed: 707, Tap: AtHost(4),
		About:       "UC and UD traffic through a queue that drops: nothing repairs what is missing",
		Network:     Network{Rate: 25, Buffer: 60_000},
		Connections: all(Incast(4, []int{1, 2, 3}, Write(32<<10).Times(16).Every(25*us)), wide(1024, 64)),
	}
	s.Connections[0].Transport = ib.UC
	s.Connections[1].Transport, s.Connections[1].Work = ib.UD, []Work{Send(900).Times(500).Every(us)}
	return s
}

func refused() *Scenario {
	s := &Scenario{
		Name: "refusals", Seed: 708, Tap: AtHost(1),
		About:       "three queue pairs end by a refusal: of the request, of the access, and by a fault",
		Connections: between(1, 2, 5, Write(1024).Times(30).Every(25*us)),
	}
	for i, why := range []ib.Syndrome{ib.NAKInvalidRequest, ib.NAKRemoteAccess, ib.NAKRemoteOperational} {
		s.Connections[i].Refused, s.Connections[i].Refusal = 12+4*i, why
	}
	return s
}

// mixedFaults has a bit of everything, on connections of several kinds.
func mixedFaults() *Scenario {
	s := &Scenario{
		Name: "mixed-faults", Seed: 709, Tap: AtHost(1),
		About:       "losses before and behind the tap, delays, damage, refusals, and a lossy mirror at once",
		Network:     Network{Rate: 100, Marking: dcqcn},
		Connections: append(between(1, 2, 4, Write(4<<10).Times(25).Every(30*us)), between(1, 3, 4, Read(4<<10).Times(15).Every(40*us))...),
		Faults: []Fault{
			Lose(Requests(1).ByChance(0.02)),
			Lose(Requests(2).ByChance(0.02)).AfterTap(),
			Delay(Requests(3).ByChance(0.02), 900*time.Nanosecond),
			Lose(ReadResponses(5).ByChance(0.02)),
			Lose(Acks(4).ByChance(0.05)),
			Damage(ReadResponses(6).ByChance(0.02)),
			Miss(Everything().ByChance(0.005)),
		},
	}
	s.Connections[2].AnyOrder = true
	s.Connections[7].Work = []Work{Send(512).Times(40).Every(50 * us)}
	s.Connections[7].NotReady, s.Connections[7].RNRTimer = []int{7, 20}, 12
	return s
}
