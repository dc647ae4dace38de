package report

// HostCounters is what the counters of one host's adapter should have risen by
// for the traffic in the captures.
type HostCounters struct {
	Host     string    `json:"host"`
	VNI      *uint32   `json:"vni,omitempty"`  // as in the rows of the host
	VLAN     *uint32   `json:"vlan,omitempty"` // the same
	Counters []Counter `json:"counters"`
}

// Counter is the expected rise of one counter.
type Counter struct {
	// Name is that of the mlx5 driver, which most readers know.
	Name string `json:"name"`
	// With names a second counter, where only the sum of both can be told.
	With  string `json:"with,omitempty"`
	Value int64  `json:"value"`
	Bound Bound  `json:"bound"`
	Why   string `json:"why,omitempty"` // why it is no exact number
}

// Bound says how the true rise of a counter lies to the expected one.
type Bound string

// The bounds.
const (
	Exact   Bound = "exact"
	AtLeast Bound = "at_least"
	AtMost  Bound = "at_most"
	About   Bound = "about"   // more or less
	Unknown Bound = "unknown" // this tap does not tell; the value is 0
)

// Reading holds what the adapter of a host counted against what was expected.
type Reading struct {
	Hosts    []string      `json:"hosts"`   // the addresses of the host
	Devices  []string      `json:"devices"` // read for it; their counters are added
	Counters []ReadCounter `json:"counters"`
	// Others counts the counters read of which no capture can tell.
	Others int64 `json:"other_counters"`
}

// ReadCounter is one counter as it was read.
type ReadCounter struct {
	Name   string `json:"name"` // as the driver calls it
	Before uint64 `json:"before"`
	After  uint64 `json:"after"`
	// Once says that there was one reading, After: all since the driver was loaded.
	Once     bool    `json:"once,omitempty"`
	Rise     int64   `json:"rise"`
	Expected Counter `json:"expected"`
	Verdict  Verdict `json:"verdict"`
	Text     string  `json:"text"` // the verdict in words
}

// Verdict says how a counter that was read lies to the expected one.
type Verdict string

// The verdicts.
const (
	Fits    Verdict = "fits"
	More    Verdict = "more"    // than the capture shows
	Fewer   Verdict = "fewer"   // than the capture shows
	Untold  Verdict = "unknown" // the capture does not tell, or the reading does not
	Rewound Verdict = "rewound" // the second reading is the smaller one
)
