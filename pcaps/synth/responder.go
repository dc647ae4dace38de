package synth

import (
	"slices"

	"github.com/google/gopacket"
	"github.com/rocescope/rocescope/decode/ib"
	"github.com/rocescope/rocescope/decode/roce"
)

// noCredits is an ACK of a receiver that keeps no account of its buffers.
const noCredits ib.Syndrome = 0x1F

// responder answers the requests of the peer.
type responder struct {
	e         *endpoint
	expected  ib.PSN
	high      ib.PSN // one past the highest READ response
	msn       uint32
	begun     int  // messages that began, NotReady's and Refused's numbers
	told      bool // the gap at expected has been NAKed
	dead      bool
	atomics   map[ib.PSN]uint64 // results, for those who ask again
	counter   uint64            // what atomics add to
	refused   []int             // messages that met no buffer, once
	early     map[ib.PSN]*packet
	queue     []*packet
	held      *packet          // an ACK that waits for a later one
	arrived   int              // messages that are complete
	delivered map[int][]func() // what each sets off
}

// next returns the oldest answer that was not sent; where data has to wait, it
// returns until when.
func (r *responder) next() (*packet, int64) {
	if len(r.queue) == 0 {
		return nil, 0
	}
	p := r.queue[0]
	if t := r.e.rate.ready; p.kind == isReadResponse && t > r.e.host.world.clock.now {
		return nil, t
	}
	r.queue = r.queue[1:]
	p.count()
	return p, 0
}

// request takes a request of the peer.
func (r *responder) request(p *packet) {
	ahead := p.bth.PSN.Sub(r.expected)
	switch {
	case r.dead || r.e.conn.Transport != ib.RC:
	case ahead < 0:
		r.repeated(p)
	case ahead == 0:
		r.execute(p)
	case r.e.conn.AnyOrder:
		r.early[p.bth.PSN] = p
	default:
		if r.e.conn.Recovery == SelectiveRepeat {
			r.early[p.bth.PSN] = p
		}
		r.complain()
	}
}

// complain sends one NAK for a gap.
func (r *responder) complain() {
	if !r.told {
		r.told = true
		p := r.ack(ib.NAKPSNSequence, r.expected)
		p.blames = r.e.peer.req.sendings[r.expected]
		r.answer(p)
	}
}

// execute takes the request that was expected.
func (r *responder) execute(p *packet) {
	r.told = false
	if p.bth.Opcode.Is(ib.IsFirst|ib.IsOnly) && !r.begin(p) {
		return
	}
	r.expected = r.expected.Add(1)
	if p.bth.Opcode.Is(ib.IsLast | ib.IsOnly) {
		r.msn = (r.msn + 1) & ib.PSNMask
		r.complete()
	}
	switch op := p.bth.Opcode; {
	case op.Is(ib.IsRead):
		r.expected = r.expected.Add(int32(r.read(p)) - 1)
	case op.Is(ib.IsAtomic):
		r.atomics[p.bth.PSN] = r.counter
		r.counter++
		r.atomic(p.bth.PSN, "")
	case p.bth.AckReq:
		r.acknowledge(p.bth.PSN)
	}
	r.takeEarly()
}

// takeEarly executes what came before its time. What is still missing then
// draws a further NAK where only what is asked for comes again.
func (r *responder) takeEarly() {
	if held := r.early[r.expected]; held != nil {
		delete(r.early, r.expected)
		r.execute(held)
	} else if len(r.early) > 0 && r.e.conn.Recovery == SelectiveRepeat && !r.e.conn.AnyOrder {
		r.complain()
	}
}

// complete sets off what follows the message that is complete now.
func (r *responder) complete() {
	r.arrived++
	for _, do := range r.delivered[r.arrived] {
		do()
	}
}

// acknowledge answers at once, or a little later with the newest of several.
func (r *responder) acknowledge(psn ib.PSN) {
	wait := ns(r.e.conn.Coalesce)
	if wait == 0 {
		r.answer(r.ack(noCredits, psn))
		return
	}
	if r.held == nil {
		r.e.host.world.clock.after(wait, r.flush)
	}
	r.held = r.ack(noCredits, psn)
}

// flush sends the ACK that was kept back.
func (r *responder) flush() {
	if p := r.held; p != nil {
		r.held = nil
		r.answer(p)
	}
}

