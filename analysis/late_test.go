package analysis

import (
	"testing"

	"github.com/rocescope/rocescope/decode/ib"
)

var noOrder = []idMode{scattered, constant, overIPv6}

func TestLatePackets(t *testing.T) {
	playScenes(t, []scene{
		{
			name:   "one late packet is reordered, whether or not IDs tell",
			script: "A: 0-2 (3) 4 late:3 5! B: ack:5",
			want:   "gap@3 out_of_order@3",
			rows:   map[string]string{"A": "messages=26"},
		},
		{
			name:   "the end of a pass that the first packet of the next one overtook makes nothing late that this repeats",
			script: "A: 0-4 (5!) B: nak:1 A: 1 late:5! 2-4 5! B: ack:5",
			want:   "lost_downstream@1 retransmission_nak@1-5",
			ids:    []idMode{scattered, constant, overIPv6},
		},
		{
			name:   "two late packets are each reordered",
			script: "A: 0-2 (3-4) 5 late:3 late:4 6! B: ack:6",
			want:   "gap@3 out_of_order@3-4",
		},
		{
			name:   "two late packets in turned order are each reordered",
			script: "A: 0-2 (3-4) 5 late:4 late:3 6! B: ack:6",
			want:   "gap@3 out_of_order@3-4",
		},
		{
			name:   "two late packets of two holes are each reordered",
			script: "A: 0-2 (3) 4 (5) 6 late:3 late:5 7! B: ack:7",
			want:   "gap@3,5 out_of_order@3,5",
		},
		{
			name:   "a late packet behind its ACK is still only late where IDs tell",
			script: "A: 0-2 (3) 4-5! B: ack:5 A: late:3 6! B: ack:6",
			want:   "gap@3 out_of_order@3",
			ids:    []idMode{rising},
		},
		{
			name:   "one part of a hole is late and one is not captured",
			script: "A: 0-2 (3-5) 6 late:4 7! B: ack:7",
			want:   "gap@3 out_of_order@4 not_captured@3,5",
		},
		{
			name:   "one part of a hole is late and one is sent again",
			script: "A: 0-2 (3) (4) 5 late:3 6! B: nak:4 A: 4-5 6! B: ack:6",
			want:   "gap@3 lost_upstream@4 out_of_order@3 retransmission_nak@4-6",
		},
		{
			name:   "a late packet ahead of the resend that it drew was lost nowhere",
			script: "A: 0-2 (3) 4-5! B: nak:3 A: late:3 3-4 5! B: ack:5",
			want:   "gap@3 out_of_order@3 needless_nak@3 retransmission_nak@3-5",
			ids:    []idMode{rising},
		},
		{
			name:   "what comes sooner behind the NAK than any resend is late where IDs do not tell, too",
			script: "A: 0-2 (3) 4-5! B: nak:3 A: +-10 late:3 +9 3-4 5! B: ack:5",
			want:   "gap@3 out_of_order@3 needless_nak@3 retransmission_nak@3-5",
		},
		{
			name:   "one that goes on behind the late packet, before the resend, changes nothing",
			script: "A: 0-2 (3) 4-5 B: nak:3 A: +-10 late:3 6 +7 3-5 6! B: ack:6",
			want:   "gap@3 out_of_order@3 needless_nak@3 retransmission_nak@3-6",
		},
		{
			name:   "a packet of a pass that comes behind its resend in the next pass was sent again, too",
			script: "A: 0-2 (3) 4-5! B: nak:3 A: 3 (4) 5! B: nak:4 A: 4 late:4 5! B: ack:5",
			want:   "gap@3-4 lost_upstream@3 out_of_order@4 needless_nak@4 retransmission_nak@3,4-5×2",
			ids:    []idMode{rising},
		},
		{
			name:   "so was one that comes before the next pass comes to it",
			script: "A: 0-2 (3) 4-6! B: nak:3 A: 3-4 (5) 6! B: nak:4 A: 4 late:5 5-6! B: ack:6",
			want:   "gap@3,5 lost_upstream@3 out_of_order@5 lost_downstream@4 retransmission_nak@3,4-6×2",
			ids:    []idMode{rising},
		},
		{
			name:   "an original that comes behind its resend takes the loss back",
			script: "A: 0-2 (3) 4-5! B: nak:3 A: 3-4 late:3 5! B: ack:5",
			want:   "gap@3 out_of_order@3 needless_nak@3 retransmission_nak@3-5",
			ids:    []idMode{rising},
		},
		{
			name:   "late packets behind the NAK that they drew are late together, where the resend comes behind them",
			script: "A: 0-2 (3-4) 5-6! B: nak:3 A: late:3 late:4 B: +-8 nak:4 A: +5 3 +9 4 7! B: ack:7",
			want:   "gap@3 out_of_order@3-4 needless_nak@3-4 retransmission_nak@3-4 spurious_retransmission@3",
			ids:    noOrder,
		},
		{
			name:   "a late packet is not taken for the resend, of which the true one would be a copy",
			script: "A: 0-2 (3) 4-5! B: nak:3 A: +-8 late:3 +8 3-5! B: ack:5",
			want:   "gap@3 out_of_order@3 needless_nak@3 retransmission_nak@3-5",
			ids:    noOrder,
		},
		{
			name:   "an original that comes behind its ACK takes the miss back",
			script: "A: 0-2 (3) (4) 5! B: ack:5 A: late:4 6! B: ack:6",
			want:   "gap@3 out_of_order@4 not_captured@3",
			ids:    []idMode{rising},
		},
		{
			name:   "a packet late by less than the round trip was not sent again, though a NAK asked for it",
			script: "A: 0-2 (3) 4 5! B: nak:3 A: late:3 6! B: ack:6",
			want:   "gap@3 out_of_order@3 needless_nak@3",
			ids:    []idMode{rising},
		},
		{
			name:   "the first packet of all may come late",
			script: "A: (0) 1 late:0 2-5! B: ack:5",
			want:   "gap@0 out_of_order@0",
			ids:    []idMode{rising},
			cold:   true,
		},
		{
			name:   "or it was sent again, as all before had passed before the capture began",
			script: "A: (0) 1 late:0 2-5! B: ack:5",
			want:   "",
			ids:    noOrder,
			cold:   true,
		},
		{
			name:   "but where packets overtake each other it came late",
			script: "A: (0) 1 late:0 2-3 (4) 5 late:4 6! B: ack:6",
			want:   "gap@0,4 out_of_order@0,4",
			cold:   true,
		},
		{
			name:   "behind a pause of the capture it is late or sent again as well",
			script: "A: 0! B: ack:0 +50 A: 3 2 4! B: ack:4",
			want:   "gap@1 not_captured@1 unresolved@2",
			ids:    noOrder,
		},
		{
			name:   "and where the capture began so long before that its first sending would be in it",
			script: "A2: 0-2! B2: nak:1 A2: 1-2! B2: ack:2 A2: 3! B2: ack:3 A2: 4! B2: ack:4 A2: 5! B2: ack:5 A2: 6! B2: ack:6 A: (0) 1 late:0 2-5! B: ack:5",
			want:   "gap@0 out_of_order@0 A2:lost_downstream@1 A2:retransmission_nak@1-2",
			starts: map[string]ib.PSN{"A2": 700_000, "A": 5000},
			ids:    noOrder,
			cold:   true,
		},
		{
			name:   "a packet of a resend pass may come late",
			script: "A: 0-5! B: nak:2 A: 2 (3) 4 late:3 5! B: ack:5",
			want:   "gap@3 out_of_order@3 lost_downstream@2 retransmission_nak@2-5",
			ids:    []idMode{rising},
		},
		{
			name:   "what a NAK asks for and comes as soon as resends do is sent again, though the sender once repeated more",
			script: "A: 0-2! B: nak:1 A: 1-2! B: ack:2 A: 3 (4) 5! B: nak:4 A: 6 4 7! B: ack:7",
			want:   "gap@4 lost_upstream@4 lost_downstream@1 retransmission_nak@1-2,4",
		},
		{
			name:   "go-back-N of a single hole repeats what follows, lateness does not",
			script: "A: 0-2 (3) 4-8! B: nak:3 A: +200 3-8! B: ack:8",
			want:   "gap@3 lost_upstream@3 retransmission_nak@3-8",
		},
		{
			name:   "packets late by one each make a gap each",
			script: "A: 0 (1) 2 late:1 (3) 4 late:3 (5) 6 late:5 7! B: ack:7",
			want:   "gap@1,3,5 out_of_order@1,3,5",
		},
		{
			name:   "a late READ is reordered and its responses are no surprise",
			script: "A: first:0 mid:1 last:2 (read:3x2) 5! late:read:3 B: ack:2 resp:3-4 ack:5",
			want:   "gap@3 out_of_order@3",
			ids:    []idMode{rising},
		},
		{
			name:   "a late READ whose lateness is still in doubt when it is answered loses no response",
			script: "A: first:0 mid:1 last:2 (read:3x2) 5! late:read:3 B: ack:2 resp:3-4 ack:5",
			want:   "gap@3 out_of_order@3",
			ids:    noOrder,
		},
		{
			name:   "what a NAK asked for before the tap saw that it is missing was sent again",
			script: "A: 0-1 B: nak:2 A: 4-5! 2 6! B: ack:6",
			want:   "gap@2 lost_upstream@2 not_captured@3 retransmission_nak@2",
			ids:    noOrder,
		},
		{
			name:   "a straggler amid those behind it begins no pass, so that they skipped nothing",
			script: "A: 0-6! B: nak:3 A: 3-5 6! B: ack:6 A: +200 7-9 3 10-12 13! B: nak:10 A: 10-12 13! B: ack:13",
			want:   "lost_downstream@3,10 retransmission_nak@3-6,10-13 retransmission@3 spurious_retransmission@3",
			ids:    noOrder,
		},
	})
}

