package synth

import (
	"time"

	"github.com/rocescope/rocescope/decode/ib"
)

// Setup is how connection management opens a connection. The zero value of each
// field is the usual thing: To accepts at once.
type Setup struct {
	Rejected ib.REJReason  // why To refuses the request; 0 it accepts
	Deciding time.Duration // how long To's application takes to accept or refuse
	// Declined is why From's application refuses the answer of To, which accepts; 0 it
	// takes it.
	Declined ib.REJReason
	// MRA lets To's CM ask for that time at once, and not only when the request
	// comes again.
	MRA bool
	// Silent lets To's CM not even ask for it then.
	Silent bool
	// Patience is after which time without an answer From withdraws its request;
	// 0 it stops without a word when its retries are used up.
	Patience time.Duration
	Timeout  ib.Timeout // exponent of how long CM waits for an answer; 0 stands for 20
	Retries  int        // of each message without an answer; 0 stands for 15
}

// timeout is how long CM waits for an answer.
func (s *Setup) timeout() ib.Timeout {
	if s.Timeout == 0 {
		return 20
	}
	return s.Timeout
}

func (s *Setup) retries() int {
	if s.Retries == 0 {
		return 15
	}
	return s.Retries
}

// service is the timeout of an MRA: the shortest within which To decides.
func (s *Setup) service() ib.Timeout {
	t := ib.Timeout(1)
	for t.Duration() < s.Deciding {
		t++
	}
	return t
}
