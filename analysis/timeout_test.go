package analysis

import "testing"

func TestTimeouts(t *testing.T) {
	playScenes(t, []scene{
		{
			name:   "a timeout whose first answer is below the highest PSN shows one loss",
			script: "A: 0-5! +5000 0-5! B: ack:3 A: +5000 4-5! B: ack:5",
			want:   "unresolved_timeout@4 lost_downstream@4 retransmission_timeout@0-3,4-5×2 timeout@0,4",
		},
		{
			name:   "a timeout whose first answer covers all is unresolved",
			script: "A: 0-5! +5000 0-5! B: ack:5",
			want:   "unresolved_timeout@0 retransmission_timeout@0-5 timeout@0",
		},
		{
			name:   "a timeout whose first answer covers more than could be answered: the ACK was lost",
			script: "A: 0-5! +5000 0! B: ack:5 A: 6! B: ack:6",
			want:   "lost_ack@0 retransmission_timeout@0 timeout@0",
		},
		{
			name:   "a timeout answered by a NAK is told by the NAK",
			script: "A: 0-5! +5000 0-5! B: nak:3 A: 3-5! B: ack:5",
			want:   "lost_downstream@3 retransmission_nak@3-5 retransmission_timeout@0-5 timeout@0",
		},
		{
			name:   "a timer runs out behind the one packet that a NAK drew",
			script: "A: 0-4 5! B: nak:2 A: 2 B: ack:2 A: +20000 3 B: ack:4 A: +20000 5! B: ack:5",
			want:   "unresolved_timeout@3 lost_downstream@2 retransmission_nak@2 retransmission_timeout@3,5 timeout@3,5",
		},
		{
			name:   "a timeout while the answer is on its way was needless",
			script: "A: 0-5! +5000 0! B: +-8 ack:5 A: 6! B: ack:6",
			want:   "retransmission_timeout@0 spurious_retransmission@0 needless_timeout@0 timeout@0",
		},
		{
			name:   "a timeout behind an ACK that passed the tap lost the ACK",
			script: "A: 0-5! B: ack:5 A: +5000 5! B: ack:5 A: 6! B: ack:6",
			want:   "lost_ack@5 retransmission_timeout@5 spurious_retransmission@5 timeout@5",
		},
		{
			name:   "two timeouts in a row have one cause, which the answer to the last does not tell",
			script: "A: 0! +5000 0! +10000 0! B: ack:0",
			want:   "unresolved_timeout@0 retransmission_timeout@0×2 timeout@0×2",
		},
		{
			name:   "retries without an answer leave the request outstanding",
			script: "A: 0! +5000 0! +5000 0! +5000 0!",
			want:   "retransmission_timeout@0×3 timeout@0×3 outstanding@0",
		},
		{
			name:   "a timeout behind packets that overtook the first one shows no loss of that, nor of one that came too early",
			script: "A: 0-5! B: nak:2 A: (2) 3 4-5! late:2 +20000 2-5! B: ack:2 ack:5",
			want:   "gap@2 out_of_order@2 unresolved_timeout@2 lost_downstream@2 retransmission_nak@2-5 retransmission_timeout@2-5 timeout@2",
			ids:    []idMode{rising, overIPv6},
		},
		{
			name:   "nor does one whose first answer covers more than it can answer show that what a NAK drew was lost",
			script: "A: 0-5! B: nak:2 A: 2-4 (5!) +20000 2-5! B: +-3 ack:4 ack:5",
			want:   "unresolved_timeout@2 lost_downstream@2 retransmission_nak@2-4 retransmission_timeout@2-5 timeout@2",
		},
		{
			name:   "a timeout whose first answer is to an atomic alone tells nothing of the next one",
			script: "A: atomic:0 atomic:1 +20000 atomic:0 atomic:1 B: aack:0 aack:1",
			want:   "unresolved_timeout@0 retransmission_timeout@0-1 timeout@0",
		},
		{
			name:   "a timeout behind a NAK whose resend was lost whole is explained by it",
			script: "A: 0-5! B: nak:2 A: +20000 2-5! B: ack:5",
			want:   "lost_downstream@2 retransmission_timeout@2-5 timeout@2",
		},
		{
			name:   "a timeout over a hole is explained by the hole",
			script: "A: 0-2 4-5! +5000 0-5! B: ack:5",
			want:   "gap@3 lost_upstream@3 retransmission_timeout@0-5 timeout@0",
		},
		{
			name:   "a tail lost behind the tap is unresolved: the ACK may have been lost as well",
			script: "A: 0-4 5! B: ack:3 A: +5000 4 5! B: ack:5",
			want:   "unresolved_timeout@4 retransmission_timeout@4-5 timeout@4",
		},
		{
			name:   "a timeout where nothing comes back in view",
			script: "A: 0-5! +5000 3-5!",
			want:   "retransmission_timeout@3-5 timeout@3 outstanding@0×6",
			cold:   true,
		},
		{
			name:   "a resend too soon for a timer and without a NAK has no known cause",
			script: "A: 0-5! +100 3-5! B: ack:5",
			want:   "retransmission@3-5",
			ids:    []idMode{rising, scattered},
		},
		{
			name:   "a resend of what an ACK has covered is spurious",
			script: "A: 0-5! B: ack:5 A: +100 4-5! B: ack:5",
			want:   "retransmission@4-5 spurious_retransmission@4-5",
			ids:    []idMode{rising, scattered},
		},
		{
			name:   "the same answer twice to a resend that covers all: the ACK was lost",
			script: "A: 0-5! +5000 0-5! B: ack:5 ack:5 A: 6! B: ack:6",
			want:   "lost_ack@0 retransmission_timeout@0-5 timeout@0",
		},
		{
			name:   "a stall of the sender is no timeout",
			script: "A: 0-5! B: ack:5 A: +500000 6! B: ack:6",
			want:   "",
		},
		{
			name:   "an RNR NAK for the resend of a timeout is an answer of its own",
			script: "A: 0-2! +5000 0-2! B: rnr:1 A: +800 1-2! B: ack:2",
			want:   "lost_downstream@1 retransmission_timeout@0-2 retransmission_rnr@1-2 timeout@0 rnr_stall@1",
		},
		{
			name:   "an answer that comes twice may come late, where no round trip is known",
			script: "A: 0-2! +5000 0-2! B: +3000 ack:2 +2000 ack:2",
			want:   "unresolved_timeout@0 retransmission_timeout@0-2 timeout@0",
			cold:   true,
		},
		{
			name:   "what was first sent before the capture began may have been put off then, as it is now",
			script: "A: (0) (1) 2! +5000 0-2! B: rnr:0 A: +800 0-2! B: ack:2",
			want:   "retransmission_rnr@0-2 retransmission@0-2 rnr_stall@0",
			cold:   true,
		},
		{
			name:   "where an answer tells that it was not, a timer brought it again",
			script: "A: (0) (1) 2! +5000 0-2! B: ack:2",
			want:   "unresolved_timeout@0 retransmission_timeout@0-2 timeout@0",
			cold:   true,
		},
		{
			name:   "a hole that a timeout leaves open again is lost in each pass",
			script: "A: 0-2 4-5! +5000 0-2 4-5! +5000 3-4 5! B: ack:5",
			want:   "gap@3×2 lost_upstream@3×2 retransmission_timeout@0-3,4-5×2 timeout@0,3",
		},
		{
			name:   "a late answer to what was sent before a timeout answers no resend",
			script: "A: 0-5! +5000 0-2! B: +-9 ack:2 A: +-9 3-5! B: +20 ack:5",
			want:   "unresolved_timeout@0 retransmission_timeout@0-5 spurious_retransmission@0-2 timeout@0",
		},
		{
			name:   "what a resend asked for comes sooner than usual where queues have drained",
			script: "A: 0 1 2! 3 4 5! +5000 0 1 2! 3 4 5! B: +-6 ack:2 +2 ack:5",
			want:   "lost_downstream@3 retransmission_timeout@0-5 timeout@0",
		},
	})
}

func TestPassGoesOnBehindREADsOfUnknownLength(t *testing.T) {
	playScenes(t, []scene{{
		name:   "two READs that nobody answers, and whose lengths were cut off, are one pass each time the timer runs out",
		script: "A: read:0x? read:16x? +5000 read:0x? read:16x? +5000 read:0x? read:16x?",
		want:   "retransmission_timeout@0×2,16×2 timeout@0×2 outstanding@0×17",
	}})
}
