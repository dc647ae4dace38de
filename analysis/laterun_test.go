package analysis

import "testing"

// TestLateOrAResendPass answers packets that step back before anything tells whether they
// are late or sent again: what comes behind them does.
func TestLateOrAResendPass(t *testing.T) {
	playScenes(t, []scene{
		{
			name:   "what goes on over packets that had passed was sent again",
			script: "A: 0-2 (3-5) 6-8! +2 3-5! B: +-9 ack:5 A: +-9 6-8! 9! B: ack:9",
			want:   "gap@3 lost_upstream@3-5 retransmission@3-8",
			rows:   map[string]string{"A": "messages=27"},
			ids:    noOrder,
		},
		{
			name:   "what goes on with new packets was late",
			script: "A: 0-2 (3-5!) 6-8! +2 late:3! late:4! late:5! B: +-9 ack:5 A: +-9 9! B: ack:9",
			want:   "gap@3 out_of_order@3-5",
			rows:   map[string]string{"A": "messages=30"},
			ids:    noOrder,
		},
		{
			name:   "a single packet that was late may have a copy behind it",
			script: "A: 0-2 (3) 4 late:3 4 5! B: ack:5",
			want:   "gap@3 out_of_order@3 mirror_duplicate@4",
			ids:    []idMode{constant, overIPv6},
		},
	})
}

// TestACaptureThatBeginsAmidAPass holds some packets, those that a pass repeats before
// them, and then them again.
func TestACaptureThatBeginsAmidAPass(t *testing.T) {
	playScenes(t, []scene{
		{
			name:   "the pass is known by what it repeats",
			script: "A: first:8 mid:9-10 +3 3-5! B: ack:5 A: +-9 6-7! B: ack:7 A: +-9 first:8 mid:9-10 last:11! B: ack:11",
			want:   "retransmission@3-10",
			rows:   map[string]string{"A": "messages=1"},
			cold:   true,
			ids:    noOrder,
		},
		{
			name:   "packets behind which nothing is repeated are late",
			script: "A: first:8 mid:9-10 +3 3-5! B: ack:5 A: +-9 6-7! B: ack:7 A: +-9 last:11! B: ack:11",
			want:   "gap@3 out_of_order@3-7",
			cold:   true,
			ids:    noOrder,
		},
	})
}
