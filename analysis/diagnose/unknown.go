package diagnose

import (
	"fmt"

	"github.com/rocescope/rocescope/analysis/report"
)

// unknowns lists what the captures cannot answer, and how to take one that can.
func unknowns(r *report.Report) []report.Question {
	if r.Totals.RoCE == 0 {
		return nil
	}
	u := &unknown{t: &r.Totals}
	u.direction(r)
	u.frames(r)
	u.pauses()
	u.setUp(r)
	return u.list
}

type unknown struct {
	t    *report.Totals
	list []report.Question
}

// say adds a question where n says that it is open; narrows is as in report.Question.
func (u *unknown) say(n int64, narrows bool, what, why, instead string) {
	if n > 0 {
		u.list = append(u.list, report.Question{What: what, Why: why, Instead: instead, Narrows: narrows})
	}
}

// direction speaks of connections of which only one side is here.
func (u *unknown) direction(r *report.Report) {
	pairs := r.HostPairs()
	what := "losses behind the tap and round trips"
	if pairs.OneWay < pairs.Connected {
		what += " of " + report.Counted(pairs.OneWay, "host pair")
	}
	u.say(pairs.OneWay, true, what, "Only one direction of these connections is here, so that no answer can be seen: neither what arrived, nor NAKs, nor CNPs.",
		"Mirror the port in both directions (rx and tx), or merge the captures of both: rocescope A.pcap B.pcap.")
}

// frames speaks of frames that are not here as they were sent.
func (u *unknown) frames(r *report.Report) {
	t := u.t
	var dropped int64
	for _, c := range r.Captures {
		dropped += c.Dropped
	}
	const wholly = "Capture whole frames (tcpdump -s 0, no truncation in the mirror session)."
	u.say(t.ICRCUnchecked, true, "the ICRC of "+report.Counted(t.ICRCUnchecked, "frame"),
		"It stands at the end of a frame and covers all of it, and these are cut, or it cannot be computed.", wholly)
	u.say(t.CutShort, true, fmt.Sprintf("%s cut before the end of the RoCE header", report.Counted(t.CutShort, "frame")),
		"They could belong to any queue pair.", "Capture at least 128 bytes of a frame, more behind tunnels.")
	u.say(t.Fragments, true, report.Counted(t.Fragments, "IP fragment"),
		"RoCE never fragments, and behind the first fragment there is no header to tell what it is.", "Look for what fragments on the way: an MTU smaller than the hosts'.")
	u.say(t.Malformed, true, report.Counted(t.Malformed, "malformed frame"),
		"Their lengths contradict each other.", "rocescope packets --only malformed lists them.")
	u.say(dropped, true, report.Counted(dropped, "frame")+" that the capturing host dropped",
		"The capturing host says that it could not keep up.", "Capture less of each frame (-s 128), use larger buffers (-B), or write to a faster disk.")
	u.say(t.FlowsNotTracked, true, report.Counted(t.FlowsNotTracked, "frame")+" of flows beyond the limit on their number",
		"They count together in the row “other”.", "Raise --max-flows.")
	for _, c := range r.Captures {
		if c.Damaged != "" {
			u.say(1, true, "what the damaged part of "+c.Name+" held", "In the file: "+c.Damaged+".", "Take the file again from where it came.")
		}
	}
}

// pauses speaks of flow control.
func (u *unknown) pauses() {
	if u.t.PFC+u.t.Pause == 0 {
		u.say(1, false, "pauses", "No PFC or PAUSE frame is here, but mirrors and host captures leave them out.",
			"Read rx_prio*_pause and tx_prio*_pause (ethtool -S) and the switch's PFC counters, or tap the link.")
	}
}

// setUp speaks of how connections were made.
func (u *unknown) setUp(r *report.Report) {
	var reliable int64
	for i := range r.Flows {
		switch f := &r.Flows[i]; {
		case f.DestQP == 1 && f.Src != report.Other:
			return // connection management is here
		case f.Transport == "RC" || f.Transport == "XRC":
			reliable++
		}
	}
	u.say(reliable, false, "how the queue pairs were set up", "No connection management is here.",
		"Timeouts, retry counts and MTU are the application's settings (NCCL_IB_TIMEOUT, NCCL_IB_RETRY_CNT).")
}
