package synth

import (
	"time"

	"github.com/rocescope/rocescope/decode/ib"
)

const us = time.Microsecond

// Samples returns the scenarios of the sample captures, each of which shows one
// thing.
func Samples() []*Scenario {
	all := small()
	for _, s := range []*Scenario{pfcSlowReceiver(), pfcStorm(), pauseGlobal(), incastTailDrop(), cnpIgnored(), straggler(), mtuBlackhole(), classOutlier()} {
		s.File = File{Format: Pcap, Gzip: true, SnapLen: 96} // as most captures of so much data are
		all = append(all, s)
	}
	return all
}

// small returns the scenarios that were made to be samples.
func small() []*Scenario {
	return []*Scenario{
		clean(),
		lossDownstream(),
		lossUpstream(),
		lossReadResponse(),
		captureMissed(),
		captureDuplicated(),
		reorder(),
		rnr(),
		nakRemoteAccess(),
		cnp(),
		singlePort(),
		ucUdLoss(),
		ipv6VLAN(),
		rocev1(),
	}
}

func clean() *Scenario {
	return &Scenario{
		Name: "clean", About: "two queue pairs of RC with every kind of operation, nothing wrong",
		Seed: 1, Tap: AtHost(1),
		Connections: []Connection{
			{From: 1, To: 2, ByCM: true, Work: []Work{
				Write(1000).Times(6).Every(40 * us),
				Send(300).Times(4).Every(50 * us),
				FetchAdd().Times(3).Every(60 * us),
			}},
			{From: 1, To: 2, ByCM: true, Start: 20 * us, Work: []Work{
				Read(900).Times(5).Every(45 * us),
				CompareSwap().Times(2).Every(70 * us),
			}, Back: []Work{Send(64).Times(3).Every(55 * us)}},
		},
	}
}

func lossDownstream() *Scenario {
	return &Scenario{
		Name: "loss-downstream", About: "packets pass the tap at their sender and are lost behind it",
		Seed: 2, Tap: AtHost(1),
		Connections: between(1, 2, 4, Write(1024).Times(4).Every(60*us), Read(800).Times(3).Every(70*us).After(10*us)),
		Faults: []Fault{
			Lose(Requests(2).Number(3, 13)).AfterTap(),
			Lose(Requests(4).Number(8)).AfterTap(),
		},
	}
}

func lossUpstream() *Scenario {
	return &Scenario{
		Name: "loss-upstream", About: "packets are lost before they come to the tap at their receiver",
		Seed: 3, Tap: AtHost(2), File: File{Format: Pcap},
		Connections: between(1, 2, 3, Write(1500).Times(5).Every(60*us)),
		Faults: []Fault{
			Lose(Requests(1).Number(8, 9)),
			Lose(Requests(3).Number(20)),
		},
	}
}

func lossReadResponse() *Scenario {
	return &Scenario{
		Name: "loss-read-response", About: "responses to READs are lost, and the READs are sent again for the rest",
		Seed: 4, Tap: AtHost(1),
		Connections: between(1, 2, 2, Read(1500).Times(5).Every(50*us)),
		Faults: []Fault{
			Lose(ReadResponses(1).Number(9)),
			Lose(ReadResponses(2).Number(22)),
		},
	}
}

func captureMissed() *Scenario {
	return &Scenario{
		Name: "capture-missed", About: "the capture lacks packets that the network delivered",
		Seed:        5,
		Connections: between(1, 2, 3, Write(1024).Times(6).Every(50*us)),
		Faults: []Fault{
			Miss(Requests(1).Number(3, 10)),
			Miss(Requests(2).Number(14, 15)),
			Miss(Requests(3).Number(6)),
			Miss(Acks(3).Number(2)),
		},
	}
}

func captureDuplicated() *Scenario {
	return &Scenario{
		Name: "capture-duplicated", About: "a mirror puts every packet into the capture twice",
		Seed: 6, File: File{Format: Pcap},
		Connections: between(1, 2, 2, Write(700).Times(6).Every(30*us), Read(600).Times(3).Every(40*us)),
		Faults:      []Fault{Double(Everything())},
	}
}