// TestWhatPassedBeforeTheCapture begins captures amid packets that overtake each other:
// what seems to be missing from the first of them had passed.
func TestWhatPassedBeforeTheCapture(t *testing.T) {
	scenes := []scene{
		{
			name:   "what came late behind a silence was asked for only then",
			script: "A: 0! B: ack:0 +50 A: (1) 2 late:1 3! B: nak:1 A: 1-2 3! B: ack:1 ack:2 ack:3",
			want:   "gap@1 out_of_order@1 needless_nak@1 retransmission_nak@1-3",
			ids:    []idMode{constant, overIPv6},
		},
		{
			name:   "a packet that others overtook later on, too",
			script: "A: mid:5 mid:7 mid:8 (mid:9) mid:10 late:mid:9 (mid:11) mid:12 late:mid:11 last:13! B: ack:13",
			want:   "gap@6,9,11 out_of_order@9,11",
			rows:   map[string]string{"A": "not_captured=0"},
		},
		{
			name:   "where nothing overtakes the capture missed it",
			script: "A: mid:5 mid:7 mid:8 last:9! B: ack:9",
			want:   "gap@6 not_captured@6",
		},
		{
			name:   "nor does a new message say that nothing had",
			script: "A: first:5 mid:7 mid:8 (mid:9) mid:10 late:mid:9 (mid:11) mid:12 late:mid:11 last:13! B: ack:13",
			want:   "gap@6,9,11 out_of_order@9,11",
			rows:   map[string]string{"A": "not_captured=0"},
		},
		{
			name:   "but where it would have overtaken more than any did",
			script: "A: first:5 mid:6 mid:8 (mid:9) mid:10 late:mid:9 (mid:11) mid:12 late:mid:11 last:13! B: ack:13",
			want:   "gap@7,9,11 out_of_order@9,11 not_captured@7",
		},
		{
			name:   "what follows a silence tells of what had passed before that",
			script: "A: last:5 +50 first:7 mid:8 (mid:9) mid:10 late:mid:9 (mid:11) mid:12 late:mid:11 last:13! B: ack:13",
			want:   "gap@6,9,11 out_of_order@9,11",
			rows:   map[string]string{"A": "not_captured=0"},
		},
		{
			name:   "what begins later than the capture is in it whole",
			script: "A2: 0! B2: ack:0 A: first:5 mid:7 mid:8 (mid:9) mid:10 late:mid:9 (mid:11) mid:12 late:mid:11 last:13! B: ack:13",
			want:   "gap@6,9,11 out_of_order@9,11 not_captured@6",
		},
		{
			name:   "so it did what is missing later on",
			script: "A: 5 6 (7) 8 late:7 9! B: ack:9 A: 10 12! B: ack:12",
			want:   "gap@7,11 out_of_order@7 not_captured@11",
		},
	}
	for i := range scenes {
		scenes[i].cold = true
	}
	playScenes(t, scenes)
}

