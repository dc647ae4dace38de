package analysis

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// wantBounded wants each list of a shard within what its cap allows.
func wantBounded(t *testing.T, s *shard, when string) {
	t.Helper()
	most := func(what string, n, limit int) {
		t.Helper()
		if n > limit {
			t.Fatalf("%s: %d %s, at most %d allowed", when, n, what, limit)
		}
	}
	for _, r := range s.rows {
		most("sightings of requests", len(r.req.recent.slots), recentMax)
		most("sightings of responses", len(r.rsp.recent.slots), recentMax)
		most("messages", len(r.win.log), logMax)
		rec := r.req.rec
		if rec == nil {
			continue
		}
		most("holes", len(rec.holes.list), holesMax)
		most("holes of responses", len(rec.reads.holes.list), holesMax)
		most("READs", len(rec.reads.list), readsMax)
		most("resends", len(rec.resends), resendsMax)
		most("doubts", len(rec.doubts), doubtsMax)
		most("packets in doubt", len(rec.tent), tentMax)
		most("first answers", len(rec.waiting), waitingMax)
	}
	for _, b := range s.bundles {
		most("packets held back", len(b.held), heldMax)
		most("connections", len(b.conns), connsMax)
	}
}

func TestMemoryIsBoundedWhateverPasses(t *testing.T) {
	const many = 100_000
	for _, c := range []struct {
		name string
		ids  idMode
		next func(s *script, n int, rng *rand.Rand)
	}{
		{
			name: "every second PSN is missing",
			next: func(s *script, n int, _ *rand.Rand) { s.one("A", ib.SendOnly, 0, int32(2*n)) },
		},
		{
			name: "every second PSN is missing and every tenth is acknowledged in part",
			next: func(s *script, n int, _ *rand.Rand) {
				if s.one("A", ib.SendOnly, 0, int32(2*n)); n%10 == 0 {
					s.one("B", ib.Acknowledge, 0, int32(2*n-11))
				}
			},
		},
		{
			name: "a long hole is filled by every second packet",
			next: func(s *script, n int, _ *rand.Rand) {
				switch {
				case n < 2:
					s.one("A", ib.SendOnly, 0, int32(60_000*n))
				case n < 30_000:
					s.one("A", ib.SendOnly, 0, int32(2*n))
				default:
					s.one("A", ib.SendOnly, 0, int32(n+40_000))
				}
			},
		},
		{
			name: "a NAK names every second PSN of a long hole of a resend pass",
			next: func(s *script, n int, _ *rand.Rand) {
				switch {
				case n < 20_000:
					s.one("A", ib.SendOnly, 0, int32(n))
				case n == 20_000:
					s.one("A", ib.SendOnly, 0, 0)
				case n == 20_001:
					s.one("A", ib.SendOnly, 0, 19_999)
				case n < 29_000:
					s.one("B", ib.Acknowledge, ib.NAKPSNSequence, int32(2*(n-20_000)))
				default:
					s.one("A", ib.SendOnly, 0, int32(n-9_000))
				}
			},
		},
		{
			name: "a timeout a packet, and no answer",
			next: func(s *script, n int, _ *rand.Rand) { s.now += 5_000_000; s.one("A", ib.SendOnly, 0, int32(-n%7)) },
		},
		{
			name: "a timeout a packet, each answered once no round trip is known",
			next: func(s *script, n int, _ *rand.Rand) {
				s.now += 5_000_000
				s.one("A", ib.SendOnly, 0, int32(n/4))
				s.one("B", ib.Acknowledge, 0, int32(n/4))
			},
		},
		{
			name: "a NAK for every packet",
			next: func(s *script, n int, _ *rand.Rand) {
				s.one("A", ib.SendOnly, 0, int32(n))
				s.one("B", ib.Acknowledge, ib.NAKPSNSequence, int32(n))
			},
		},
		{
			name: "NAKs behind a thousand packets, each for a later one",
			next: func(s *script, n int, _ *rand.Rand) {
				if s.one("A", ib.SendOnly, 0, int32(n)); n > 1000 {
					s.one("B", ib.Acknowledge, ib.NAKPSNSequence, int32(n-1000))
				}
			},
		},
		{
			name: "READs without an answer",
			next: func(s *script, n int, _ *rand.Rand) { s.one("A", ib.ReadRequest, 0, int32(n)) },
		},
		{
			name: "READ responses without a READ",
			next: func(s *script, n int, _ *rand.Rand) {
				if n < 2 {
					s.one("A", ib.SendOnly, 0, int32(100_000*n))
				}
				s.one("B", ib.ReadResponseFirst, 0, int32(n*3%100_000))
			},
		},
		{
			name: "late packets in doubt without an end",
			ids:  constant,
			next: func(s *script, n int, _ *rand.Rand) {
				s.one("A", ib.SendOnly, 0, int32(n/40*40+[]int{0, 39}[min(n%40, 1)]-max(0, n%40-1)))
			},
		},
		{
			name: "two queue pairs that cannot be told apart",
			next: func(s *script, n int, _ *rand.Rand) {
				s.one("A", ib.SendOnly, 0, int32(n/3))
				s.one("A2", ib.SendOnly, 0, int32(n/3))
				s.one("B", ib.Acknowledge, ib.NAKPSNSequence, int32(n/3))
			},
		},
		{
			name: "connections that are set up and never used",
			next: func(s *script, n int, _ *rand.Rand) {
				s.manage("A", ib.CM{Attr: ib.AttrREQ, LocalCommID: uint32(n), QPN: uint32(n)})
			},
		},
		{
			name: "anything at all",
			next: func(s *script, n int, rng *rand.Rand) { s.anything(rng, int32(n/50), 60) },
		},
		{
			name: "anything at all over IPv6",
			ids:  overIPv6,
			next: func(s *script, n int, rng *rand.Rand) { s.anything(rng, int32(n/50), 200) },
		},
		{
			name: "anything at all that stands still",
			ids:  scattered,
			next: func(s *script, _ int, rng *rand.Rand) { s.anything(rng, 0, 3000) },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			ids := c.ids
			if ids == "" {
				ids = rising
			}
			s := newScript(ids, 0xFFFFFE)
			rng := rand.New(rand.NewPCG(1, 2))
			sh := newShard(Defaults(1), nil)
			for n := range many {
				c.next(s, n, rng)
				if len(s.packets) < batchSize && n < many-1 {
					continue
				}
				sh.process(&input{packets: s.packets, cms: s.cms})
				s.packets, s.cms = s.packets[:0], s.cms[:0]
				wantBounded(t, sh, fmt.Sprintf("by step %d", n))
			}
			sh.finish()
		})
	}
}

