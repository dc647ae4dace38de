package analysis

import (
	"testing"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// mtu lets a message of A pass that shows the path MTU.
const mtu = "A: first:0 last:1! B: ack:1 "

func TestReads(t *testing.T) {
	playScenes(t, []scene{
		{
			name:   "READ moves the PSN by its packets",
			script: mtu + "A: read:2x3 5-6! B: resp:2-4 ack:6",
			want:   "",
			rows:   map[string]string{"A": "messages=24 request_frames=25 path_mtu=1024", "B": "acks=22 response_frames=25"},
		},
		{
			name:   "a request missing behind a READ is a hole",
			script: mtu + "A: read:2x3 6! B: resp:2-4 ack:6",
			want:   "gap@5 not_captured@5",
		},
		{
			name:   "a late response that comes too soon for the READ asked again does not begin its answer",
			script: mtu + "A: read:2x3 5 B: rfirst:2 (rmid:3) rlast:4 A: read:3x2 5 B: +-6 late:rmid:3 +20 rfirst:3 rlast:4 ack:5",
			want:   "retransmission_implied@3,5 response_gap@3 response_out_of_order@3 response_retransmission@3-4",
		},
		{
			name:   "an answer that seems to begin too soon is whole",
			script: mtu + "A: read:2x5 B: rfirst:2 (rmid:3) rmid:4-5 rlast:6 A: read:3x4 B: +-6 rmid:3-4 +6 rmid:5 rlast:6 A: 7! B: ack:7",
			want:   "retransmission_implied@3 response_gap@3 response_lost_upstream@3 response_retransmission@3-6",
		},
		{
			name:   "a response that came late, and is asked for again, comes again",
			script: mtu + "A: read:2x2 4! B: rfirst:2 (rlast:3) ack:4 late:rlast:3 A: read:3x1 4! B: ronly:3 ack:4",
			want:   "retransmission_implied@3-4 spurious_retransmission@4 response_gap@3 response_out_of_order@3 response_retransmission@3",
		},
		{
			name:   "READ of unknown length expects nothing",
			script: mtu + "A: read:2x? 5-6! B: resp:2-4 ack:6",
			want:   "",
		},
		{
			name:   "READ of unknown path MTU expects nothing",
			script: "A: read:0x3 3-4! B: resp:0-2 ack:4",
			want:   "",
		},
		{
			name:   "what is missing behind a READ shows once the path MTU does, although that came later",
			script: "A: read:0x3 B: first:50 last:51! A: ack:51 5! B: ack:5",
			want:   "gap@3 not_captured@3-4",
			cold:   true,
		},
		{
			name:   "nothing is missing where what follows begins at its end",
			script: "A: read:0x3 B: first:50 last:51! A: ack:51 3! B: ack:3",
			want:   "",
			cold:   true,
		},
		{
			name:   "nor is it where several were under way, of which none but the last can be told",
			script: "A: read:0x3 read:3x2 B: first:50 last:51! A: ack:51 5! B: resp:0-2 resp:3-4 ack:5",
			want:   "",
			cold:   true,
		},
		{
			name:   "the last of several shows what is missing behind it",
			script: "A: read:0x3 read:3x2 B: first:50 last:51! A: ack:51 6! B: resp:0-2 resp:3-4 ack:6",
			want:   "gap@5 not_captured@5",
			cold:   true,
		},
		{
			name:   "what was late behind such a READ was not sent again",
			script: "A: read:0x3 B: first:50 last:51! A: ack:51 (3!) 4! late:3! B: resp:0-2 ack:3-4",
			want:   "gap@3 out_of_order@3",
			cold:   true,
		},
		{
			name:   "what is missing behind a READ asked again shows as well",
			script: "A: read:0x3 +5000 read:0x3 B: first:50 last:51! A: ack:51 5! B: resp:0-2 ack:5",
			want:   "gap@3 not_captured@3-4 unresolved_timeout@0 retransmission_timeout@0 timeout@0",
			cold:   true,
		},
		{
			name:   "READs of unknown length that a timer has asked again are one pass",
			script: "A: read:0x3 read:5x3 read:9x3 +5000 read:0x3 read:5x3 read:9x3 +5000 read:0x3 read:5x3 read:9x3",
			want:   "retransmission_timeout@0×2,5×2,9×2 timeout@0×2 outstanding@0×10",
		},
		{
			name:   "READs of unknown length that a NAK has asked again are one pass",
			script: "A: read:0x? read:5x? read:9x? B: nak:0 A: read:0x? read:5x? read:9x?",
			want:   "lost_downstream@0 retransmission_nak@0,5,9 outstanding@0×10",
		},
		{
			name:   "their responses tell how long they are, so that the pass goes on behind one asked again in part",
			script: "A: read:0x? read:3x? B: rfirst:0 (rmid:1) rlast:2 resp:3-5 A: read:1x? B: rmid:1 rlast:2 A: read:3x? B: resp:3-5",
			want:   "retransmission_implied@1,3 response_gap@1 response_lost_upstream@1 response_retransmission@1-5",
		},
		{
			name:   "a request missing behind a READ of unknown length was lost where a NAK names it",
			script: "A: read:0x? (4) 5-6! B: nak:4 A: 4-6! B: ack:6",
			want:   "gap@4 lost_upstream@4 retransmission_nak@4-6",
		},
		{
			name:   "a READ that passed between a NAK and what it drew was not taken",
			script: mtu + "A: read:2x3 5 B: nak:2 A: read:6x3 9 read:2x3 5 read:6x3 9! B: resp:2-4 ack:5 resp:6-8 ack:9",
			want:   "lost_downstream@2 retransmission_nak@2,5-6,9",
		},
		{
			name:   "a READ that a NAK seemed to refuse was answered where nobody asked again, and all was missed",
			script: mtu + "A: 2-5 read:6x2 B: nak:3 A: 3 8! B: ack:8 A: 9! B: ack:9",
			want:   "lost_downstream@3 retransmission_nak@3 response_gap@6 response_not_captured@6-7",
		},
		{
			name:   "where a READ was missed, no other request stands at its responses, with whichever these begin",
			script: "A: 0! B: ack:0 rmid:3 rlast:4 A: 6! B: ack:6",
			want:   "gap@1 not_captured@1-2,5",
		},
		{
			name:   "or all but the rest of them",
			script: mtu + "A: 2-5 read:6x3 B: nak:3 A: 3 B: rmid:7 rlast:8 A: 9! B: ack:9",
			want:   "lost_downstream@3 retransmission_nak@3 response_gap@6 response_not_captured@6",
		},
		{
			name:   "but not where it was asked again",
			script: mtu + "A: 2-5 read:6x2 B: nak:3 A: 3-5 read:6x2 8! B: resp:6-7 ack:8 A: 9! B: ack:9",
			want:   "lost_downstream@3 retransmission_nak@3-6",
		},
		{
			name:   "how many answer a READ may be learnt only when all of them have been missed",
			script: "A: read:0x3 read:3x3 B: resp:3-5 A: 6! B: ack:6 A: 7! B: ack:7",
			want:   "response_gap@0 response_not_captured@0-2",
			ids:    noOrder,
		},
		{
			name:   "the path MTU may be learnt from the responses",
			script: "A: read:0x3 B: resp:0-2 A: read:3x3 B: rfirst:3 rlast:5",
			want:   "response_gap@4 response_unresolved@4",
		},
		{
			name:   "READs in a row are answered in a row",
			script: mtu + "A: read:2x3 read:5x1 read:6x2 B: resp:2-4 resp:5 resp:6-7",
			want:   "",
		},
		{
			name:   "READs that overtake each other before the tap are answered in their order",
			script: mtu + "A: 2 (read:3x2) read:5x2 late:read:3 B: resp:3-4 resp:5-6",
			want:   "gap@3 out_of_order@3",
		},
		{
			name:   "an answer covers the READ and all before it",
			script: mtu + "A: 2 read:3x2 B: resp:3-4",
			want:   "",
		},
		{
			name:   "a READ request the tap missed is one packet, not its PSN range",
			script: mtu + "A: (read:2x3) 5-6! B: resp:2-4 ack:6",
			want:   "gap@2 not_captured@2",
		},
		{
			name:   "an atomic has an answer of its own",
			script: mtu + "A: atomic:2 atomic:3 B: aack:2 aack:3",
			want:   "",
		},
		{
			name:   "a READ response of one packet proves a larger path MTU",
			script: "A: read:0x2 B: ronly:0 A: 1! B: ack:1",
			want:   "",
		},
	})
}

// TestREADsWhoseLengthIsKnownLater has the first answer in view show the path MTU.
func TestREADsWhoseLengthIsKnownLater(t *testing.T) {
	playScenes(t, []scene{
		{
			name:   "their answer comes late behind that to the next one",
			script: "A: read:0x2 read:2x2 read:4x1 B: resp:0-1 (rfirst:2) (rlast:3) ronly:4 late:rfirst:2 late:rlast:3 A: read:5x2 B: resp:5-6",
			want:   "response_gap@2 response_out_of_order@2-3",
		},
		{
			name:   "one behind them is missing, and its answer is not",
			script: "A: read:0x1 (read:1x1) first:2 last:3! B: ronly:0 ronly:1 ack:3",
			want:   "gap@1 not_captured@1",
		},
	})
}

// TestAnswersToWhatTheCaptureDoesNotHold begins captures behind a READ.
func TestAnswersToWhatTheCaptureDoesNotHold(t *testing.T) {
	playScenes(t, []scene{
		{
			name:   "one of the responses is late",
			script: "B: rfirst:0 rmid:1 (rmid:2) rlast:3 late:rmid:2 A: read:4x2 B: resp:4-5",
			want:   "response_gap@2 response_out_of_order@2",
			cold:   true,
		},
		{
			name:   "one of the responses is missing",
			script: "B: rfirst:0 rmid:1 rlast:3 A: read:4x2 B: resp:4-5 A: read:6x2 B: resp:6-7",
			want:   "response_gap@2 response_not_captured@2",
			cold:   true,
		},
		{
			name:   "the first response is late, as others before show",
			script: "B: ronly:0 (rfirst:1) rlast:2 late:rfirst:1 A: read:3x2 B: resp:3-4",
			want:   "response_gap@1 response_out_of_order@1",
			cold:   true,
		},
		{
			name:   "where none is before it the capture may have begun behind it",
			script: "B: rlast:2 A: read:3x2 B: resp:3-4",
			want:   "",
			cold:   true,
		},
		{
			name:   "they pass behind the first request, too",
			script: "A: read:4x2 B: ronly:0 (rfirst:1) rmid:2 rlast:3 late:rfirst:1 resp:4-5",
			want:   "response_gap@1 response_out_of_order@1",
			cold:   true,
		},
	})
}

func TestResponsesToFlushAndAtomicWrite(t *testing.T) {
	playScenes(t, []scene{
		{
			name:   "FLUSH is answered by a READ response",
			script: "A: 0 flush:1 2! B: ronly:1 ack:2",
			want:   "",
		},
		{
			name:   "ATOMIC WRITE is answered by a READ response",
			script: "A: 0 awrite:1 2! B: ronly:1 ack:2",
			want:   "",
		},
		{
			name:   "an answered FLUSH pairs",
			script: "A: flush:0 B: ronly:0",
			want:   "",
			cold:   true,
			rows:   map[string]string{"A": "peer_qp=160 peer_by=responses"},
		},
		{
			name:   "an answered ATOMIC WRITE pairs",
			script: "A: awrite:0 B: ronly:0",
			want:   "",
			cold:   true,
			rows:   map[string]string{"A": "peer_qp=160 peer_by=responses"},
		},
		{
			name:   "a FLUSH asked again is repeated as other requests are",
			script: "A: 0 flush:1 2! B: nak:1 A: flush:1 2! B: ronly:1 ack:2",
			want:   "lost_downstream@1 retransmission_nak@1-2",
		},
	})
}

func TestMissingReadResponses(t *testing.T) {
	const on = " A: 5! B: ack:5 A: +500 6! B: ack:6" // the requester goes on
	playScenes(t, []scene{
		{
			name:   "a missing First is a hole",
			script: mtu + "A: read:2x3 B: rmid:3 rlast:4" + on,
			want:   "response_gap@2 response_not_captured@2",
		},
		{
			name:   "a missing Middle is a hole",
			script: mtu + "A: read:2x3 B: rfirst:2 rlast:4" + on,
			want:   "response_gap@3 response_not_captured@3",
		},
		{
			name:   "a missing Last is a hole",
			script: mtu + "A: read:2x3 B: rfirst:2 rmid:3" + on,
			want:   "response_gap@4 response_not_captured@4",
		},
		{
			name:   "all responses missing are one hole",
			script: mtu + "A: read:2x3" + on,
			want:   "response_gap@2 response_not_captured@2-4",
		},
		{
			name:   "all responses missing are none where their numbers are",
			script: mtu + "A: read:2x9 read:11x2 B: resp:11-12 A: +500 13! B: ack:13",
			want:   "response_gap@2 response_not_captured@2-10",
			ids:    []idMode{scattered, constant, overIPv6},
		},
		{
			name:   "a responder that left out too few numbers did not answer",
			script: mtu + "A: read:2x9 read:11x2 B: resp:11-12 A: +500 13! B: ack:13",
			ids:    []idMode{rising},
		},
		{
			name:   "a Last and the next First missing are a hole of each READ",
			script: mtu + "A: read:2x2 read:4x2 B: rfirst:2 rlast:5 A: +500 6! B: ack:6",
			want:   "response_gap@3-4 response_not_captured@3-4",
		},
		{
			name:   "a requester that asks for more, once it can have seen what came behind a hole, has all of it",
			script: mtu + "B: 0! A: +-8 ack:0 read:2x3 B: rfirst:2 rlast:4 A: +-6 read:5x1 B: ronly:5",
			want:   "response_gap@3 response_not_captured@3",
		},
		{
			name:   "a hole in the responses at the end of the file is unresolved",
			script: mtu + "A: read:2x3 B: rfirst:2 rlast:4",
			want:   "response_gap@3 response_unresolved@3",
		},
		{
			name:   "a late response is reordered",
			script: mtu + "A: read:2x3 B: rfirst:2 (rmid:3) rlast:4 late:rmid:3" + on,
			want:   "response_gap@3 response_out_of_order@3",
			marks:  "..." + "...." + "....",
		},
		{
			name:   "a READ asked again from the middle closes the hole",
			script: mtu + "A: read:2x3 B: rfirst:2 (rmid:3) rlast:4 A: read:3x2 B: resp:3-4" + on,
			want:   "retransmission_implied@3 response_gap@3 response_lost_upstream@3 response_retransmission@3-4",
			marks:  "..." + "..." + "R" + "RR" + "....",
		},
		{
			name:   "a READ asked again may be answered by Middle and Last",
			script: mtu + "A: read:2x3 B: rfirst:2 (rmid:3) rlast:4 A: read:3x2 B: rmid:3 rlast:4" + on,
			want:   "retransmission_implied@3 response_gap@3 response_lost_upstream@3 response_retransmission@3-4",
		},
		{
			name:   "a missing First asked again closes its hole",
			script: mtu + "A: read:2x3 B: rmid:3 rlast:4 A: read:2x3 B: resp:2-4" + on,
			want:   "retransmission_implied@2 response_gap@2 response_lost_upstream@2 response_retransmission@2-4",
		},
		{
			name:   "a Last that was not seen to be skipped is asked for, not lost",
			script: mtu + "A: read:2x3 B: rfirst:2 rmid:3 A: +5000 read:4x1 B: resp:4" + on,
			want:   "retransmission_timeout@4 timeout@4",
		},
		{
			name:   "responses seen and asked again are lost downstream",
			script: mtu + "A: read:2x3 B: resp:2-4 A: read:3x2 B: resp:3-4" + on,
			want:   "retransmission_implied@3 response_lost_downstream@3 response_retransmission@3-4",
		},
		{
			name:   "responses seen and asked again after a timeout are lost downstream",
			script: mtu + "A: read:2x3 B: resp:2-4 A: +5000 read:4x1 B: resp:4" + on,
			want:   "retransmission_timeout@4 timeout@4 response_lost_downstream@4 response_retransmission@4",
		},
		{
			name:   "a READ asked again while its response was on its way lost none that is known",
			script: mtu + "A: read:2x1 B: +800 ronly:2 A: +100 read:2x1 B: ronly:2 A: 3! B: ack:3",
			want:   "retransmission@2 response_retransmission@2",
		},
		{
			name:   "a READ was not answered before one that is asked again before it, and gets its first answer",
			script: mtu + "A: 2 read:3x2 read:5x2 B: nak:2 A: (2) (read:3x2) read:5x2 +5000 2 read:3x2 B: ack:2 resp:3-4 A: read:5x2 7! B: resp:5-6 ack:7",
			want:   "gap@2 lost_upstream@2-3 lost_downstream@2 retransmission_nak@5 retransmission_timeout@2-3,5 timeout@2",
		},
		{
			name:   "an ACK that covers nothing new and comes amid an answer given again does not end that",
			script: mtu + "A: read:2x3 5! B: resp:2-4 ack:5 (ack:5) A: read:3x2 5! B: rfirst:3 late:ack:5 rlast:4 ack:5 A: 6! B: ack:6",
			want:   "retransmission_implied@3,5 spurious_retransmission@5 response_lost_downstream@3 response_retransmission@3-4",
		},
		{
			name:   "a response that is late behind such an ACK, and the answer behind that, is not asked for again",
			script: mtu + "A: read:2x3 5! read:6x2 B: resp:2-4 ack:5 resp:6-7 A: read:3x2 5! read:6x2 B: rfirst:3 (rlast:4) ack:5 resp:6-7 late:rlast:4 A: 8! B: ack:8",
			want:   "retransmission_implied@3,5-6 spurious_retransmission@5 response_gap@4 response_out_of_order@4 response_lost_downstream@3 response_retransmission@3-4,6-7",
			ids:    []idMode{rising},
		},
		{
			name:   "a response late in an answer given again was lost in the one before",
			script: mtu + "A: read:2x4 B: rfirst:2 (rmid:3) rmid:4 rlast:5 A: read:3x3 B: (rfirst:3) rmid:4 late:rfirst:3 rlast:5 A: 6! B: ack:6",
			want:   "retransmission_implied@3 response_gap@3×2 response_lost_upstream@3 response_out_of_order@3 response_retransmission@3-5",
		},
		{
			name:   "a response that overtook others and is asked for again was thrown away",
			script: mtu + "A: 2! B: ack:2 A: read:3x4 B: (rfirst:3) (rmid:4) rmid:5 late:rfirst:3 late:rmid:4 rlast:6 A: read:5x2 B: resp:5-6 A: 7! B: ack:7",
			want:   "retransmission_implied@5 response_gap@3 response_out_of_order@3-4 response_retransmission@5-6",
		},
		{
			name:   "of two losses behind the tap in one READ the first is knowable",
			script: mtu + "A: read:2x3 read:5x2 B: resp:2-4 resp:5-6 A: read:3x2 read:5x2 B: resp:3-4 resp:5-6 A: 7! B: ack:7",
			want:   "retransmission_implied@3,5 response_lost_downstream@3 response_retransmission@3-6",
		},
		{
			name:   "a READ whose request was lost behind the tap and asked again is unresolved",
			script: mtu + "A: read:2x3 +5000 read:2x3 B: resp:2-4" + on,
			want:   "unresolved_timeout@2 retransmission_timeout@2 timeout@2",
		},
		{
			name:   "an ACK behind a READ without responses asks for it again",
			script: mtu + "A: read:2x3 5! B: ack:5 A: read:2x3 5! B: resp:2-4 ack:5 A: 6! B: ack:6",
			want:   "retransmission_implied@2,5 spurious_retransmission@5 response_gap@2 response_lost_upstream@2-4 response_retransmission@2-4",
		},
		{
			name:   "an atomic whose answer is lost is asked again",
			script: mtu + "A: atomic:2 atomic:3 B: aack:3 A: +30 atomic:2 B: aack:2",
			want:   "retransmission_implied@2",
		},
		{
			name:   "an atomic asked again at once, though its answer was passed over, is no copy",
			script: mtu + "A: atomic:2 atomic:3 B: aack:3 A: atomic:2 B: aack:2",
			want:   "retransmission_implied@2",
			ids:    []idMode{constant, overIPv6},
		},
		{
			name:   "a READ that a NAK asks for again after its answer lost no response",
			script: "A: 0-3! read:4x2 B: nak:3 nak:4 A: 3! read:4x2 B: ack:3 resp:4-5 A: read:4x2 B: resp:4-5",
			want:   "lost_downstream@4 needless_nak@3 retransmission_nak@3,4×2 spurious_retransmission@3 response_retransmission@4-5",
		},
		{
			name:   "a late response stands between its neighbours' IDs, before those are known to rise",
			script: mtu + "A: 2! B: ack:2 A: read:3x3 B: (rfirst:3) rmid:4 rlast:5 A: read:3x3 B: late:rfirst:3 resp:3-5",
			want:   "retransmission_implied@3 response_gap@3 response_out_of_order@3 response_retransmission@3-5",
			ids:    []idMode{rising},
			cold:   true,
		},
		{
			name:   "a repeated READ of which no response comes may have been lost itself",
			script: mtu + "A: read:2x2 read:4x2 B: resp:2-3 resp:4-5 A: read:2x2 read:4x2 B: resp:4-5",
			want:   "retransmission_implied@2,4 response_lost_downstream@2 response_retransmission@4-5",
		},
		{
			name:   "an answer that came too soon for a READ asked again passed over the one before",
			script: mtu + "A: read:2x3 5! +40 read:2x3 5! B: +-6 ack:5 resp:2-4 ack:5 A: 6! B: ack:6",
			want:   "retransmission@2,5 spurious_retransmission@5 response_gap@2 response_lost_upstream@2-4 response_retransmission@2-4",
		},
		{
			name:   "an ACK that stands for an atomic asks for its answer, which passed before and was lost",
			script: mtu + "A: atomic:2 B: aack:2 +12 ack:2 A: +9 atomic:2 B: aack:2",
			want:   "retransmission_implied@2",
		},
		{
			name:   "an ACK of a READ's last PSN is no response that has come",
			script: mtu + "A: read:2x2 read:4x2 6! B: (rfirst:2) rlast:3 A: read:2x2 read:4x2 6! B: resp:4-5 ack:5 ack:6 resp:2-3 rfirst:4 A: read:4x2 6! B: rlast:5 ack:6 resp:4-5 ack:6",
			want:   "retransmission_implied@2,4×2,6×2 spurious_retransmission@6 response_gap@2 response_lost_upstream@2 response_lost_downstream@4 response_retransmission@2-3,4-5×2",
		},
		{
			name:   "what lies before the packet asked for again has come, whatever was missing with it",
			script: mtu + "A: read:2x4 B: rfirst:2 (rmid:3) (rmid:4) rlast:5 A: read:4x2 B: resp:4-5 A: +100 6! B: ack:6",
			want:   "retransmission_implied@4 response_gap@3 response_lost_upstream@4 response_not_captured@3 response_retransmission@4-5",
		},
		{
			name:   "a READ is answered that came behind the NAK which seemed to refuse it",
			script: mtu + "A: 2-3 read:4x3 B: nak:3 +1 rfirst:4 rmid:5 (rlast:6) A: +20 7! B: ack:7 A: +30 8! B: ack:8",
			want:   "needless_nak@3 response_gap@6 response_not_captured@6",
		},
		{
			name:   "what another repetition of a READ was answered with is not what this one was",
			script: mtu + "A: read:2x2 read:4x3 7! B: (rfirst:2) rlast:3 A: read:2x2 read:4x3 7! +2 read:2x2 read:4x3 7! B: resp:4-6 ack:7 resp:2-3 resp:4-6 ack:7 resp:2-3 rfirst:4 A: read:4x3 B: +-9 rmid:5 rlast:6 ack:7 resp:4-6",
			want:   "retransmission_implied@2×2,4×3,7×2 response_gap@2 response_lost_upstream@2 response_lost_downstream@4 response_retransmission@2-3×2,4-6×3",
		},
		{
			name:   "an earlier READ answered anew, while no message was completed, says nothing of one behind a lost packet",
			script: mtu + "A: read:2x3 5! (6) 7! B: resp:2-4m5 ack:5 nak:6m6 A: read:8x2 read:2x3 B: resp:2-4m6 A: 5! 6-7! read:8x2 B: ack:5 ack:7 resp:8-9m9 A: 10! B: ack:10",
			want:   "gap@6 lost_upstream@6 retransmission_implied@2,5-8 spurious_retransmission@5 response_lost_downstream@2 response_retransmission@2-4",
			ids:    []idMode{scattered, constant, overIPv6},
		},
		{
			name:   "the count of messages in an answer to an earlier READ tells that one was answered, and its answer lost",
			script: mtu + "A: read:2x1 B: ronly:2 A: read:3x1 4! read:5x1 B: ack:4 A: read:3x1 4! read:5x1 B: ronly:3m6 +1 ronly:5m6 A: 6! B: ack:6m7",
			want:   "retransmission_implied@3-5 spurious_retransmission@4 response_gap@3,5 response_lost_upstream@3,5 response_retransmission@3,5",
		},
		{
			name:   "the answer to an atomic behind a READ shows the READ's response missing",
			script: mtu + "A: read:2x1 atomic:3 B: aack:3 A: +100 4! B: ack:4",
			want:   "response_gap@2 response_not_captured@2",
		},
		{
			name:   "a READ of unknown length ends with its last response, so that the next request shows what is missing",
			script: "A: read:0x1 B: ronly:0 A: (1!) B: ack:1 A: 2! B: ack:2",
			want:   "gap@1 not_captured@1",
		},
		{
			name:   "what is missing of a READ that was sent twice is missing once",
			script: mtu + "A: read:2x3 read:5x2 7! +2000 read:2x3 read:5x2 7! B: rfirst:2 resp:5-6 ack:7 A: read:3x2 B: resp:3-4 A: 8! B: ack:8",
			want:   "unresolved_timeout@2 retransmission_timeout@2,5,7 retransmission_implied@3 timeout@2 response_gap@3 response_lost_upstream@3-4 response_retransmission@3-4",
		},
		{
			name:   "a response that comes once more amid those behind it, out of the order of any answer, is a copy",
			script: mtu + "A: read:2x6 B: rfirst:2 rmid:4-6 rlast:7 A: read:3x5 B: rfirst:3 rmid:4-5 rmid:4 rmid:6 rlast:7 A: +100 8! B: ack:8",
			want:   "retransmission_implied@3 response_gap@3 response_lost_upstream@3 response_retransmission@3-7 B:mirror_duplicate@4",
			ids:    []idMode{constant, overIPv6},
		},
		{
			name:   "the first response that comes twice at once, to a READ asked again, is a copy",
			script: mtu + "A: read:2x3 B: rfirst:2 rlast:4 A: read:3x2 B: rfirst:3 = rlast:4 A: +100 5! B: ack:5",
			want:   "retransmission_implied@3 response_gap@3 response_lost_upstream@3 response_retransmission@3-4 B:mirror_duplicate@3",
			ids:    []idMode{constant, overIPv6},
		},
		{
			name:   "so is one behind the last of them, out of the order of any answer",
			script: mtu + "A: read:2x4 B: rfirst:2 rmid:4 rlast:5 A: read:3x3 B: rfirst:3 rmid:4 rlast:5 rmid:4 A: +100 6! B: ack:6",
			want:   "retransmission_implied@3 response_gap@3 response_lost_upstream@3 response_retransmission@3-5 B:mirror_duplicate@4",
			ids:    []idMode{constant, overIPv6},
		},
		{
			name:   "several of them in order are the rest of an answer given again, before which one is missing",
			script: mtu + "A: (read:2x1) read:3x4 B: nak:2 A: read:2x1 read:3x4 B: ronly:2 resp:3-6 rfirst:3 (rmid:4) +-2 rmid:5 rlast:6 A: +100 7! B: ack:7",
			want:   "gap@2 lost_upstream@2 retransmission_nak@2-3 response_retransmission@3,5-6",
			ids:    []idMode{constant, overIPv6},
		},
		{
			name:   "so is one that comes too soon behind a READ to answer it",
			script: mtu + "A: read:2x3 B: rfirst:2 rlast:4 A: read:3x2 B: rfirst:3 rlast:4 A: +-9 read:3x2 B: +-9 rfirst:3 +8 rfirst:3 rlast:4 A: +100 5! B: ack:5",
			want:   "retransmission_implied@3×2 response_gap@3 response_lost_upstream@3 response_lost_downstream@3 response_retransmission@3-4×2 B:mirror_duplicate@3",
			ids:    []idMode{constant, overIPv6},
		},
		{
			name:   "what a READ asked again had is given again to the first one, that a NAK seemed to refuse",
			script: mtu + "A: (read:2x3) read:5x2 B: nak:2 A: read:2x3 read:5x2 B: resp:2-4 resp:5-6 A: read:5x2 B: +-8 resp:5-6 +10 resp:5-6 A: +100 7! B: ack:7",
			want:   "gap@2 lost_upstream@2 retransmission_nak@2,5 retransmission_implied@5 response_lost_downstream@5 response_retransmission@5-6×2",
		},
		{
			name:   "the answers to two READs of one packet may come at once",
			script: mtu + "A: (read:2x1) read:3x1 B: nak:2 A: read:2x1 read:3x1 B: ronly:2 ronly:3 ronly:3 A: +100 4! B: ack:4",
			want:   "gap@2 lost_upstream@2 retransmission_nak@2-3 response_retransmission@3",
			ids:    []idMode{constant, overIPv6},
		},
		{
			name:   "what is missing comes in an answer given again, in the order of that",
			script: mtu + "A: (read:2x1) read:3x4 read:7x1 B: nak:2 A: read:2x1 read:3x4 read:7x1 B: ronly:2 rfirst:3 rmid:4 rmid:5 (rlast:6) ronly:7 rfirst:3 rmid:4 A: +-9 read:6x1 B: +-9 rmid:5 rlast:6 A: +100 8! B: ack:8",
			want:   "gap@2 lost_upstream@2 retransmission_nak@2-3,7 retransmission_implied@6 response_gap@6 response_lost_upstream@6 response_retransmission@3-6",
			ids:    []idMode{constant, overIPv6},
		},
		{
			name:   "behind the last of an answer another one may begin, of which the first response is missing",
			script: mtu + "A: read:2x3 +2000 read:2x3 B: resp:2-4 +5 (rfirst:2) rmid:3 rlast:4 A: +100 5! B: ack:5",
			want:   "unresolved_timeout@2 retransmission_timeout@2 timeout@2 response_gap@2 response_not_captured@2 response_retransmission@3-4",
			ids:    []idMode{constant, overIPv6},
		},
	})
}

func TestREADsOfWhichNobodyKnewTheLength(t *testing.T) {
	playScenes(t, []scene{
		{
			name:   "what follows a READ amid a message shows that its beginning is missing",
			script: "A: 0! B: ack:0 A: read:1x? (first:4) mid:5 last:6! B: resp:1-3 ack:6",
			want:   "gap@4 not_captured@4",
		},
		{
			name:   "the beginning of a message behind a READ may come late",
			script: "A: 0! B: ack:0 A: read:1x? (first:4) mid:5 last:6! 7 late:first:4 8! B: resp:1-3 ack:8",
			want:   "gap@4 out_of_order@4",
		},
		{
			name:   "a pass goes on over READs that were missing",
			script: "A: 0! B: ack:0 A: read:4x? B: nak:1 A: read:1x? read:2x? read:3x? read:4x? B: ronly:1 ronly:2 ronly:3 ronly:4",
			want:   "gap@1 lost_upstream@1-3 retransmission_nak@1-4",
		},
		{
			name:   "of an answer that began before its length was known the rest is missing",
			script: "A: 0! B: ack:0 A: read:1x3 B: rfirst:1 A: read:4x3 B: resp:4-6 A: +100 7! B: ack:7",
			want:   "response_gap@2 response_not_captured@2-3",
		},
	})
}

func TestAREADCatchesUpWithResponsesThatNobodyTook(t *testing.T) {
	var seen recent
	for psn := ib.PSN(2); psn < 6; psn++ {
		seen.put(&decode.Packet{PSN: psn, Op: ib.Of(ib.RC, ib.ReadResponseMiddle), Time: 100}, 0, 0, nil)
	}
	for _, c := range []struct {
		read   read
		cursor ib.PSN
	}{
		{read{start: 2, cursor: 2, time: 50}, 6},               // they passed behind it
		{read{start: 2, cursor: 2, time: 150}, 6},              // or before it: no other one is answered so
		{read{start: 2, cursor: 2, time: 50, resent: true}, 2}, // of the one before
		{read{start: 2, cursor: 3, time: 50, first: 90}, 3},    // its responses are followed
		{read{start: 1, cursor: 1, time: 50}, 1},               // the first of them is missing
	} {
		if c.read.catchUp(&seen, 8); c.read.cursor != c.cursor {
			t.Errorf("%+v expects %d, want %d", c.read, c.read.cursor, c.cursor)
		}
	}
}
