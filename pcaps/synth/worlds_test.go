package synth_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
	"github.com/rocescope/rocescope/pcaps/synth"
)

// sameFrames reports whether two worlds look the same from the tap.
func sameFrames(one, other *synth.Capture) bool {
	return slices.EqualFunc(one.Frames, other.Frames, func(a, b decode.Frame) bool {
		return a.Time == b.Time && bytes.Equal(a.Data, b.Data)
	})
}

// firstRow is what the truth tells of the requests of the first connection.
func firstRow(c *synth.Capture) *synth.Row {
	for i := range c.Truth.Rows {
		if r := &c.Truth.Rows[i]; r.Counts["request_frames"] > 0 {
			return r
		}
	}
	return nil
}

// passings returns when the requests of a PSN pass, counted from the first one.
func passings(t *testing.T, c *synth.Capture, number int32) (at []int64) {
	t.Helper()
	all := packets(t, c)
	for i := range all {
		if p := &all[i]; p.QP == all[0].QP && p.PSN == all[0].PSN.Add(number) && !p.Op.Is(ib.IsResponse) {
			at = append(at, c.Frames[i].Time)
		}
	}
	return at
}

// TestWhichOfTwoIsLateIsNotKnown delays a packet until the one that is sent again for
// it has passed, or until just when that would pass, and delays that one as long.
// Where no IP ID tells them apart, the tap sees the same: in the one world the second
// packet is late and the first was needed, in the other the first is late and the
// second is needless.
func TestWhichOfTwoIsLateIsNotKnown(t *testing.T) {
	for name, net := range map[string]synth.Network{
		"IPv6": {Delay: 5 * us, IPv6: true}, "RoCEv1": {Delay: 5 * us, RoCEv1: true},
		"IPv4 without IDs": {Delay: 5 * us, IDs: synth.ConstantIDs}, "IPv4 with IDs": {Delay: 5 * us},
	} {
		play := func(faults ...synth.Fault) *synth.Capture {
			return synth.Run(&synth.Scenario{
				Seed: 1, Network: net, Faults: faults,
				Connections: []synth.Connection{{From: 1, To: 2, AckTimeout: 8, Recovery: synth.SelectiveRepeat, Work: []synth.Work{synth.Write(200).Times(40).Every(2 * us)}}},
			})
		}
		fifth, again := synth.Requests(1).Number(5), synth.Requests(1).Again(1)
		turn := time.Duration(passings(t, play(synth.Lose(fifth)), 4)[0] - passings(t, play(), 4)[0])
		for _, apart := range []time.Duration{3 * us, 40 * us} {
			second := play(synth.Delay(fifth, turn+apart))
			first := play(synth.Delay(fifth, turn), synth.Delay(again, apart))
			one, other := firstRow(second), firstRow(first)
			if name == "IPv4 with IDs" {
				if one.Counts["reordered"] != 1 || other.Counts["reordered"] != 2 || one.Counts["spurious"] != 0 || other.Counts["spurious"] != 1 {
					t.Errorf("%s, %v apart: %v and %v", name, apart, one.Counts, other.Counts)
				}
				continue
			}
			if !sameFrames(second, first) {
				t.Errorf("%s, %v apart: the captures differ", name, apart)
			}
			for _, column := range []string{"reordered", "spurious"} {
				for _, row := range []*synth.Row{one, other} {
					if n, open := row.Counts[column], row.Opened(column); n != 0 || open == 0 {
						t.Errorf("%s, %v apart: %d %s for certain and %d open", name, apart, n, column, open)
					}
				}
			}
		}
	}
}

