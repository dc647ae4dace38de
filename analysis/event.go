package analysis

import "github.com/rocescope/rocescope/decode/ib"

// Event is something noticed at a frame. Evidence in findings, the flags of
// the packets command and the counts of the loss analyzer all come from this
// one stream, so they cannot disagree.
type Event struct {
	Kind  EventKind
	Count int32 // packets (or episodes) this event stands for, at least 1
	Flow  FlowID
	PSN   ib.PSN
	Time  int64  // of Frame
	Frame uint64 // the frame that is meant
	Ref   uint64 // the frame that decided, or that it points back to; 0 none
	Value int64  // by kind: nanoseconds of a wait or round trip
}

// EventKind says what was noticed.
type EventKind uint8

// The kinds of event. Those of a request stand in the row of the request,
// those of a response in the row of the response.
const (
	Gap            EventKind = iota // requests are missing before Frame; an episode
	LostUpstream                    // missing requests that were sent again; Value: for how long they were missing, where no ID tells them from late ones
	Reordered                       // a request that came late
	NotCaptured                     // missing requests that were acknowledged and never sent again
	Unresolved                      // Value 0: missing requests whose fate stays unknown; 1: a timeout whose cause does; 2: as 0, and a NAK asked for one
	LostDownstream                  // a request seen here that did not arrive
	LostAck                         // a timeout though the request had arrived
	NeedlessNAK                     // a sequence NAK drawn by reordering

	RetransmittedNAK
	RetransmittedTimeout
	RetransmittedImplied // a READ asked again after a response beyond
	RetransmittedRNR
	RetransmittedUnknown // no cause to be seen
	Spurious             // a resent request that was not needed
	NeedlessPass         // a timeout while the answer was on its way
	TimeoutPass          // a timer ran out; Value: ns since the packet was last sent
	Outstanding          // at the end of the row: Count requests from PSN on were never answered; Frame is the last one, Value: how often PSN was sent

	ResponseGap
	ResponseLostUpstream
	ResponseReordered
	ResponseNotCaptured
	ResponseUnresolved
	ResponseLostDownstream
	ResponseRetransmitted

	MirrorDuplicate // Value 1: an ACK of which nothing but the time tells that no duplicate drew it
	RNRStall        // Value: from the RNR NAK to the resend, ns
	SequenceNAK     // in the row of the NAK, as are the next four
	RNRNAK          // Value: the wait asked for, ns
	FatalNAK        // Value: the syndrome
	RNREcho         // a sequence NAK that only echoes an RNR NAK
	CNPSeen         //
	CEMark          //
	BadICRC         //
	AnsweredFirst   // a request that passed behind its answer

	// Measures: nothing happened that is worth showing, only time went by; Value
	// says how much, in ns, and Ref the frame from which it counts. All stand in
	// the row of the request.
	RoundTrip      // from a request to its ACK
	NAKGeneration  // from the packet behind a missing one to the NAK
	NAKReaction    // from a sequence NAK to the first packet sent again
	ReadResponse   // from a READ request to its first response
	ReadCompletion // and to its last one
	MessageDone    // from the first packet of a SEND or WRITE to the ACK of its last
	UncheckedPath  // reserved for the count of kinds
	NumEventKinds  = int(UncheckedPath)
)

// Measure reports whether events of this kind only say how long something took.
func (k EventKind) Measure() bool { return k >= RoundTrip && k < UncheckedPath }

var eventNames = [NumEventKinds]string{
	Gap: "gap", LostUpstream: "lost_upstream", Reordered: "out_of_order", NotCaptured: "not_captured",
	Unresolved: "unresolved", LostDownstream: "lost_downstream", LostAck: "lost_ack", NeedlessNAK: "needless_nak",
	RetransmittedNAK: "retransmission_nak", RetransmittedTimeout: "retransmission_timeout",
	RetransmittedImplied: "retransmission_implied", RetransmittedRNR: "retransmission_rnr",
	RetransmittedUnknown: "retransmission", Spurious: "spurious_retransmission", NeedlessPass: "needless_timeout",
	TimeoutPass: "timeout", Outstanding: "outstanding",
	ResponseGap: "response_gap", ResponseLostUpstream: "response_lost_upstream", ResponseReordered: "response_out_of_order",
	ResponseNotCaptured: "response_not_captured", ResponseUnresolved: "response_unresolved",
	ResponseLostDownstream: "response_lost_downstream", ResponseRetransmitted: "response_retransmission",
	MirrorDuplicate: "mirror_duplicate", RNRStall: "rnr_stall", RoundTrip: "round_trip", SequenceNAK: "nak",
	RNRNAK: "rnr_nak", FatalNAK: "fatal_nak", RNREcho: "rnr_echo", CNPSeen: "cnp", CEMark: "ce", BadICRC: "icrc_bad", AnsweredFirst: "answered_first",
	NAKGeneration: "nak_generation", NAKReaction: "nak_reaction", ReadResponse: "read_response", ReadCompletion: "read_completion", MessageDone: "message",
}

// String returns the kind's name, as it follows "roce.analysis." in a flag.
func (k EventKind) String() string { return eventNames[k] }
