package synth

import (
	"github.com/google/gopacket"
	"github.com/rocescope/rocescope/decode/ib"
	"github.com/rocescope/rocescope/decode/roce"
)

// operation is what a message does.
type operation int

const (
	write operation = iota
	send
	read
	fetchAdd
	compareSwap
)

// responded reports whether the operation is done only when data came back.
func (o operation) responded() bool { return o >= read }

// ackEvery is after how many packets of a long message an answer is asked for.
const ackEvery = 16

const (
	rkey      = 0x1F00
	qkey      = 0x11111111
	addresses = 0x7F0000000000
)

// message is one work request and the PSNs that it uses.
type message struct {
	op         operation
	bytes      int
	start, end ib.PSN
	va         uint64
	mtu        int
}

func newMessage(w Work, number int, start ib.PSN, c *conn) *message {
	m := &message{op: w.op, bytes: w.bytes, start: start, mtu: c.mtu(), va: addresses + uint64(number)<<16}
	m.end = start.Add(int32(m.packets()))
	return m
}

// packets is how many PSNs the message uses.
func (m *message) packets() int {
	if m.op > read {
		return 1
	}
	return max(1, (m.bytes+m.mtu-1)/m.mtu)
}

// packet returns the packet at a PSN of the message, and the PSN after it. A
// message is taken up in its middle by a Middle packet, a READ by a new READ of
// the rest.
func (m *message) packet(e *endpoint, psn ib.PSN) (*packet, ib.PSN) {
	i := int(psn.Sub(m.start))
	offset := i * m.mtu
	p := e.packet(isRequest, m.part(i), psn, e)
	next := psn.Add(1)
	switch m.op {
	case read:
		p.bth.AckReq = true
		p.ext = []gopacket.SerializableLayer{m.reth(offset)}
		next = m.end
	case fetchAdd, compareSwap:
		p.bth.AckReq = true
		p.ext = []gopacket.SerializableLayer{&roce.AtomicETH{AtomicETH: ib.AtomicETH{VA: m.va, RKey: rkey, SwapAdd: 1}}}
	default:
		p.payload = pattern(offset, min(m.mtu, m.bytes-offset))
		p.bth.AckReq = next == m.end || i%ackEvery == ackEvery-1
		p.ext = m.headers(e, i)
	}
	if e.conn.Transport != ib.RC {
		p.bth.AckReq = false
	}
	return p, next
}

// headers are the extension headers of the message's packet i.
func (m *message) headers(e *endpoint, i int) []gopacket.SerializableLayer {
	switch {
	case e.conn.Transport == ib.UD:
		return []gopacket.SerializableLayer{&roce.DETH{DETH: ib.DETH{QKey: qkey, SrcQP: e.qpn}}}
	case m.op == write && i == 0:
		return []gopacket.SerializableLayer{m.reth(0)}
	}
	return nil
}

func (m *message) reth(offset int) *roce.RETH {
	return &roce.RETH{RETH: ib.RETH{VA: m.va + uint64(offset), RKey: rkey, DMALen: uint32(m.bytes - offset)}}
}

// part returns the operation of the message's packet i.
func (m *message) part(i int) ib.Op {
	first, middle, last, only := ib.WriteFirst, ib.WriteMiddle, ib.WriteLast, ib.WriteOnly
	switch m.op {
	case send:
		first, middle, last, only = ib.SendFirst, ib.SendMiddle, ib.SendLast, ib.SendOnly
	case read:
		return ib.ReadRequest
	case fetchAdd:
		return ib.FetchAdd
	case compareSwap:
		return ib.CompareSwap
	}
	return partOf(i, m.packets(), first, middle, last, only)
}

// partOf picks the operation of packet i of n.
func partOf(i, n int, first, middle, last, only ib.Op) ib.Op {
	switch {
	case n == 1:
		return only
	case i == 0:
		return first
	case i == n-1:
		return last
	}
	return middle
}

// pattern is what memory holds from an offset on.
func pattern(offset, n int) []byte {
	b := make([]byte, max(0, n))
	for i := range b {
		b[i] = byte(offset + i)
	}
	return b
}

// cnpBody is what stands behind the BTH of a CNP.
func cnpBody() []gopacket.SerializableLayer { return []gopacket.SerializableLayer{&roce.CNP{}} }
