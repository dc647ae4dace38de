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
		{"healthy", 1100078, "", "a response came late to a READ that had passed before the capture began"},
		{"healthy", 1200209, "", "IDs drawn at random, which had risen by chance in one queue pair, fell in another one"},
		{"healthy", 1300091, "", "the first response to a READ that had passed before the capture began came late, behind the last one"},
		{"healthy", 1401034, "", "a late answer to a READ of unknown length came behind the answer to the next one, and seemed to be given anew"},
		{"faulty", 760204, "", "a NAK came as long behind a request as ACKs do, and still did not tell how soon an answer can come"},
		{"faulty", 760840, "", "a packet that came late, too soon for a NAK to have drawn it, used that up"},
		{"faulty", 790488, "", "a NAK named what had come late behind a silence, and it seemed to have been asked for before"},
		{"faulty", 791260, "", "a message that ended with a late packet was not counted, as that packet had seemed to be sent again"},
		{"faulty", 800936, "", "behind a READ of unknown length another one was missing, and its answer came"},
		{"faulty", 800956, "", "an answer under way seemed to be that to a READ which had just been sent again"},
		{"faulty", 1101234, "", "of two packets that may have drawn a NAK, the wrong one had passed about as long before as ACKs take, which were kept back"},
		{"faulty", 1200769, "", "an ACK in a row seemed to be a request that its copy goes on behind"},
		{"faulty", 1401031, "", "a timer ran out behind the one packet that a NAK had drawn, and what it sent seemed to be drawn by that, too"},
		{"faulty", 1500111, "", "the last response so far came late, and seemed not to be sent before when it was sent again"},
		{"faulty", 1500326, "", "a READ behind a lost packet, and its PSNs, hid which packet had drawn the NAK"},
		{"odd-faulty", 1200505, "", "where many frames have one time, all answers took as long to the one queue pair as to the other"},
		{"odd-faulty", 1401755, "", "an answer seemed to come too soon behind its request, with which it shared a time"},
		{"odd-faulty", 1600597, "", "three requests that the capture missed in a row, each answered, counted for six"},
		{"odd-healthy", 1401669, "", "an answer had the time of its request, as the clock lagged behind"},
		{"odd-faulty", 1200891, "", "the answers of two queue pairs came soon behind the begin, and the requests of one passed before that"},
		{"odd-faulty", 1200492, "", "a queue pair answered far quicker seemed to be the one that two ACKs alike answered, of which each was drawn by a packet of another"},
		{"odd-faulty", 1200622, "", "the ACKs that duplicates drew, in a lot of one time, were to a queue pair slower than another seemed"},
		{"mixed", 1200226, "", "a packet that was sent again and overtaken by a further pass was late, but none sent again"},
		{"mixed", 1100838, "", "so it was where no ID tells, and the packet had seemed to be a resend of that pass"},
		{"mixed", 1400979, "", "an answer to its first sending covered what a pass had skipped, before that was sent again"},
		{"mixed", 1400336, "", "a pass came to what was lost, and the NAK that asked for just that seemed to be answered later"},
		{"mixed", 1200766, "", "the capture missed what stood behind a packet that a NAK named"},
		{"mixed", 1300057, "", "a packet of a pass came late amid the next one, and seemed to begin a third"},
		{"healthy", 1200518, "", "responses before the first READ in view, of which others had taken the place, seemed not to be captured"},
		{"odd-healthy", 2300407, "", "what passed while the capture paused seemed to be lost, and the queue pair dead, since it had done its work when the capture paused again"},
		{"odd-healthy", 900120, "", "so it did where the pause was shorter than a round trip"},
		{"healthy", 901152, "", "the first response that was looked at behind a begin had one before it that was not"},
		{"healthy", 2300321, "", "an answer had passed while nothing told whose it was, and seemed to be missing behind a READ of known length"},
		{"healthy", 2100448, "", "a packet came late that stood before the first one, a READ of unknown length"},
		{"healthy", 2400975, "", "an answer came behind the first response to a READ, which told its length, and before the others"},
		{"mixed", 901455, "response_", "an ACK of what duplicates carried came late, amid the answer to a READ asked again, and seemed to end that"},
		{"mixed", 900115, "response_", "so it was, and a response that came late behind such ACKs and the next answer seemed to be given anew"},
		{"mixed", 900471, "response_", "a late response in an answer given again seemed to be late in the one before"},
		{"mixed", 1200783, "response_", "so it was, over and over"},
		{"mixed", 6000114, "", "what was sent again in vain, and lost then, seemed to have been needed"},
		{"mixed", 6100111, "", "a receiver that keeps what comes behind a hole seemed to have thrown away what it asked for next"},
		{"mixed", 6001263, "", "the capture missed the resend of a lost packet, and the NAK for it seemed to be needless"},
		{"mixed", 6001118, "", "a timer ran out behind a packet that came late, and those before it were thrown away, not lost"},
		{"mixed", 6001177, "", "the first answer behind a timer covered more than what had just been sent again, which seemed to be lost before"},
		{"mixed", 900197, "", "a pass overtook the end of the one before, and seemed to repeat all of that late"},
		{"mixed", 6201222, "", "a packet came late and was lost then, as if it had arrived and those before it had been thrown away"},
		{"mixed", 6100478, "", "a pass began with a packet that was lost, although the receiver had it as the answer told, which came too soon for that"},
		{"odd-faulty", 6200124, "", "the answers of a queue pair all of whose requests passed before the capture began fitted the only one that asked, which another one answered"},
		{"odd-healthy", 7200683, "", "so they did, and there were more of them by then"},
		{"mixed", 6001287, "response_", "of three answers to what was asked for three times, before many round trips were known, the second seemed to be the third"},
		{"mixed", 6101099, "response_", "a copied response seemed to be the first to the READ that had just been asked again"},
		{"mixed", 6200748, "response_", "a response that had been lost came again, and a copy of it seemed to be asked for too"},
		{"mixed", 6000639, "response_", "an answer that was given again, for a READ that a NAK had seemed to refuse, seemed to be given once"},
		{"odd-faulty", 6100236, "", "ACKs alike, of which the capture holds no question, seemed to be copies"},
		{"odd-faulty", 6000485, "", "so they did where it began amid a message that was being sent again"},
		{"odd-faulty", 6200771, "", "so they did where the responder counted messages that had ended before the capture began"},
		{"odd-faulty", 1500088, "", "so they did behind an RNR NAK for what follows"},
		{"odd-faulty", 6000620, "", "so they did where they, and what had been sent again, had one time"},
		{"odd-faulty", 1400557, "", "a pass so soon behind the begin that nothing told of the NAK seemed to be copies, one after the other"},
		{"odd-healthy", 6000934, "", "a READ passed before anything showed the path MTU, and what the capture missed behind it was not counted although that was known by then"},
		{"odd-faulty", 75, "peer", "a queue pair asked only behind so many answers to what had passed before the begin that its partner was hardly looked for any more"},
		{"mixed", 6000391, "peer", "of two rows that one alone seemed to answer, the other might have one as well that the capture lacks one request of"},
		{"mixed", 300234, "response_", "behind a response that was missing, the rest of an answer given again seemed to be copies"},
		{"mixed", 6001458, "response_", "a whole answer that was given again soon seemed to be copies"},
		{"mixed", 6101011, "response_", "the first response was missing of an answer whose READ seemed to have had it"},
		{"mixed", 6100682, "response_", "what was missing came in an answer given again, and seemed to be late"},
		{"mixed", 6000449, "response_", "a requester near the tap went on, sooner than a responder far from it answers, and a hole in the last responses seemed open"},
	} {
		t.Run(fmt.Sprintf("%s %d: %s", was.kind, was.seed, was.why), func(t *testing.T) {
			complain(t, was.kind, was.seed, kinds[was.kind](newDraw(was.seed), was.seed), was.what)
		})
	}
}
