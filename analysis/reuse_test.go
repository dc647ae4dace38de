package analysis

import (
	"testing"

	"github.com/rocescope/rocescope/decode/ib"
)

func TestQueuePairNumbersUsedAgain(t *testing.T) {
	playScenes(t, []scene{
		{
			name:   "a message with a far PSN opens a new connection",
			script: "A: 0-2! B: ack:2 A: 200000-200002! B: ack:200002",
			want:   "",
			rows:   map[string]string{"A": "frames=3 peer_qp=160", "B": "frames=1 peer_qp=176"},
		},
		{
			name:   "a PSN far behind opens a new connection, too",
			script: "A: 200000-200002! B: ack:200002 A: 0-2! B: ack:2",
			want:   "",
			cold:   true,
			rows:   map[string]string{"A": "frames=3 peer_qp=160"},
		},
		{
			name:   "what the old connection left open is told",
			script: "A: 0-2 4! A: 200000-200002! B: ack:200002",
			want:   "gap@3 unresolved@3 outstanding@0×5",
		},
		{
			name:   "a far PSN inside a message opens nothing, where the capture had the time to miss so many",
			script: "A: 0-2! B: ack:2 +5000 A: mid:200000! B: ack:200000",
			want:   "gap@3 not_captured@3-199999",
			rows:   map[string]string{"A": "frames=24"},
		},
		{
			name:   "where it had not, it opens a new connection whose first packet comes late",
			script: "A: 0-2! B: ack:2 A: (first:200000) mid:200001 late:first:200000 last:200002! B: ack:200002",
			want:   "gap@200000 out_of_order@200000",
			ids:    []idMode{rising, adjoining},
			rows:   map[string]string{"A": "frames=3", "B": "frames=1"},
		},
		{
			name:   "so does a PSN far behind",
			script: "A: 200000-200002! B: ack:200002 +5000 A: (first:0) mid:1 late:first:0 last:2! B: ack:2",
			want:   "gap@0 out_of_order@0",
			cold:   true,
			ids:    []idMode{rising, adjoining},
			rows:   map[string]string{"A": "frames=3"},
		},
		{
			name:   "a PSN not far ahead is a hole",
			script: "A: 0-2! B: ack:2 A: 60000! B: ack:60000",
			want:   "gap@3 not_captured@3-59999",
		},
		{
			name:   "packets held back for their pair are told though their connection ends",
			script: "A: 0-2! A2: 0-2! B: ack:2 A: 3 5! A: 200000-200002! B: ack:200002",
			want:   "gap@4 unresolved@4 outstanding@0×6 A2:outstanding@0×3",
			cold:   true,
		},
	})
}

func TestConnectionManagementRetiresARow(t *testing.T) {
	s := newScript(rising, 0xFFFFFE)
	connect(s, "A", "B", 1)
	s.say("A: 0-2 4! B: ack:2")
	connect(s, "A", "B2", 3) // A's queue pair is used again, with the same PSNs
	s.port = nil
	n := len(s.packets)
	s.say("A2: 0-2! B: ack:2")
	for i := n; i < len(s.packets); i++ {
		p := &s.packets[i]
		if p.Op.Is(ib.IsResponse) {
			p.QP = queuePair("A")
		} else {
			p.QP = queuePair("B2")
		}
	}
	o := s.play()
	var peers []uint32
	for _, r := range o.shard.rows {
		if r.qp == queuePair("A") {
			peers = append(peers, r.peerQP)
		}
	}
	if len(peers) != 2 || peers[0] != queuePair("B") || peers[1] != queuePair("B2") {
		t.Errorf("the rows towards the queue pair have the peers %#x, want one of %#x and one of %#x", peers, queuePair("B"), queuePair("B2"))
	}
	if got := o.total(Unresolved); got != 1 {
		t.Errorf("%d unresolved, want the hole of the first connection", got)
	}
}

func TestRowsBeyondTheCapCountTogether(t *testing.T) {
	s := newScript(rising, 100)
	for i := range 16 {
		s.say("A" + string(rune('0'+i%10)) + ": 0")
	}
	cfg := Defaults(1)
	cfg.MaxFlows = 5 * buckets
	sh := newShard(cfg, nil)
	sh.process(&input{packets: s.packets})
	sh.finish()
	if got := len(sh.rows); got != 6 {
		t.Errorf("%d rows, want 5 and the other", got)
	}
	if got := sh.other.count.Frames; got != sh.totals.FlowsNotTracked || got == 0 {
		t.Errorf("%d frames in the other row, %d not tracked", got, sh.totals.FlowsNotTracked)
	}
}
