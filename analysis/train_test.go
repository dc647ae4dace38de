package analysis

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// messages lets WRITEs and READs of several packets pass, of which some are
// missing, come twice, late, damaged, or again, in part and before what was due.
func (s *script) messages(rng *rand.Rand, n, rate int) {
	psn := int32(0)
	for range n {
		from := len(s.packets)
		k := 1 + rng.Int32N(30)
		switch rng.IntN(5) {
		case 0, 1:
			s.parts(rng, "A", ib.WriteFirst, psn, 0, k)
		case 2:
			s.one("A", ib.ReadRequest, 0, psn).DMALen = uint32(k) * 1024
			s.now += rng.Int64N(20 * us)
			s.parts(rng, "B", ib.ReadResponseFirst, psn, 0, k)
		default: // two READs at a time, and more of what is asked again
			k = max(k, 4)
			half := k / 2
			s.one("A", ib.ReadRequest, 0, psn).DMALen = uint32(half) * 1024
			s.one("A", ib.ReadRequest, 0, psn+half).DMALen = uint32(k-half) * 1024
			s.parts(rng, "B", ib.ReadResponseFirst, psn, 0, half)
			s.parts(rng, "B", ib.ReadResponseFirst, psn+half, 0, k-half)
		}
		for rng.IntN(100) < rate {
			s.anything(rng, psn, k)
			at := rng.Int32N(k)
			switch rng.IntN(3) {
			case 0:
				s.one("B", ib.Acknowledge, ib.NAKPSNSequence, psn+at)
				s.parts(rng, "A", ib.WriteFirst, psn, at, k)
			case 1:
				s.now += rng.Int64N(5_000_000)
				s.parts(rng, "A", ib.WriteFirst, psn, at, k)
			case 2:
				s.one("A", ib.ReadRequest, 0, psn+at).DMALen = uint32(k-at) * 1024
				s.parts(rng, "B", ib.ReadResponseFirst, psn+at, 0, k-at)
			}
		}
		s.disturb(rng, from, rate)
		s.now += rng.Int64N(20 * us)
		if rng.IntN(4) > 0 {
			s.one("B", ib.Acknowledge, 0x1F, psn+k-1-rng.Int32N(2))
		}
		psn += k
		s.now += rng.Int64N(40 * us)
	}
}

// parts lets packets [at, k) of a message pass that begins at psn.
func (s *script) parts(rng *rand.Rand, who string, first ib.Op, psn, at, k int32) {
	for ; at < k; at++ {
		op := first + 1
		switch at {
		case 0:
			op = first
		case k - 1:
			op = first + 2
		}
		p := s.one(who, op, 0, psn+at)
		p.PayloadLen, p.AckReq = 1024, op == ib.WriteLast || rng.IntN(50) == 0
		s.now += 100
		if at == 17 {
			s.now += 30 * us // a silence amid the message
		}
	}
}

// disturb changes packets from an index on, so many of some hundred each way.
func (s *script) disturb(rng *rand.Rand, from, rate int) {
	for i := from; i < len(s.packets); i++ {
		if rng.IntN(400) >= rate {
			continue
		}
		switch rng.IntN(9) {
		case 0:
			s.packets = slices.Delete(s.packets, i, i+1)
		case 1:
			s.packets = slices.Insert(s.packets, i, s.packets[i])
		case 2:
			j := min(i+1+rng.IntN(6), len(s.packets)-1)
			s.packets[i], s.packets[j] = s.packets[j], s.packets[i]
		case 3:
			s.packets[i].ICRC = decode.ICRCBad
		case 4:
			s.packets[i].ECN = decode.CE
		case 5:
			if !s.packets[i].IPv6 {
				s.packets[i].IPID -= 300
			}
		case 6:
			s.packets[i].ICRC = decode.ICRCUnchecked
		case 7:
			s.packets[i].PayloadLen = 512
		case 8:
			s.packets[i].PSN = s.packets[i].PSN.Add(rng.Int32N(2000) - 1000)
		}
	}
}

