package detect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode/ib"
)

const rnrFilter = "infiniband.aeth.syndrome.opcode == 1"

func judgeRNR(r *report.Report, c *analysis.Config) []report.Finding {
	flows := namesIn(r, "rnr", "stalls", "open")
	codes, longest := map[*report.Flow][]int{}, map[*report.Flow]int64{}
	for f, rows := range flows.tableOf(r, "rnr", "stalls") {
		for _, row := range rows {
			codes[f] = append(codes[f], int(number(row.Key[4])))
			longest[f] = max(longest[f], row.Values[1])
		}
	}
	var stalls, zeros []report.Finding
	for i := range r.Flows {
		f := &r.Flows[i]
		if f.RNRNAKs == 0 || f.Src == report.Other {
			continue
		}
		stalls = append(stalls, rnrStall(f, codes[f], longest[f], c))
		if slices.Contains(codes[f], 0) {
			zeros = append(zeros, rnrZero(f))
		}
	}
	out := append(condense(stalls, "queue pair", rnrFilter), condense(zeros, "queue pair", rnrFilter+" && infiniband.aeth.syndrome.timer == 0")...)
	return append(out, condense(rnrExhausted(r, c, flows, longest), "queue pair", rnrFilter)...)
}

// timers writes timer codes as the waits they mean.
func timers(codes []int) string {
	var texts []string
	for _, code := range slices.Compact(slices.Sorted(slices.Values(codes))) {
		texts = append(texts, fmt.Sprintf("%s (code %d)", timerOf(code), code))
	}
	return strings.Join(texts, ", ")
}

func timerOf(code int) string {
	return report.Duration(int64((ib.Syndrome(0x20) | ib.Syndrome(code&31)).RNRTimer()))
}

func rnrStall(f *report.Flow, codes []int, longest int64, c *analysis.Config) report.Finding {
	ev := evidence([]*report.Flow{f}, analysis.RNRNAK)
	life := max(f.LastNs-f.FirstNs, f.RNRStallNs)
	out := report.Finding{
		Rule: "rnr.stall", Severity: report.Warning, Confidence: report.Certain, Flow: f.Ref(), FirstNs: ev.FirstNs, LastNs: ev.LastNs, Count: f.RNRNAKs, Frames: ev.Frames,
		Values: map[string]int64{"rnr_naks": f.RNRNAKs, "stall_ns": f.RNRStallNs, "longest_stall_ns": longest, "life_ns": life},
		Not:    "Not loss: the request arrived and was put off." + rnrEchoes(f),
		Advice: "Find out why " + f.Src + " posts receives late: its application or progress thread, receive queue depth, SRQ limit. There `rdma statistic` counts out_of_buffer; the requester counts rnr_nak_retry_err.",
		Filter: toward(f) + " && " + rnrFilter,
	}
	if float64(f.RNRStallNs) < c.Limits.RNRShare*float64(life) && longest < c.Limits.RNRWait {
		out.Severity = report.Notice
	}
	wait := "the resends were not seen"
	if f.RNRStallNs > 0 {
		wait = fmt.Sprintf("the sender stood still for %s, %s of this queue pair's life",
			report.Duration(f.RNRStallNs), report.Share(f.RNRStallNs, life))
	}
	out.Summary = fmt.Sprintf("%s had no receive buffer and said so in %s, asking for %s: %s.",
		f.Src, report.Counted(f.RNRNAKs, "RNR NAK"), timers(codes), wait)
	return out
}

// rnrEchoes speaks of the sequence NAKs that an RNR NAK draws after it.
func rnrEchoes(f *report.Flow) string {
	n := f.EvidenceOf(analysis.RNREcho.String()).Count
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %s right behind only echo it, for requests that were already on their way.", report.Counted(n, "NAK sequence error"))
}

func rnrZero(f *report.Flow) report.Finding {
	ev := evidence([]*report.Flow{f}, analysis.RNRNAK)
	return report.Finding{
		Rule: "rnr.timer-zero", Severity: report.Warning, Confidence: report.Certain, Flow: f.Ref(), FirstNs: ev.FirstNs, LastNs: ev.LastNs, Count: f.RNRNAKs, Frames: ev.Frames,
		Values:  map[string]int64{"rnr_naks": f.RNRNAKs, "timer_ns": int64(ib.Syndrome(0x20).RNRTimer())},
		Summary: fmt.Sprintf("%s uses RNR timer code 0, which is not the shortest wait but the longest: every empty receive queue costs 655.36 ms.", f.Src),
		Not:     "Not a retransmission timeout: the wait is what the receiver asked for.",
		Advice:  "Set min_rnr_timer of the receiver's queue pair (ibv_modify_qp, INIT to RTR) to 1 (10 µs) or what suits; an attribute left at zero gives this code.",
		Filter:  toward(f) + " && " + rnrFilter + " && infiniband.aeth.syndrome.timer == 0",
	}
}

