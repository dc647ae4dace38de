package analysis

import (
	"testing"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// train is n packets of a healthy connection from time t on: WRITEs of four
// packets, each acknowledged, with rising PSNs and IPv4 IDs.
func train(n int, t int64, psn ib.PSN, id uint16) []decode.Packet {
	ops := [...]ib.Op{ib.WriteFirst, ib.WriteMiddle, ib.WriteMiddle, ib.WriteLast, ib.Acknowledge}
	out := make([]decode.Packet, n)
	for i := range out {
		p := &out[i]
		op := ops[i%len(ops)]
		*p = decode.Packet{Time: t + int64(i)*1000, Frame: uint64(i + 1), Len: 1082, CapLen: 96, Status: decode.RoCE, Version: 2,
			Src: [16]byte{10: 0xFF, 11: 0xFF, 12: 10, 15: 1}, Dst: [16]byte{10: 0xFF, 11: 0xFF, 12: 10, 15: 2},
			Op: ib.Of(ib.RC, op), QP: 0x12, PSN: psn, IPID: id + uint16(i), SrcPort: 50000, PayloadLen: 1024, HasExt: true, AckReq: op == ib.WriteLast}
		if op == ib.Acknowledge {
			p.Src, p.Dst, p.QP, p.PayloadLen, p.Syndrome = p.Dst, p.Src, 0x34, 0, 0x1F
			p.PSN = psn.Add(-1)
			continue
		}
		psn = psn.Add(1)
	}
	return out
}

func TestAHealthyConnectionAllocatesNothing(t *testing.T) {
	s := newShard(Defaults(1), nil)
	const n = 250 // a multiple of the pattern
	now, psn, id := int64(1_000_000), ib.PSN(0xFFFF00), uint16(0)
	step := func(in *input) {
		in.packets = append(in.packets[:0], train(n, now, psn, id)...)
		now, psn, id = now+n*1000, psn.Add(n/5*4), id+n
	}
	in := &input{}
	for range 20 { // until the sequence has grown to its size
		step(in)
		s.process(in)
	}
	var batches []*input
	for range 101 {
		b := &input{}
		step(b)
		batches = append(batches, b)
	}
	next := 0
	if allocs := testing.AllocsPerRun(100, func() { s.process(batches[next]); next++ }); allocs != 0 {
		t.Errorf("%v allocations in a batch of %d packets", allocs, n)
	}
	if len(s.rows) != 2 || s.rows[0].count.Frames != (20+101)*n/5*4 {
		t.Errorf("%d rows, %d frames in the first", len(s.rows), s.rows[0].count.Frames)
	}
}

func BenchmarkShard(b *testing.B) {
	s := newShard(Defaults(1), nil)
	const n = 250
	now, psn, id := int64(1_000_000), ib.PSN(0), uint16(0)
	in := &input{}
	for b.Loop() {
		b.StopTimer()
		in.packets = append(in.packets[:0], train(n, now, psn, id)...)
		now, psn, id = now+n*1000, psn.Add(n/5*4), id+n
		b.StartTimer()
		s.process(in)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/packet")
}
