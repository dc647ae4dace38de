package synth_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rocescope/rocescope/pcaps/synth"
)

// TestSequencesByClocksThatDoNotTell plays captures whose clock gives a NAK, what it
// draws and what that repeats one time, or lags behind; captures that begin amid a
// repetition; and resends of which the capture lacks the first. All counts are right.
func TestSequencesByClocksThatDoNotTell(t *testing.T) {
	for _, was := range []struct {
		kind  string
		seeds []uint64
	}{
		{"odd-faulty", []uint64{206, 258, 549, 573, 842, 1364, 1379, 14303, 14599}}, // batches, lags
		{"odd-faulty", []uint64{2, 365, 546, 1208, 1453}},                           // midstream
		{"mixed", []uint64{73, 469}},
		{"faulty", []uint64{31410}},
	} {
		for _, seed := range was.seeds {
			s := kinds[was.kind](newDraw(seed), seed)
			complain(t, was.kind, seed, s, ", want")
		}
	}
}

// TestOneFaultThatLooksLikeAnother plays single faults whose traces have been mistaken, by
// what they are. All counts and findings are right.
func TestOneFaultThatLooksLikeAnother(t *testing.T) {
	for what, seeds := range map[string][]uint64{
		"a receiver that kept what a resend repeats, or had it all":                    {300119, 301227, 410599, 510270, 520944, 710039},
		"a NAK drawn by one of a burst, behind packets that came late, or by a resend": {301063, 410397, 520919, 611996},
		"an ACK kept back since an earlier resend":                                     {410478, 411236},
		"several late packets amid a resend pass":                                      {301285},
		"a NAK for atomics that are answered before the requester goes back":           {300928},
		"READ responses missing that an atomic's answer or a message count tell":       {300764, 31302},
		"a READ whose length only its response, or the next request, tells":            {510164, 522707, 720189},
		"what is missing or late behind a READ of unknown length":                      {710052, 730181},
		"a timer that runs out for one packet after the other":                         {720767, 760077, 781119, 800309},
		"a NAK for one of several queue pairs that look alike":                         {14074},
		"a datagram that comes late near the first one":                                {522634},
		"senders slowed down so much that they fall silent amid messages":              {410911},
	} {
		for _, seed := range seeds {
			complain(t, what, seed, newDraw(seed).faulty(seed), "seed")
		}
	}
}

// TestBeginsAndPauses plays captures that begin with a packet which others have overtaken
// or which is sent again, and such as pause behind a NAK: neither shows what it lacks, and
// none of it is an alarm.
func TestBeginsAndPauses(t *testing.T) {
	for _, was := range []struct {
		way   string
		seeds []uint64
		says  string
	}{
		{"midstream", []uint64{120157, 120231, 120243}, ", want"},
		{"breaks", []uint64{120080, 120180, 120195}, "found"},
	} {
		for _, seed := range was.seeds {
			complain(t, was.way, seed, oddly(draw.faulty, was.way, seed), was.says)
		}
	}
}

// TestFirstPacketsByAJitteryClock plays a healthy capture whose clock puts its very first packets
// out of order, the first one and the answer among them, before anything is known of IDs and
// round trips. They came late, and none is missing or sent again.
func TestFirstPacketsByAJitteryClock(t *testing.T) {
	all := synth.Scenarios()
	s := *all[slices.IndexFunc(all, func(s *synth.Scenario) bool { return s.Name == "jittery-clock" })]
	for i := range uint64(30) {
		s.Seed = 7919 * (i + 1)
		complain(t, s.Name, s.Seed, &s, ", want")
	}
}

// complain fails the test for each note on a scenario that has the text.
func complain(t *testing.T, name string, seed uint64, s *synth.Scenario, text string) {
	t.Helper()
	for _, note := range scored(t, seed, s).notes {
		if strings.Contains(note, text) {
			t.Errorf("%s: %s", name, note)
		}
	}
}
