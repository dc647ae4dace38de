package synth_test

import (
	"fmt"
	"testing"
)

// TestScenariosOnceMisjudged plays what the generator drew and the analysis took for
// something else, and says why.
func TestScenariosOnceMisjudged(t *testing.T) {
	for _, was := range []struct {
		kind string
		seed uint64
		what string // of all that is noted
		why  string
	}{
		{"mixed", 300305, "", "the first response of a queue pair had an ID above 32767, and the second one seemed to have a lower one"},
		{"mixed", 300765, "", "a late response was the first of its queue pair, whose partner became known only behind it"},
		{"mixed", 300312, "", "three packets whose IDs rose by one each did not show that IDs rise"},
		{"mixed", 300642, "response_", "a copied READ waited for an answer of its own although later ones had theirs"},
		{"mixed", 300685, "response_", "a READ whose first response was missing, as that of one before it, got it late"},
		{"mixed", 300028, "", "a response like the newest one came with no READ to ask for it"},
		{"mixed", 300053, "", "a READ of which no other asked anything had all its responses, and one of them once more"},
		{"mixed", 420415, "response_", "a late response seemed to begin the answer to the READ that had just asked for it again, before others sent earlier had theirs"},
		{"mixed", 300206, "", "a packet that came late in a pass that one NAK drew used up the next NAK"},
		{"mixed", 301116, "", "the first packet of a pass came late, and the pass seemed to be the one that the next NAK drew"},
		{"mixed", 710293, "response_", "a READ that a NAK seemed to refuse was answered, and its first response missed"},
		{"troubled", 720801, "", "of two queue pairs that did the same one alone sent again what an RNR NAK asked for"},
		{"odd-faulty", 710002, "", "the answer that a capture begins amid goes on where the READ of another queue pair stands"},
		{"odd-faulty", 720839, "", "a pass that goes on behind a READ, while its partner was not known, seemed to be copies"},
		{"odd-faulty", 900688, "", "an ACK in a row seemed to be one of its requests, sent again for a NAK"},
		{"mixed", 300994, "", "a pass that skipped a packet, before its partner was known, seemed to go on with copies"},
		{"odd-faulty", 1200505, "", "where many frames have one time, all answers took as long to the one queue pair as to the other"},
		{"odd-faulty", 1401755, "", "an answer seemed to come too soon behind its request, with which it shared a time"},
		{"odd-faulty", 1600597, "", "three requests that the capture missed in a row, each answered, counted for six"},
		{"odd-healthy", 1401669, "", "an answer had the time of its request, as the clock lagged behind"},
		{"odd-faulty", 1200891, "", "the answers of two queue pairs came soon behind the begin, and the requests of one passed before that"},
		{"odd-faulty", 1200492, "", "a queue pair answered far quicker seemed to be the one that two ACKs alike answered, of which each was drawn by a packet of another"},
		{"odd-faulty", 1200622, "", "the ACKs that duplicates drew, in a lot of one time, were to a queue pair slower than another seemed"},
	} {
		t.Run(fmt.Sprintf("%s %d: %s", was.kind, was.seed, was.why), func(t *testing.T) {
			complain(t, was.kind, was.seed, kinds[was.kind](newDraw(was.seed), was.seed), was.what)
		})
	}
}
