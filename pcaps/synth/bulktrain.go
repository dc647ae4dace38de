package synth

import (
	"encoding/binary"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// writeTrain sends a WRITE. Where one of its packets is lost before the tap, the
// rest follows, the NAK comes back, and the sender goes back to it.
func (p *bulkPlay) writeTrain(c *bulkConn) {
	first, n := c.psn, uint32(p.Train)
	c.psn = (c.psn + n) & ib.PSNMask
	lost := n // none
	for i := range n {
		if lost == n && i+1 < n && p.rand.Float64() < bulkLoss {
			lost = i
			p.truth.Lost++
			continue
		}
		p.part(c, first, i, n)
	}
	if lost == n {
		c.busy = p.now + bulkAnswer
		p.later(c, bulkAnswer, bulkEvent{psn: first + n - 1, happens: (*bulkPlay).ack})
		return
	}
	c.busy = p.now + 4*bulkAnswer
	p.later(c, bulkAnswer, bulkEvent{psn: first + lost, happens: (*bulkPlay).nak})
	p.later(c, 2*bulkAnswer, bulkEvent{psn: first, n: lost, happens: (*bulkPlay).goBack})
}

// goBack sends a WRITE again from its packet n on.
func (p *bulkPlay) goBack(e *bulkEvent) {
	n := uint32(p.Train)
	before := p.written
	for i := e.n; i < n; i++ {
		p.part(e.conn, e.psn, i, n)
	}
	p.truth.Resent += int64(p.written - before)
	p.later(e.conn, bulkAnswer, bulkEvent{psn: e.psn + n - 1, happens: (*bulkPlay).ack})
}

// part sends packet i of a WRITE of n packets.
func (p *bulkPlay) part(c *bulkConn, first, i, n uint32) {
	h, ext := ib.BTH{Opcode: ib.Of(ib.RC, ib.WriteMiddle), PSN: ib.PSN((first + i) & ib.PSNMask)}, []byte(nil)
	switch i {
	case 0:
		h.Opcode, ext = ib.Of(ib.RC, ib.WriteFirst), bulkRETH(c, n)
	case n - 1:
		h.Opcode, h.AckReq = ib.Of(ib.RC, ib.WriteLast), true
	}
	p.moved(c, 0, &h, ext, bulkPacket)
}

// packet sends a packet, and counts it as n.
func (p *bulkPlay) packet(n *int64, c *bulkConn, from int, h *ib.BTH, ext []byte, payload int, ecn decode.ECN) {
	data, size := p.frame.packet(c, from, h, ext, payload, ecn)
	p.put(n, data, size)
}

func (p *bulkPlay) pause(quanta uint16) {
	data, size := p.frame.pause(quanta)
	p.put(&p.truth.Pauses, data, size)
}

// moved sends data, which a queue marks now and then, and pauses.
func (p *bulkPlay) moved(c *bulkConn, from int, h *ib.BTH, ext []byte, payload int) {
	ecn, count := decode.ECT0, new(int64)
	if p.rand.Float64() < bulkMarks {
		ecn, count = decode.CE, &p.truth.Marks
		if p.now-c.cnp > bulkCNPs {
			c.cnp = p.now
			p.later(c, bulkAnswer, bulkEvent{n: uint32(1 - from), happens: (*bulkPlay).notify})
		}
	}
	p.packet(count, c, from, h, ext, payload, ecn)
	if p.data++; p.data%bulkPauses == 0 {
		p.pause(0xFFFF)
		p.pause(0)
	}
}

// send sends a SEND of one packet.
func (p *bulkPlay) send(c *bulkConn) {
	psn := c.psn
	c.psn = (c.psn + 1) & ib.PSNMask
	p.moved(c, 0, &ib.BTH{Opcode: ib.Of(ib.RC, ib.SendOnly), PSN: ib.PSN(psn), AckReq: true}, nil, 256)
	c.busy = p.now + bulkAnswer
	p.later(c, bulkAnswer, bulkEvent{psn: psn, happens: (*bulkPlay).ack})
}

// read asks for data, which comes as a train.
func (p *bulkPlay) read(c *bulkConn) {
	psn, n := c.psn, uint32(p.Train)
	c.psn = (c.psn + n) & ib.PSNMask
	p.packet(new(int64), c, 0, &ib.BTH{Opcode: ib.Of(ib.RC, ib.ReadRequest), PSN: ib.PSN(psn), AckReq: true}, bulkRETH(c, n), 0, decode.ECT0)
	c.busy = p.now + 4*bulkAnswer
	p.later(c, bulkAnswer, bulkEvent{psn: psn, n: n, happens: (*bulkPlay).responses})
}

func (p *bulkPlay) responses(e *bulkEvent) {
	c := e.conn
	c.msn++
	for i := range e.n {
		h, ext := ib.BTH{Opcode: ib.Of(ib.RC, ib.ReadResponseMiddle), PSN: ib.PSN((e.psn + i) & ib.PSNMask)}, []byte(nil)
		switch i {
		case 0:
			h.Opcode, ext = ib.Of(ib.RC, ib.ReadResponseFirst), bulkAETH(c, 0x1F)
		case e.n - 1:
			h.Opcode, ext = ib.Of(ib.RC, ib.ReadResponseLast), bulkAETH(c, 0x1F)
		}
		p.moved(c, 1, &h, ext, bulkPacket)
	}
}

func (p *bulkPlay) ack(e *bulkEvent) {
	e.conn.msn++
	p.answer(e, 0x1F)
}

func (p *bulkPlay) nak(e *bulkEvent) { p.answer(e, ib.NAKPSNSequence) }

func (p *bulkPlay) answer(e *bulkEvent, s ib.Syndrome) {
	h := ib.BTH{Opcode: ib.Of(ib.RC, ib.Acknowledge), PSN: ib.PSN(e.psn & ib.PSNMask)}
	p.packet(new(int64), e.conn, 1, &h, bulkAETH(e.conn, s), 0, decode.ECT0)
}

// notify sends a CNP from side n.
func (p *bulkPlay) notify(e *bulkEvent) {
	p.packet(&p.truth.CNPs, e.conn, int(e.n), &ib.BTH{Opcode: ib.CNP, BECN: true}, make([]byte, 16), 0, decode.NotECT)
}

func bulkRETH(c *bulkConn, n uint32) []byte {
	h := ib.RETH{VA: 0x7F0000000000 + uint64(c.psn)<<12, RKey: c.qp[1], DMALen: n * bulkPacket}
	return h.Append(nil)
}

func bulkAETH(c *bulkConn, s ib.Syndrome) []byte {
	return binary.BigEndian.AppendUint32(nil, uint32(s)<<24|c.msn&ib.PSNMask)
}