func reorder() *Scenario {
	s := &Scenario{
		Name: "reorder", About: "packets are overtaken, and a receiver that takes them in any order asks for none again",
		Seed: 7, Tap: AtHost(2),
		Connections: between(1, 2, 2, Write(2000).Times(6).Every(40*us)),
		Faults: []Fault{
			Delay(Requests(1).Number(3, 12, 29), 400*time.Nanosecond),
			Delay(Requests(2).Number(18, 37), 700*time.Nanosecond),
		},
	}
	for i := range s.Connections {
		s.Connections[i].AnyOrder = true
	}
	return s
}

func rnr() *Scenario {
	s := &Scenario{
		Name: "rnr", About: "a receiver without buffers asks its peer to wait, three times",
		Seed: 8, Tap: AtHost(1), File: File{Format: PcapMicro},
		Connections: between(1, 2, 2, Send(512).Times(12).Every(100*us)),
	}
	s.Connections[0].NotReady, s.Connections[0].RNRTimer = []int{3, 8, 9}, 14 // 1.28 ms
	return s
}

func nakRemoteAccess() *Scenario {
	s := &Scenario{
		Name: "nak-remote-access", About: "a WRITE is refused for its key, which ends the queue pair",
		Seed: 9, Tap: AtHost(1),
		Connections: between(1, 2, 2, Write(600).Times(8).Every(20*us)),
	}
	s.Connections[1].Refused, s.Connections[1].Refusal = 5, ib.NAKRemoteAccess
	return s
}

// cnp has two senders share a receiver's link, whose queue marks what waits for
// long; the marks draw CNPs, and the senders slow down.
func cnp() *Scenario {
	s := &Scenario{
		Name: "cnp", About: "two senders fill one link: its queue marks, and CNPs slow them down",
		Seed: 10, Tap: AtHost(3), File: File{Format: Pcapng, Gzip: true},
		Network:     Network{Rate: 10, Marking: Marking{Kmin: 10_000, Kmax: 40_000, Pmax: 0.3}},
		Connections: append(between(1, 3, 1, Write(16384).Times(24).Every(25*us)), between(2, 3, 1, Write(16384).Times(24).Every(25*us))...),
	}
	for i := range s.Connections {
		s.Connections[i].PathMTU = 1024
	}
	return s
}

func singlePort() *Scenario {
	s := &Scenario{
		Name: "single-port", About: "sixteen queue pairs between two hosts share one UDP source port",
		Seed: 11, Tap: AtHost(1), File: File{Format: Pcap, SnapLen: 128},
		Connections: between(1, 2, 16, Write(1024).Times(3).Every(60*us)),
	}
	for i := range s.Connections {
		s.Connections[i].Port = 0xC123
	}
	return s
}

func ucUdLoss() *Scenario {
	return &Scenario{
		Name: "uc-ud-loss", About: "packets of UC and UD are lost, which nobody repairs",
		Seed: 12, Tap: AtHost(2),
		Connections: []Connection{
			{From: 1, To: 2, Transport: ib.UC, Work: []Work{Write(900).Times(8).Every(20 * us)}},
			{From: 1, To: 2, Transport: ib.UD, Work: []Work{Send(200).Times(30).Every(8 * us)}},
			{From: 1, To: 2, Work: []Work{Write(500).Times(6).Every(30 * us)}},
		},
		Faults: []Fault{
			Lose(Requests(1).Number(6, 7, 19)),
			Lose(Requests(2).Number(12, 25)),
		},
	}
}

func ipv6VLAN() *Scenario {
	return &Scenario{
		Name: "ipv6-vlan", About: "RoCEv2 over IPv6 in a VLAN, nothing wrong",
		Seed: 13, Tap: AtHost(1), Network: Network{IPv6: true, VLAN: 100}, File: File{Format: Pcap},
		Connections: []Connection{
			{From: 1, To: 2, ByCM: true, Work: []Work{Write(800).Times(6).Every(30 * us), Read(500).Times(3).Every(60 * us)}},
			{From: 1, To: 2, Start: 10 * us, Work: []Work{Send(256).Times(8).Every(25 * us)}},
		},
	}
}

func rocev1() *Scenario {
	return &Scenario{
		Name: "rocev1", About: "RoCEv1, without IP and UDP; one packet is lost",
		Seed: 14, Tap: AtHost(1), Network: Network{RoCEv1: true},
		Connections: between(1, 2, 2, Write(1000).Times(6).Every(50*us), Read(700).Times(2).Every(90*us)),
		Faults:      []Fault{Lose(Requests(2).Number(11)).AfterTap()},
	}
}