// TestALatePacketBeforeAnyReactionIsKnown delays a packet for less than a round trip:
// nothing can have had it sent again by then, although it is sent again later, and no
// ID tells the two apart.
func TestALatePacketBeforeAnyReactionIsKnown(t *testing.T) {
	for name, net := range map[string]synth.Network{"IPv6": {Delay: 5 * us, IPv6: true}, "RoCEv1": {Delay: 5 * us, RoCEv1: true}} {
		for recovery, of := range map[synth.Recovery]string{synth.GoBackN: "go-back-N", synth.SelectiveRepeat: "selective repeat"} {
			s := &synth.Scenario{
				Seed: 1, Network: net, Faults: []synth.Fault{synth.Delay(synth.Requests(1).Number(5), 3*us)},
				Connections: []synth.Connection{{From: 1, To: 2, AckTimeout: 8, Recovery: recovery, Work: []synth.Work{synth.Write(200).Times(40).Every(2 * us)}}},
			}
			c := synth.Run(s)
			row := firstRow(c)
			if at := passings(t, c, 4); len(at) != 2 {
				t.Fatalf("%s, %s: the late packet passes %d times", name, of, len(at))
			}
			if n := row.Counts["reordered"]; n != 1 {
				t.Errorf("%s, %s: %d reordered for certain", name, of, n)
			}
			flows := rowsByName(analyze(t, s, c))
			compare(t, name+", "+of, row, flows[rowName(row.Src, row.Dst, row.DestQP)])
		}
	}
}

// TestAMissedResponseArrivedWhereItsRequesterWentOn keeps a response out of the
// capture, or loses it and with it whatever asks for it again: the tap sees the same,
// though READs that were under way by then are answered behind it. Only a request that
// was sent after an answer behind the missing one had come shows that it arrived.
func TestAMissedResponseArrivedWhereItsRequesterWentOn(t *testing.T) {
	play := func(faults []synth.Fault, later ...synth.Work) (*synth.Scenario, *synth.Capture) {
		s := &synth.Scenario{
			Seed: 1, Tap: synth.AtHost(2), Network: synth.Network{Delay: 5 * us}, Faults: faults,
			Connections: []synth.Connection{{From: 1, To: 2, Work: append([]synth.Work{synth.Read(3000).Times(3)}, later...)}},
		}
		return s, synth.Run(s)
	}
	response := synth.ReadResponses(1).Number(5)
	arrived := []synth.Fault{synth.Miss(response)}
	vanished := []synth.Fault{synth.Lose(response), synth.Lose(synth.Requests(1).Again(upTo(100)...))}
	_, one := play(arrived)
	_, other := play(vanished)
	if !sameFrames(one, other) {
		t.Error("the captures differ")
	}
	back := func(c *synth.Capture) *synth.Row { return &c.Truth.Rows[1] }
	for name, want := range map[*synth.Row]string{back(one): "response_not_captured", back(other): "response_lost_upstream"} {
		if name.Counts[want] != 0 || name.Opened(want) == 0 {
			t.Errorf("%s: %d for certain and %d open", want, name.Counts[want], name.Opened(want))
		}
	}
	for what, work := range map[string]synth.Work{"READ": synth.Read(100), "WRITE": synth.Write(100)} {
		s, c := play(arrived, work.After(100*us))
		row := back(c)
		if row.Counts["response_not_captured"] != 1 {
			t.Errorf("where a %s follows: %v, open %v", what, row.Counts, row.Open)
		}
		compare(t, what, row, rowsByName(analyze(t, s, c))[rowName(row.Src, row.Dst, row.DestQP)])
		if _, unlike := play(vanished, work.After(100*us)); sameFrames(unlike, c) {
			t.Errorf("the %s is sent although the requester misses a response", what)
		}
	}
}

