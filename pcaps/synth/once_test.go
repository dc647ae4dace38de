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
		{"mixed", 1200226, "", "a packet that was sent again and overtaken by a further pass was late, but none sent again"},
		{"mixed", 1100838, "", "so it was where no ID tells, and the packet had seemed to be a resend of that pass"},
		{"mixed", 1400979, "", "an answer to its first sending covered what a pass had skipped, before that was sent again"},
		{"mixed", 1400336, "", "a pass came to what was lost, and the NAK that asked for just that seemed to be answered later"},
		{"mixed", 1200766, "", "the capture missed what stood behind a packet that a NAK named"},
		{"mixed", 1300057, "", "a packet of a pass came late amid the next one, and seemed to begin a third"},
	} {
		t.Run(fmt.Sprintf("%s %d: %s", was.kind, was.seed, was.why), func(t *testing.T) {
			complain(t, was.kind, was.seed, kinds[was.kind](newDraw(was.seed), was.seed), was.what)
		})
	}
}
