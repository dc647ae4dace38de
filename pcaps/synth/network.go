package synth

import (
	"fmt"
	"time"
)

// Network is the fabric and what its packets look like. The zero value of each
// field is the usual thing.
type Network struct {
	IPv6   bool
	RoCEv1 bool   // GRH in place of IP and UDP
	VLAN   uint16 // tag of every frame; 0 none
	// TrustPCP lets switches and adapters choose the queue by the tag's priority,
	// and not by DSCP.
	TrustPCP bool
	IDs      IDs // of IPv4

	Shape   Shape         // of the fabric; the zero value is one switch
	Rate    float64       // of every host's link in Gbit/s; 0 stands for 25
	Uplink  float64       // of the links between switches; 0 stands for Rate
	Delay   time.Duration // one way, from host to host; 0 stands for 5 us
	Routing Routing       // among links of equal cost
	Buffer  int           // bytes that a port holds of a class without pause before it drops; 0 stands for no limit
	Marking Marking
	Pause   Pause
	Cables  []Cable         // links that differ from the others
	Hosts   map[int]Machine // hosts that differ from the others
}

// IDs is how hosts number their IPv4 packets.
type IDs int

// The ways to number.
const (
	RisingIDs   IDs = iota // by one, over all that a host sends
	ConstantIDs            // 0 in every packet
	RandomIDs
)

// Shape is how hosts are joined: by one switch, or by leaves below spines.
type Shape struct{ leaves, hosts, spines int }

// LeafSpine has leaves with so many hosts each, and every leaf joined with
// every spine. Host 1 is the first of leaf 1.
func LeafSpine(leaves, hosts, spines int) Shape { return Shape{leaves, hosts, spines} }

// Routing chooses among links of equal cost.
type Routing int

// The ways to choose.
const (
	ByFlow            Routing   = iota // by addresses and UDP ports
	ByFlowAndQP                        // by the queue pair, too
	ByFlowlet                          // anew after a pause
	PacketSpraying                     // anew for each packet
	flowletPause      = 100_000        // ns
	longestStandstill = 65535          // quanta of a pause
)

// Marking is how a switch marks with Congestion Experienced: never below Kmin
// bytes in the queue of a port, always above Kmax, and between them with a
// probability that rises to Pmax. Where Kmax is 0 nothing is marked.
type Marking struct {
	Kmin, Kmax int
	Pmax       float64
}

// chance is the probability that a packet which finds a queue of some bytes is
// marked.
func (m Marking) chance(bytes int) float64 {
	switch {
	case m.Kmax == 0 || bytes <= m.Kmin:
		return 0
	case bytes > m.Kmax:
		return 1
	}
	return m.Pmax * float64(bytes-m.Kmin) / float64(m.Kmax-m.Kmin)
}

// Pause is priority flow control: a device that holds more than XOFF bytes of a
// priority asks the one that sent them to stop, and to go on below XON. What is
// on the way meanwhile must find room in Headroom. Where XOFF is 0 there is
// none.
type Pause struct {
	XOFF, XON, Headroom int
	// Global has the whole link stopped by IEEE 802.3x in place of a priority.
	Global bool
}

// lossless is the priority that pauses protect.
const lossless = dataClass >> 3

// Cable is a link between two devices that is not like the others. Devices are
// named "host1", "leaf1", "spine1", and "switch" where there is but one.
type Cable struct {
	From, To string
	Rate     float64 // Gbit/s
	Delay    time.Duration
	MTU      int     // largest IP packet that it carries; larger ones vanish
	BitError float64 // probability of each bit to be damaged
}

// Machine is a host that is not like the others.
type Machine struct {
	// Receive is how fast it takes in what arrives, in Gbit/s: a slow one lets
	// its adapter's buffer fill, and pauses its switch.
	Receive float64
	// Turnaround is how much longer it takes until a packet that arrived is
	// looked at.
	Turnaround time.Duration
	NoCNPs     bool   // it tells nobody of the marks on what it receives
	NoCM       bool   // nothing there answers connection management
	PCP        *uint8 // the priority in the tags of what it sends, CNPs aside; nil lets it follow from the DSCP
}

// Priority returns a priority for Machine's PCP.
func Priority(n uint8) *uint8 { n &= priorities - 1; return &n }

// leafOf returns the leaf of a host, from 1.
func (s Shape) leafOf(host int) int { return (host-1)/s.hosts + 1 }

func hostName(n int) string  { return fmt.Sprintf("host%d", n) }
func leafName(n int) string  { return fmt.Sprintf("leaf%d", n) }
func spineName(n int) string { return fmt.Sprintf("spine%d", n) }

// rate is that of a host's link in bits per ns.
func (n *Network) rate() float64 {
	if n.Rate > 0 {
		return n.Rate
	}
	return 25
}

func (n *Network) uplink() float64 {
	if n.Uplink > 0 {
		return n.Uplink
	}
	return n.rate()
}

// delay is the time from host to host in ns.
func (n *Network) delay() int64 {
	if n.Delay > 0 {
		return ns(n.Delay)
	}
	return 5_000
}
