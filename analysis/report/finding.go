package report

// Severity ranks a finding.
type Severity string

// The severities, worst first.
const (
	Critical Severity = "critical" // work stopped: a queue pair died, a host unreachable
	Warning  Severity = "warning"  // work slowed or at risk
	Notice   Severity = "notice"   // unusual; explains other findings
	Info     Severity = "info"
)

// Rank returns 0 for Critical up to 3 for Info, and 4 for anything else.
func (s Severity) Rank() int {
	switch s {
	case Critical:
		return 0
	case Warning:
		return 1
	case Notice:
		return 2
	case Info:
		return 3
	}
	return 4
}

// Confidence says how a finding is known.
type Confidence string

// The confidences, surest first.
const (
	Certain  Confidence = "certain"  // it stands in the frames: counted, not concluded
	Likely   Confidence = "likely"   // concluded, and what else would look alike is ruled out or rare
	Possible Confidence = "possible" // something else would look alike from this tap, as Not says
)

// Rank orders confidences, surest first.
func (c Confidence) Rank() int {
	switch c {
	case Certain:
		return 0
	case Likely:
		return 1
	case Possible:
		return 2
	}
	return 3
}

// Finding is what the analysis says in words.
type Finding struct {
	Rule     string   `json:"rule"` // a stable name such as "loss.downstream"
	Severity Severity `json:"severity"`
	Summary  string   `json:"summary"` // one sentence with the numbers
	// Confidence is empty where a report was written before it was told.
	Confidence Confidence `json:"confidence,omitempty"`
	// Flow is absent where the finding is not about one flow.
	Flow *FlowRef `json:"flow,omitempty"`
	// Host is the address that the finding is about, where it is about one: the
	// receiver of a burst, the sender of bad packets, or the MAC of a port. Where it is about what one
	// host sends to another, Toward is the other. Both are empty where Flow says it.
	Host   string `json:"host,omitempty"`
	Toward string `json:"toward,omitempty"`
	// Addresses are all that it is about, where two hosts speak under several.
	Addresses []string `json:"addresses,omitempty"`
	FirstNs   int64    `json:"first_ns"`
	LastNs    int64    `json:"last_ns"`
	Count     int64    `json:"count"`
	// Frames are the numbers of frames that prove it, ascending, at most a few.
	Frames []uint64         `json:"frames"`
	Values map[string]int64 `json:"values"`
	// Not says what it could be mistaken for, and why it is not that.
	Not    string `json:"not,omitempty"`
	Advice string `json:"advice"` // what to look at next
	Filter string `json:"filter"` // a Wireshark display filter that shows the evidence
	// ExplainedBy is the index, among the findings of the report, of the one
	// that this one follows from; Explanation says why that is so.
	ExplainedBy *int   `json:"explained_by,omitempty"`
	Explanation string `json:"explanation,omitempty"`
}

// Question is one that the capture cannot answer.
type Question struct {
	What    string `json:"what"`    // the question, as a noun: "losses behind the tap"
	Why     string `json:"why"`     // what is missing
	Instead string `json:"instead"` // how to take a capture that answers it, or where else to look
	// Narrows says that something of what was captured could not be judged, so
	// that a verdict holds for the rest alone.
	Narrows bool `json:"narrows"`
}