// one lets a single packet pass, a microsecond after the one before.
func (s *script) one(who string, op ib.Op, syn ib.Syndrome, n int32) *decode.Packet {
	s.who = who
	p := decode.Packet{Status: decode.RoCE, Version: 2, HasExt: true, Len: 1100, ICRC: decode.ICRCGood}
	if op == ib.ReadRequest {
		p.DMALen = 3000
	}
	s.fill(&p, op, syn, n)
	s.pass(p)
	return &s.packets[len(s.packets)-1]
}

// anything lets any packet pass whose PSN lies within spread of at.
func (s *script) anything(rng *rand.Rand, at, spread int32) {
	type kind struct {
		who string
		op  ib.Op
		syn ib.Syndrome
	}
	kinds := []kind{
		{"A", ib.SendOnly, 0}, {"A", ib.SendOnly, 0}, {"A", ib.WriteFirst, 0}, {"A", ib.WriteMiddle, 0}, {"A", ib.WriteLast, 0},
		{"A", ib.ReadRequest, 0}, {"A", ib.FetchAdd, 0}, {"B", ib.Acknowledge, 0}, {"B", ib.Acknowledge, ib.NAKPSNSequence},
		{"B", ib.Acknowledge, 0x2E}, {"B", ib.ReadResponseFirst, 0}, {"B", ib.ReadResponseMiddle, 0}, {"B", ib.ReadResponseLast, 0},
		{"B", ib.ReadResponseOnly, 0}, {"B", ib.AtomicAcknowledge, 0}, {"B", ib.Acknowledge, ib.NAKRemoteAccess},
	}
	k := kinds[rng.IntN(len(kinds))]
	s.now += rng.Int64N(30 * us)
	if rng.IntN(100) == 0 {
		s.now += 5_000_000
	}
	p := s.one(k.who, k.op, k.syn, at+rng.Int32N(spread))
	p.AckReq = rng.IntN(4) == 0
	if rng.IntN(20) == 0 {
		s.pass(*p)
	}
}
