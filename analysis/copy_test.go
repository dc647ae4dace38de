package analysis

import (
	"strings"
	"testing"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

func TestCopies(t *testing.T) {
	playScenes(t, []scene{
		{
			name:   "a request twice back to back is a copy, with IDs and without",
			script: "A: 0 = 1 = 2! = B: ack:2 =",
			want:   "mirror_duplicate@0-2 B:mirror_duplicate@2",
			marks:  ".C.C.C.C",
			rows: map[string]string{
				"A": "mirror_duplicates=3 frames=26 request_frames=23 messages=23 data_frames=23",
				"B": "mirror_duplicates=1 frames=22 response_frames=21 acks=21",
			},
		},
		{
			name:   "a copy is told at once while its row waits for its partner, though its original did not wait",
			script: "A2: 0! A: 0! B2: +-9 ack:0 A: +-9 0! +100 1! B: ack:1",
			want:   "mirror_duplicate@0",
			marks:  "...C..",
			ids:    []idMode{constant, overIPv6},
			cold:   true,
		},
		{
			name:   "a third frame is one more copy",
			script: "A: 0 = = 1! B: ack:1",
			want:   "mirror_duplicate@0×2",
			marks:  ".CC..",
		},
		{
			name:   "with IDs a copy may come later",
			script: "A: (0) late:0 1-2! +500 late:0 B: ack:2",
			want:   "mirror_duplicate@0",
			ids:    []idMode{rising, scattered},
		},
		{
			name:   "the same PSN with another ID is a resend",
			script: "A: 0-2 1-2! B: ack:2",
			want:   "retransmission@1-2",
			ids:    []idMode{rising, scattered},
		},
		{
			name:   "without IDs the same PSN long after is a resend",
			script: "A: 0-2! +500 1-2! B: ack:2",
			want:   "retransmission@1-2",
			ids:    []idMode{constant, overIPv6},
		},
		{
			name:   "a copy of a resend is a copy",
			script: "A: 0-5! B: nak:3 A: 3 = 4 = 5! = B: ack:5",
			want:   "lost_downstream@3 retransmission_nak@3-5 mirror_duplicate@3-5",
			ids:    []idMode{rising, scattered},
			marks:  "......." + "RCRCRC.",
		},
		{
			name:   "where every frame stands twice a copy in a resend pass is one too",
			script: "A: 0 = 1 = 2 = 3! = B: ack:3 = A: 4 = 5 = 6 = 7 = 8 = 9! = B: nak:6 = A: 6 = 7 = 8 = 9! = B: ack:9 =",
			want:   "lost_downstream@6 retransmission_nak@6-9 mirror_duplicate@0-5,6-9×2 B:mirror_duplicate@3,6,9",
			cold:   true,
		},
		{
			name:   "the packet sent last once more is a copy where that comes soon: nobody can miss it yet",
			script: "A: first:0 +20 = mid:1 +20 = mid:2 +28 = last:3! +20 = B: ack:3 +20 = A: first:4 +20 = last:5! +20 = B: ack:5 +20 =",
			want:   "mirror_duplicate@0-5",
			ids:    []idMode{constant, overIPv6},
			cold:   true,
		},
		{
			name:   "later a timer may have brought it again, which ran out amid the message",
			script: "A: first:0 last:1! B: ack:1 A: first:2 +150 first:2 last:3! B: ack:3",
			want:   "retransmission@2",
			ids:    noOrder,
		},
		{
			name:   "where the other direction is not in view, a receiver may have refused what was sent last",
			script: "A: 0 +20 0 1 +20 1 2 +20 2",
			want:   "retransmission@0-2 outstanding@0×3",
			ids:    []idMode{constant, overIPv6},
			cold:   true,
		},
		{
			name:   "a NAK calls for what was sent last, of a pass whose first packet was lost",
			script: "A: first:0 mid:1-4 B: nak:3 A: +4 4! B: nak:3 A: 3-4! B: ack:4",
			want:   "gap@3 lost_upstream@3 lost_downstream@3 retransmission_nak@3,4×2",
			ids:    []idMode{constant, overIPv6},
		},
		{
			name:   "where frames stand twice of late, the second comes any time before a timer, of resends and READs, too",
			script: mtu + "A: 2-9 +900 2-9! B: ack:9 A: 10 = 11 = 12 = 13 = 14 = 15 = 16 = 17 = 18 = 19! = B: nak:18 A: 18 +90 = 19! +90 = B: ack:19 A: read:20x3 +90 = B: resp:20-22",
			want:   "lost_downstream@18 retransmission_nak@18-19 retransmission@2-9 mirror_duplicate@10-17,18-19×2,20",
			ids:    []idMode{constant, overIPv6},
			cold:   true,
		},
		{
			name:   "a copy with an older ID that nobody remembers is one where others stood twice and nothing was sent again",
			script: "A: 0 = (1) late:1 2! B: ack:2 A: 3-8! B: ack:8 A: 9! B: ack:9 A: late:1 10! B: ack:10",
			want:   "mirror_duplicate@0-1",
			ids:    []idMode{rising},
		},
		{
			name:   "a response of several again at once is a copy, though the READ was asked again",
			script: "A: first:0 = last:1! = B: ack:1 = A: read:2x5 = B: rfirst:2 = rmid:3 = rmid:5 = rlast:6 = +30 A: read:4x3 = B: rfirst:4 = rmid:5 = rlast:6 = A: 7! = B: ack:7 =",
			want:   "retransmission_implied@4 response_gap@4 response_lost_upstream@4 response_retransmission@4-6 mirror_duplicate@0-2,4,7 B:mirror_duplicate@1-4,5-6×2",
			ids:    []idMode{constant, overIPv6},
			cold:   true,
		},
		{
			name:   "a copy of a late packet is a copy",
			script: "A: 0-2 (3) 4 late:3 = 5! B: ack:5",
			want:   "gap@3 out_of_order@3 mirror_duplicate@3",
			ids:    []idMode{rising},
		},
		{
			name:   "a copy of a late packet whose lateness is in doubt is a copy",
			script: "A: 0-2 (3) 4 late:3 = 5! B: ack:5",
			want:   "gap@3 out_of_order@3 mirror_duplicate@3",
			ids:    noOrder,
		},
		{
			name:   "where every frame stands twice a hole is lost upstream once",
			script: "A: 0 = 1 = 2 = 4 = 5! = B: nak:3 = A: 3 = 4 = 5! = B: ack:5 =",
			want:   "gap@3 lost_upstream@3 retransmission_nak@3-5 mirror_duplicate@0-3,4-5×2 B:mirror_duplicate@3,5",
			cold:   true,
		},
		{
			name:   "copies of READ responses count in nothing else",
			script: mtu + "A: read:2x3 = B: rfirst:2 = rmid:3 = rlast:4 =",
			want:   "mirror_duplicate@2 B:mirror_duplicate@2-4",
			rows:   map[string]string{"B": "response_frames=24 mirror_duplicates=3 response_bytes=2112"},
		},
		{
			name:   "a congestion notification twice with one ID is a copy",
			script: "A: 0! B: ack:0 cnp:0 =",
			want:   "B:mirror_duplicate@0",
			rows:   map[string]string{"B": "mirror_duplicates=1"},
			marks:  "..." + "C",
			ids:    []idMode{rising, scattered},
		},
		{
			name:   "an ACK again long after is no copy where IDs differ",
			script: "A: 0-2! B: ack:2 +100 ack:2",
			want:   "",
			rows:   map[string]string{"B": "acks=22"},
		},
		{
			name:   "two ACKs alike answer two repeated requests, though it is not known yet whose",
			script: "A: 0-2 A2: 0-2 A: 1-2! A2: 1-2! B: ack:2 ack:2 B2: ack:2 A: 3! B: ack:3",
			want:   "retransmission@1-2 A2:retransmission@1-2",
			ids:    []idMode{constant, overIPv6},
			cold:   true,
		},
		{
			name:   "so they do where other requests stand twice",
			script: "A: 0 = 1-2 A2: 0-2 A: 1-2! A2: 1-2! B: ack:2 ack:2 B2: ack:2 A: 3! B: ack:3",
			want:   "retransmission@1-2 A2:retransmission@1-2 mirror_duplicate@0",
			ids:    []idMode{constant, overIPv6},
			cold:   true,
		},
		{
			name:   "they may come sooner than ACKs that are kept back for a while",
			script: "A2: 0-2 A3: 0-2 +40 A2: 0-1 +-5 B2: ack:2 ack:2 A2: 3! B2: ack:3 A3: 3! B3: ack:3 A2: 4! B2: ack:4 A3: 4! B3: ack:4",
			want:   "A2:retransmission@0-1 A2:spurious_retransmission@0-1",
			ids:    []idMode{constant, overIPv6},
		},
		{
			name:   "a NAK twice is a copy where nothing came since that could be refused",
			script: "A: 0-5! B: nak:3 A: 3-5! B: nak:4 = A: 4-5! B: ack:5",
			want:   "lost_downstream@3-4 retransmission_nak@3,4-5×2 B:mirror_duplicate@4",
			ids:    []idMode{constant, overIPv6},
		},
		{
			name:   "an ACK twice is a copy where what another row repeated was answered long ago",
			script: "A: 0! A2: 0-1! B: ack:0 A: 1! B: ack:1 A2: 0-1! B2: ack:1 +60 A: 2! B: ack:2 = A: 3! B: ack:3",
			want:   "A2:retransmission@0-1 B:mirror_duplicate@2",
			ids:    []idMode{constant, overIPv6},
			cold:   true,
		},
		{
			name:   "a copy of an ACK may come behind many others that are alike",
			script: "A: 0-9! +500 0-9! B: (ack:9) late:ack:9 " + strings.Repeat("ack:9 ", 100) + "late:ack:9",
			want:   "retransmission@0-9 B:mirror_duplicate@9",
			ids:    []idMode{rising, scattered},
		},
		{
			name:   "a copy of a request may come behind its resend",
			script: "A: 0-1 (2) late:2 3-5! B: nak:1 A: 1-5 late:2 6! B: ack:6",
			want:   "lost_downstream@1 retransmission_nak@1-5 mirror_duplicate@2",
			ids:    []idMode{rising, scattered},
		},
		{
			name:   "a pass that a second NAK draws behind the first packets of the one before is none of copies",
			script: "A: 0-8 A2: 0-8 B: nak:5 nak:6 A: 5-6 6-7 8! B: ack:8 A: 9! B: ack:9 A: 10! B: ack:10",
			want:   "lost_downstream@6 needless_nak@5 retransmission_nak@5,6×2,7-8 spurious_retransmission@5 A2:outstanding@0×9",
			ids:    []idMode{constant, overIPv6},
			cold:   true,
		},
		{
			name:   "a READ request and an atomic twice are copies where nothing came amiss",
			script: mtu + "A: 2-4! B: nak:3 A: 3-4! B: ack:4 A: read:5x2 = B: resp:5-6 A: atomic:7 = B: aack:7",
			want:   "lost_downstream@3 retransmission_nak@3-4 mirror_duplicate@5,7",
		},
		{
			name:   "a packet twice that one NAK asked for is a copy where it came no sooner than resends do",
			script: "A: 0-5! B: nak:3 A: 3-5! B: ack:5 A: 6-10! B: nak:8 A: (8) late:8 11 late:8 12! B: ack:12",
			want:   "lost_downstream@3,8 retransmission_nak@3-5,8 mirror_duplicate@8",
		},
		{
			name:   "so it is with the first NAK where it came no sooner than a way through the network and back",
			script: "A: 0-5! B: nak:3 +15 A: (3) late:3 6 late:3 7! B: ack:7",
			want:   "lost_downstream@3 retransmission_nak@3 mirror_duplicate@3",
		},
		{
			name:   "a pass that goes on with what a NAK named leaves that NAK open",
			script: "A: 0-8 +9 B: nak:3 nak:5 A: 3-6 5-6 7-9! B: ack:9",
			want:   "lost_downstream@5 needless_nak@3 retransmission_nak@3-4,5-6×2,7-8 spurious_retransmission@3-4",
			ids:    []idMode{constant, overIPv6},
		},
		{
			name:   "what comes again behind an answer, and not at once, is sent again",
			script: "A: 0-2 (3) 4 late:3 5! B: ack:5 A: 3 B: ack:5",
			want:   "gap@3 out_of_order@3 retransmission@3 spurious_retransmission@3",
			ids:    []idMode{constant, overIPv6},
			marks:  "......" + ".R.",
		},
		{
			name:   "what comes again is sent again where a NAK may have come unseen",
			script: "A: 0-2 (3) 4-5 late:3 +4 3-6",
			want:   "gap@3 out_of_order@3 retransmission@3-5 outstanding@0×7",
			ids:    []idMode{constant, overIPv6},
			cold:   true,
		},
	})
}

// TestOneCopyIsNoRule lets answers to a repetition pass, which are alike; what makes a copy
// of the first two must not make copies of all.
func TestOneCopyIsNoRule(t *testing.T) {
	playScenes(t, []scene{
		{
			name:   "answers to what was sent again unseen",
			script: "A2: 0! +300 B: ack:5 ack:5 ack:5 ack:5 ack:5 ack:5 ack:5 ack:5",
			want:   "A2:outstanding@0 B:mirror_duplicate@5",
			ids:    []idMode{constant, overIPv6},
			cold:   true,
		},
	})
}

// TestCopiesSoonBehindTheBegin begins captures amid what is sent again: two answers alike are
// then no copies by their times alone.
func TestCopiesSoonBehindTheBegin(t *testing.T) {
	scenes := []scene{
		{
			name:   "answers to what nobody saw",
			script: "B: ack:5 ack:5 ack:5 ack:6",
			want:   "",
		},
		{
			name:   "two answers alike on a connection that began amid a message",
			script: "A: mid:3 mid:4 last:5! B: ack:4m0 ack:4m0 ack:5m1 A: 6! B: ack:6m2",
			want:   "",
		},
		{
			name:   "two where the responder has counted messages that are not in view",
			script: "A: 0! B: ack:0m9 ack:0m9 A: 1! B: ack:1m10",
			want:   "",
		},
		{
			name:   "two that say less than a NAK before them",
			script: "A: 0-3! B: rnr:2m2 ack:1m2 ack:1m2 A: 2-3! B: ack:3m4",
			want:   "retransmission_rnr@2-3 rnr_stall@2",
		},
		{
			name:   "two where all that is acknowledged is in view",
			script: "A: 0! B: ack:0m1 ack:0m1 A: 1! B: ack:1m2",
			want:   "B:mirror_duplicate@0",
		},
		{
			name:   "two where another frame was copied before",
			script: "A: 0 = 1! B: ack:1m9 ack:1m9 A: 2! B: ack:2m10",
			want:   "mirror_duplicate@0 B:mirror_duplicate@1",
		},
	}
	for i := range scenes {
		scenes[i].ids, scenes[i].cold = []idMode{constant, overIPv6}, true
	}
	playScenes(t, scenes)
}

// TestAPassIsNoTrainOfCopies has a capture begin amid a message, and a pass so soon behind what
// it repeats that its first packet looks like a copy. The next ones do not.
func TestAPassIsNoTrainOfCopies(t *testing.T) {
	playScenes(t, []scene{
		{
			name:   "where no answer is in view yet",
			script: "A: mid:0 mid:1 mid:0 mid:1 last:2 B: ack:2",
			want:   "retransmission@1 mirror_duplicate@0",
			ids:    []idMode{constant, overIPv6},
			cold:   true,
		},
		{
			name:   "copies between which something new passes are copies",
			script: "A: mid:0 mid:1 mid:0 mid:2 mid:1 last:3 B: ack:3",
			want:   "mirror_duplicate@0-1",
			ids:    []idMode{constant, overIPv6},
			cold:   true,
		},
	})
}

// A NAK of another queue pair, which happens to have the PSN of a packet that
// stands twice, did not draw it within no time.
func TestACopyJustBehindANAK(t *testing.T) {
	for _, ids := range []idMode{constant, overIPv6} {
		s := newScript(ids, 5000).say("A: 0-8 A2: 0-8 B: nak:4 A: 9 B: nak:9")
		n := len(s.packets)
		s.now = s.packets[n-2].Time + 300
		s.packets[n-1].Time = s.now
		s.now -= us - 50
		s.pass(s.packets[n-2])
		o := s.say("A: 10! B: ack:10 A2: 9-10! B2: ack:10").play()
		if o.verdicts[n]&Copy == 0 {
			t.Errorf("with %s the copy is none", ids)
		}
	}
}

func TestACopySharesAllThatTheICRCCovers(t *testing.T) {
	s := newScript(rising, 100).say("A: 0-1! B: ack:1")
	p := s.packets[1]
	for _, c := range []struct {
		name   string
		change func()
		copied bool
	}{
		{"nothing", func() {}, true},
		{"the hop limit, as a router does", func() { p.TTL-- }, true},
		{"the codepoint, as a switch does", func() { p.ECN, p.DSCP = 3, 26 }, true},
		{"the VLAN", func() { p.Tagged, p.VLAN = true, 7 }, true},
		{"the UDP port, which the ICRC covers and the tag holds by it", func() { p.ICRCVal++ }, false},
		{"the opcode", func() { p.Op = ib.Of(ib.RC, ib.SendLast) }, false},
		{"the ID", func() { p.IPID++ }, false},
		{"the ACK request", func() { p.AckReq = false }, false},
		{"the length", func() { p.PayloadLen++ }, false},
	} {
		s := newScript(rising, 100).say("A: 0-1!")
		p = s.packets[1]
		c.change()
		s.pass(p)
		o := s.say("B: ack:1").play()
		if got := o.verdicts[2]&Copy != 0; got != c.copied {
			t.Errorf("a packet alike but for %s: copy is %v", c.name, got)
		}
	}
}

// TestCopiesThatABoxHasChanged has packets pass once more 5 µs later, while nothing that
// comes back is in view: with the same ICRC, that is wrong now, they are no resends.
func TestCopiesThatABoxHasChanged(t *testing.T) {
	for _, test := range []struct {
		icrc decode.ICRCState
		want string
	}{
		{decode.ICRCGood, "retransmission@0-3 outstanding@0×4"},
		{decode.ICRCBad, "outstanding@0×4 mirror_duplicate@0-3"},
	} {
		s := newScript(constant, 100)
		s.say("A: 0-3 +1 0-3")
		for i := range 4 {
			s.packets[4+i].ICRC = test.icrc
		}
		if got := s.play().text(); got != test.want {
			t.Errorf("with ICRC %d: %s, want %s", test.icrc, got, test.want)
		}
	}
}
