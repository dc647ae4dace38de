package analysis

import "testing"

// TestAPassThatOvertakesItself answers a NAK by a resend pass that overtakes its own first
// packets, and seems to go on with the pass before, where no ID tells.
func TestAPassThatOvertakesItself(t *testing.T) {
	const overtaken = "A: 0 (1-2) 3 late:1 late:2 4! B: ack:4 A: 5 (6) 7 late:6 8! B: ack:8 "
	playScenes(t, []scene{
		{
			name:   "what the pass leaves out had passed as a part of it",
			script: overtaken + "A: (9) 10-14 B: nak:9 A: 9-11 B: nak:10 A: (10) (11) +9 12 late:10 13 late:11 14! B: ack:14",
			want:   "gap@1,6,9 lost_upstream@9 out_of_order@1-2,6,10-11 lost_downstream@10 retransmission_nak@9,10-11×2,12-14",
		},
		{
			name:   "where nothing has overtaken anything, it was lost from it",
			script: "A: 0-2 (3) 4-9 B: nak:3 A: 3-5 B: nak:4 A: +9 6 4-5 (6) 7-9! B: nak:6 A: 6-9! B: ack:9",
			want:   "gap@3,6 lost_upstream@3,6 lost_downstream@4 retransmission_nak@3,4-9×2",
		},
		{
			name:   "a pass whose first packet was lost is none of late packets",
			script: "A: 0-9! +5000 0-2 (3-6) 7! B: nak:3 A: +20 (3) 4-5 +9000 3-9! B: ack:9",
			want:   "gap@3×2 lost_upstream@3×2,4-6 retransmission_nak@4-5 retransmission_timeout@0-6,7×2,8-9 timeout@0,3",
		},
	})
}