// TestResponsesThatAllPassedInAPauseMayBeMissed pauses the capture while all responses of a
// queue pair pass, whose READ and what follows it are in the capture: nothing but the PSNs
// tells how many there were.
func TestResponsesThatAllPassedInAPauseMayBeMissed(t *testing.T) {
	s := &synth.Scenario{
		Seed: 1, Tap: synth.AtHost(1).Pausing(5*us, 60*us), Network: synth.Network{Delay: 5 * us},
		Connections: []synth.Connection{{From: 1, To: 2, PathMTU: 1024, Work: []synth.Work{synth.Read(3000), synth.Write(100).Times(2).Every(100 * us).After(100 * us)}}},
	}
	c := synth.Run(s)
	flows, open := rowsByName(analyze(t, s, c)), int64(0)
	for i := range c.Truth.Rows {
		row := &c.Truth.Rows[i]
		open += row.Opened("response_not_captured")
		compare(t, "behind a pause", row, flows[rowName(row.Src, row.Dst, row.DestQP)])
	}
	if open != 3 {
		t.Errorf("that %d responses are missed is open, want 3", open)
	}
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i + 1
	}
	return out
}

// TestAnAnswerTwiceMayBeACopyAsWellAsItsRequest delays a packet until just before the
// one that a NAK calls for, so that it arrives twice and is acknowledged twice, or loses
// the one called for, while a mirror copies the late packet and its ACK: the tap sees the
// same.
func TestAnAnswerTwiceMayBeACopyAsWellAsItsRequest(t *testing.T) {
	play := func(faults ...synth.Fault) (*synth.Scenario, *synth.Capture) {
		s := &synth.Scenario{
			Seed: 1, Network: synth.Network{Delay: 5 * us, IDs: synth.ConstantIDs}, Tap: synth.AtHost(2), Faults: faults,
			Connections: []synth.Connection{{From: 1, To: 2, PathMTU: 1024, Recovery: synth.SelectiveRepeat, Work: []synth.Work{synth.Write(2000).Times(12).Every(60 * us)}}},
		}
		return s, synth.Run(s)
	}
	fifth, again := synth.Requests(1).Number(5), synth.Requests(1).Again(1)
	_, resent := play(synth.Lose(fifth))
	_, whole := play()
	const gap = 350 * time.Nanosecond // what a mirror takes for a copy
	turn := time.Duration(passings(t, resent, 4)[0] - passings(t, whole, 4)[0])
	late := synth.Delay(fifth, turn-gap)
	s, twice := play(late)
	_, copied := play(late, synth.Lose(again), synth.Double(fifth), synth.Double(synth.Acks(1).Number(4)))
	if !sameFrames(twice, copied) {
		t.Error("the captures differ")
	}
	answers := func(c *synth.Capture) *synth.Row { return &c.Truth.Rows[1] }
	one, other := answers(twice), answers(copied)
	if n, open := one.Counts["mirror_duplicates"], one.Opened("mirror_duplicates"); n != 0 || open != 1 || other.Counts["mirror_duplicates"] != n+open {
		t.Errorf("%d ACKs are copies for certain and %d open, where a mirror copies %d", n, open, other.Counts["mirror_duplicates"])
	}
	compare(t, "the ACKs", one, rowsByName(analyze(t, s, twice))[rowName(one.Src, one.Dst, one.DestQP)])
}

// TestOnlyTheFirstReadOfAPassTellsOfItsResponse loses the last response to a READ
// behind the tap, and in the other world the first one to a later READ as well, which
// is asked for again in any case: the captures are the same.
func TestOnlyTheFirstReadOfAPassTellsOfItsResponse(t *testing.T) {
	play := func(lost ...int) (*synth.Capture, *synth.Row) {
		c := synth.Run(&synth.Scenario{
			Seed: 1, Tap: synth.AtHost(2), Network: synth.Network{Delay: 5 * us},
			Connections: []synth.Connection{{From: 1, To: 2, Work: []synth.Work{synth.Read(3000).Times(3)}}},
			Faults:      []synth.Fault{synth.Lose(synth.ReadResponses(1).Number(lost...)).AfterTap()},
		})
		return c, &c.Truth.Rows[1]
	}
	one, last := play(3)
	other, both := play(3, 7)
	if !sameFrames(one, other) {
		t.Fatal("the captures differ")
	}
	for _, row := range []*synth.Row{last, both} {
		if n, open := row.Counts["response_lost_downstream"], row.Opened("response_lost_downstream"); n != 1 || open == 0 {
			t.Errorf("%d responses lost for certain and %d open", n, open)
		}
	}
}

