package analysis

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rocescope/rocescope/decode/ib"
)

func TestPairs(t *testing.T) {
	const (
		first   = "peer_qp=160 peer_by=responses"
		second  = "peer_qp=162 peer_by=responses"
		unknown = "peer_qp=<nil> peer_by="
	)
	apart := map[string]ib.PSN{"A": 5000, "A2": 700_000, "B": 2_000_000, "B2": 3_000_000}
	scenes := []scene{
		{
			name:   "one response pairs two rows where one window has its PSN",
			script: "A: 0-2! A2: 0-2! B: ack:2 B2: ack:2",
			want:   "",
			starts: apart,
			rows:   map[string]string{"A": first, "A2": second, "B": "peer_qp=176 peer_by=responses", "B2": "peer_qp=178"},
		},
		{
			name:   "no response fits: the peer stays unknown",
			script: "A: 0-2! B2: ack:2",
			want:   "outstanding@0×3",
			starts: map[string]ib.PSN{"A": 5000, "A2": 700_000},
			rows:   map[string]string{"A": unknown, "B2": unknown},
		},
		{
			name:   "never wrong when two fit",
			script: "A: 0-2! A2: 0-2! B: ack:2 B2: ack:2",
			want:   "outstanding@0×3 A2:outstanding@0×3",
			rows:   map[string]string{"A": unknown, "A2": unknown, "B": unknown, "B2": unknown},
		},
		{
			name:   "a later response decides between two",
			script: "A: 0-2! A2: 0-2! B: ack:2 A: 3-5! B: ack:5",
			want:   "A2:outstanding@0×3",
			rows:   map[string]string{"A": first, "A2": unknown, "B": "peer_qp=176"},
		},
		{
			name:   "the partner of one leaves the other for the rest",
			script: "A: 0-2! A2: 0-2! B: ack:2 A2: 3-5! B2: ack:5",
			want:   "",
			rows:   map[string]string{"A": first, "A2": second},
		},
		{
			name:   "packets held back for their pair keep their order",
			script: "A: 0-2 4-5! A2: 0-5! B: nak:3 A: 3-4 5! A2: 6-7! B2: ack:7 B: ack:5",
			want:   "gap@3 lost_upstream@3 retransmission_nak@3-5",
			rows:   map[string]string{"A": first, "A2": second},
		},
		{
			name:   "packets held back to the end are told in their order",
			script: "A: 0-2 4-5! A2: 0-5! B: nak:3 A: 3-4 5! A2: 6-7! B2: ack:7",
			want:   "gap@3 lost_upstream@3 retransmission_nak@3-5 outstanding@3×3",
			rows:   map[string]string{"A": first, "A2": second},
		},
		{
			name:   "what one row alone sent again is what a NAK asked for",
			script: "A: 0-5! A2: 0-5! B: ack:1 B2: ack:1 B: nak:3 A: 3-4 5! B: ack:5 B2: ack:5",
			want:   "lost_downstream@3 retransmission_nak@3-5",
			rows:   map[string]string{"A": first, "A2": second},
		},
		{
			name:   "a NAK tells nothing where both rows went back there",
			script: "A: 0-5! A2: 0-5! B: ack:1 B2: ack:1 B: nak:3 A: 3-4 5! A2: 3-4 5! B: ack:5 B2: ack:5",
			want:   "retransmission@3-5 A2:retransmission@3-5 outstanding@0×6 A2:outstanding@0×6",
			rows:   map[string]string{"A": unknown, "A2": unknown},
		},
		{
			name:   "what follows a READ of unknown length ends it, so that the answers to that fit",
			script: "A: 0! read:1x1 2! 3! A2: 0-5! B: ack:0 ronly:1 ack:2 ack:3 B2: ack:5",
			want:   "",
			rows:   map[string]string{"A": first, "A2": second},
		},
		{
			name:   "a copy that was held back counts as a copy",
			script: "A: 0-2! A2: 0-2! B: ack:2 A: 3 = 4-5! B: ack:5",
			want:   "A2:outstanding@0×3 mirror_duplicate@3",
			rows:   map[string]string{"A": "request_frames=6 mirror_duplicates=1 frames=7"},
		},
		{
			name:   "a copy of a response that was held back counts as a copy",
			script: "A: 0-2! A2: 0-2! B: ack:2 = A: 3-5! B: ack:5",
			want:   "A2:outstanding@0×3 B:mirror_duplicate@2",
			rows:   map[string]string{"B": "response_frames=2 acks=2 mirror_duplicates=1"},
		},
		{
			name:   "the one that sends again what a NAK asks for is its partner, among two that did all the same",
			script: "A: 0-4! A2: 0-4! B: nak:2 A2: 5! A: 2-4! B: ack:4",
			want:   "lost_downstream@2 retransmission_nak@2-4 A2:outstanding@0×6",
			rows:   map[string]string{"A": first, "A2": unknown},
		},
		{
			name:   "two that send it again tell nothing",
			script: "A: 0-4! A2: 0-4! B: nak:2 A: 2-4! A2: 2-4! B: ack:4",
			want:   "retransmission@2-4 A2:retransmission@2-4 outstanding@0×5 A2:outstanding@0×5",
			rows:   map[string]string{"A": unknown, "A2": unknown},
		},
		{
			name:   "nor do two NAKs, of which one drew a resend in view",
			script: "A: 0-4! A2: 0-4! B: nak:2 B2: nak:2 A: 2-4!",
			want:   "retransmission@2-4 outstanding@0×5 A2:outstanding@0×5",
			rows:   map[string]string{"A": unknown, "A2": unknown},
		},
		{
			name:   "what may have been sent again while the capture paused tells nothing",
			script: "A: 0-4! A2: 0-4! B: nak:2 +50 A: 2-4! B: ack:4",
			want:   "retransmission@2-4 outstanding@0×5 A2:outstanding@0×5",
			rows:   map[string]string{"A": unknown, "A2": unknown},
		},
		{
			name:   "whoever is the partner, what all responses go beyond has arrived",
			script: "A: 0-2! 4-5! A2: 0-5! B: ack:5 B2: ack:5",
			want:   "gap@3 not_captured@3 outstanding@0×6 A2:outstanding@0×6",
			rows:   map[string]string{"A": unknown},
		},
		{
			name:   "unless one of them does not, or asks for it",
			script: "A: 0-2! 4-5! A2: 0-2! 4-5! B: ack:5 B2: ack:2",
			want:   "gap@3 A2:gap@3 unresolved@3 A2:unresolved@3 outstanding@0×6 A2:outstanding@0×6",
			rows:   map[string]string{"A": unknown},
		},
		{
			name:   "what had arrived before the first request in view was sent again",
			script: "B: ack:5 A: 6-8! 4 B: ack:8",
			want:   "retransmission@4 spurious_retransmission@4",
			rows:   map[string]string{"A": first + " messages=3"},
		},
		{
			name:   "READ responses belong to the row that READs",
			script: "A: read:0x1 A2: 0! B: ronly:0",
			want:   "A2:outstanding@0",
			rows:   map[string]string{"A": first, "A2": unknown},
		},
		{
			name:   "one answer is to one READ: none to a READ that began where another request stands",
			script: "A: 0-2 read:3x6 B2: rfirst:1 rmid:2-7 rlast:8 +50 A2: 9! B2: ack:9 B: resp:3-8",
			want:   "",
			rows:   map[string]string{"A": first, "A2": second},
			cold:   true,
		},
		{
			name:   "answers to atomics belong to the row with atomics",
			script: "A: 0! A2: atomic:0 B2: aack:0",
			want:   "outstanding@0",
			rows:   map[string]string{"A": unknown, "A2": second},
		},
		{
			name:   "an ACK belongs to no READ",
			script: "A: read:0x1 A2: 0! B2: ack:0",
			want:   "outstanding@0",
			rows:   map[string]string{"A": unknown, "A2": second},
		},
		{
			name:   "a response to what came before the first request in view shows no partner",
			script: "A: 5! B: ack:4",
			want:   "outstanding@5",
			rows:   map[string]string{"A": unknown, "B": unknown},
		},
		{
			name:   "of two that may answer the only row that asks, one answers what passed before the capture began: not the one whose answers last",
			script: "A: 0! B2: ack:0 B: ack:-2 A: 1! B2: ack:1 B: ack:-1 A: 2! B2: ack:2 A: 3! B: ack:0 +40 ack:1 A: 4! +40 B: ack:2 +40 ack:3 A: 5! +40 B: ack:4 ack:5",
			want:   "",
			rows:   map[string]string{"A": first, "B": "peer_qp=176", "B2": unknown},
		},
		{
			name:   "where both last as long nothing tells",
			script: "A: 0! B2: ack:0 B: ack:-2 A: 1! B2: ack:1 B: ack:-1 A: 2! B2: ack:2 A: 3! B: ack:0 ack:1 ack:2 B2: ack:3 B: ack:3",
			want:   "outstanding@0×4",
			rows:   map[string]string{"A": unknown, "B": unknown, "B2": unknown},
		},
		{
			name:   "two that the capture lacks requests for may answer the one row that asked for enough",
			script: "A: 0-5! A2: 0! B: ack:3 B2: ack:3",
			want:   "outstanding@0×6 A2:outstanding@0",
			rows:   map[string]string{"A": unknown, "A2": unknown},
		},
		{
			name:   "nor which of two that have no other one, whose requests the capture lacks",
			script: "A: 0! A2: 0! A3: 0! B: ack:0 B2: ack:0 B3: ack:0 A: 1! A2: 1! A3: 1! B: ack:1 B2: ack:1 B3: ack:1 A: 2! A2: 2! A3: 2! B: ack:2 B2: ack:2 B3: ack:2 A: 3-8! B: ack:8 B2: ack:8 A2: 3-7 A3: 3-8! B3: ack:8",
			want:   "outstanding@0×9 A2:outstanding@0×8 A3:outstanding@0×9",
			rows:   map[string]string{"A": unknown, "A2": unknown, "A3": unknown},
		},
		{
			name:   "but which of two where the capture lacks few requests of one that the other may have as well",
			script: "A: 0! A2: 0! A3: 0! B: ack:0 B2: ack:0 B3: ack:0 A: 1! A2: 1! A3: 1! B: ack:1 B2: ack:1 B3: ack:1 A: 2! A2: 2! A3: 2! B: ack:2 B2: ack:2 B3: ack:2 A: 3-8! B: ack:8 A2: 3-7 (8!) B2: ack:8 A3: 3-8! B3: ack:8",
			want:   "A2:outstanding@0×8 A3:outstanding@0×9",
			rows:   map[string]string{"A": first},
		},
		{
			name:   "however many answers went before, those to a row that asks only then are its own",
			script: "B: ack:0 ack:1 ack:2 ack:3 ack:4 ack:5 ack:6 ack:7 ack:8 ack:9 ack:10 ack:11 ack:12 ack:13 ack:14 ack:15 ack:16 ack:17 ack:18 +300 A: 19! B: ack:19",
			want:   "",
			rows:   map[string]string{"A": first, "B": "peer_qp=176"},
		},
		{
			name:   "a partner asks before it is answered",
			script: "A: 0! B: ack:0 ack:2 A2: 1-2! 3! B: ack:3",
			want:   "outstanding@0 A2:outstanding@1×3",
			rows:   map[string]string{"A2": unknown},
		},
		{
			name:   "counts of messages that differ tell two rows apart",
			script: "A: 0! 1-2 3! A2: 0! first:1 mid:2 last:3! B: ack:0m1 ack:3m4 B2: ack:0m1 ack:3m2",
			want:   "",
			rows:   map[string]string{"A": first, "A2": second},
		},
	}
	for i := range scenes {
		scenes[i].cold = true
	}
	playScenes(t, scenes)
}

