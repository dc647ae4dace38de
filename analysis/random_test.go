package analysis

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// stream is what a naive model knows of a stream of packets with PSNs from 0,
// of which the tap sees some, in some order.
type stream struct {
	order []int32 // PSNs as they pass
}

// shuffled drops packets of n at random and delays others by up to reach places.
// The first and the last one pass in their place.
func shuffled(rng *rand.Rand, n int32, drop, delay float64, reach int) stream {
	at := map[int32]float64{}
	var order []int32
	for psn := range n {
		inner := psn > 0 && psn < n-1
		if inner && rng.Float64() < drop {
			continue
		}
		at[psn] = float64(psn)
		if inner && rng.Float64() < delay {
			at[psn] = min(float64(psn)+float64(1+rng.IntN(reach))+0.5, float64(n)-1.5)
		}
		order = append(order, psn)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		switch {
		case at[a] < at[b]:
			return -1
		case at[a] > at[b]:
			return 1
		}
		return int(a - b)
	})
	return stream{order}
}

// missing is how many PSNs between the first and the last never pass.
func (s *stream) missing() int64 {
	return int64(slices.Max(s.order)-slices.Min(s.order)) + 1 - int64(len(s.order))
}

// late is how many packets pass behind one with a higher PSN.
func (s *stream) late() (n int64) {
	high := int32(-1)
	for _, psn := range s.order {
		if psn < high {
			n++
		}
		high = max(high, psn)
	}
	return n
}

// pass lets the stream's packets pass, numbered in the order of their PSNs.
func (s *stream) pass(sc *script, op ib.Op, each func(psn int32)) {
	first := sc.sent['A']
	for _, psn := range s.order {
		sc.sent['A'] = first + uint16(psn)
		sc.one("A", op, 0, psn)
		each(psn)
	}
	sc.sent['A'] = first + uint16(slices.Max(s.order)) + 1
}

func wantTotals(t *testing.T, o *outcome, want map[EventKind]int64) {
	t.Helper()
	for k := range EventKind(NumEventKinds) {
		if k.Measure() {
			continue
		}
		if got := o.total(k); got != want[k] {
			t.Errorf("%v is %d, want %d", k, got, want[k])
		}
	}
}

// gapsOf counts the episodes: packets that pass above the highest PSN and leave
// others out.
func (s *stream) gaps() (n int64) {
	high := int32(-1)
	for _, psn := range s.order {
		if psn > high+1 {
			n++
		}
		high = max(high, psn)
	}
	return n
}

func TestMissingUCPacketsAreLost(t *testing.T) {
	for seed := range uint64(20) {
		for _, ids := range allIDs {
			t.Run(fmt.Sprintf("seed %d with %s", seed, ids), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 1))
				sc := newScript(ids, startPSNs[seed%2])
				sc.tr = ib.UC
				// Few enough holes that none falls out of memory before it is filled.
				st := shuffled(rng, 1500, rng.Float64()*0.1, rng.Float64()*0.05, 4)
				st.pass(sc, ib.SendOnly, func(int32) {})
				wantTotals(t, sc.play(), map[EventKind]int64{Gap: st.gaps(), LostUpstream: st.missing(), Reordered: st.late()})
			})
		}
	}
}

func TestRequestsTheTapMissedAreNotCaptured(t *testing.T) {
	for seed := range uint64(20) {
		for _, ids := range allIDs {
			t.Run(fmt.Sprintf("seed %d with %s", seed, ids), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 2))
				sc := newScript(ids, startPSNs[seed%2]).warm()
				st := shuffled(rng, 1500, rng.Float64()*0.3, 0, 1)
				st.pass(sc, ib.SendOnly, func(psn int32) {
					if psn == 1499 || psn%16 == 15 && rng.IntN(3) > 0 { // ACKs are missed as well
						sc.now += 10 * us
						sc.one("B", ib.Acknowledge, 0, psn)
					}
				})
				wantTotals(t, sc.play(), map[EventKind]int64{Gap: st.gaps(), NotCaptured: st.missing()})
			})
		}
	}
}

func TestLateRequestsAreReordered(t *testing.T) {
	for seed := range uint64(20) {
		for _, ids := range allIDs {
			t.Run(fmt.Sprintf("seed %d with %s", seed, ids), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 3))
				sc := newScript(ids, startPSNs[seed%2]).warm()
				st := shuffled(rng, 2000, 0, rng.Float64()*0.1, 4)
				st.pass(sc, ib.SendOnly, func(psn int32) {
					if psn == 1999 {
						sc.now += 10 * us
						sc.one("B", ib.Acknowledge, 0, psn)
					}
				})
				wantTotals(t, sc.play(), map[EventKind]int64{Gap: st.gaps(), Reordered: st.late()})
			})
		}
	}
}

