package analysis

import (
	"fmt"
	"testing"
)

func TestSequenceNAKs(t *testing.T) {
	playScenes(t, []scene{
		{
			name:   "the PSN of a NAK seen before at the tap is lost downstream",
			script: "A: 0-6! B: nak:3 A: 3-5 6! B: ack:6",
			want:   "lost_downstream@3 retransmission_nak@3-6",
			rows:   map[string]string{"A": "messages=27", "B": "response_frames=22 acks=21"},
		},
		{
			name:   "a NAK at the end of the file for a PSN seen is lost downstream",
			script: "A: 0-6! B: nak:3",
			want:   "lost_downstream@3 outstanding@3×4",
		},
		{
			name:   "a NAK for a late packet is needless",
			script: "A: 0-2 (3) 4 late:3 5! B: nak:3 ack:5",
			want:   "gap@3 out_of_order@3 needless_nak@3",
		},
		{
			name:   "a NAK for what drew the one before asks for a resend that was lost",
			script: "A: (0!) 1! B: nak:0 A: 0! (1!) +20 2! B: nak:1 A: 1! 2! B: ack:2",
			want:   "gap@0-1 lost_upstream@0-1 retransmission_nak@0-2",
		},
		{
			name:   "a NAK overtaken by an ACK beyond is reordering",
			script: "A: 0-6! B: nak:3 ack:6",
			want:   "needless_nak@3",
		},
		{
			name:   "a NAK whose resend may have passed unseen, as the capture paused, is no reordering",
			script: "A: 0-6! B: nak:3 +50 A: 7-8! B: ack:8",
			want:   "lost_downstream@3",
		},
		{
			name:   "so it is where the capture missed the resend",
			script: "A: 0-6! B: nak:3 A: (3) +10 B: ack:6 A: 7! B: ack:7",
			want:   "lost_downstream@3",
		},
		{
			name:   "a NAK is reordering where the answer comes sooner than that to an unseen resend could",
			script: "A: 0-6! B: nak:3 +4 ack:6 A: 7! B: ack:7",
			want:   "needless_nak@3",
		},
		{
			name:   "a NAK is reordering where the answer comes before the resend of a slow sender",
			script: "A: 0-6! B: nak:3 +30 ack:6 A: +10 3-5 6! B: ack:6",
			want:   "needless_nak@3 retransmission_nak@3-6 spurious_retransmission@3-6",
		},
		{
			name:   "a NAK whose resend cannot have been answered yet is reordering",
			script: "A: 0-6! B: nak:3 A: 3-5 6! B: +-9 ack:6",
			want:   "needless_nak@3 retransmission_nak@3-6 spurious_retransmission@3-6",
		},
		{
			name:   "a NAK was needed whose resend seems answered too soon, where the answer leaves out what passed long before",
			script: "A: 0-9! B: +20 nak:3 A: 3-5 B: +-9 ack:5 A: 6-8 9! B: ack:9",
			want:   "lost_downstream@3 retransmission_nak@3-9",
		},
		{
			name:   "an answer that comes too soon for a resend leaves out nothing but what asks for none",
			script: "A: 0-4 5! 6-9 B: +20 nak:3 A: 3-4 5! 6-9 B: +-9 ack:5 A: +30 10! B: ack:10",
			want:   "needless_nak@3 retransmission_nak@3-9 spurious_retransmission@3-5",
		},
		{
			name:   "a NAK was needed whose only resend a further NAK answers, too soon, long after anything else passed",
			script: "A: 0-9! B: +20 nak:3 A: +30 3 B: +-9 nak:4 A: +30 4 B: ack:9",
			want:   "lost_downstream@3-4 retransmission_nak@3-4",
		},
		{
			name:   "a resend after an RNR NAK was needed, however soon its answer comes",
			script: "A: 0-3! B: rnr:1 A: +200 1-3! B: +-9 ack:3",
			want:   "retransmission_rnr@1-3 rnr_stall@1",
		},
		{
			name:   "a NAK for a PSN that came while one before it was missing is needless",
			script: "A: 0-2 (3) 4-5 late:3 6! B: nak:3 nak:4 A: 4-5 6! B: ack:6",
			want:   "gap@3 out_of_order@3 needless_nak@3-4 retransmission_nak@4-6",
			ids:    []idMode{rising},
		},
		{
			name:   "a receiver that has the packet before did not throw away the one that it asks for",
			script: "A: 0-2 (3) 4-6! B: nak:3 A: +15 3 7! B: nak:5 A: +15 5 8! B: ack:8",
			want:   "gap@3 lost_upstream@3 lost_downstream@5 retransmission_nak@3,5",
		},
		{
			name:   "nor did one that asks before anything further has come",
			script: "A: 0-2 (3) 4-6! B: nak:3 A: +15 3 B: nak:4 A: +15 4 7! B: ack:7",
			want:   "gap@3 lost_upstream@3 lost_downstream@4 retransmission_nak@3-4",
		},
		{
			name:   "a repeated NAK of one episode counts once",
			script: "A: 0-6! B: nak:3 nak:3 A: 3-5 6! B: ack:6",
			want:   "lost_downstream@3 retransmission_nak@3-6",
			ids:    []idMode{rising, scattered},
		},
		{
			name:   "a stale NAK counts nothing",
			script: "A: 0-6! B: ack:6 nak:3 A: 7! B: ack:7",
			want:   "",
		},
		{
			name:   "a second loss of the same PSN counts again",
			script: "A: 0-6! B: nak:3 A: 3-5 6! B: nak:3 A: 3-5 6! B: ack:6",
			want:   "lost_downstream@3×2 retransmission_nak@3-6×2",
			ids:    []idMode{rising, scattered},
		},
		{
			name:   "a second NAK of a PSN that passed again in between is no copy",
			script: "A: 0-6! B: nak:3 A: 3-5 6! B: nak:3 A: 3-5 6! B: ack:6",
			want:   "lost_downstream@3×2 retransmission_nak@3-6×2",
			ids:    []idMode{constant, overIPv6},
		},
		{
			name:   "two losses behind the tap in two passes count two",
			script: "A: 0-6! B: nak:1 A: 1-5 6! B: nak:4 A: 4-5 6! B: ack:6",
			want:   "lost_downstream@1,4 retransmission_nak@1-3,4-6×2",
		},
		{
			name:   "selective repeat of a packet lost behind the tap resends it alone",
			script: "A: 0-6! B: nak:3 A: +15 3! B: ack:6 A: 7! B: ack:7",
			want:   "lost_downstream@3 retransmission_nak@3",
		},
		{
			name:   "a NAK ahead of the packet that it asks for counts nothing",
			script: "A: 0-2! B: nak:3 A: 3-4! B: ack:4",
			want:   "",
		},
		{
			name:   "a mirrored NAK counts once",
			script: "A: 0-6! B: nak:3 = A: 3-5 6! B: ack:6",
			want:   "lost_downstream@3 retransmission_nak@3-6 B:mirror_duplicate@3",
		},
		{
			name:   "an RNR NAK draws a stall",
			script: "A: 0-2! B: rnr:1 A: +800 1-2! B: ack:2",
			want:   "retransmission_rnr@1-2 rnr_stall@1",
		},
		{
			name:   "a NAK behind an RNR NAK is its echo",
			script: "A: 0-4! B: rnr:1 nak:1 A: +800 1-3 4! B: ack:4",
			want:   "retransmission_rnr@1-4 rnr_stall@1 rnr_echo@1",
		},
		{
			name:   "a loss behind an RNR NAK's resend is a loss again",
			script: "A: 0-4! B: rnr:1 A: +800 1-3 4! B: nak:2 A: 2-3 4! B: ack:4",
			want:   "lost_downstream@2 retransmission_nak@2-4 retransmission_rnr@1-4 rnr_stall@1",
		},
		{
			name:   "a fatal NAK leaves what follows outstanding",
			script: "A: 0-4! B: fatal:2",
			want:   "outstanding@2×3",
		},
		{
			name:   "one loss before and one behind the tap",
			script: "A: 0-2 4-9! B: nak:3 A: 3-9! B: nak:7 A: 7-9! B: ack:9",
			want:   "gap@3 lost_upstream@3 lost_downstream@7 retransmission_nak@3-6,7-9×2",
		},
		{
			name:   "a NAK that comes sooner than ACKs which are kept back answers a resend all the same",
			script: "A: 0-6! B: +-8 nak:3 A: 3! B: +-6 nak:5 A: 5! B: ack:6",
			want:   "lost_downstream@3,5 retransmission_nak@3,5",
		},
		{
			name:   "a pass that begins with what was lost before the tap is needed, however soon the answer comes",
			script: "A: 0-2 4-6! B: nak:3 A: 3-5 6! B: +-5 ack:6",
			want:   "gap@3 lost_upstream@3 retransmission_nak@3-6",
		},
		{
			name:   "what a receiver had kept that lacked the first of a pass, as answers tell that come too soon for it, was needless",
			script: "A: atomic:0 B: aack:0 A: 1-2! (3!) 4-5! B: nak:3 A: +20 3! +3 4-5! B: +-4 ack:3 ack:5 A: 6! B: ack:6",
			want:   "gap@3 lost_upstream@3 retransmission_nak@3-5 spurious_retransmission@5",
		},
		{
			name:   "atomics behind the one that a NAK asked for, answered before the sender goes back, are asked again for the NAK",
			script: "A: atomic:0 atomic:1 atomic:2 B: aack:0 nak:1 aack:1 aack:2 A: atomic:2 atomic:3 B: aack:2 aack:3",
			want:   "needless_nak@1 retransmission_nak@2",
		},
		{
			name:   "an atomic whose answer is missing is not asked again for a NAK before",
			script: "A: atomic:0 atomic:1 atomic:2 atomic:3 B: aack:0 nak:1 aack:1 aack:3 A: atomic:2 atomic:3 B: aack:2 aack:3",
			want:   "needless_nak@1 retransmission_implied@2-3",
		},
		{
			name:   "packets that a go-back-N receiver threw away are not lost",
			script: "A: 0-30! B: nak:3 A: 3-30! B: ack:30",
			want:   "lost_downstream@3 retransmission_nak@3-30",
		},
	})
}

