package synth_test

import (
	"fmt"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// rule is something that the wire must obey, and what tells how a capture breaks
// it.
type wireRule struct {
	name   string
	broken func(*wire) violations
}

// faults are sentences.
type violations []string

func (f *violations) add(p *decode.Packet, format string, args ...any) {
	*f = append(*f, fmt.Sprintf("frame %d: ", p.Frame)+fmt.Sprintf(format, args...))
}

var wireRules = []wireRule{
	{"operations follow each other", eachStream(operationsFollow)},
	{"a pass has no gap", eachStream(passHasNoGap)},
	{"what is sent again is the same", eachStream(resendsAreEqual)},
	{"a packet has the length of its place", eachStream(lengthsFit)},
	{"a WRITE has the length it announced", eachStream(writesAreWhole)},
	{"a gap draws one NAK", eachStream(gapDrawsOneNAK)},
	{"every gap is told", eachStream(everyGapIsTold)},
	{"a NAK names what is expected", eachStream(nakNamesTheExpected)},
	{"acknowledgements never go back", eachStream(acksNeverGoBack)},
	{"an ACK is asked for", eachStream(acksAreAskedFor)},
	{"what comes again is acknowledged again", eachStream(duplicatesAreAcknowledged)},
	{"a response has its request", responsesHaveTheirRequests},
	{"only what was sent is acknowledged", eachStream(acksCoverWhatWasSent)},
	{"the MSN counts messages", eachStream(msnCountsMessages)},
	{"a response is what a READ asked for", eachStream(responsesFitTheirRead)},
	{"responses follow each other", eachStream(responsesFollow)},
	{"a refused request is repeated later", eachStream(refusedComesAgain)},
	{"nothing follows a fatal NAK", nothingFollowsFatal},
	{"a CNP has its shape", cnpsHaveTheirShape},
	{"a CNP answers a mark", cnpsAnswerMarks},
	{"the ICRC is good", icrcIsGood},
	{"a queue pair has one source port", eachStream(portIsFixed)},
	{"connection management tells the truth", managementTellsTheTruth},
}

func eachStream(broken func(*stream) violations) func(*wire) violations {
	return func(w *wire) (out violations) {
		for _, s := range w.streams() {
			out = append(out, broken(s)...)
		}
		return out
	}
}

// track follows a stream: how far it was sent and how far it was answered.
type track struct {
	s          *stream
	begun      bool
	next, high ib.PSN // behind the last request, and behind the furthest
	answered   bool
	done       ib.PSN // all before was executed, as far as answers told
}

// follow shows each packet to look, with what was before it.
func (s *stream) follow(look func(t *track, p *decode.Packet)) {
	t := &track{s: s}
	for _, p := range s.packets {
		look(t, p)
		t.take(p)
	}
}

func (t *track) take(p *decode.Packet) {
	if p.Op.Is(ib.IsRequest) {
		t.next = t.s.next(p)
		if !t.begun && !t.answered {
			t.done = p.PSN
		}
		if !t.begun || t.next.After(t.high) {
			t.high = t.next
		}
		t.begun = true
		return
	}
	to := p.PSN
	if positive(p) {
		to = to.Add(1)
	}
	if !t.answered || to.After(t.done) {
		t.answered, t.done = true, to
	}
}

// positive reports whether a response says that its PSN was executed.
func positive(p *decode.Packet) bool { return !p.Op.Is(ib.IsAck) || p.Syndrome.Type() == ib.ACK }

func isNAK(p *decode.Packet) bool   { return p.Op.Is(ib.IsAck) && p.Syndrome.Type() == ib.NAK }
func isRNR(p *decode.Packet) bool   { return p.Op.Is(ib.IsAck) && p.Syndrome.Type() == ib.RNRNAK }
func isACK(p *decode.Packet) bool   { return p.Op.Is(ib.IsAck) && p.Syndrome.Type() == ib.ACK }
func isFatal(p *decode.Packet) bool { return isNAK(p) && p.Syndrome != ib.NAKPSNSequence }

// arrivals follows what a responder expects.
type arrivals struct {
	s        *stream
	expected ib.PSN
	gap      bool // something is missing at expected
	gaps     int
}

func (a *arrivals) take(p *decode.Packet) (again, taken bool) {
	switch d := p.PSN.Sub(a.expected); {
	case d < 0:
		return true, false
	case d > 0:
		if !a.gap {
			a.gaps++
		}
		a.gap = true
		return false, false
	}
	a.expected, a.gap = a.s.next(p), false
	return false, true
}