// TestPairsByTheSameRoundTrip plays two queue pairs with the same PSNs, of which the
// second always asks a little later and is answered a little later.
func TestPairsByTheSameRoundTrip(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers int
		later   string
		known   bool
	}{
		{"many round trips that are the same", 8, "+0", true},
		{"few of them", 7, "+0", false},
		{"those of the second are longer, so that who answers whom is a guess", 8, "+4", false},
	} {
		s := newScript(overIPv6, 100)
		for n := range c.answers {
			s.say(fmt.Sprintf("A: %d! A2: %d! +160 B: ack:%d %s B2: ack:%d", n, n, n, c.later, n))
		}
		o := s.play()
		for _, who := range []string{"A", "B", "A2", "B2"} {
			switch r := o.row(who); {
			case (r.peer != nil) != c.known:
				t.Errorf("%s: the peer of %s is known: %v", c.name, who, r.peer != nil)
			case c.known && r.peerQP != queuePair(who):
				t.Errorf("%s: the peer of %s is %#x", c.name, who, r.peerQP)
			}
		}
	}
}

// TestMissingEndsOfMessagesRuleNoPartnerOut loses the end of a message, whose resend is
// none of the messages that the row's window keeps.
func TestMissingEndsOfMessagesRuleNoPartnerOut(t *testing.T) {
	for name, script := range map[string]string{
		"the end of a message":        "A: first:3 mid:4 (last:5!) wonly:6! B: nak:5m3 A: last:5! B: ack:6m5",
		"the end and what follows it": "A: first:3 mid:4 (last:5!) (6!) wonly:7! B: nak:5m3 A: last:5! 6! B: ack:7m6",
		"a message":                   "A: first:3 mid:4 last:5! (6!) wonly:7! B: nak:6m4 A: 6! B: ack:7m6",
		"the middle of a message":     "A: first:3 (mid:4) last:5! wonly:6! B: nak:4m3 A: mid:4 last:5! B: ack:6m5",
	} {
		s := newScript(overIPv6, 0)
		s.say("A: 0 1 2! A2: 0 1 2! B: ack:1m2 ack:2m3 B2: ack:2m3 A2: 3-7!").say(script)
		if x, ok := candidateOf(s, "A", "B"); !ok || x.struck > 0 {
			t.Errorf("%s: the true partner is contradicted, or no candidate: %t", name, ok)
		}
	}
}

