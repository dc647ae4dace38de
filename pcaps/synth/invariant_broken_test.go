package synth_test

import (
	"slices"
	"testing"
	"time"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
	"github.com/rocescope/rocescope/pcaps/synth"
)

// A rule that cannot be broken says nothing. Each row changes one thing in a
// capture that obeys all rules, and names the one that must notice.

var doctored = []doctoring{
	{"a message has an Only in its middle", "operations follow each other", cleanWire, changing(1, ofOp(ib.WriteMiddle), settingOp(ib.WriteOnly))},
	{"a WRITE ends like a SEND", "operations follow each other", cleanWire, changing(1, ofOp(ib.WriteLast), settingOp(ib.SendLast))},
	{"a message has no Last", "operations follow each other", cleanWire, changing(1, ofOp(ib.SendLast), settingOp(ib.SendMiddle))},
	{"a request is not there", "a pass has no gap", cleanWire, dropping(2, ofOp(ib.WriteMiddle))},
	{"a READ takes fewer PSNs than its responses need", "a pass has no gap", cleanWire, changing(1, ofOp(ib.ReadRequest), func(p *decode.Packet) { p.DMALen = 256 })},
	{"a resend begins behind what is missing", "a pass has no gap", gapWire, dropping(1, sentAgain)},
	{"an unreliable connection sends again", "a pass has no gap", unreliableWire, changing(5, anyPacket, func(p *decode.Packet) { p.PSN = p.PSN.Add(-2) })},
	{"a resend holds less", "what is sent again is the same", gapWire, changing(1, sentAgain, func(p *decode.Packet) { p.PayloadLen-- })},
	{"a resend is of another kind", "what is sent again is the same", gapWire, changing(1, sentAgain, settingOp(ib.SendMiddle))},
	{"the rest of a READ is asked for with the old address", "what is sent again is the same", lostResponseWire, changing(1, sentAgain, func(p *decode.Packet) { p.VA -= 256 })},
	{"the rest of a READ is asked for with the old length", "what is sent again is the same", lostResponseWire, changing(1, sentAgain, func(p *decode.Packet) { p.DMALen += 256 })},
	{"a Middle is short", "a packet has the length of its place", cleanWire, changing(2, ofOp(ib.WriteMiddle), func(p *decode.Packet) { p.PayloadLen = 252 })},
	{"a Middle is padded", "a packet has the length of its place", cleanWire, changing(1, ofOp(ib.SendMiddle), func(p *decode.Packet) { p.PadCnt = 1 })},
	{"a Last is empty", "a packet has the length of its place", cleanWire, changing(1, ofOp(ib.SendLast), func(p *decode.Packet) { p.PayloadLen = 0 })},
	{"an Only is longer than the path MTU", "a packet has the length of its place", cleanWire, changing(1, ofOp(ib.SendLast), func(p *decode.Packet) { p.Op, p.PayloadLen = ib.Of(ib.RC, ib.SendOnly), 300 })},
	{"a WRITE announces a byte more", "a WRITE has the length it announced", cleanWire, changing(1, ofOp(ib.WriteFirst), func(p *decode.Packet) { p.DMALen++ })},
	{"a WRITE announces a packet less", "a WRITE has the length it announced", cleanWire, changing(1, ofOp(ib.WriteFirst), func(p *decode.Packet) { p.DMALen -= 256 })},
	{"a gap draws two NAKs", "a gap draws one NAK", gapWire, doubling(1, thatIs(isNAK))},
	{"a NAK comes without anything behind its PSN", "a gap draws one NAK", gapWire, changing(1, thatIs(isNAK), func(p *decode.Packet) { p.PSN = p.PSN.Add(100) })},
	{"a gap draws no NAK", "every gap is told", gapWireAtReceiver, dropping(1, thatIs(isNAK))},
	{"a NAK is of what was executed", "a NAK names what is expected", gapWire, changing(1, thatIs(isNAK), func(p *decode.Packet) { p.PSN = p.PSN.Add(-9) })},
	{"an RNR NAK is of what was executed", "a NAK names what is expected", notReadyWire, changing(1, thatIs(isRNR), func(p *decode.Packet) { p.PSN = p.PSN.Add(-9) })},
	{"an ACK goes back behind a NAK", "acknowledgements never go back", gapWire, changing(1, behindNAK, func(p *decode.Packet) { p.PSN = p.PSN.Add(-30) })},
	{"an ACK goes back", "acknowledgements never go back", cleanWire, changing(3, thatIs(isACK), func(p *decode.Packet) { p.PSN = p.PSN.Add(-20) })},
	{"an ACK comes twice", "an ACK is asked for", cleanWire, doubling(3, thatIs(isACK))},
	{"a request draws no ACK", "what comes again is acknowledged again", cleanWireAtReceiver, dropping(2, thatIs(isACK))},
	{"an ACK is of the future", "only what was sent is acknowledged", cleanWire, changing(2, thatIs(isACK), func(p *decode.Packet) { p.PSN = p.PSN.Add(40) })},
	{"an ACK skips a message", "the MSN counts messages", cleanWire, changing(2, thatIs(isACK), func(p *decode.Packet) { p.MSN++ })},
	{"a NAK forgets a message", "the MSN counts messages", gapWire, changing(1, thatIs(isNAK), func(p *decode.Packet) { p.MSN-- })},
	{"a response takes a message back", "the MSN counts messages", cleanWire, changing(4, ofOp(ib.ReadResponseFirst), func(p *decode.Packet) { p.MSN = 0 })},
	{"a response is longer than asked for", "a response is what a READ asked for", cleanWire, changing(1, ofOp(ib.ReadResponseLast), func(p *decode.Packet) { p.PayloadLen += 4 })},
	{"a response lies behind its READ", "a response is what a READ asked for", cleanWire, changing(1, ofOp(ib.ReadResponseLast), func(p *decode.Packet) { p.PSN = p.PSN.Add(1) })},
	{"a READ is answered by Middles alone", "a response is what a READ asked for", cleanWire, changing(1, ofOp(ib.ReadResponseFirst), settingOp(ib.ReadResponseMiddle))},
	{"a response is left out", "responses follow each other", cleanWireAtReceiver, dropping(1, ofOp(ib.ReadResponseMiddle))},
	{"responses begin in the middle", "responses follow each other", cleanWireAtReceiver, dropping(1, ofOp(ib.ReadResponseFirst))},
	{"a refused request comes too early", "a refused request is repeated later", notReadyWire, changing(1, sentAgain, func(p *decode.Packet) { p.Time -= 50_000 })},
	{"a refused request is left out", "a refused request is repeated later", notReadyWire, dropping(1, sentAgain)},
	{"an RNR NAK is of what was not sent", "a refused request is repeated later", notReadyWire, changing(1, thatIs(isRNR), func(p *decode.Packet) { p.PSN = p.PSN.Add(500) })},
	{"a dead responder answers", "nothing follows a fatal NAK", refusedWire, addLate(2, thatIs(isACK))},
	{"a dead requester asks", "nothing follows a fatal NAK", refusedWire, addLate(1, ofOp(ib.WriteFirst))},
	{"a CNP has a PSN", "a CNP has its shape", markedWire, changing(1, thatIs(isCNP), func(p *decode.Packet) { p.PSN = 7 })},
	{"a CNP lacks its bit", "a CNP has its shape", markedWire, changing(1, thatIs(isCNP), func(p *decode.Packet) { p.BECN = false })},
	{"a CNP is too long", "a CNP has its shape", markedWire, changing(1, thatIs(isCNP), func(p *decode.Packet) { p.Len += 4 })},
	{"a CNP goes to a queue pair that sent nothing", "a CNP answers a mark", markedWire, changing(1, thatIs(isCNP), func(p *decode.Packet) { p.QP += 77 })},
	{"a response goes to another queue pair", "a response has its request", cleanWire, changing(2, thatIs(isACK), func(p *decode.Packet) { p.QP, p.PSN = p.QP+9, p.PSN.Add(5000) })},
	{"an ICRC is bad", "the ICRC is good", cleanWire, changing(9, ofOp(ib.WriteMiddle), func(p *decode.Packet) { p.ICRC = decode.ICRCBad })},
	{"an ICRC is not looked at", "the ICRC is good", cleanWire, changing(9, ofOp(ib.WriteMiddle), func(p *decode.Packet) { p.ICRC = decode.ICRCUnchecked })},
	{"a packet takes another port", "a queue pair has one source port", cleanWire, changing(9, ofOp(ib.WriteMiddle), func(p *decode.Packet) { p.SrcPort++ })},
	{"REP says another first PSN", "connection management tells the truth", managedWire, saying(ib.AttrREP, func(m *ib.CM) { m.StartPSN++ })},
	{"REQ says another path MTU", "connection management tells the truth", managedWire, saying(ib.AttrREQ, func(m *ib.CM) { m.PathMTU = ib.MTUOf(1024) })},
	{"a message of management is short", "connection management tells the truth", managedWire, changing(1, thatIs(isManagement), func(p *decode.Packet) { p.PayloadLen = 252 })},
	{"RTU answers nobody", "connection management tells the truth", managedWire, saying(ib.AttrRTU, func(m *ib.CM) { m.RemoteCommID++ })},
	{"DREQ is of another queue pair", "connection management tells the truth", managedWire, saying(ib.AttrDREQ, func(m *ib.CM) { m.QPN++ })},
}

