package synth_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/rocescope/rocescope/decode/ib"
	"github.com/rocescope/rocescope/pcaps/synth"
)

// sameCapture wants two worlds to look the same from the tap.
func sameCapture(t *testing.T, one, other *synth.Capture) {
	t.Helper()
	if len(one.Frames) != len(other.Frames) {
		t.Fatalf("%d frames and %d", len(one.Frames), len(other.Frames))
	}
	for i := range one.Frames {
		if a, b := &one.Frames[i], &other.Frames[i]; a.Time != b.Time || !bytes.Equal(a.Data, b.Data) {
			t.Fatalf("frame %d differs:\n%d %x\n%d %x", i+1, a.Time, a.Data, b.Time, b.Data)
		}
	}
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
			sameCapture(t, second, first)
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
