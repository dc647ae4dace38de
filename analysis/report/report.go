// Package report is what an analysis found, as plain data that can be added,
// compared and stored.
//
// A Report is filled in three steps. Observers count into Totals, Flows and
// Sections; Merge adds the reports of several shards or captures; judges read
// the sum and add Findings. Renderers see only the finished report, and the
// JSON form holds everything, so a saved report can be rendered or compared
// later just like a fresh one.
//
// The package never looks at a packet.
package report

// Schema names the JSON form.
const Schema = "rocescope.report/1"

// Report is the result of one analysis.
type Report struct {
	Schema string `json:"schema"`
	// Headline is what one would say on the phone.
	Headline string    `json:"headline,omitempty"`
	Captures []Capture `json:"captures"`
	Totals   Totals    `json:"totals"`
	Flows    []Flow    `json:"flows"`
	Findings []Finding `json:"findings"`
	// NotKnowable are the questions that these captures cannot answer.
	NotKnowable []Question `json:"not_knowable,omitempty"`
	// Sections holds what analyzers measured beyond the columns of a flow, one
	// for each analyzer that has something, ordered by name.
	Sections []Section `json:"sections,omitempty"`
	// Counters says what the adapters of the hosts should have counted. Like
	// findings it is derived from the rest, dropped by Merge and set anew by a
	// judge; hosts are in the order of their addresses.
	Counters []HostCounters `json:"counters,omitempty"`
	// Readings holds what adapters counted against Counters, where it was given.
	// Merge drops it.
	Readings []Reading `json:"counter_readings,omitempty"`
}

// Capture describes one input.
type Capture struct {
	Name      string   `json:"name"`
	Format    string   `json:"format"` // "pcap" or "pcapng"
	LinkTypes []string `json:"link_types"`
	SnapLen   int64    `json:"snaplen"` // the largest of its interfaces; 0 where the file states none
	Frames    int64    `json:"frames"`
	Bytes     int64    `json:"bytes"`    // on the wire
	FirstNs   int64    `json:"first_ns"` // earliest frame, ns since the Unix epoch
	LastNs    int64    `json:"last_ns"`
	Truncated int64    `json:"truncated_frames"` // captured shorter than they were
	Dropped   int64    `json:"dropped_frames"`   // as the capturing host reported; 0 where it did not
	Damaged   string   `json:"damaged"`          // what is broken and where; empty where nothing is
	Skipped   int64    `json:"skipped_bytes"`    // of the unpacked file, from which no frame came because of damage
	Parts     int64    `json:"parts"`            // files or sections that stand one after the other in it
}

// Totals counts over all frames of all captures. Mirror copies count in the
// frame counters alone.
type Totals struct {
	Frames    int64 `json:"frames"`
	RoCE      int64 `json:"roce_frames"`
	RoCEv1    int64 `json:"rocev1_frames"`
	RoCEv2    int64 `json:"rocev2_frames"`
	NativeIB  int64 `json:"infiniband_frames"` // the same transport on InfiniBand's own link layer; they count as RoCE, too
	Other     int64 `json:"other_frames"`      // understood, and not RoCE
	Malformed int64 `json:"malformed_frames"`
	Fragments int64 `json:"fragment_frames"`
	// CutShort counts frames whose captured bytes end before the BTH does.
	CutShort int64 `json:"cut_frames"`
	Data     int64 `json:"data_frames"`
	Acks     int64 `json:"acks"`
	CNPs     int64 `json:"cnps"`
	CE       int64 `json:"ce_frames"`
	PFC      int64 `json:"pfc_frames"`
	Pause    int64 `json:"pause_frames"`
	UET      int64 `json:"uet_frames"`

	NAKSequence          int64 `json:"naks_psn_sequence"`
	NAKInvalidRequest    int64 `json:"naks_invalid_request"`
	NAKRemoteAccess      int64 `json:"naks_remote_access"`
	NAKRemoteOperational int64 `json:"naks_remote_operational"`
	RNRNAKs              int64 `json:"rnr_naks"`

	ICRCGood      int64 `json:"icrc_good"`
	ICRCBad       int64 `json:"icrc_bad"`
	ICRCUnchecked int64 `json:"icrc_unchecked"`

	// FlowsNotTracked counts frames of flows beyond the cap on their number,
	// which stand in the row named "other".
	FlowsNotTracked int64 `json:"untracked_frames"`
	RoCEv15         int64 `json:"rocev15_frames"` // IP protocol 254; they count as other, too
	IWARP           int64 `json:"iwarp_frames"`   // RDMA over TCP; they count as other, too
	// MirrorLost counts frames that mirror sessions numbered and the capture
	// does not have; MirrorCut those that a mirror cut.
	MirrorLost int64 `json:"mirror_lost_frames"`
	MirrorCut  int64 `json:"mirror_cut_frames"`
	// Backward counts frames whose time lies before that of a frame above them.
	Backward int64 `json:"backward_frames"`
}