// TestResponsesAheadOfTheirRequests has a response name what one of two rows alike has
// not asked for. What that row does next tells whose response it was.
func TestResponsesAheadOfTheirRequests(t *testing.T) {
	for name, c := range map[string]struct {
		then                   string
		struck, contradictions uint8
	}{
		"nothing follows":                         {"", 1, 0},
		"the row leaves out what was named":       {"A: 5 B: ack:5", 0, 0},
		"it leaves out that alone":                {"A: 3 5 B: ack:5", 0, 0},
		"it sends that only now":                  {"A: 3-4 B: ack:4", 1, 1},
		"it sends what comes before that, so far": {"A: 3 B: ack:4", 2, 0},
	} {
		s := newScript(overIPv6, 5000)
		s.say("A: 0-2! A2: 0-7! B: ack:2 ack:4").say(c.then)
		x, ok := candidateOf(s, "A", "B")
		if !ok || x.struck != c.struck || x.struck-x.ahead != c.contradictions {
			t.Errorf("%s: %d responses speak against it, %d of them whatever the capture missed; want %d and %d", name, x.struck, x.struck-x.ahead, c.struck, c.contradictions)
		}
	}
}

// TestCandidatesLackEachPacketOnce has several answers in a row name what the capture missed.
func TestCandidatesLackEachPacketOnce(t *testing.T) {
	s := newScript(overIPv6, 5000)
	s.say("A: 0-2! A2: 0-7! B: ack:2 ack:3 ack:4 ack:5")
	if x, ok := candidateOf(s, "A", "B"); !ok || x.lacks != 3 {
		t.Errorf("of the three packets that four answers tell of it lacks %d", x.lacks)
	}
}

