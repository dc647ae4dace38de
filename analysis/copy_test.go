package analysis

import (
	"testing"

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
	})
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
