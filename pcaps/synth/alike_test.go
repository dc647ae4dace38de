package synth_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rocescope/rocescope/pcaps/synth"
)

// TestQueuePairsAlikeAreNeverMispaired plays queue pairs between two hosts that all
// start at PSN 0, with no source port and no connection management to tell them apart,
// and with all that goes wrong in the accuracy test.
func TestQueuePairsAlikeAreNeverMispaired(t *testing.T) {
	for name := range kinds {
		sc := newScores()
		for seed := range ch(30_000, 60) {
			s := alikeOf(name, seed)
			c := synth.Run(s)
			sc.score(seed, s, c, analyze(t, s, c))
		}
		for _, n := range sc.notes {
			if strings.Contains(n, "peer") {
				t.Log(n)
			}
		}
		allPaired(t, name, sc, 500)
	}
}

// TestQueuePairsAlikeThatWereMispaired plays what the generator once drew and the
// analysis took for other pairs: where the capture lacks two requests in a row, which
// said nothing against their sender, and where an ACK that was kept back came so soon
// behind the last message that it seemed to be for another, or just as soon as others. In
// two more, times alike spoke for partners that other responses contradicted: where ACKs
// are kept back, and a NAK had shown how soon one may come, and where the clock lagged. In
// the last, ACKs named what was lost before the tap and sent again, and all of them fitted
// what another one had sent 16 ms before, and had answered at once.
func TestQueuePairsAlikeThatWereMispaired(t *testing.T) {
	for _, was := range []struct {
		kind  string
		seed  uint64
		right int64
	}{
		{"faulty", 21108, 6}, {"faulty", 1049, 12}, {"faulty", 1681, 10}, {"faulty", 70340, 8}, {"faulty", 71069, 0}, {"mixed", 1253, 8},
		{"faulty", 910230, 12}, {"odd-faulty", 911229, 4}, {"mixed", 9402478, 26},
	} {
		allPaired(t, fmt.Sprint(was.kind, " ", was.seed), scored(t, was.seed, alikeOf(was.kind, was.seed)), was.right)
	}
}

// TestTimesThatAnotherTellsWrongly plays one of them without its end, where nothing but
// times tells: those like the round trip that a NAK has shown lie farther apart than those
// of the true partners, whose ACKs are all kept back as long.
func TestTimesThatAnotherTellsWrongly(t *testing.T) {
	s := alikeOf("faulty", 910230)
	s.Tap = s.Tap.Between(0, 1120*us)
	allPaired(t, "faulty 910230, cut off", scored(t, 910230, s), 8)
}

// alikeOf draws a scenario of a kind with queue pairs alike.
func alikeOf(kind string, seed uint64) *synth.Scenario {
	s := kinds[kind](newDraw(seed), seed)
	beside(seed).alike(s)
	if odd(kind) {
		capturing(seed).odd(s)
	}
	return s
}

// TestQueuePairsAlikeInOddCaptures plays captures that pause while queue pairs alike go
// on, or begin amid traffic: such a capture lacks far more of a row than chance takes,
// which rules no partner out, and holds answers to what passed before, which show none.
func TestQueuePairsAlikeInOddCaptures(t *testing.T) {
	for _, was := range []struct {
		oddity string
		seed   uint64
		right  int64
	}{
		{"breaks", 704, 28}, {"breaks", 14398, 22}, {"midstream", 1741, 4}, {"breaks", 40308, 16}, {"breaks", 40876, 0},
		{"breaks", 41098, 0}, {"breaks", 41480, 0}, {"breaks", 7200977, 0}, {"breaks", 7000482, 20},
	} {
		s := oddly(draw.fabric, was.oddity, was.seed)
		allPaired(t, fmt.Sprint(was.oddity, " ", was.seed), scored(t, was.seed, s), was.right)
	}
}

// TestPausesShorterThanSilences plays queue pairs alike over a pause in which each of them
// sent more than a capture that lacks a few packets does, too short to be taken for one:
// the one that an answer behind it ran far ahead of may still be its partner.
func TestPausesShorterThanSilences(t *testing.T) {
	s := draw.faulty(newDraw(9310143), 9310143)
	beside(9310143).alike(s)
	capturing(9310143).oddBy(s, "breaks")
	s.Network.RoCEv1 = true
	allPaired(t, "faulty alike 9310143", scored(t, 9310143, s), 8)
}

