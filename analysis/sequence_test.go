package analysis

import (
	"testing"

	"github.com/rocescope/rocescope/decode/ib"
)

func TestHolesAndTheirFate(t *testing.T) {
	playScenes(t, []scene{
		{
			name:   "requests in order show nothing",
			script: "A: 0-8 9! B: ack:9",
			want:   "",
			rows:   map[string]string{"A": "frames=30 request_frames=30 messages=30 peer_qp=160 peer_by=responses", "B": "acks=21 response_frames=21 peer_qp=176"},
			marks:  "...........",
		},
		{
			name:   "a PSN skipped and sent again after a NAK is lost upstream",
			script: "A: 0-2 4-5! B: nak:3 A: 3-4 5! B: ack:5",
			want:   "gap@3 lost_upstream@3 retransmission_nak@3-5",
		},
		{
			name:   "a run of PSNs skipped is one gap",
			script: "A: 0-2 6-7! B: nak:3 A: 3-6 7! B: ack:7",
			want:   "gap@3 lost_upstream@3-5 retransmission_nak@3-7",
		},
		{
			name:   "two holes apart are two gaps",
			script: "A: 0-2 4 6-7! B: nak:3 A: 3-6 7! B: ack:7",
			want:   "gap@3,5 lost_upstream@3,5 retransmission_nak@3-7",
		},
		{
			name:   "a PSN skipped and sent again after a timeout is lost upstream",
			script: "A: 0-2 4-5! +5000 3-4 5! B: ack:5",
			want:   "gap@3 lost_upstream@3 retransmission_timeout@3-5 timeout@3",
		},
		{
			name:   "a hole acknowledged past is not captured",
			script: "A: 0-2 (3) 4-5! B: ack:5",
			want:   "gap@3 not_captured@3",
		},
		{
			name:   "a run acknowledged past is not captured, one by one",
			script: "A: 0-2 (3-5) 6! B: ack:6",
			want:   "gap@3 not_captured@3-5",
		},
		{
			name:   "a hole acknowledged in part is not captured in part",
			script: "A: 0-2 (3-5) 6-7! B: ack:4",
			want:   "gap@3 not_captured@3-4 unresolved@5 outstanding@5×3",
		},
		{
			name:   "a hole acknowledged before the packet behind it passes is not captured",
			script: "A: 0-2 (3!) B: ack:3 A: 4! B: ack:4",
			want:   "gap@3 not_captured@3",
		},
		{
			name:   "a hole at the end of the file is unresolved",
			script: "A: 0-2 4-5!",
			want:   "gap@3 unresolved@3 outstanding@0×6",
		},
		{
			name:   "a hole that was NAKed and acknowledged, its repair unseen, is unresolved",
			script: "A: 0-2 4-5! B: nak:3 A: (3) 4 5! B: ack:5",
			want:   "gap@3 unresolved@3 retransmission_nak@4-5",
		},
		{
			name:   "of a hole that was NAKed the capture missed what the NAK does not name",
			script: "A: 0-2 5-6! B: nak:3 A: +15 3! B: ack:6",
			want:   "gap@3 lost_upstream@3 not_captured@4 retransmission_nak@3",
		},
		{
			name:   "NAKs and then silence leave a hole unresolved",
			script: "A: 0-2 4-5! B: nak:3",
			want:   "gap@3 unresolved@3 outstanding@3×3",
		},
		{
			name:   "a loss repeated in the second pass counts in each",
			script: "A: 0-2 4-5! B: nak:3 A: +1 4-5! +5000 3-4 5! B: ack:5",
			want:   "gap@3×2 lost_upstream@3×2 retransmission_nak@4-5 retransmission_timeout@3-5 timeout@3",
		},
		{
			name:   "go-back-N over a second loss in the same pass counts it again",
			script: "A: 0-2 4-7! B: nak:3 A: 3-5 7! B: nak:6 A: 6 7! B: ack:7",
			want:   "gap@3,6 lost_upstream@3,6 retransmission_nak@3-6,7×2",
		},
		{
			name:   "what a pass skips although it had arrived is lost where it comes once more",
			script: "A: 0-2! B: ack:2 A: read:3x1 4-7! B: ack:7 A: read:3x1 4 6-7! B: ack:7 A: +20 read:3x1 4-7! B: ronly:3 ack:7",
			want:   "gap@5 lost_upstream@5 retransmission_implied@3-4×2,5,6-7×2 spurious_retransmission@4×2,5,6-7×2 response_gap@3 response_lost_upstream@3 response_retransmission@3",
		},
		{
			name:   "a pass that comes to what is lost closes its hole, though a NAK asks for just that later",
			script: "A: 0-4 6-7! B: nak:3 A: 3 B: nak:5 A: 4-7! +9 5-7! B: ack:7",
			want:   "gap@5 lost_upstream@5 lost_downstream@3 retransmission_nak@3-4,5-7×2 spurious_retransmission@4",
		},
		{
			name:   "selective repeat skips nothing it owes",
			script: "A: 0-2 4-7! B: nak:3 A: +15 3! B: ack:7 A: 8! B: ack:8",
			want:   "gap@3 lost_upstream@3 retransmission_nak@3",
		},
		{
			name:   "a new request behind a selective repeat opens no hole",
			script: "A: 0-2 4-7! B: nak:3 A: +15 3! 8 9! B: ack:9",
			want:   "gap@3 lost_upstream@3 retransmission_nak@3",
		},
		{
			name:   "a timer that ran out again sends the next packet again, and skips nothing",
			script: "A: 0! B: ack:0 A: 1! 2! 3! +5000 1! B: ack:1 A: +5000 2! B: ack:2 A: 4! B: nak:3 A: 3! B: ack:4",
			want:   "lost_downstream@2-3 retransmission_nak@3 retransmission_timeout@1-2 timeout@1-2",
		},
		{
			name:   "a timer that runs out behind what a NAK drew begins a pass of its own",
			script: "A: 0! B: ack:0 A: 1! 2! 3! 4! B: nak:1 A: 1! B: ack:2 A: +5000 3! B: ack:3 A: +5000 4! B: ack:4",
			want:   "unresolved_timeout@3 lost_downstream@1 retransmission_nak@1 retransmission_timeout@3-4 timeout@3-4",
		},
		{
			name:   "a pass of a timer goes on after a pause that is none of its own",
			script: "A: 0! B: ack:0 A: 1! 2! 3! +8000 1! B: ack:1 A: +2000 2! 4! B: nak:3 A: 3! 4! B: ack:4",
			want:   "gap@3 lost_upstream@3 lost_downstream@2 retransmission_nak@3-4 retransmission_timeout@1-2 timeout@1",
		},
		{
			name:   "a tail lost before the tap and sent again after a timeout looks like a first sending",
			script: "A: 0-2! B: ack:2 A: (3!) +5000 3! B: ack:3",
			want:   "",
		},
		{
			name:   "an ACK jump is coalescing",
			script: "A: 0-9! B: ack:3 A: 10-11! B: ack:11",
			want:   "",
		},
		{
			name:   "an ACK that goes back is no news",
			script: "A: 0-9! B: ack:9 ack:7",
			want:   "",
		},
		{
			name:   "the outstanding requests of the end are told once",
			script: "A: 0-4! B: ack:1",
			want:   "outstanding@2×3",
		},
		{
			name:   "requests of B lose as those of A do",
			script: "B: 0-2 4-5! A: nak:3 B: 3-4 5! A: ack:5",
			want:   "B:gap@3 B:lost_upstream@3 B:retransmission_nak@3-5",
		},
		{
			name:   "both directions have their own PSNs",
			script: "A: 0-3! B: 0-2 4! ack:3 A: nak:3 4! B: 3-4! A: ack:4 B: ack:4",
			want:   "B:gap@3 B:lost_upstream@3 B:retransmission_nak@3-4",
			ids:    []idMode{rising, scattered, constant},
		},
		{
			name:   "a message is counted once however often it is sent",
			script: "A: first:0 mid:1-2 last:3! B: nak:1 A: mid:1-2 last:3! B: ack:3",
			want:   "lost_downstream@1 retransmission_nak@1-3",
			rows:   map[string]string{"A": "messages=21 path_mtu=1024 request_frames=27"},
			marks:  "....." + "RRR.",
		},
		{
			name:   "XRC is followed as RC is",
			script: "A: 0-2 4-5! B: nak:3 A: 3-4 5! B: ack:5",
			want:   "gap@3 lost_upstream@3 retransmission_nak@3-5",
			tr:     ib.XRC,
		},
		{
			name:   "a capture that starts amid a transfer",
			script: "B: ack:-5 A: 0-2! B: ack:-3 ack:2",
			want:   "",
			cold:   true,
		},
		{
			name:   "a capture of one direction",
			script: "A: 0-2 (3) 4-5! +20 6-9",
			want:   "gap@3 unresolved@3 outstanding@0×10",
			cold:   true,
		},
		{
			name:   "a capture of one direction with a loss upstream",
			script: "A: 0-2 4-8! +100 3-8! +20 9-11",
			want:   "gap@3 lost_upstream@3 retransmission@3-8 outstanding@0×12",
			cold:   true,
		},
		{
			name:   "congestion notifications belong to no sequence",
			script: "A: 0-2 B: cnp:0 cnp:0 A: cnp:0 3-5! B: cnp:0 ack:5 cnp:0",
			want:   "",
			rows:   map[string]string{"A": "frames=27 request_frames=26", "B": "frames=25 response_frames=21"},
			ids:    []idMode{rising, scattered},
		},
		{
			name:   "answers alone",
			script: "B: ack:0 nak:3 ack:7 resp:8-9",
			want:   "",
			cold:   true,
		},
	})
}
