package synth

import (
	"time"

	"github.com/rocescope/rocescope/decode/ib"
)

// Scenario describes what hosts do and what befalls their packets. The zero
// value of each field is the usual thing.
type Scenario struct {
	Name        string
	Seed        uint64 // of all chance: first PSNs, IPv4 IDs, faults by chance
	Network     Network
	Tap         Tap
	Connections []Connection
	Faults      []Fault
	File        File
}

// Network is the fabric and what its packets look like.
type Network struct {
	IPv6   bool
	RoCEv1 bool          // GRH in place of IP and UDP
	VLAN   uint16        // tag of every frame; 0 none
	Rate   float64       // of every host's link in Gbit/s; 0 stands for 25
	Delay  time.Duration // one way; 0 stands for 5 us
	// MarkAbove is how long a packet waits in the queue of a port before it is
	// marked with Congestion Experienced; 0 marks none.
	MarkAbove time.Duration
}

// Connection is a pair of queue pairs, and what they are asked to do. Hosts are
// numbered from 1; their addresses and queue pair numbers follow from that.
type Connection struct {
	From, To  int
	Transport ib.Transport // RC (the zero value), UC or UD
	PathMTU   int          // 0 stands for 256
	Start     time.Duration
	ByCM      bool   // opened and closed by connection management
	Port      uint16 // UDP source port; 0 lets it follow from the queue pairs
	Work      []Work // of From
	Back      []Work // of To

	AckTimeout ib.Timeout // exponent of the retransmission timer; 0 stands for 14
	// AnyOrder lets To take packets in any order, as adapters do where the
	// network routes each packet by itself; else a gap draws a NAK.
	AnyOrder bool
	// NotReady numbers the messages, from 1, for which To has no receive buffer
	// when they come first; it answers with RNRTimer.
	NotReady []int
	RNRTimer uint8
	// Refused is the number of the message that To answers with Refusal, which
	// ends the connection; 0 none.
	Refused int
	Refusal ib.Syndrome
}

// Work is a series of equal messages.
type Work struct {
	op    operation
	bytes int
	times int
	every time.Duration
	after time.Duration
}

// Write is an RDMA WRITE of some bytes.
func Write(bytes int) Work { return Work{op: write, bytes: bytes, times: 1} }

// Send is a SEND of some bytes.
func Send(bytes int) Work { return Work{op: send, bytes: bytes, times: 1} }

// Read is an RDMA READ of some bytes.
func Read(bytes int) Work { return Work{op: read, bytes: bytes, times: 1} }

// FetchAdd is an atomic addition.
func FetchAdd() Work { return Work{op: fetchAdd, bytes: 8, times: 1} }

// CompareSwap is an atomic comparison and exchange.
func CompareSwap() Work { return Work{op: compareSwap, bytes: 8, times: 1} }

// Times repeats the message; without Every all are posted at once.
func (w Work) Times(n int) Work { w.times = n; return w }

// Every spaces repeated messages.
func (w Work) Every(d time.Duration) Work { w.every = d; return w }

// After puts the first message off.
func (w Work) After(d time.Duration) Work { w.after = d; return w }
