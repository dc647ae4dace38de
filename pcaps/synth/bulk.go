package synth

import (
	"bufio"
	"container/heap"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/rocescope/rocescope/decode"
)

// Bulk is a long capture of a busy 400 Gb/s link, for measuring speed. It is
// written down and not simulated, so that ten million packets take seconds: what
// a tap on such a link sees of connections that write and read in trains, lose a
// packet now and then, are marked, and pause. The same Bulk gives the same
// bytes.
type Bulk struct {
	Packets     int
	Connections int // each has a flow, that is a row of the report, either way
	HostPairs   int // over which the connections spread
	Train       int // packets of a WRITE or a READ's responses, in a row
	File        File
	Seed        uint64
}

// The mix of a Bulk.
const (
	bulkPacket = 4096            // bytes of payload
	bulkRate   = 400             // bits in a nanosecond
	bulkAnswer = 8_000           // ns from a packet at the tap to what it draws
	bulkReads  = 0.12            // of messages
	bulkSends  = 0.08            // of messages
	bulkLoss   = 0.001           // of packets that a NAK can repair
	bulkMarks  = 0.01            // of data
	bulkCNPs   = 50_000          // ns between the CNPs of a connection
	bulkPauses = 20_000          // data packets between two pauses
	bulkStart  = 1_767_225_600e9 // 2026-01-01
)

// BulkTruth is what a Bulk holds.
type BulkTruth struct {
	Lost, Resent, Marks, CNPs, Pauses int64 // packets
}

// Write writes the capture.
func (b Bulk) Write(w io.Writer) (BulkTruth, error) {
	if b.Packets < 1 || b.Connections < 1 || b.HostPairs < 1 || b.Train < 2 {
		return BulkTruth{}, fmt.Errorf("a bulk capture of %d packets, %d connections, %d host pairs and trains of %d makes no sense", b.Packets, b.Connections, b.HostPairs, b.Train)
	}
	buf := bufio.NewWriterSize(w, 1<<20)
	out, err := b.File.writer(buf)
	if err != nil {
		return BulkTruth{}, err
	}
	p := &bulkPlay{Bulk: b, out: out, rand: rand.New(rand.NewPCG(b.Seed, 0x62756C6B)), now: bulkStart, conns: make([]bulkConn, b.Connections)}
	for i := range p.conns {
		p.conns[i].start(i, b.HostPairs, p.rand)
	}
	for p.left() {
		p.message()
	}
	if p.err != nil {
		return BulkTruth{}, fmt.Errorf("writing a capture: %w", p.err)
	}
	return p.truth, buf.Flush()
}

// bulkPlay is a Bulk on its way into a file.
type bulkPlay struct {
	Bulk
	out     frameWriter
	rand    *rand.Rand
	conns   []bulkConn
	waiting bulkQueue
	now     int64
	written int
	data    int // packets of data so far
	frame   bulkFrame
	truth   BulkTruth
	err     error
}

func (p *bulkPlay) left() bool { return p.err == nil && p.written < p.Packets }

// message lets a connection that has nothing under way begin its next message,
// after what was due before.
func (p *bulkPlay) message() {
	p.due()
	c := &p.conns[p.rand.IntN(len(p.conns))]
	for range 64 {
		if c.busy <= p.now {
			break
		}
		c = &p.conns[p.rand.IntN(len(p.conns))]
	}
	if c.busy > p.now {
		p.now = c.busy
		p.due()
	}
	switch x := p.rand.Float64(); {
	case x < bulkReads:
		p.read(c)
	case x < bulkReads+bulkSends:
		p.send(c)
	default:
		p.writeTrain(c)
	}
}

// due writes what answers have become due.
func (p *bulkPlay) due() {
	for len(p.waiting) > 0 && p.waiting[0].time <= p.now && p.left() {
		e := heap.Pop(&p.waiting).(bulkEvent)
		e.happens(p, &e)
	}
}

// later has something happen in a while.
func (p *bulkPlay) later(c *bulkConn, wait int64, e bulkEvent) {
	e.conn, e.time, e.order = c, p.now+wait, p.written
	heap.Push(&p.waiting, e)
}

// put writes a frame of so many bytes on the wire, and counts it as n.
func (p *bulkPlay) put(n *int64, data []byte, size int) {
	p.now += int64(size+20) * 8 / bulkRate
	if !p.left() {
		return
	}
	*n++
	f := decode.Frame{Data: data[:min(len(data), size)], Time: p.now, Len: size, Link: decode.LinkEthernet}
	if n := p.File.SnapLen; n > 0 {
		f.Data = f.Data[:min(n, len(f.Data))]
	}
	p.err = p.out.Write(&f)
	p.written++
}

// bulkEvent is an answer under way.
type bulkEvent struct {
	time    int64
	order   int // of events at one time
	conn    *bulkConn
	psn, n  uint32
	happens func(*bulkPlay, *bulkEvent)
}

type bulkQueue []bulkEvent

func (q bulkQueue) Len() int { return len(q) }
func (q bulkQueue) Less(i, j int) bool {
	return q[i].time < q[j].time || q[i].time == q[j].time && q[i].order < q[j].order
}
func (q bulkQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *bulkQueue) Push(x any)   { *q = append(*q, x.(bulkEvent)) }
func (q *bulkQueue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}
