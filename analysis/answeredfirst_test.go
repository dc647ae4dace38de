package analysis

import "testing"

// TestRequestsBehindTheirAnswers plays what taps whose clocks disagree give: answers stand
// before their questions, and nothing is missing.
func TestRequestsBehindTheirAnswers(t *testing.T) {
	playScenes(t, []scene{
		{
			name:   "a READ whose answer passed before it is no longer than that answer, so that the next one is sent for the first time",
			script: "B: resp:0-2 resp:3-5 A: read:0x3 read:3x3 B: rfirst:6 A: read:6x3 B: rmid:7 rlast:8 A: 9! B: ack:9",
			want:   "",
			cold:   true,
		},
		{
			name:   "so are those behind it",
			script: "B: resp:3-5 A: read:3x3 B: resp:6-8 A: read:6x3 B: rfirst:9 A: read:9x3 B: rmid:10 rlast:11 A: 12! B: ack:12",
			want:   "answered_first@9",
			cold:   true,
		},
		{
			name:   "an acknowledgement covers what passes behind it",
			script: "A: 0-2! B: ack:2 A: 3 B: ack:5 A: 4-5! 6! B: ack:6",
			want:   "answered_first@4-5",
		},
		{
			name:   "so do the responses to a READ",
			script: mtu + "B: resp:2-4 A: read:2x3 5! B: ack:5",
			want:   "answered_first@2",
		},
		{
			name:   "and the first of them",
			script: mtu + "B: rfirst:2 rmid:3 A: read:2x3 B: rlast:4 A: 5! B: ack:5",
			want:   "answered_first@2",
		},
		{
			name:   "a response that is missing behind the READ is missing",
			script: mtu + "B: rfirst:2 A: read:2x4 B: (rmid:3) rmid:4 rlast:5 A: 6! B: ack:6 A: 7! B: ack:7",
			want:   "response_gap@3 response_not_captured@3 answered_first@2",
		},
		{
			name:   "what was acknowledged and missed by the tap has passed nowhere",
			script: "A: 0-2! B: ack:2 A: (3-4!) B: ack:4 A: 5! B: ack:5",
			want:   "gap@3 not_captured@3-4",
		},
		{
			name:   "what is sent again where the capture begins has been answered before",
			script: "A: 20 B: ack:29 A: 21-29 30! B: ack:30 ack:32 A: 31-32 33! B: ack:33",
			want:   "answered_first@31-32",
			cold:   true,
		},
	})
}
