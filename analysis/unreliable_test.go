package analysis

import (
	"testing"

	"github.com/rocescope/rocescope/decode/ib"
)

func TestUnreliableTransports(t *testing.T) {
	playScenes(t, []scene{
		{
			name:   "a UC hole is lost upstream",
			script: "A: 0-2 5-6",
			want:   "gap@3 lost_upstream@3-4",
			tr:     ib.UC,
			cold:   true,
			rows:   map[string]string{"A": "messages=5 frames=5 peer_qp=<nil>"},
		},
		{
			name:   "a late UC packet is reordered",
			script: "A: 0-2 (3) 4 late:3 5",
			want:   "gap@3 out_of_order@3",
			tr:     ib.UC,
			cold:   true,
		},
		{
			name:   "a UC packet before the first one that passed is late",
			script: "A: (0) (1) (2) 3 4 late:1 late:2 late:0 5",
			want:   "gap@0-1 out_of_order@0-2",
			tr:     ib.UC,
			cold:   true,
		},
		{
			name:   "what a late UC packet skips may have passed before the capture began",
			script: "A: (0) (1) 2 3 late:0 4",
			want:   "gap@0 out_of_order@0",
			tr:     ib.UC,
			cold:   true,
		},
		{
			name:   "what UC lacks near its begin may have passed before that, where packets overtake each other",
			script: "A: mid:0 (1) 2-3 (4) 5 late:4 (6) 7 late:6 8",
			want:   "gap@1,4,6 out_of_order@4,6",
			tr:     ib.UC,
			cold:   true,
		},
		{
			name:   "what UC lacks later cannot",
			script: "A: mid:0-9 (10) 11-12 (13) 14 late:13 (15) 16 late:15 17",
			want:   "gap@10,13,15 lost_upstream@10 out_of_order@13,15",
			tr:     ib.UC,
			cold:   true,
		},
		{
			name:   "a UC packet twice is a copy",
			script: "A: 0-2 = 3",
			want:   "mirror_duplicate@2",
			tr:     ib.UC,
			cold:   true,
		},
		{
			name:   "a UD hole counts where the queue pair sends to one destination",
			script: "A: 0-5 8-9",
			want:   "gap@6 lost_upstream@6-7",
			tr:     ib.UD,
			cold:   true,
			rows:   map[string]string{"A": "src_qp=160 peer_qp=160 peer_by=datagram"},
		},
		{
			name:   "UD PSNs that jump count other destinations as well",
			script: "A: 0 3 5 9 12 20 23",
			want:   "",
			tr:     ib.UD,
			cold:   true,
		},
		{
			name:   "a UD packet that comes late is told before the PSNs are known to count one destination",
			script: "A: 0 (1) 2 late:1 3-5",
			want:   "gap@1 out_of_order@1",
			tr:     ib.UD,
			cold:   true,
		},
		{
			name:   "UD PSNs that begin anew soon are not late",
			script: "A: 0-2 +5000 0-2",
			want:   "",
			tr:     ib.UD,
			cold:   true,
		},
		{
			name:   "a UC message with a far PSN opens a new connection",
			script: "A: 0-5 200000-200002",
			want:   "",
			tr:     ib.UC,
			cold:   true,
		},
		{
			name:   "UD PSNs that begin anew count no loss",
			script: "A: 0-5 200000-200005 100-105",
			want:   "",
			tr:     ib.UD,
			cold:   true,
		},
		{
			name:   "a UD sequence is that of one sender",
			script: "A: 0-5 A2: 0-5 A: 6-7 A2: 6-7",
			want:   "",
			tr:     ib.UD,
			cold:   true,
		},
	})
}

// TestUDToTwoDestinations has one queue pair send to two others by turns, a few
// packets each: its PSNs count the packets of both.
func TestUDToTwoDestinations(t *testing.T) {
	s := newScript(rising, 100)
	s.tr = ib.UD
	s.say("A: 0-21")
	for _, n := range []int{6, 7, 12, 13, 17, 18, 19, 21} {
		s.packets[n].QP = 0xB5
	}
	if got := s.play().text(); got != "" {
		t.Errorf("packets to the other destination are %s", got)
	}
}