// inputOf marks what goes on with the message of the packet before, as the decoder
// would.
func inputOf(ps []decode.Packet) *input {
	in := &input{packets: ps}
	for i := 1; i < len(ps) && i < batchSize; i++ {
		p, q := ps[i-1], ps[i]
		middle := p.Op
		if p.Op.Is(ib.IsFirst) {
			middle++
		}
		last := middle + 1
		if last.Info().Len > 0 {
			last = middle
		}
		if p.Op.Is(ib.IsFirst|ib.IsMiddle) && (q.Op == middle || q.Op == last) && p.Src == q.Src && p.Dst == q.Dst && p.QP == q.QP && p.ECN == q.ECN {
			in.goesOn.set(i, 1)
		}
	}
	return in
}

// What takes the packets of a train at once comes to what taking one by one does: the
// same events, verdicts, streaks, and rows to the last bit of what they remember.
func TestTrainsTakenAtOnce(t *testing.T) {
	atOnce := 0
	for seed := range uint64(120) {
		for _, ids := range allIDs {
			t.Run(fmt.Sprintf("seed %d with %s", seed, ids), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 7))
				sc := newScript(ids, startPSNs[seed%2])
				sc.messages(rng, 60, 1+int(seed%30))
				type seen struct {
					events   []Event
					verdicts []Verdict
					streaks  []Streak
				}
				var all [2]seen
				var shards [2]*shard
				for way := range all {
					cfg := Defaults(1)
					cfg.Tap = func(b *Batch) {
						x := &all[way]
						x.events, x.verdicts, x.streaks = append(x.events, b.Events...), append(x.verdicts, b.Verdict...), append(x.streaks, b.Streaks...)
					}
					shards[way] = newShard(cfg, nil)
				}
				for i := 0; i < len(sc.packets); {
					n := min(1+rng.IntN(batchSize), len(sc.packets)-i)
					in := inputOf(sc.packets[i : i+n])
					shards[1].process(in)
					shards[0].process(&input{packets: sc.packets[i : i+n]})
					for k, a := range shards[0].rows {
						if b := shards[1].rows[k]; !reflect.DeepEqual(a, b) {
							t.Fatalf("row %d after packet %d: one by one it is\n%+v\n%+v\nand at once\n%+v\n%+v", k, i+n, a.count, a.rsp.ids, b.count, b.rsp.ids)
						}
					}
					i += n
				}
				atOnce += shards[1].atOnce
				for _, s := range shards {
					s.finish()
				}
				for i, e := range all[0].events {
					if i >= len(all[1].events) || all[1].events[i] != e {
						t.Fatalf("event %d is\n%+v one by one, and at once\n%+v", i, e, all[1].events[i:][:min(1, len(all[1].events)-i)])
					}
				}
				if !reflect.DeepEqual(all[0], all[1]) {
					t.Error("the streaks or verdicts differ")
				}
			})
		}
	}
	if atOnce < 10_000 {
		t.Errorf("only %d packets were taken at once", atOnce)
	}
}

func TestTrainEnds(t *testing.T) {
	in := &input{}
	for _, i := range []int{1, 2, 3, 10, 62, 63, 64, 65, 128, 129, 130, 255} {
		in.goesOn.set(i, 1)
	}
	for at, want := range map[int]int{0: 4, 1: 4, 3: 4, 4: 5, 9: 11, 61: 66, 63: 66, 64: 66, 127: 131, 254: 256, 255: 256, 300: 301} {
		if got := in.goesOn.train(at); got != want {
			t.Errorf("the train from %d ends at %d, not %d", at, got, want)
		}
	}
}

// Looking ahead at a batch leaves no trace: a tag is numbered when its packet's turn
// comes, whatever the size of batches.
func TestLookingAheadNumbersNoTags(t *testing.T) {
	s := newShard(Defaults(1), nil)
	p := train(1, 1000, 0, 0)[0]
	p.Tagged, p.VLAN = true, 7
	s.process(&input{packets: []decode.Packet{p}})
	tags := &s.rows[0].bundle.tags
	tags.split = true
	p.VLAN = 8
	if s.warm(&input{packets: []decode.Packet{p}}); tags.n != 1 {
		t.Errorf("%d tags are numbered, of which one has come", tags.n)
	}
}

func TestMarksAcrossWords(t *testing.T) {
	for from := range 2 * 64 {
		for n := range atATime + 1 {
			var got, want marks
			got.set(from, n)
			for i := from; i < from+n; i++ {
				want[i/64] |= 1 << (i % 64)
			}
			if got != want {
				t.Fatalf("%d from %d: %x, not %x", n, from, got, want)
			}
		}
	}
}