type doctoring struct {
	what   string
	rule   string
	of     func(*testing.T) *wire
	doctor func(*testing.T, *wire)
}

func TestEveryRuleCanBeBroken(t *testing.T) {
	broken := map[string]bool{}
	for _, d := range doctored {
		broken[d.rule] = true
		t.Run(d.what, func(t *testing.T) {
			r := wireRules[slices.IndexFunc(wireRules, func(r wireRule) bool { return r.name == d.rule })]
			w := d.of(t)
			if f := r.broken(w); len(f) > 0 {
				t.Fatalf("the capture was not clean: %s", f[0])
			}
			if d.doctor(t, w); len(r.broken(w)) == 0 {
				t.Errorf("%q did not notice", r.name)
			}
		})
	}
	for _, r := range wireRules {
		if !broken[r.name] {
			t.Errorf("nothing breaks %q", r.name)
		}
	}
}

// The captures that are doctored hold one connection with all kinds of messages.

func cleanWire(t *testing.T) *wire           { return oneWire(t, synth.AtHost(1), nil) }
func cleanWireAtReceiver(t *testing.T) *wire { return oneWire(t, synth.AtHost(2), nil) }
func gapWire(t *testing.T) *wire {
	return oneWire(t, synth.AtHost(1), nil, synth.Lose(synth.Requests(1).Number(21)).AfterTap())
}
func gapWireAtReceiver(t *testing.T) *wire {
	return oneWire(t, synth.AtHost(2), nil, synth.Lose(synth.Requests(1).Number(21)))
}
func lostResponseWire(t *testing.T) *wire {
	return oneWire(t, synth.AtHost(1), nil, synth.Lose(synth.ReadResponses(1).Number(2)))
}
func markedWire(t *testing.T) *wire {
	return oneWire(t, synth.AtHost(2), nil, synth.Mark(synth.Requests(1).Number(3)))
}
func unreliableWire(t *testing.T) *wire {
	return oneWire(t, synth.AtHost(1), func(c *synth.Connection) {
		c.Transport, c.Work = ib.UC, []synth.Work{synth.Write(1500).Times(3)}
	})
}
func notReadyWire(t *testing.T) *wire {
	return oneWire(t, synth.AtHost(1), func(c *synth.Connection) {
		c.Work, c.NotReady, c.RNRTimer = []synth.Work{synth.Send(1500).Times(4).Every(40 * time.Microsecond)}, []int{2}, 5
	})
}
func refusedWire(t *testing.T) *wire {
	return oneWire(t, synth.AtHost(1), func(c *synth.Connection) { c.Refused, c.Refusal = 7, ib.NAKRemoteAccess })
}
func managedWire(t *testing.T) *wire {
	return oneWire(t, synth.AtHost(1), func(c *synth.Connection) { c.ByCM = true })
}

