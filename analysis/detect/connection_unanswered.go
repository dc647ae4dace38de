package detect

import (
	"fmt"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// asking is a client, a server and what the one asked the other for.
type asking struct {
	hosts
	service string
}

// unanswered speaks of requests to which nothing came back.
func (v *connectionsView) unanswered(c *analysis.Config) []report.Finding {
	keys, groups := groupCM(v.all, func(x *cmRow) (asking, bool) {
		return asking{x.hosts, x.service}, x.v[cmRequests] > 0 && !x.answered()
	})
	var out []report.Finding
	for _, k := range keys {
		if f, ok := v.unheard(k, groups[k], c); ok {
			out = append(out, f)
		}
	}
	return condense(out, "host pair", "infiniband.mad.attributeid == 0x10 || infiniband.mad.attributeid == 0x17")
}

func (v *connectionsView) unheard(k asking, xs []*cmRow, c *analysis.Config) (report.Finding, bool) {
	first, last := cmEarliest(xs, cmFirstNs), cmLatest(xs, cmLastRequestNs)
	sends, n := cmSum(xs, cmRequests), int64(len(xs))
	waited := v.end(last) - first
	gaveUp := false // the client says so itself
	for _, x := range xs {
		gaveUp = gaveUp || x.withdrawn()
	}
	why, confidence := v.wayBack(k.hosts)
	switch {
	case gaveUp:
		why, confidence = "Not a capture of one direction: "+k.src+" itself says with its REJ that no answer came.", report.Certain
	case why == "":
		return report.Finding{}, false // answers would not be in view
	case sends == n && waited < c.Limits.AnswerWait:
		return report.Finding{}, false // may yet be answered
	}
	_, accepted, later := v.sameService(k.hosts, k.service, last)
	f := report.Finding{
		Rule: "cm.unanswered", Severity: report.Critical, Confidence: confidence, FirstNs: first, LastNs: last, Count: sends,
		Frames: cmFrames(xs, cmFirstFrame, cmLastRequestFrame, cmRejectFrame),
		Values: map[string]int64{"requests": sends, "connections": n, "waited_ns": waited, "accepted": accepted},
		Not:    why + " Not a refusal, which would be a REJ, nor a busy server, which would send an MRA.",
		Advice: "Is " + k.dst + " reachable by this address at all, and do its adapter and CM see the requests (its hw_counters, cm_rx_msgs/req under /sys/class/infiniband/DEV/ports/1)? A wrong GID index or VLAN, an access list on UDP 4791, a lossy class for QP 1 and rdma_cm or the service not loaded look like this.",
		Filter: v.cmFilter(k.hosts),
	}
	f.Summary = fmt.Sprintf("%s asked %s for %s and got no answer: %s", k.src, k.dst, connectionsText(n, k.service), sentText(sends, n))
	if sends > n {
		f.Values["interval_ns"] = repeatSpan(xs) / (sends - n)
		f.Summary += fmt.Sprintf(", every %s", report.Duration(f.Values["interval_ns"]))
	}
	switch {
	case gaveUp:
		f.Summary += ", until " + k.src + " gave up and said so (REJ)"
	case sends == n:
		f.Summary += fmt.Sprintf(", and %s passed since", report.Duration(waited))
	}
	if later > 0 {
		f.Severity = report.Warning
		f.Summary += fmt.Sprintf("; %s later such a connection was accepted", report.Duration(later-last))
	}
	f.Summary += "."
	return f, true
}

func connectionsText(n int64, service string) string {
	if n == 1 {
		return "a connection to " + serviceText(service)
	}
	return report.Count(n) + " connections to " + serviceText(service)
}

func sentText(sends, n int64) string {
	if n == 1 {
		return "the request was sent " + report.Counted(sends, "time")
	}
	return "the requests were sent " + report.Counted(sends, "time") + " in all"
}

// repeatSpan adds the times from first to last request of each connection.
func repeatSpan(xs []*cmRow) (ns int64) {
	for _, x := range xs {
		ns += x.v[cmLastRequestNs] - x.v[cmFirstNs]
	}
	return ns
}

// wayBack says why an answer would be in view; empty where it might not.
func (v *connectionsView) wayBack(h hosts) (string, report.Confidence) {
	switch {
	case v.seen[h.back()]:
		return "Not a capture of one direction: other packets from " + h.dst + " to " + h.src + " are in it.", report.Likely
	case v.to[h.src]:
		return "Not a capture of one direction: what others send to " + h.src + " is in it.", report.Likely
	case v.from[h.dst]:
		return "Not a capture of one direction: what " + h.dst + " sends to others is in it.", report.Likely
	case v.beside(h):
		return "Not a capture of one direction: frames of other protocols from the same adapter to " + h.src + " are in it.", report.Likely
	}
	return "", ""
}