// TestOneAnswerShowsAPartner asks whether a single answer is enough where one row is left
// that it may be to, by how long it took.
func TestOneAnswerShowsAPartner(t *testing.T) {
	for _, c := range []struct {
		name  string
		took  int64
		shows bool
	}{
		{"as long as others", 32_000, true},
		{"somewhat less, where no queue kept it", 20_000, true},
		{"far less than any other: it is to what nobody saw", 12_000, false},
		{"far longer than any other", 300_000, false},
	} {
		b := &bundle{minRTT: [2]int64{31_000, 31_000}, rtts: [2]int{enough, enough}}
		x := candidate{row: &row{bundle: b}, within: 1, quickest: c.took}
		if got := x.shows(&row{bundle: b, dir: 1}); got != c.shows {
			t.Errorf("%s: it shows the partner: %v", c.name, got)
		}
	}
}

// candidateOf returns the candidate of the row of one queue pair which answers the
// requests of another.
func candidateOf(s *script, of, row string) (candidate, bool) {
	g := newShard(Defaults(1), nil)
	g.process(&input{packets: s.packets})
	for _, b := range g.bundles {
		b.settleDebts()
		for _, r := range slices.Concat(b.rows[0], b.rows[1]) {
			i := slices.IndexFunc(r.cand, func(c candidate) bool { return c.row.qp == queuePair(row) })
			if r.qp == queuePair(of) && i >= 0 {
				return r.cand[i], true
			}
		}
	}
	return candidate{}, false
}