// TestAnACKKeptBackForAnEarlierPacketComesSoon lets ACKs be kept back for long, and two
// packets be lost behind the tap: the ACK behind the resend of the second one had been
// kept back since that of the first.
func TestAnACKKeptBackForAnEarlierPacketComesSoon(t *testing.T) {
	for _, mode := range allIDs {
		s := newScript(mode, 5000)
		for n := -20; n < 0; n++ {
			s.say(fmt.Sprintf("A: %d! +20 B: ack:%d", n, n))
		}
		o := s.say("A: 0! +40 1! +40 2! B: nak:0 A: +2 0! B: nak:1 A: +2 1! B: +4 ack:2").play()
		if got, want := o.text(), "lost_downstream@0-1 retransmission_nak@0-1"; got != want {
			t.Errorf("with %s\n got %s\nwant %s", mode, got, want)
		}
	}
}

// TestTheTimeToANAKOfALossOfSeveral lets ACKs be kept back and several packets be lost
// behind the tap, so that the NAK is not drawn by the packet behind the first of them.
func TestTheTimeToANAKOfALossOfSeveral(t *testing.T) {
	for _, mode := range allIDs {
		s := newScript(mode, 5000)
		for n := -20; n < 0; n++ {
			s.say(fmt.Sprintf("A: %d! +20 B: ack:%d", n, n))
		}
		o := s.say("A: 0-9 B: nak:0 A: +20 10-12 0 13 B: nak:1 A: +20 1 14! B: ack:14").play()
		if got, want := o.text(), "lost_downstream@0-1 retransmission_nak@0-1"; got != want {
			t.Errorf("with %s\n got %s\nwant %s", mode, got, want)
		}
	}
}