// TestGoBackN sends bursts of which one packet is lost, before the tap or behind
// it or in the mirror, and repaired by go-back-N.
func TestGoBackN(t *testing.T) {
	for seed := range uint64(20) {
		for _, ids := range allIDs {
			t.Run(fmt.Sprintf("seed %d with %s", seed, ids), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 4))
				sc := newScript(ids, startPSNs[seed%2]).warm()
				want := map[EventKind]int64{}
				at := int32(0)
				for range 100 {
					n := 3 + rng.Int32N(40)
					lost, where := rng.Int32N(n-1), rng.IntN(4)
					for i := range n {
						if i == lost && (where == 0 || where == 2) {
							sc.sent['A']++
							want[Gap]++
							continue
						}
						sc.one("A", ib.SendOnly, 0, at+i)
					}
					sc.now += 9 * us
					if where < 2 {
						sc.one("B", ib.Acknowledge, ib.NAKPSNSequence, at+lost)
						sc.now += 30 * us
						for i := lost; i < n; i++ {
							sc.one("A", ib.SendOnly, 0, at+i)
						}
						sc.now += 9 * us
						want[RetransmittedNAK] += int64(n - lost)
					}
					want[[]EventKind{LostUpstream, LostDownstream, NotCaptured, Gap}[where]]++
					if where == 3 {
						want[Gap]-- // nothing happened to this burst
					}
					at += n
					sc.one("B", ib.Acknowledge, 0, at-1)
					sc.now += 9 * us
				}
				wantTotals(t, sc.play(), want)
			})
		}
	}
}

// TestEverySecondFrameIsACopy has each frame of a lossless transfer stand twice.
func TestEverySecondFrameIsACopy(t *testing.T) {
	for seed := range uint64(20) {
		for _, ids := range allIDs {
			t.Run(fmt.Sprintf("seed %d with %s", seed, ids), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 5))
				sc := newScript(ids, startPSNs[seed%2])
				copies := int64(0)
				twice := func(p *decode.Packet) {
					if rng.IntN(10) > 0 {
						sc.pass(*p)
						copies++
					}
				}
				for at := int32(0); at < 1000; {
					for range 1 + rng.Int32N(8) {
						twice(sc.one("A", ib.SendOnly, 0, at))
						at++
					}
					sc.now += 9 * us
					twice(sc.one("B", ib.Acknowledge, 0, at-1))
					sc.now += 9 * us
				}
				wantTotals(t, sc.play(), map[EventKind]int64{MirrorDuplicate: copies})
			})
		}
	}
}

// TestBatchesDoNotMatter lets anything at all pass, in one batch and in many.
func TestBatchesDoNotMatter(t *testing.T) {
	for seed := range uint64(20) {
		for _, ids := range allIDs {
			t.Run(fmt.Sprintf("seed %d with %s", seed, ids), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 6))
				sc := newScript(ids, startPSNs[seed%2])
				for n := range 2000 {
					sc.anything(rng, int32(n/20), 10+int32(seed)*5)
				}
				o := sc.play()
				o.countsAreSound(t)
				var events []Event
				cfg := Defaults(1)
				cfg.Tap = func(b *Batch) { events = append(events, b.Events...) }
				sh := newShard(cfg, nil)
				for i := 0; i < len(sc.packets); {
					n := min(1+rng.IntN(300), len(sc.packets)-i)
					sh.process(&input{packets: sc.packets[i : i+n], began: sc.packets[0].Time})
					i += n
				}
				sh.finish()
				if !slices.Equal(events, o.events) {
					t.Errorf("%d events in batches, %d in one", len(events), len(o.events))
				}
			})
		}
	}
}

// countsAreSound holds for whatever passed.
func (o *outcome) countsAreSound(t *testing.T) {
	t.Helper()
	for k := range EventKind(NumEventKinds) {
		if o.total(k) < 0 {
			t.Errorf("%v is %d", k, o.total(k))
		}
	}
	fates := o.total(LostUpstream) + o.total(Reordered) + o.total(NotCaptured) + o.total(Unresolved)
	if o.total(Gap) > fates {
		t.Errorf("%d gaps of which %d packets have a fate", o.total(Gap), fates)
	}
	resent := o.total(RetransmittedNAK) + o.total(RetransmittedTimeout) + o.total(RetransmittedImplied) + o.total(RetransmittedRNR) + o.total(RetransmittedUnknown)
	if o.total(Spurious) > resent {
		t.Errorf("%d resends were needless, of %d", o.total(Spurious), resent)
	}
	copies := int64(0)
	for i := range o.verdicts {
		if o.verdicts[i]&Copy != 0 {
			copies++
		}
	}
	if got := o.total(MirrorDuplicate); got != copies {
		t.Errorf("%d copies are events, %d are verdicts", got, copies)
	}
	o.eventsStandInTheirRow(t)
}
