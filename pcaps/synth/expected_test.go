package synth_test

import (
	"github.com/rocescope/rocescope/pcaps/synth"
)

// expected returns the rules that must be found, and those that may be, by what
// happened. What the truth leaves open may be found.
func expected(c *synth.Capture) (must, may map[string]bool) {
	must, may = map[string]bool{}, map[string]bool{}
	total, open := map[string]int64{}, map[string]int64{}
	for i := range c.Truth.Rows {
		row := &c.Truth.Rows[i]
		prefix := ""
		if row.Transport != "RC" {
			prefix = "datagram "
		}
		for column, n := range row.Counts {
			total[prefix+column] += n
		}
		for column := range row.Open {
			open[prefix+column] += row.Opened(column)
		}
	}
	for rule, columns := range proofs {
		for _, column := range columns {
			must[rule] = must[rule] || total[column] > 0
			may[rule] = may[rule] || open[column] > 0
		}
		if !must[rule] {
			delete(must, rule)
		}
	}
	if must["retransmit.timeout"] {
		// Where no timeout was of use, that is said in its place.
		delete(must, "retransmit.timeout")
		may["retransmit.timeout"] = true
	}
	for rule, columns := range hints {
		for _, column := range columns {
			may[rule] = may[rule] || total[column] > 0 || open[column] > 0
		}
	}
	return must, may
}

// proofs names the columns of which any makes a rule's finding due.
var proofs = map[string][]string{
	"loss.upstream":          {"lost_upstream", "response_lost_upstream"},
	"loss.downstream":        {"lost_downstream", "response_lost_downstream"},
	"loss.datagram":          {"datagram lost_upstream"},
	"capture.missed":         {"not_captured", "response_not_captured"},
	"retransmit.timeout":     {"retransmitted_timeout"},
	"rnr.stall":              {"rnr_naks"},
	"nak.invalid-request":    {"naks_invalid_request"},
	"nak.remote-access":      {"naks_remote_access"},
	"nak.remote-operational": {"naks_remote_operational"},
}

// hints names the columns of which any may make a rule's finding right.
var hints = map[string][]string{
	"capture.duplicated":   {"mirror_duplicates", "datagram mirror_duplicates"},
	"reorder.path":         {"reordered", "response_reordered", "datagram reordered"},
	"reorder.spurious-nak": {"reordered", "retransmitted_nak"},
	"retransmit.spurious":  {"spurious"},
	"loss.ack":             {"lost_acks", "retransmitted_timeout"},
	"retransmit.adaptive":  {"retransmitted_timeout"},
	"ecn.marked":           {"ce_frames", "datagram ce_frames"},
	"incast.burst":         {"ce_frames", "datagram ce_frames"},
	"icrc.path":            {"icrc_bad", "datagram icrc_bad"},
}
