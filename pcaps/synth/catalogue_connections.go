package synth

import (
	"time"

	"github.com/rocescope/rocescope/decode/ib"
)

// connectionScenarios show how connections come about, and do not.
func connectionScenarios() []*Scenario {
	return []*Scenario{cmRejected(), cmRejectedFirst(), cmDeclined(), cmUnanswered(), cmWithdrawn(), cmLateReply(), cmLostMessages()}
}

// managed has two clients of one server, each with connections of its own.
func managed(s *Scenario, clients ...int) *Scenario {
	for _, client := range clients {
		for i := range 3 {
			s.Connections = append(s.Connections, Connection{
				From: client, To: 3, ByCM: true, Start: time.Duration(len(s.Connections)) * ms,
				Work: []Work{Send(256).Times(20).Every(100 * us).After(time.Duration(i) * 20 * us)},
			})
		}
	}
	return s
}

// cmRejected is a service that is not there for one of two clients.
func cmRejected() *Scenario {
	s := managed(&Scenario{
		Name: "cm-rejected", Seed: 901, Tap: AtHost(3),
		About: "nobody listens at the port that one of two clients asks for: invalid service ID",
	}, 1, 2)
	for i := 3; i < 6; i++ {
		s.Connections[i].Setup.Rejected = ib.REJInvalidServiceID
	}
	return s
}

// cmRejectedFirst has the application say no, and yes a second later.
func cmRejectedFirst() *Scenario {
	s := managed(&Scenario{
		Name: "cm-rejected-first", Seed: 902, Tap: AtHost(1),
		About: "a target refuses two connections while it starts, and takes the next ones",
	}, 1, 1)
	for i := range s.Connections {
		c := &s.Connections[i]
		if i < 2 {
			c.Setup = Setup{Rejected: ib.REJConsumerDefined, Deciding: 5 * ms}
		} else {
			c.Start += time.Second
		}
	}
	return s
}

// cmDeclined has a client that does not like how the server answers: with one of two
// servers it never works, and with the other from the third try on. One of its REJs
// is lost, so that the server answers again.
func cmDeclined() *Scenario {
	s := managed(&Scenario{
		Name: "cm-declined", Seed: 907, Tap: AtHost(1),
		About: "a client refuses the replies of one server, and of another one the first two",
	}, 1, 1)
	for i := range s.Connections {
		c := &s.Connections[i]
		switch {
		case i < 2:
			c.To, c.Setup.Declined = 2, ib.REJInvalidMTU
		case i < 4:
			c.Setup.Declined = ib.REJConsumerDefined
		default:
			c.Start += time.Second
		}
	}
	s.Faults = []Fault{Lose(Management(1, ib.AttrREJ).Number(1)).AfterTap()}
	return s
}

// cmUnanswered has a host on which nothing serves connection management, which
// works with queue pairs that were set up otherwise.
func cmUnanswered() *Scenario {
	s := managed(&Scenario{
		Name: "cm-unanswered", Seed: 903, Tap: AtHost(1),
		About:   "one of two hosts never answers connection requests, which are repeated and given up",
		Network: Network{Hosts: map[int]Machine{2: {NoCM: true}}},
	}, 1)
	for i := range 2 {
		c := s.Connections[i]
		c.To = 2
		s.Connections = append(s.Connections, c)
	}
	s.Connections = append(s.Connections, between(1, 2, 2, Write(700).Times(20).Every(100*us))...)
	return s
}

// cmWithdrawn has clients that wait for 10 s, and say so when they are gone.
func cmWithdrawn() *Scenario {
	s := managed(&Scenario{
		Name: "cm-withdrawn", Seed: 904, Tap: AtHost(1),
		About: "requests of one client vanish on their way; it gives up after 10 s and says so",
	}, 1, 1, 2)
	for i := range 3 {
		s.Connections[i].Setup.Patience = 10 * time.Second
		s.Faults = append(s.Faults, Lose(Management(i+1, ib.AttrREQ)).AfterTap())
	}
	return s
}

// cmLateReply has servers that think about it: with an MRA at once, with one when
// the request comes again, for less than that takes, and without a word.
func cmLateReply() *Scenario {
	s := managed(&Scenario{
		Name: "cm-late-reply", Seed: 905, Tap: AtHost(1),
		About: "a busy server takes up to 7 s to accept, and asks for that patience: nothing is wrong",
	}, 1, 1)
	for i, take := range []time.Duration{6 * time.Second, 7 * time.Second, time.Second, 5 * time.Second, 6 * time.Second} {
		s.Connections[i].Setup = Setup{Deciding: take, MRA: i == 0, Silent: i == 4}
	}
	return s
}

// cmLostMessages loses one message of each kind.
func cmLostMessages() *Scenario {
	s := managed(&Scenario{
		Name: "cm-lost-messages", Seed: 906, Tap: AtHost(1),
		About: "messages that set up and close connections are lost, and repeated: all is well in the end",
	}, 1, 1)
	for i, attr := range []ib.CMAttr{ib.AttrREQ, ib.AttrREP, ib.AttrRTU, ib.AttrDREQ, ib.AttrDREP} {
		f := Lose(Management(i+1, attr).Number(1))
		if i%2 == 0 {
			f = f.AfterTap()
		}
		s.Faults = append(s.Faults, f)
	}
	return s
}
