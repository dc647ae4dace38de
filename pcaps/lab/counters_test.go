package main

import (
	"slices"
	"testing"
)

func TestQueuesThatWork(t *testing.T) {
	got, err := queues([]byte(`[{"kind":"noqueue","dev":"lo","packets":0,"drops":0},
		{"kind":"netem","dev":"s2","options":{"ecn":true},"packets":434,"drops":8},
		{"kind":"red","dev":"s1","packets":9,"drops":1,"marked":5}]`))
	if err != nil || len(got) != 2 || got[0].Dropped != 8 || got[1].Marked != 5 || got[0].Port != "s2" {
		t.Errorf("there are %+v (%v)", got, err)
	}
	if _, err := queues([]byte("Cannot open")); err == nil {
		t.Error("no JSON is no error")
	}
}

func TestFiltersThatDrop(t *testing.T) {
	got, err := filters("s1:ingress", []byte(`[{"kind":"matchall"},{"kind":"matchall","options":{"actions":[{"kind":"gact","stats":{"packets":82,"drops":2}}]}}]`))
	if want := []filter{{"s1:ingress", "gact", 82, 2}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("there are %+v (%v)", got, err)
	}
}

func TestCountersThatRose(t *testing.T) {
	got := rose(counters([]byte("rxe1 sent 3\nrxe1 failed 1\n")), counters([]byte("rxe1 sent 10\nrxe1 failed 1\nrxe2 sent 2\n")))
	if len(got["rxe1"]) != 1 || got["rxe1"]["sent"] != 7 || got["rxe2"]["sent"] != 2 {
		t.Errorf("there are %v", got)
	}
}

func TestWhatTcpdumpSays(t *testing.T) {
	got, dropped, err := tcpdumpSaid("tcpdump: listening on h1\n1 packet captured\n462 packets received by filter\n3 packets dropped by kernel\n")
	if err != nil || got != 1 || dropped != 3 {
		t.Errorf("captured %d, dropped %d (%v)", got, dropped, err)
	}
	if _, _, err := tcpdumpSaid("tcpdump: h9: no such device"); err == nil {
		t.Error("a complaint is no error")
	}
}

func TestWhatTheTrafficProgramSays(t *testing.T) {
	var truth truth
	truth.listen(`{"pair":{"a":{"device":"rxe1","gid":"::1","qpn":24,"psn":5},"b":{"device":"rxe2","gid":"::2","qpn":17,"psn":6}}}
{"failed":{"device":"rxe1","qpn":24,"status":"remote access error"}}
{"sum":{"device":"rxe1","posted":2,"failed":1,"received":0}}
{"open":1}
gid: No such file
`)
	if len(truth.Pairs) != 1 || truth.Pairs[0][1].PSN != 6 || len(truth.Failed) != 1 || len(truth.Sums) != 1 || len(truth.Notes) != 2 {
		t.Errorf("heard %+v", truth)
	}
}

func TestDropsAreHeldAgainstTheTaps(t *testing.T) {
	s := &scenario{Net: network{Hosts: 2}, Taps: []tap{{"h1", 0}, {"h2", 0}}}
	r := &recording{scenario: s, seen: map[string][]frame{"h1": packets(1, 2, 3), "h2": packets(1, 3)}, total: map[string]int{"h1": 3, "h2": 2}}
	gact := []filter{{"s1:ingress", "gact", 3, 1}}
	netem := func(port string, n int, ecn bool) []queue {
		return []queue{{Port: port, Kind: "netem", Dropped: n, Options: map[string]any{"ecn": ecn}}}
	}
	tests := []struct {
		name  string
		at    hook
		truth truth
		notes int
	}{
		{"the queue to host 2 agrees", hook{"s2", false}, truth{Queues: netem("s2", 1, false)}, 0},
		{"it counts one more", hook{"s2", false}, truth{Queues: netem("s2", 2, false)}, 1},
		{"the filter behind host 1 agrees", hook{"s1", true}, truth{Filters: gact}, 0},
		{"the queue to host 1 drops what no tap misses", hook{"s1", false}, truth{Queues: netem("s1", 1, false)}, 1},
		{"host 1 drops before the tap", hook{"h1", false}, truth{Queues: netem("h1", 1, false)}, 1},
		{"marking drops what is not ECT", hook{"s2", false}, truth{Queues: netem("s2", 1, true)}, 0},
	}
	for _, test := range tests {
		s.Faults = []fault{{At: test.at}}
		test.truth.Between = r.between()
		r.check(&test.truth)
		if len(test.truth.Notes) != test.notes {
			t.Errorf("%s: notes are %q", test.name, test.truth.Notes)
		}
	}
}