func oneWire(t *testing.T, tap synth.Tap, set func(*synth.Connection), faults ...synth.Fault) *wire {
	t.Helper()
	s := trial(tap, faults...)
	s.Connections = s.Connections[:1]
	if set != nil {
		set(&s.Connections[0])
	}
	return newWire(t, hostOf(tap), &source{frames: synth.Run(s).Frames})
}

// meaning says whether a packet is meant, of which it knows what came before.
type meaning func(before []decode.Packet, p *decode.Packet) bool

func thatIs(f func(*decode.Packet) bool) meaning {
	return func(_ []decode.Packet, p *decode.Packet) bool { return f(p) }
}

func ofOp(o ib.Op) meaning {
	return thatIs(func(p *decode.Packet) bool { return p.Op == ib.Of(ib.RC, o) })
}

func anyPacket([]decode.Packet, *decode.Packet) bool { return true }

func isManagement(p *decode.Packet) bool { return p.QP == ib.GSIQP }

func isCNP(p *decode.Packet) bool { return p.Op == ib.CNP }

// again picks requests that were sent before, or others behind them.
func sentAgain(before []decode.Packet, p *decode.Packet) bool {
	return p.Op.Is(ib.IsRequest) && slices.ContainsFunc(before, func(b decode.Packet) bool {
		return b.Op.Is(ib.IsRequest) && b.QP == p.QP && !b.PSN.Before(p.PSN)
	})
}