// TestDatagramsOfUnknownSenders has two queue pairs send to a third by turns, while the
// snap length cuts off which one did.
func TestDatagramsOfUnknownSenders(t *testing.T) {
	s := newScript(rising, 100)
	s.tr = ib.UD
	s.say("A: 0-7 A2: 3-9 A: 8-9 A2: 10-15 =")
	for i := range s.packets {
		s.packets[i].QP, s.packets[i].SrcQP, s.packets[i].HasExt = s.packets[0].QP, 0, false
	}
	o := s.play()
	if got := o.text(); got != "mirror_duplicate@15" {
		t.Errorf("they are %s", got)
	}
	if f := o.shard.rows[0].report(); f.SrcQP != nil || f.PeerQP != nil || f.Messages != 23 {
		t.Errorf("sent by %v, peer %v, %d messages", f.SrcQP, f.PeerQP, f.Messages)
	}
}

func TestManagementPairsAreLeftOutOfLoss(t *testing.T) {
	for _, qp := range []uint32{0, 1} {
		s := newScript(rising, 100)
		s.tr = ib.UD
		s.say("A: 0-5 8-9")
		for i := range s.packets {
			s.packets[i].QP, s.packets[i].SrcQP = qp, qp
		}
		o := s.play()
		if len(o.events) != 0 {
			t.Errorf("%d events of queue pair %d", len(o.events), qp)
		}
		if f := o.shard.rows[0].report(); f.DataFrames != 0 || f.Frames != 8 {
			t.Errorf("queue pair %d: %d of %d frames are data", qp, f.DataFrames, f.Frames)
		}
	}
}

func TestBadICRC(t *testing.T) {
	playScenes(t, []scene{
		{
			name:   "a frame with a bad ICRC that fits counts as seen, and its resend as lost downstream",
			script: "A: 0-2 3~ 4-5! B: nak:3 A: 3-4 5! B: ack:5",
			want:   "lost_downstream@3 retransmission_nak@3-5",
		},
		{
			name:   "a frame with a bad ICRC that does not fit belongs to no row",
			script: "A: 0-2 5000~ 3-5! B: ack:5",
			want:   "",
			marks:  "..." + "S" + "....",
			rows:   map[string]string{"A": "frames=26"},
		},
		{
			name:   "an ACK with a bad ICRC that fits counts as seen",
			script: "A: 0-2 (3) 4-5! B: ack:5~ A: 6! B: ack:6",
			want:   "gap@3 not_captured@3",
		},
		{
			name:   "an ACK with a bad ICRC that acknowledges what nobody sent is no news",
			script: "A: 0-2 4! B: ack:5000~ A: 5-6! B: nak:3 A: 3-6! B: ack:6",
			want:   "gap@3 lost_upstream@3 retransmission_nak@3-6",
		},
		{
			name:   "a damaged queue pair number makes no row that is reported",
			script: "A: 0-2 A7: 100~ A: 3-5! B: ack:5",
			want:   "A7:outstanding@100",
		},
	})
}

func TestASuspectRowIsReportedFromItsSecondFrame(t *testing.T) {
	for _, c := range []struct {
		name, script string
		rows         int
	}{
		{"one frame with a bad ICRC", "A: 0 A7: 100~ A: 1", 1},
		{"one frame with a good ICRC", "A: 0 A7: 100 A: 1", 2},
		{"two frames with bad ICRCs that follow each other", "A: 0 A7: 100~ 101~ A: 1", 2},
		{"a bad frame and a good one", "A: 0 A7: 100~ 101 A: 1", 2},
		{"a bad frame and a bad one elsewhere", "A: 0 A7: 100~ A8: 300~ A: 1", 1},
	} {
		o := newScript(rising, 100).say(c.script).play()
		if got := len(o.shard.report().Flows); got != c.rows {
			t.Errorf("%s: %d rows, want %d", c.name, got, c.rows)
		}
	}
}
