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
			want:   "retransmission@2,5 response_retransmission@2-4",
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