// wantExcuses holds A as a candidate for B's partner against how many responses a pause
// excuses, and how many speak against it.
func wantExcuses(t *testing.T, name string, s *script, excused, struck uint8) {
	t.Helper()
	if x, ok := candidateOf(s, "A", "B"); !ok || x.excused != excused || x.struck != struck {
		t.Errorf("%s: a pause excuses %d responses and %d speak against it; want %d and %d", name, x.excused, x.struck, excused, struck)
	}
}

// TestResponsesBehindAPause has responses name what a row did not ask for as far as the
// capture shows, which may have paused: soon behind a silence, twice, that says nothing.
func TestResponsesBehindAPause(t *testing.T) {
	for name, c := range map[string]struct {
		then            string
		excused, struck uint8
	}{
		"no silence":                           {"B: ack:7", 0, 1},
		"a silence":                            {"+50 B: ack:7 ack:8", 2, 0},
		"more than two silences":               {"+50 B: ack:7 +50 B: ack:8 +50 B: ack:9", 2, 1},
		"what was named is sent after it":      {"+50 B: ack:7 A: 3-8! B: ack:8", 1, 1},
		"so it is, of a row that sent amid it": {"+50 B: ack:7 A: 4-8! B: ack:8", 1, 0},
		"a NAK named what is sent again":       {"+50 B: nak:7 A: 7-8! B: ack:8", 1, 0},
	} {
		s := newScript(overIPv6, 5000)
		s.say("A: 0-2! A2: 0-6! 7! B: ack:2").say(c.then)
		wantExcuses(t, name, s, c.excused, c.struck)
	}
}

