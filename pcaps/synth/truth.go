package synth

// Truth is what happened in a scenario, as far as it passed the tap or should
// have.
type Truth struct {
	Rows []Row // ordered by Src, Dst and DestQP
}

// Row is what travelled from Src to Dst towards DestQP.
type Row struct {
	Src, Dst string
	DestQP   uint32
	PeerQP   uint32 // the other end's queue pair; 0 for queue pair 1
	// Counts holds a number for each of Columns; one that is missing is 0.
	Counts map[string]int64
}

// Columns are the columns of a report's flows that a Truth tells of.
//
// What lies behind the tap and leaves no trace there, as a lost datagram, is
// not counted.
var Columns = []string{
	"frames", "bytes", "request_frames", "request_bytes", "response_frames", "response_bytes", "data_frames", "acks", "messages",
	"gaps", "gap_frames", "lost_upstream", "lost_downstream", "not_captured", "unresolved", "reordered", "lost_acks",
	"retransmitted", "retransmitted_nak", "retransmitted_timeout", "retransmitted_rnr", "retransmitted_implied", "spurious",
	"needless_timeouts", "needless_naks", "response_gaps", "response_gap_frames", "response_lost_upstream", "response_lost_downstream", "response_not_captured", "response_unresolved", "response_reordered", "response_retransmitted",
	"naks_psn_sequence", "naks_invalid_request", "naks_remote_access", "naks_remote_operational", "rnr_naks", "rnr_stall_ns",
	"ce_frames", "cnps", "mirror_duplicates", "icrc_good", "icrc_bad", "icrc_unchecked",
}
