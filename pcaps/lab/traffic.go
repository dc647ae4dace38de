package main

import (
	"bufio"
	"encoding/json"
	"strings"
)

// A queuePair is one end of a connection, as the traffic program made it.
type queuePair struct {
	Device string `json:"device"`
	GID    string `json:"gid"`
	QPN    uint32 `json:"qpn"`
	PSN    uint32 `json:"psn"` // its first request's
}

// A said is a line of the traffic program; one field is there.
type said struct {
	Pair   *struct{ A, B queuePair } `json:"pair"`
	Failed *failure                  `json:"failed"`
	Sum    *sum                      `json:"sum"`
	Open   int                       `json:"open"`
}

// A failure is an operation that ended badly.
type failure struct {
	Device string `json:"device"`
	QPN    uint32 `json:"qpn"`
	Status string `json:"status"`
}

// A sum is what a host did.
type sum struct {
	Device   string `json:"device"`
	Posted   int    `json:"posted"`
	Failed   int    `json:"failed"`
	Received int    `json:"received"`
}

// listen reads what the traffic program printed. A line that is no JSON is a
// complaint.
func (t *truth) listen(output string) {
	lines := bufio.NewScanner(strings.NewReader(output))
	for lines.Scan() {
		var s said
		switch err := json.Unmarshal(lines.Bytes(), &s); {
		case err != nil:
			t.note("the traffic program said: %s", lines.Text())
		case s.Pair != nil:
			t.Pairs = append(t.Pairs, [2]queuePair{s.Pair.A, s.Pair.B})
		case s.Failed != nil:
			t.Failed = append(t.Failed, *s.Failed)
		case s.Sum != nil:
			t.Sums = append(t.Sums, *s.Sum)
		case s.Open > 0:
			t.note("the traffic program gave up waiting for %d operations", s.Open)
		}
	}
}
