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
		may["capture.one-direction"] = may["capture.one-direction"] || !row.BothWays // as far as the capture shows
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
	for _, rule := range c.Truth.MustFind {
		must[rule] = true
	}
	for _, e := range c.Truth.Connections {
		if e.Counts["delays"]+e.Counts["replies"]+e.Counts["rejects_of_server"]+e.Counts["ready_to_use"] == 0 {
			may["cm.unanswered"] = true
		}
		if e.Counts["rejects_of_client"] > 0 { // withdrawn, although there was an answer
			may["cm.rejected"] = true
		}
	}
	for _, l := range c.Truth.Lost {
		if l.What == "CNP" && l.Captured > 0 {
			may["cnp.no-reaction"] = true
		}
		if l.What == "CNP" && l.Captured < l.Frames {
			may["cnp.missing"] = true
		}
	}
	if total["rnr_naks"] > 0 {
		may["rnr.exhausted"], may["retransmit.exhausted"] = true, true // and its peer asks a dead queue pair
	}
	for rule, columns := range hints {
		for _, column := range columns {
			may[rule] = may[rule] || total[column] > 0 || open[column] > 0
		}
	}
	return must, may
}

// hints names the columns of which any may make a rule's finding right.
var hints = map[string][]string{
	"loss.upstream":        {"lost_upstream", "response_lost_upstream"},
	"loss.downstream":      {"lost_downstream", "response_lost_downstream"},
	"loss.datagram":        {"datagram lost_upstream"},
	"capture.missed":       {"not_captured", "response_not_captured"},
	"retransmit.timeout":   {"retransmitted_timeout"}, // where none was of use, another rule says so
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