// TestALostResendAloneLooksLikeALostNAK loses a packet and what is sent again for it;
// or a NAK behind the tap, while another connection sends a packet, which has the number
// that the resend would have had, and the timer is longer by what the NAK has it begin
// anew: the tap sees the same.
func TestALostResendAloneLooksLikeALostNAK(t *testing.T) {
	lost := synth.Lose(synth.Requests(1).Number(5))
	play := func(timer time.Duration, more []synth.Work, faults ...synth.Fault) *synth.Capture {
		return synth.Run(&synth.Scenario{
			Seed: 1, Tap: synth.AtHost(2), Network: synth.Network{Delay: 5 * us}, Faults: append(faults, lost),
			Connections: []synth.Connection{
				{From: 1, To: 2, FirstTimeout: timer, Recovery: synth.SelectiveRepeat, Work: []synth.Work{synth.Write(200).Times(40).Every(2 * us)}},
				{From: 1, To: 3, Work: more},
			},
		})
	}
	const timer = 500 * us
	one := play(timer, nil, synth.Lose(synth.Requests(1).Again(1)))
	nak := synth.Lose(synth.Acks(1).Number(5)).AfterTap()
	for at := time.Duration(0); at < 40*us; at += us / 2 {
		more := []synth.Work{synth.Write(200).After(at)}
		other := play(timer, more, nak)
		longer := time.Duration(passings(t, one, 4)[0] - passings(t, other, 4)[0])
		if other = play(timer+longer, more, nak); !sameFrames(one, other) {
			continue
		}
		for _, row := range []*synth.Row{firstRow(one), firstRow(other)} {
			if row.Counts["lost_upstream"] != 1 {
				t.Errorf("%v, open %v", row.Counts, row.Open)
			}
		}
		if firstRow(one).Opened("lost_upstream") == 0 {
			t.Error("that the resend was lost is said to be known")
		}
		return
	}
	t.Error("the captures differ")
}

// TestAResponseThatAnACKOvertakesIsReordered delays the last response of a READ until
// the ACK of what was asked for behind it has passed: a responder answers in order.
func TestAResponseThatAnACKOvertakesIsReordered(t *testing.T) {
	for name, net := range map[string]synth.Network{"IPv4": {Delay: 5 * us}, "IPv6": {Delay: 5 * us, IPv6: true}} {
		s := &synth.Scenario{
			Seed: 1, Network: net, Faults: []synth.Fault{synth.Delay(synth.ReadResponses(1).Number(3), 4*us)},
			Connections: []synth.Connection{{From: 1, To: 2, AnyOrder: true, Work: []synth.Work{synth.Read(3000), synth.Write(200).Times(20).Every(20 * us).After(us)}}},
		}
		c := synth.Run(s)
		flows := rowsByName(analyze(t, s, c))
		n := int64(0)
		for i := range c.Truth.Rows {
			row := &c.Truth.Rows[i]
			n += row.Counts["response_reordered"]
			compare(t, name, row, flows[rowName(row.Src, row.Dst, row.DestQP)])
		}
		if n != 1 {
			t.Errorf("%s: %d responses are reordered", name, n)
		}
	}
}

