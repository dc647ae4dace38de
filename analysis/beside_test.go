package analysis

import "testing"

// TestWhatPassesBesideAResend plays what comes late beside a resend.
func TestWhatPassesBesideAResend(t *testing.T) {
	playScenes(t, []scene{
		{
			name:   "the last of the first sendings that the resend pass overtook is no resend",
			script: "A: 0-4 (5!) B: nak:2 A: 2-5! late:5! B: ack:5",
			want:   "out_of_order@5 lost_downstream@2 retransmission_nak@2-5",
			ids:    []idMode{rising},
		},
		{
			name:   "a packet that came late before one was sent again alone is still late",
			script: "A: 0-5 B: nak:3 A: 6 (7) 8 3 late:7 9! B: ack:9",
			want:   "gap@7 out_of_order@7 lost_downstream@3 retransmission_nak@3",
			ids:    noOrder,
		},
		{
			name:   "a packet that comes late behind the NAK that asked for it was sent again",
			script: "A: 0-5 B: nak:3 A: 6 (7) 8 3 B: nak:7 A: 7 9! B: ack:9",
			want:   "gap@7 lost_upstream@7 lost_downstream@3 retransmission_nak@3,7",
			ids:    noOrder,
		},
		{
			name:   "a hole amid packets sent again is one, though packets overtake each other and a NAK that was under way draws the next pass",
			script: "A: 0 (1) 2 late:1 (3) 4 late:3 (5) 6 late:5 7! B: ack:7 A: 8-17 B: nak:9 A: 9-12 (13) 14-15 B: +-7 nak:11 A: 11-17! B: ack:17",
			want:   "gap@1,3,5,13 lost_upstream@13 out_of_order@1,3,5 lost_downstream@9,11 retransmission_nak@9-10,11-12×2,13,14-15×2,16-17",
			ids:    noOrder,
		},
		{
			name:   "what goes on a round trip behind the first of a pass is no tail that it overtook",
			script: "A: 0-5 B: nak:2 A: 2-5 6-9! B: nak:7 A: 7 (8-9) +20 10! B: nak:8 A: 8-9 10! B: ack:10",
			want:   "gap@8 lost_upstream@8-9 lost_downstream@2,7 retransmission_nak@2-5,7-10",
			ids:    noOrder,
		},
		{
			name:   "IDs that follow on leave no room for a hole",
			script: "A: 0-8 B: nak:3 A: 3-5 9 B: nak:6 A: 6-9! B: ack:9",
			want:   "lost_downstream@3,6 retransmission_nak@3-9",
			ids:    []idMode{adjoining},
		},
	})
}

// TestResponsesBesideThoseOfARepeatedREAD plays READs asked again while the first
// answer is under way.
func TestResponsesBesideThoseOfARepeatedREAD(t *testing.T) {
	playScenes(t, []scene{
		{
			name:   "a READ of unknown length uses one PSN where the next request follows on",
			script: mtu + "A: read:2x? read:3x? B: resp:3 A: 4! B: ack:4 +100 A: 5! B: ack:5",
			want:   "response_gap@2 response_not_captured@2",
		},
		{
			name:   "the last response is missing where the answer to the repetition begins",
			script: mtu + "A: read:2x3 5! +40 read:2x3 5! B: +-6 rfirst:2 rmid:3 +40 resp:2-4 ack:5 A: 6! B: ack:6",
			want:   "retransmission@2,5 response_gap@4 response_lost_upstream@4 response_retransmission@2-4",
		},
		{
			name:   "a first response of the repetition that comes behind the others asks for no more",
			script: mtu + "A: read:2x3 5! +40 read:2x3 5! B: +-6 resp:2-4 +40 rmid:3 rlast:4 rfirst:2 ack:5 A: 6! B: ack:6",
			want:   "retransmission@2,5 response_gap@2 response_out_of_order@2 response_retransmission@2-4",
			ids:    []idMode{constant, overIPv6},
		},
		{
			name:   "a READ is asked again behind one packet that the timer repeated",
			script: mtu + "A: 2 read:3x3 6! +5000 2 B: rmid:4 rlast:5 ack:6 A: read:3x3 6! B: resp:3-5 ack:6",
			want:   "unresolved_timeout@2 retransmission_timeout@2 retransmission_implied@3,6 spurious_retransmission@6 timeout@2 response_gap@3 response_lost_upstream@3 response_retransmission@3-5",
		},
		{
			name:   "a response that was lost twice",
			script: mtu + "A: read:2x3 B: rfirst:2 rlast:4 A: read:3x2 B: rlast:4 A: read:3x2 B: resp:3-4 A: 5! B: ack:5",
			want:   "retransmission_implied@3×2 response_gap@3×2 response_lost_upstream@3×2 response_retransmission@3,4×2",
		},
	})
}