// TestPacketsThatAResendOvertook needs IDs that rise: nothing else tells.
func TestPacketsThatAResendOvertook(t *testing.T) {
	scenes := []scene{
		{
			name:   "an original behind NAK and ACK was only late",
			script: "A: 0-2 (3) 4-5! B: nak:3 ack:5 A: late:3 6! B: ack:6",
			want:   "gap@3 out_of_order@3 needless_nak@3",
		},
		{
			name:   "the tail of a pass that a resend overtook was sent the first time",
			script: "A: 0-5 (6!) B: nak:3 A: 3 late:6! 4-5 6! B: ack:6",
			want:   "out_of_order@6 lost_downstream@3 retransmission_nak@3-6",
			rows:   map[string]string{"A": "messages=27"},
		},
		{
			name:   "one of before that strays into a pass is none of it, also where the next of the pass is lost",
			script: "A: 0-2 (3) 4-6 (7) 8! B: nak:3 A: 3 +1 late:7 +1 5-6 +1 7-8! B: nak:4 A: 4-8! B: ack:8",
			want:   "gap@3-4,7 lost_upstream@3-4 out_of_order@7 retransmission_nak@3-4,5-8×2",
			ids:    noOrder,
		},
		{
			name:   "a tail with a hole that a resend overtook and filled is lost upstream",
			script: "A: 0-5 (6) (7!) B: nak:3 A: 3 late:7! 4-6 7! B: ack:7",
			want:   "gap@6 lost_upstream@6 out_of_order@7 lost_downstream@3 retransmission_nak@3-7",
		},
		{
			name:   "a tail that a resend overtook comes in turned order",
			script: "A: 0-5 (6) (7!) B: nak:3 A: 3 late:7! late:6 4-6 7! B: ack:7",
			want:   "gap@6 out_of_order@6-7 lost_downstream@3 retransmission_nak@3-7",
		},
		{
			name:   "a resend that a new request overtook was sent again and late",
			script: "A: 0-5! B: nak:5 A: (5) 6 late:5 7! B: ack:7",
			want:   "out_of_order@5 lost_downstream@5 retransmission_nak@5",
			marks:  "......." + ".R..",
		},
		{
			name:   "the first resend of a timeout that the second one overtook",
			script: "A: 0-5! +5000 (3) 4 late:3 5! B: ack:5",
			want:   "out_of_order@3 unresolved_timeout@3 retransmission_timeout@3-5 timeout@4",
		},
	}
	for i := range scenes {
		scenes[i].ids = []idMode{rising}
	}
	playScenes(t, scenes)
}

