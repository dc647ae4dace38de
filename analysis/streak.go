package analysis

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// Streak is packets of a batch that stand one behind the other, belong to one row
// and to one message, and are alike: in opcode but for the place in the message,
// in verdict, and in every header field that says how the packet was sent and
// which way it came (see sameStreak). What counts by such things looks at the first
// packet and takes the rest at once: data comes in trains.
//
// A packet of no row, a CNP, a NAK and what is no RoCE are streaks of their own.
type Streak struct {
	From, To int // packets [From, To) of the batch
	Flow     FlowID
	Peer     FlowID
	Verdict  Verdict
	Bytes    int64 // on the wire
	Payload  int64 // bytes
	Wire     int64 // see decode.Packet.WireLen
	Even     bool  // all have the payload and the padding of the first, but a LAST one
	Dense    bool  // each has the PSN behind that of the one before
	// The earliest and the latest time of the packets. Only a damaged or merged
	// capture has them in another order than that of the packets.
	FirstNs, LastNs int64
}

// Len is how many packets the streak has.
func (r *Streak) Len() int64 { return int64(r.To - r.From) }

// Counts reports whether the packets count in a row: copies do not, nor do frames
// that belong to none.
func (r *Streak) Counts() bool { return r.Flow != NoFlow && r.Verdict&Copy == 0 }

// Head is the first packet of a streak, and Tail the last.
func (b *Batch) Head(r *Streak) *decode.Packet { return &b.Packets[r.From] }

// Tail is the last packet of a streak.
func (b *Batch) Tail(r *Streak) *decode.Packet { return &b.Packets[r.To-1] }

// streak adds a run of packets from index i on to the streaks.
func (b *Batch) streak(i int, u run) {
	p := &b.Packets[i]
	if n := len(b.Streaks); n > 0 && follows[p.Op] && !b.Packets[i-1].Op.Is(ib.IsLast) {
		r := &b.Streaks[n-1]
		if r.Flow == b.Flow[i] && r.Peer == b.Peer[i] && r.Verdict == b.Verdict[i] && sameStreak(&b.Packets[i-1], p) {
			r.add(&u, p.PSN == b.Packets[i-1].PSN.Add(1), p.Op.Is(ib.IsLast) || sameSize(p, b.Head(r)))
			return
		}
	}
	b.Streaks = append(b.Streaks, Streak{From: i, To: i + u.n, Flow: b.Flow[i], Peer: b.Peer[i], Verdict: b.Verdict[i],
		Bytes: u.bytes, Payload: u.payload, Wire: u.wire, Even: u.even, Dense: true, FirstNs: u.first, LastNs: u.last})
}

// add adds a run of packets behind the others.
func (r *Streak) add(u *run, dense, even bool) {
	r.To += u.n
	r.Bytes += u.bytes
	r.Payload += u.payload
	r.Wire += u.wire
	r.Dense, r.Even = r.Dense && dense, r.Even && even && u.even
	r.FirstNs, r.LastNs = min(r.FirstNs, u.first), max(r.LastNs, u.last)
}

func sameSize(p, q *decode.Packet) bool { return p.PayloadLen == q.PayloadLen && p.PadCnt == q.PadCnt }

// follows are the opcodes of packets that go on with a message.
var follows = opcodes(func(op ib.Opcode) bool { return op.Is(ib.IsMiddle|ib.IsLast) && op != ib.CNP })

func opcodes(is func(ib.Opcode) bool) (set [256]bool) {
	for op := range set {
		set[op] = is(ib.Opcode(op))
	}
	return set
}

// messageKind tells apart the opcodes whose packets may share a streak.
var messageKind = func() (kinds [256]uint32) {
	const place = ib.IsFirst | ib.IsMiddle | ib.IsLast | ib.IsOnly | ib.IsAck
	for op := range kinds {
		o := ib.Opcode(op)
		kinds[op] = uint32(o.Info().Kind&^place) | uint32(o.Transport())<<16
	}
	return kinds
}()

// sameStreak reports whether two packets of one row may share a streak.
func sameStreak(p, q *decode.Packet) bool {
	return q.Status == decode.RoCE && p.Status == decode.RoCE &&
		(p.Op == q.Op || messageKind[p.Op] == messageKind[q.Op]) &&
		p.ECN == q.ECN && p.DSCP == q.DSCP && p.TTL == q.TTL && p.SrcPort == q.SrcPort && p.ICRC == q.ICRC &&
		p.SrcMAC == q.SrcMAC && p.DstMAC == q.DstMAC && p.Iface == q.Iface &&
		p.VLAN == q.VLAN && p.PCP == q.PCP && p.Tagged == q.Tagged &&
		p.PKey == q.PKey && p.TVer == q.TVer && p.MigReq == q.MigReq && p.FECN == q.FECN && p.BECN == q.BECN &&
		p.HasExt == q.HasExt && p.Syndrome.Type() == q.Syndrome.Type()
}
