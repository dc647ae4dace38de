package analysis

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/decode"
)

// TestClockNoise has frames of one host come 100 ns apart, with times that some clock
// gives them, and asks how exact they are as known by the frames 1, 200 and the last.
func TestClockNoise(t *testing.T) {
	for name, test := range map[string]struct {
		stamp func(i int64) int64
		want  [3]int64
	}{
		"each frame its own":           {func(i int64) int64 { return 100*i + i*i%7 }, [3]int64{0, 0, 0}},
		"a clock of microseconds":      {func(i int64) int64 { return 100 * i / 1000 * 1000 }, [3]int64{0, 1000, 1000}},
		"a clock of twenty, few times": {func(i int64) int64 { return 100 * i / 20_000 * 20_000 }, [3]int64{0, 0, 0}},
		"a clock of ten, few times":    {func(i int64) int64 { return 100 * i / 10_000 * 10_000 }, [3]int64{0, 0, 10_000}},
		"silence behind the first":     {func(i int64) int64 { return min(i, 1)*5e9 + 100*i + i*i%7 }, [3]int64{0, 0, 0}},
		"batches of sixteen":           {func(i int64) int64 { return 100*(i|15) + i>>4%5 }, [3]int64{0, 1601, 1601}},
		"batches, silence between":     {func(i int64) int64 { return 100*(i|15) + i>>4*90_000 + i>>4%5 }, [3]int64{0, 20_000, 20_000}},
	} {
		c := clock{limits: &Defaults(1).Limits}
		for i := range int64(800) {
			c.watch([]*decode.Packet{{Time: test.stamp(i), Frame: uint64(i + 1), Len: 1100}})
		}
		for i, frame := range []uint64{1, 200, math.MaxUint64} {
			got := (&times{c.known, frame}).noise()
			if off := got - test.want[i]; off < -5 || off > 5 && got > test.want[i]*9/8 {
				t.Errorf("%s: by frame %d it is off by %d, want %d", name, frame, got, test.want[i])
			}
		}
		if len(c.known) > 64 {
			t.Errorf("%s: %d entries", name, len(c.known))
		}
	}
}

// TestOneTimeForAll plays what passes within a batch of frames that have one time: their
// order tells what the clock does not.
func TestOneTimeForAll(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{
			"a NAK draws what had passed", "A: 0-5! B: nak:3 A: 3-5! B: ack:5",
			"lost_downstream@3 retransmission_nak@3-5",
		},
		{
			"a NAK draws what is missing", "A: 0-2 (3) 4-5! B: nak:3 A: 3-5! B: ack:5",
			"gap@3 lost_upstream@3 retransmission_nak@3-5",
		},
		{
			"a NAK draws the one before the last", "A: 0-2 (3) 4! B: nak:3 A: 3-4! B: ack:4",
			"gap@3 lost_upstream@3 retransmission_nak@3-4",
		},
		{
			"a NAK draws one packet alone", "A: 0-2 (3) 4-5! B: nak:3 A: 3 6! B: ack:6",
			"gap@3 lost_upstream@3 retransmission_nak@3",
		},
		{
			"nothing asks for what comes late", "A: 0-2 (3) 4-5 late:3 6! B: ack:6",
			"gap@3 out_of_order@3",
		},
		{
			"nothing asks for a copy", "A: 0 = 1-3! B: ack:3",
			"mirror_duplicate@0",
		},
	} {
		for _, mode := range []idMode{constant, overIPv6} {
			s := newScript(mode, 5000).warm()
			n := len(s.packets)
			s.say(c.script)
			for i := range s.packets[n:] {
				s.packets[n+i].Time = s.now
			}
			if got := s.play().text(); got != c.want {
				t.Errorf("%s, with %s:\n got %s\nwant %s", c.name, mode, got, c.want)
			}
		}
	}
}

// TestBeforeTheFirstPacket begins captures amid a repetition.
func TestBeforeTheFirstPacket(t *testing.T) {
	playScenes(t, []scene{
		{
			name:   "an answer had covered it, so it is sent again",
			script: "A: 0-3! B: ack:3 A: 4 -9 5! B: ack:5",
			want:   "retransmission@-9 spurious_retransmission@-9",
			cold:   true, ids: []idMode{constant, overIPv6},
		},
		{
			name:   "a NAK had asked for it, before anything showed whose NAK that was",
			script: "B: nak:-9 A: 0-3 +20 -9 4! B: ack:4",
			want:   "retransmission_nak@-9",
			cold:   true, ids: []idMode{constant, overIPv6},
		},
		{
			name:   "nothing had, so it is late or sent again",
			script: "A: 0-3 -9 4! B: ack:4",
			want:   "",
			cold:   true, ids: []idMode{constant, overIPv6},
		},
	})
}

// TestAPassBeginsUnseen has the capture lack the first packet that a NAK draws.
func TestAPassBeginsUnseen(t *testing.T) {
	s := newScript(overIPv6, 5000).warm()
	got := s.say("A: 0-5! B: nak:3 A: 4-5! B: ack:5").play().text()
	if !strings.Contains(got, "lost_downstream@3") || strings.Contains(got, "needless") {
		t.Error(fmt.Sprint("what happens is ", got))
	}
}