func behindNAK(before []decode.Packet, p *decode.Packet) bool {
	return isACK(p) && slices.ContainsFunc(before, func(b decode.Packet) bool { return isNAK(&b) })
}

// find returns where the n-th of the packets is that are meant.
func findPacket(t *testing.T, w *wire, n int, meant meaning) int {
	t.Helper()
	for i := range w.packets {
		if meant(w.packets[:i], &w.packets[i]) {
			if n--; n == 0 {
				return i
			}
		}
	}
	t.Fatal("the capture has no such packet")
	return 0
}

func changing(n int, meant meaning, edit func(*decode.Packet)) func(*testing.T, *wire) {
	return func(t *testing.T, w *wire) { edit(&w.packets[findPacket(t, w, n, meant)]) }
}

func settingOp(o ib.Op) func(*decode.Packet) {
	return func(p *decode.Packet) { p.Op = ib.Of(ib.RC, o) }
}

func dropping(n int, meant meaning) func(*testing.T, *wire) {
	return func(t *testing.T, w *wire) {
		i := findPacket(t, w, n, meant)
		w.packets = slices.Delete(w.packets, i, i+1)
	}
}

func doubling(n int, meant meaning) func(*testing.T, *wire) {
	return func(t *testing.T, w *wire) {
		i := findPacket(t, w, n, meant)
		w.packets = slices.Insert(w.packets, i, w.packets[i])
	}
}

// late puts a copy behind the end of the capture.
func addLate(n int, meant meaning) func(*testing.T, *wire) {
	return func(t *testing.T, w *wire) {
		p, last := w.packets[findPacket(t, w, n, meant)], w.packets[len(w.packets)-1]
		p.Frame, p.Time = last.Frame+1, last.Time+2*time.Millisecond.Nanoseconds()
		w.packets = append(w.packets, p)
	}
}

// say changes what a message of connection management says.
func saying(attr ib.CMAttr, edit func(*ib.CM)) func(*testing.T, *wire) {
	return func(t *testing.T, w *wire) {
		for frame, m := range w.cm {
			if m.Attr == attr {
				edit(&m)
				w.cm[frame] = m
				return
			}
		}
		t.Fatal("there is no such message")
	}
}