// rnrExhausted finds requesters that gave up: the wait is long over and nothing
// was sent again, or connection management closed the connection instead.
func rnrExhausted(r *report.Report, c *analysis.Config, flows named, longest map[*report.Flow]int64) []report.Finding {
	var out []report.Finding
	open := r.Rows("rnr", "open")
	if len(open) == 0 {
		return nil
	}
	managed := managedRowsOf(r)
	_, end := span(pointers(r.Flows))
	for _, row := range open {
		wait, at := row.Values[1], row.Values[2]
		f := flows.at(row.Key, at)
		if f == nil {
			continue
		}
		over := at + max(int64(c.Limits.RNRGiveUp)*wait, longest[f])
		said := managed.at(f, at)
		if end < over && (!said.closed && !said.perhaps || said.retries == forEver) {
			continue
		}
		if f.PeerQP == nil || sentAfter(flows, report.FlowRef{Src: f.Dst, Dst: f.Src, DestQP: *f.PeerQP}, at, max(over, at+roundTrip(flows, f))) {
			continue // its requests are not in view, or go on beyond those that were on their way
		}
		x := gaveUpWaiting(f, &row, end, said.retries)
		if end < over && !said.closed {
			x.Confidence = report.Possible
			x.Not += " Whether it was this connection that was closed, the snap length does not tell."
		}
		out = append(out, x)
	}
	return out
}

// gaveUpWaiting says it of one row of the table.
func gaveUpWaiting(f *report.Flow, row *report.Row, end, retries int64) report.Finding {
	tries, wait, at := row.Values[0], row.Values[1], row.Values[2]
	out := report.Finding{
		Rule: "rnr.exhausted", Severity: report.Critical, Confidence: report.Likely, Flow: f.Ref(), FirstNs: at, LastNs: end, Count: tries,
		Frames: fewFrames(append(slices.Clone(f.EvidenceOf(analysis.RNRNAK.String()).Frames), uint64(row.Values[3]))),
		Values: map[string]int64{"tries": tries, "wait_ns": wait, "silence_ns": end - at},
		Summary: fmt.Sprintf("%s gave up on %s: PSN %s was refused for want of a receive buffer %s, and after the last wait of %s it was not sent again.",
			f.Dst, f.Src, row.Key[3], times(tries), report.Duration(wait)),
		Not:    "Not the end of the capture, which goes on past the wait; not loss, for every try was answered.",
		Advice: "The requester's completion says RNR retry counter exceeded. Post receives earlier on " + f.Src + ", or raise rnr_retry (7 means for ever) on " + f.Dst + ".",
		Filter: toward(f) + " && " + rnrFilter,
	}
	if end < at+wait {
		out.Not = "Not the end of the capture: the connection was closed before the wait was over; not loss, for every try was answered."
	}
	switch {
	case retries == forEver:
		doubt(&out, "by connection management it should try for ever, so that another fault may have ended it.")
	case retries > 0 && tries > retries:
		out.Confidence = report.Certain
		out.Not += fmt.Sprintf(" By connection management it has %s.", report.Counted(retries, "retry"))
	}
	if retries > 0 {
		out.Values["rnr_retry"] = retries
	}
	return out
}

// roundTrip is the longest between the two ends of a row, as far as answers to
// requests of both tell: each shows the part on its side of the tap.
func roundTrip(flows named, f *report.Flow) int64 {
	ns := f.AckRTT.Max
	if f.PeerQP != nil {
		if back := flows[report.FlowRef{Src: f.Dst, Dst: f.Src, DestQP: *f.PeerQP}]; len(back) > 0 {
			ns += back[0].AckRTT.Max
		}
	}
	return ns
}

// sentAfter reports whether what travelled between two hosts towards a queue pair by one
// time went on after another: whoever has its number later is somebody else.
func sentAfter(flows named, name report.FlowRef, by, after int64) bool {
	return slices.ContainsFunc(flows[name], func(f *report.Flow) bool { return f.FirstNs <= by && f.LastNs > after })
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return report.Count(n) + " times"
}
