package synth

import (
	"slices"
	"time"

	"github.com/rocescope/rocescope/decode/ib"
)

// Packets selects some of the packets of a scenario.
type Packets struct {
	conn     int // from 1; 0 stands for all connections
	kind     kind
	attr     ib.CMAttr // of connection management; 0 any
	from, to string    // of pauses: the devices at the ends of the link
	numbers  []int
	repeats  []int
	byChance bool
	chance   float64
}

// Requests selects the requests that a connection's From sends. Connections are
// numbered from 1, in their order in the scenario; 0 stands for all.
func Requests(conn int) Packets { return Packets{conn: conn, kind: isRequest} }

// ReadResponses selects the responses to the READs of a connection's From.
func ReadResponses(conn int) Packets { return Packets{conn: conn, kind: isReadResponse} }

// Acks selects the acknowledgements, NAKs included, of the requests of a
// connection's From.
func Acks(conn int) Packets { return Packets{conn: conn, kind: isAck} }

// Management selects the messages of a connection's management of one kind; those
// that are sent again count, too.
func Management(conn int, attr ib.CMAttr) Packets {
	return Packets{conn: conn, kind: isManagement, attr: attr}
}

// CNPs selects what either end of a connection sends for the marks it sees.
func CNPs(conn int) Packets { return Packets{conn: conn, kind: isCNP} }

// XOFFs selects the pause frames by which one device asks another for silence,
// repeats included. Devices are named as in Cable.
func XOFFs(from, to string) Packets { return Packets{kind: isXOFF, from: from, to: to} }

// XONs selects those by which it lets the other go on.
func XONs(from, to string) Packets { return Packets{kind: isXON, from: from, to: to} }

// Everything selects all packets of both directions, pause frames aside.
func Everything() Packets { return Packets{} }

// Number selects those packets alone, counted from 1 in the order of sending.
// Requests and answers that are sent again are not counted, and not selected.
func (p Packets) Number(n ...int) Packets { p.numbers = n; return p }

// Again selects those sent again, counted from 1 in the order of sending.
func (p Packets) Again(n ...int) Packets { p.repeats = n; return p }

// ByChance selects each with a probability.
func (p Packets) ByChance(probability float64) Packets {
	p.byChance, p.chance = true, probability
	return p
}

// selects reports whether a packet is meant. It asks chance only where all the
// rest fits.
func (p *Packets) selects(w *world, x *packet) bool {
	switch {
	case p.kind == 0 && x.isPause():
		return false
	case p.conn != 0 && (x.conn == nil || x.conn.number != p.conn):
		return false
	case p.kind != 0 && (p.kind != x.kind || x.ofBack()) || p.attr != 0 && p.attr != x.attr():
		return false
	case p.from != "" && (p.from != x.path[0].of.name() || p.to != x.path[0].far.of.name()):
		return false
	case len(p.numbers) > 0 && !slices.Contains(p.numbers, x.number):
		return false
	case len(p.repeats) > 0 && !slices.Contains(p.repeats, x.repeat):
		return false
	}
	return !p.byChance || w.chance(p.chance)
}

// Fault is what befalls packets on their way, or in the capture alone.
type Fault struct {
	packets Packets
	what    fate
	behind  bool // the tap
	delay   time.Duration
}

type fate int

const (
	lost fate = iota
	delayed
	marked
	missed
	doubled
	damaged
)

// Lose loses packets, before the tap unless AfterTap is said.
func Lose(p Packets) Fault { return Fault{packets: p, what: lost} }

// Delay holds packets back, so that others overtake them.
func Delay(p Packets, by time.Duration) Fault { return Fault{packets: p, what: delayed, delay: by} }

// Mark lets a congested queue set Congestion Experienced.
func Mark(p Packets) Fault { return Fault{packets: p, what: marked} }

// Damage changes a bit of the payload behind the last frame check sequence that
// could tell, as a faulty memory does; the ICRC tells, and the receiver drops the
// packet.
func Damage(p Packets) Fault { return Fault{packets: p, what: damaged} }

// Miss keeps packets out of the capture, although the network delivers them.
func Miss(p Packets) Fault { return Fault{packets: p, what: missed} }

// Double puts packets into the capture twice.
func Double(p Packets) Fault { return Fault{packets: p, what: doubled} }

// AfterTap lets it happen between the tap and the receiver.
func (f Fault) AfterTap() Fault { f.behind = true; return f }