// TestResponsesBehindAPauseAndASilence has the silence before the response be as short as
// many, behind a far longer one: what was under way in that is still to come, as long as an
// answer takes.
func TestResponsesBehindAPauseAndASilence(t *testing.T) {
	for name, c := range map[string]struct {
		then            string
		excused, struck uint8
	}{
		"as soon behind the pause as answers come": {"+200 A2: 11 +22 B: ack:7", 1, 0},
		"later":    {"+200 A2: 11 +45 B: ack:7", 0, 1},
		"no pause": {"+22 A2: 11 +22 B: ack:7", 0, 1},
	} {
		s := newScript(overIPv6, 5000)
		s.say("A: 0-2! A2: 0-2! +30 B: ack:2 A2: 3-7! +22 A2: 8 +22 A2: 9 +22 A2: 10").say(c.then)
		wantExcuses(t, name, s, c.excused, c.struck)
	}
}

func TestPairsBySourcePort(t *testing.T) {
	for _, c := range []struct {
		name string
		port func(a, b uint32) uint16
		by   peerBy
	}{
		{"the ports follow from both numbers", SourcePort, byPort},
		{"the ports do not", func(a, b uint32) uint16 { return 0xC000 + uint16(a+b) }, byNothing},
	} {
		s := newScript(rising, 100)
		s.port = c.port
		o := s.say("A: 0-2! A2: 0-2! B: ack:2 B2: ack:2").play()
		for _, who := range []string{"A", "B", "A2", "B2"} {
			r := o.row(who)
			if r.peerBy != c.by && who[1:] == "" { // the second pair is what is left
				t.Errorf("%s: the peer of %s is known by %q, want %q", c.name, who, r.peerBy, c.by)
			}
			if r.peerBy != byNothing && r.peerQP != queuePair(who) {
				t.Errorf("%s: the peer of %s is %#x, want %#x", c.name, who, r.peerQP, queuePair(who))
			}
		}
	}
}

func TestSourcePortFormula(t *testing.T) {
	for _, c := range []struct{ a, b uint32 }{{0xA0, 0xB0}, {1, 0xFFFFFF}, {0xFFFFFF, 0xFFFFFF}, {0, 0}} {
		x, y := SourcePort(c.a, c.b), SourcePort(c.b, c.a)
		if x != y || x < 0xC000 {
			t.Errorf("%#x and %#x have ports %#x and %#x", c.a, c.b, x, y)
		}
	}
}

func connect(s *script, a, b string, id uint32) {
	s.manage("A", ib.CM{Attr: ib.AttrREQ, LocalCommID: id, QPN: queuePair(a), StartPSN: s.start, PathMTU: 3})
	s.manage("B", ib.CM{Attr: ib.AttrREP, LocalCommID: id + 100, RemoteCommID: id, QPN: queuePair(b), StartPSN: s.start})
}

func TestPairsByConnectionManagement(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"requests first", "A: 0-2! A2: 0-2! B: ack:2 B2: ack:2"},
		{"responses first", "B: ack:2 A: 0-2! B2: ack:2 A2: 0-2!"},
		{"one direction alone", "A: 0-2! A2: 0-2!"},
		{"a READ whose length needs the path MTU", "A: read:0x3 3! B: resp:0-2 ack:3 A2: 0! B2: ack:0"},
	} {
		s := newScript(rising, 0xFFFFFE)
		connect(s, "A", "B", 1)
		connect(s, "A2", "B2", 2)
		s.manage("A", ib.CM{Attr: ib.AttrREQ, LocalCommID: 1, QPN: queuePair("A")}) // asked again
		o := s.say(c.script).play()
		for _, who := range []string{"A", "B", "A2", "B2"} {
			r := o.row(who)
			if r == nil {
				continue
			}
			if r.peerBy != byCM || r.peerQP != queuePair(who) || r.mtu != 1024 {
				t.Errorf("%s: the peer of %s is %#x by %q with MTU %d", c.name, who, r.peerQP, r.peerBy, r.mtu)
			}
		}
		if o.total(Gap) != 0 || o.total(ResponseGap) != 0 {
			t.Errorf("%s: %s", c.name, o.text())
		}
	}
}