// TestWhatComesBehindTheFirstPacketIsLateOrSentAgain begins a capture, or has it go on
// behind a pause, between a NAK and the one packet that it draws; or delays that packet
// until just then, and loses what is sent again for it. Where no IP ID tells the two
// apart, the tap sees the same.
func TestWhatComesBehindTheFirstPacketIsLateOrSentAgain(t *testing.T) {
	for name, net := range map[string]synth.Network{
		"IPv6": {Delay: 15 * us, IPv6: true}, "RoCEv1": {Delay: 15 * us, RoCEv1: true},
		"IPv4 without IDs": {Delay: 15 * us, IDs: synth.ConstantIDs}, "IPv4 with IDs": {Delay: 15 * us},
	} {
		play := func(tap synth.Tap, faults ...synth.Fault) (*synth.Scenario, *synth.Capture) {
			s := &synth.Scenario{
				Seed: 1, Network: net, Tap: tap, Faults: faults,
				Connections: []synth.Connection{{From: 1, To: 2, Recovery: synth.SelectiveRepeat, Work: []synth.Work{synth.Write(200).Times(40).Every(2 * us)}}},
			}
			return s, synth.Run(s)
		}
		fifth, again := synth.Requests(1).Number(5), synth.Requests(1).Again(1)
		_, lost := play(synth.Tap{}, synth.Lose(fifth))
		_, whole := play(synth.Tap{})
		resent, first := passings(t, lost, 4)[0], passings(t, whole, 4)[0]
		late := synth.Delay(fifth, time.Duration(resent-first))
		sent, when := time.Duration(first-whole.Frames[0].Time), time.Duration(resent-whole.Frames[0].Time)
		for _, tap := range []synth.Tap{synth.Tap{}.Between(when-2*us, 0), synth.Tap{}.Pausing(sent, when-2*us-sent)} {
			s, one := play(tap, synth.Lose(fifth))
			_, other := play(tap, late, synth.Lose(again))
			if told := name == "IPv4 with IDs"; sameFrames(one, other) == told {
				t.Errorf("%s: the captures are the same: %v", name, !told)
			}
			for world, c := range map[string]*synth.Capture{"sent again": one, "late": other} {
				row := firstRow(c)
				for column, is := range map[string]string{"retransmitted": "sent again", "reordered": "late"} {
					n, open := row.Counts[column], row.Opened(column)
					if told := name == "IPv4 with IDs"; told && (open != 0 || n != 1 == (is == world)) || !told && (n != 0 || open != 1) {
						t.Errorf("%s, %s: %d %s for certain and %d open", name, world, n, column, open)
					}
				}
				compare(t, name+", "+world, row, rowsByName(analyze(t, s, c))[rowName(row.Src, row.Dst, row.DestQP)])
			}
		}
	}
}

// TestWhoseNAKIsKnownByTheResend plays two queue pairs that do the same at the same time.
// Which of them lost a packet behind the tap, nothing tells but that it sends it again: so
// nothing does where the capture pauses while that passes.
func TestWhoseNAKIsKnownByTheResend(t *testing.T) {
	play := func(tap synth.Tap) (*synth.Scenario, *synth.Capture) {
		work := []synth.Work{synth.Write(200).Times(12).Every(2 * us)}
		s := &synth.Scenario{
			Seed: 1, Tap: tap, Network: synth.Network{Delay: 5 * us, RoCEv1: true},
			Faults:      []synth.Fault{synth.Lose(synth.Requests(1).Number(5)).AfterTap()},
			Connections: []synth.Connection{{From: 1, To: 2, FirstPSN: synth.PSN(0), Work: work}, {From: 1, To: 2, FirstPSN: synth.PSN(0), Work: work}},
		}
		return s, synth.Run(s)
	}
	_, whole := play(synth.AtHost(1))
	again := time.Duration(passings(t, whole, 4)[1] - whole.Frames[0].Time)
	for name, tap := range map[string]synth.Tap{"whole": synth.AtHost(1), "paused": synth.AtHost(1).Pausing(again-100*time.Nanosecond, 200*us)} {
		s, c := play(tap)
		row := firstRow(c)
		if n, open := row.Counts["lost_downstream"], row.Opened("lost_downstream"); (n == 1) == (name == "paused") || (open == 1) != (name == "paused") {
			t.Errorf("%s: %d lost for certain and %d open", name, n, open)
		}
		flows := rowsByName(analyze(t, s, c))
		for i := range c.Truth.Rows {
			row := &c.Truth.Rows[i]
			compare(t, name, row, flows[rowName(row.Src, row.Dst, row.DestQP)])
		}
	}
}
