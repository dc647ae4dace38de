package synth

import (
	"time"

	"github.com/rocescope/rocescope/decode/ib"
)

// Scenario describes what hosts do and what befalls their packets. The zero
// value of each field is the usual thing.
type Scenario struct {
	Name        string
	About       string // one line
	Seed        uint64 // of all chance: first PSNs, IPv4 IDs, faults by chance
	Network     Network
	Tap         Tap
	MoreTaps    []Tap // of the same play; faults before or after a tap mean the main one
	Connections []Connection
	Faults      []Fault
	File        File
}

// Connection is a pair of queue pairs, and what they are asked to do. Hosts are
// numbered from 1; their addresses and queue pair numbers follow from that.
type Connection struct {
	From, To  int
	Transport ib.Transport // RC (the zero value), UC or UD
	PathMTU   int          // 0 stands for 256
	MTUOfTo   int          // what To takes for the path MTU; 0 stands for PathMTU
	Start     time.Duration
	ByCM      bool    // opened and closed by connection management
	Setup     Setup   // how that goes
	Port      uint16  // UDP source port; 0 lets it follow from the queue pairs
	BackPort  uint16  // of what To sends; 0 stands for the same
	FirstPSN  *ib.PSN // of both directions; nil draws them
	Class     Class   // of all its packets
	BackClass Class   // of what To sends, where Class is Lossless
	NotECT    bool    // it does not take part in congestion control by marks
	Work      []Work  // of From
	Back      []Work  // of To

	Window     int        // packets, by PSN, that may be under way unacknowledged; 0 stands for 32
	AckTimeout ib.Timeout // exponent of the retransmission timer; 0 stands for 14
	// FirstTimeout is how long the first wait for an answer is where the adapter
	// adapts; each further one is twice as long, up to AckTimeout. 0 does not
	// adapt.
	FirstTimeout time.Duration
	Recovery     Recovery
	// Coalesce is how long To keeps an ACK back so that a later one may take its
	// place.
	Coalesce time.Duration
	// AnyOrder lets To take packets in any order, as adapters do where the
	// network routes each packet by itself; else a gap draws a NAK.
	AnyOrder bool
	// Unmoved lets the sender ignore CNPs.
	Unmoved bool
	// NotReady numbers the messages, from 1, for which To has no receive buffer
	// when they come first; it answers with RNRTimer.
	NotReady []int
	RNRTimer uint8
	// NeverReady is the number of the message from which on To has no receive
	// buffer, however often it comes; 0 it always has.
	NeverReady int
	// RNRTries is how often From sends what meets no buffer until it gives up,
	// which is one more than its rnr_retry; 0 sends for ever, or seven times where
	// To is never ready.
	RNRTries int
	// Refused is the number of the message that To answers with Refusal, which
	// ends the connection; 0 none.
	Refused int
	Refusal ib.Syndrome
	// Reconnect is how long after the end of its queue pairs by a fault From
	// opens the connection again, with new ones, and does all its work; 0 never.
	// To is ready by then, and refuses nothing.
	Reconnect time.Duration
}

// Recovery is what is sent again behind a gap.
type Recovery int

// The ways to recover.
const (
	GoBackN         Recovery = iota // all from the gap on
	SelectiveRepeat                 // only what is missing; the receiver keeps the rest
)

// Class is a traffic class of the fabric.
type Class int

// The classes.
const (
	Lossless   Class = iota // DSCP 26, priority 3
	BestEffort              // DSCP 0
	Background              // DSCP 8, priority 1
)

func (c Class) dscp() uint8 { return [...]uint8{dataClass, 0, 8}[c] }

// PSN returns a first PSN.
func PSN(n uint32) *ib.PSN { p := ib.PSN(n & ib.PSNMask); return &p }

// Work is a series of equal messages.
type Work struct {
	op    operation
	bytes int
	times int
	every time.Duration
	after time.Duration
	// following is the connection whose arrivals set this work off; 0 none.
	following int
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

// Following posts a message each time one of another connection has arrived,
// at either end: what NCCL's rings do. Connections are numbered from 1.
func (w Work) Following(conn int) Work { w.following = conn; return w }

// IsRead reports whether the work is READs.
func (w Work) IsRead() bool { return w.op == read }