// TestPausesThatHoldAResend plays a pause in which a queue pair sends, is refused and goes
// back, so that what it sends again seems to be sent only then, behind answers to it: that
// does not make the queue pair alike the one that was answered.
func TestPausesThatHoldAResend(t *testing.T) {
	sc := scored(t, 2201951, oddly(draw.faulty, "breaks", 2201951))
	if p := &sc.paired; p.wrong > 0 || p.right < 4 {
		t.Errorf("%d peers are right, %d wrong", p.right, p.wrong)
	}
}

// TestShortSilencesBehindAPause plays a pause, and behind it silences as short as others: an
// answer behind these may still be to what was asked in the pause.
func TestShortSilencesBehindAPause(t *testing.T) {
	allPaired(t, "breaks 5000812", scored(t, 5000812, oddly(draw.faulty, "breaks", 5000812)), 4)
}

// TestHostsThatWaitForEachOther plays queue pairs alike that are silent for a round trip
// time and again, which looks as if the capture paused: their partners are known.
func TestHostsThatWaitForEachOther(t *testing.T) {
	allPaired(t, "mixed 920", scored(t, 920, newDraw(920).mixed(920)), 16)
}

// scored plays a scenario and holds its analysis against the truth.
func scored(t *testing.T, seed uint64, s *synth.Scenario) *scores {
	t.Helper()
	sc, c := newScores(), synth.Run(s)
	sc.score(seed, s, c, analyze(t, s, c))
	return sc
}

// allPaired fails the test where a peer is wrong, or unknown though it could be known, or
// fewer are right than were.
func allPaired(t *testing.T, name string, sc *scores, right int64) {
	t.Helper()
	if p := &sc.paired; p.wrong+p.left > 0 || p.right < right {
		t.Errorf("%s: %d peers are right, %d wrong, %d unknown that could be known", name, p.right, p.wrong, p.left)
	}
}

// oddly draws a fabric, and spoils the capture in one way.
func oddly(fabric func(draw, uint64) *synth.Scenario, way string, seed uint64) *synth.Scenario {
	s := fabric(newDraw(seed), seed)
	capturing(seed).oddBy(s, way)
	return s
}

// alike puts such queue pairs into a scenario. RoCEv1 has no source ports.
func (d draw) alike(s *synth.Scenario) {
	s.Network.RoCEv1, s.Network.Delay = true, d.duration(us, 30*us)
	if d.often(0.5) {
		s.Network.Shape = synth.LeafSpine(2, 2, d.between(1, 4))
		s.Network.Uplink, s.Network.Routing = pick(d, 0.0, 40, 100), synth.ByFlowAndQP
	}
	switch d.IntN(3) {
	case 0:
		s.Connections = d.equalPairs([]int{1, 2})
	case 1:
		s.Connections = synth.Ring([]int{1, 2}, d.between(2, 4), synth.Write(d.between(500, 9000)).Times(d.between(8, 24)))
	default:
		s.Connections = d.oneAfterTheOther()
	}
	d.adapters(s)
	s.Tap = d.tap([]int{1, 2})
	if len(s.Faults) == 1 { // of a connection that may not be there any more
		s.Faults = []synth.Fault{d.fault(d.packets(s), 2)}
	}
}

// oneAfterTheOther is queue pairs that do all the same.
func (d draw) oneAfterTheOther() []synth.Connection {
	bytes := d.between(200, 9000)
	var out []synth.Connection
	for i := range d.between(2, 6) {
		w := synth.Write(bytes).Times(d.between(9, 30)).Every(d.duration(5*us, 50*us))
		out = append(out, synth.Connection{From: 1, To: 2, PathMTU: 1024, FirstPSN: synth.PSN(0), Start: time.Duration(i) * d.duration(0, 3*us), Work: []synth.Work{w}})
	}
	return out
}