func TestLateVerdicts(t *testing.T) {
	playScenes(t, []scene{
		{
			name:   "a late packet is no resend and no copy",
			script: "A: 0-2 (3) 4 late:3 5! B: ack:5",
			want:   "gap@3 out_of_order@3",
			marks:  ".......",
		},
		{
			name:   "a resend is marked where nothing is in doubt",
			script: "A: 0-5! B: nak:3 A: 3-4 5! B: ack:5",
			want:   "lost_downstream@3 retransmission_nak@3-5",
			marks:  "......." + "RRR.",
		},
		{
			name:   "a resend that closes a hole is marked where IDs tell",
			script: "A: 0-2 4-5! B: nak:3 A: 3-4 5! B: ack:5",
			want:   "gap@3 lost_upstream@3 retransmission_nak@3-5",
			marks:  "......" + "RRR.",
			ids:    []idMode{rising},
		},
		{
			name:   "what came late stands between its neighbours' IDs, before IDs are known to rise, and though a NAK asked for it",
			script: "A: 0 (1) 2-4 B: nak:1 A: late:1 5! B: ack:5",
			want:   "gap@1 out_of_order@1 needless_nak@1",
			ids:    []idMode{rising},
			cold:   true,
		},
		{
			name:   "a packet that comes late amid a resend pass is no part of it",
			script: "A: 0-9 (10) 11-12 B: nak:3 A: 3-5 late:10 6-11 12! B: ack:12",
			want:   "gap@10 out_of_order@10 lost_downstream@3 retransmission_nak@3-12",
			ids:    []idMode{scattered, constant, overIPv6},
		},
		{
			name:   "an older resend that comes late amid a pass is no gap in it",
			script: "A: 0-12 B: nak:3 A: 3-5 10 6-11 12! B: ack:12",
			want:   "out_of_order@10 lost_downstream@3 retransmission_nak@3-9,10×2,11-12",
			ids:    []idMode{scattered, overIPv6},
		},
		{
			name:   "what was missing in an earlier pass and comes late amid one may not come again",
			script: "A: 0-9 (10) 11-12 B: nak:3 A: 3-5 late:10 6-9 (10) 11-12! B: ack:12",
			want:   "gap@10 out_of_order@10 lost_downstream@3 retransmission_nak@3-9,11-12",
			ids:    []idMode{scattered, constant, overIPv6},
		},
		{
			name:   "several that were missing in an earlier pass come late amid one, each between two of that",
			script: "A: 0-9 (10) (11) 12 B: nak:3 A: 3-8 late:10 9 late:11 10-12! B: ack:12",
			want:   "gap@10 out_of_order@10-11 lost_downstream@3 retransmission_nak@3-12",
			ids:    []idMode{scattered, constant, overIPv6},
		},
		{
			name:   "several that were missing in an earlier pass come late amid one, which goes on where it was",
			script: "A: 0-10 (11) (12) 13 B: nak:3 A: 3-8 late:11 9 late:12 10-13! B: ack:13",
			want:   "gap@11 out_of_order@11-12 lost_downstream@3 retransmission_nak@3-13",
			ids:    []idMode{scattered, constant, overIPv6},
		},
		{
			name:   "one NAK after the other asks for one loss after the other",
			script: "A: 0-2 6! B: nak:3 A: 3 B: nak:4 A: 4 7! B: nak:5 A: 5! B: ack:7",
			want:   "gap@3 lost_upstream@3-5 retransmission_nak@3-5",
		},
	})
}