// begin takes the first packet of a message, and reports false where the
// scenario has it refused.
func (r *responder) begin(p *packet) bool {
	c := r.e.conn
	number := r.begun + 1
	switch {
	case p.bth.Opcode.Is(ib.IsFirst) && len(p.payload) != c.mtuOf(r.e):
		r.refuse(ib.NAKInvalidRequest, p)
		return false
	case r.e != c.b: // only To refuses
	case c.NeverReady > 0 && number >= c.NeverReady, slices.Contains(c.NotReady, number) && !slices.Contains(r.refused, number):
		r.refused = append(r.refused, number)
		r.told = true // what follows in flight is dropped without a word
		r.answer(r.ack(ib.Syndrome(0x20|c.RNRTimer&0x1F), p.bth.PSN))
		return false
	case number == c.Refused:
		r.refuse(c.Refusal, p)
		return false
	}
	r.begun = number
	return true
}

// refuse answers with a NAK that ends the queue pair, at both ends.
func (r *responder) refuse(s ib.Syndrome, p *packet) {
	r.answer(r.ack(s, p.bth.PSN))
	r.e.die()
}

// repeated answers a request that was executed before.
func (r *responder) repeated(p *packet) {
	switch op := p.bth.Opcode; {
	case op.Is(ib.IsRead):
		r.read(p)
	case op.Is(ib.IsAtomic):
		r.atomic(p.bth.PSN, p.again)
	default:
		p.needless = true
		r.answer(r.ack(noCredits, r.expected.Add(-1)))
	}
}

// lacks notes of a request that will not arrive whether it was needless: no more than
// one that does, if it had been executed before.
func (r *responder) lacks(p *packet) {
	p.needless = p.bth.PSN.Before(r.expected) && !p.bth.Opcode.Is(ib.IsRead|ib.IsAtomic)
}

// read queues the responses to a READ and returns how many they are.
func (r *responder) read(p *packet) int {
	reth := &p.ext[0].(*roce.RETH).RETH
	bytes, mtu := int(reth.DMALen), r.e.conn.mtu()
	n := max(1, (bytes+mtu-1)/mtu)
	for i := range n {
		psn := p.bth.PSN.Add(int32(i))
		op := partOf(i, n, ib.ReadResponseFirst, ib.ReadResponseMiddle, ib.ReadResponseLast, ib.ReadResponseOnly)
		out := r.e.packet(isReadResponse, op, psn, r.e.peer)
		out.pass = p.pass
		out.payload = pattern(int(reth.VA&0xFFFF)+i*mtu, min(mtu, bytes-i*mtu))
		if op != ib.ReadResponseMiddle {
			out.ext = []gopacket.SerializableLayer{r.aeth(noCredits)}
		}
		if psn.Before(r.high) {
			out.again, out.trigger = p.again, p.trigger
		} else {
			r.high = psn.Add(1)
		}
		r.answer(out)
	}
	return n
}

func (r *responder) atomic(psn ib.PSN, again cause) {
	p := r.e.packet(isAck, ib.AtomicAcknowledge, psn, r.e.peer)
	p.ext = []gopacket.SerializableLayer{r.aeth(noCredits), &roce.AtomicAckETH{AtomicAckETH: ib.AtomicAckETH{Original: r.atomics[psn]}}}
	p.again = again
	r.answer(p)
}

func (r *responder) ack(s ib.Syndrome, psn ib.PSN) *packet {
	p := r.e.packet(isAck, ib.Acknowledge, psn, r.e.peer)
	p.ext = []gopacket.SerializableLayer{r.aeth(s)}
	return p
}

func (r *responder) aeth(s ib.Syndrome) *roce.AETH {
	return &roce.AETH{AETH: ib.AETH{Syndrome: s, MSN: r.msn}}
}

// answer queues an answer; an ACK that was kept back is covered by it.
func (r *responder) answer(p *packet) {
	r.held = nil
	p.made = r.e.host.world.clock.now
	r.queue = append(r.queue, p)
	r.e.wake()
}

// syndrome returns what the packet's AETH says; 0 where it has none.
func (p *packet) syndrome() ib.Syndrome { return p.aeth().Syndrome }

// aeth is the header of an answer; that of others is empty.
func (p *packet) aeth() (none roce.AETH) {
	for _, l := range p.ext {
		if h, ok := l.(*roce.AETH); ok {
			return *h
		}
	}
	return none
}
