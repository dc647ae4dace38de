package detect

import (
	"fmt"
	"slices"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// unanswered speaks of requests to which nothing came back.
func (v *connectionsView) unanswered(c *analysis.Config) []report.Finding {
	keys, groups := groupCM(v.all, func(x *cmRow) (hosts, bool) {
		if x.v[cmRequests] == 0 || x.answered() {
			return hosts{}, false
		}
		// One that was sent once may yet be answered.
		return x.hosts, x.v[cmRequests] > 1 || x.withdrawn() || v.end(x.v[cmFirstNs])-x.v[cmFirstNs] >= c.Limits.AnswerWait
	})
	var out []report.Finding
	for _, h := range keys {
		if f, ok := v.unheard(h, groups[h]); ok {
			out = append(out, f)
		}
	}
	return condense(out, "host pair", "infiniband.mad.attributeid == 0x10 || infiniband.mad.attributeid == 0x17")
}

func (v *connectionsView) unheard(h hosts, xs []*cmRow) (report.Finding, bool) {
	first, last := cmEarliest(xs, cmFirstNs), cmLatest(xs, cmLastRequestNs)
	sends, n := cmSum(xs, cmRequests), int64(len(xs))
	waited := v.end(last) - first
	why, confidence := v.wayBack(h)
	gaveUp := slices.ContainsFunc(xs, (*cmRow).withdrawn)
	switch {
	case gaveUp:
		why, confidence = "Not a capture of one direction: "+h.src+" itself says with its REJ that no answer came.", report.Certain
	case why == "":
		return report.Finding{}, false // answers would not be in view
	}
	_, services := servedBy(xs)
	f := report.Finding{
		Rule: "cm.unanswered", Severity: report.Critical, Confidence: confidence, Host: h.src, Toward: h.dst, FirstNs: first, LastNs: last, Count: sends,
		Frames:  cmFrames(xs, cmFirstFrame, cmLastRequestFrame, cmRejectFrame),
		Values:  map[string]int64{"requests": sends, "connections": n, "waited_ns": waited},
		Not:     why + " Not a refusal, which would be a REJ, nor a busy server, which would send an MRA.",
		Advice:  "Is " + h.dst + " reachable by this address at all, and do its adapter and CM see the requests (cm_rx_msgs/req below /sys/class/infiniband/DEV/ports/1)? A wrong GID index or VLAN, an access list on UDP 4791, a lossy class for QP 1, and rdma_cm or the service not loaded look like this.",
		Filter:  v.cmFilter(h),
		Summary: fmt.Sprintf("%s asked %s for %s to %s and got no answer: %s", h.src, h.dst, aConnection(n), services, sentText(sends, n)),
	}
	if sends > n {
		f.Values["interval_ns"] = repeatSpan(xs) / (sends - n)
		f.Summary += fmt.Sprintf(", every %s", report.Duration(f.Values["interval_ns"]))
	}
	switch {
	case gaveUp:
		f.Summary += ", until " + h.src + " gave up and said so (REJ)"
	case sends == n:
		f.Summary += fmt.Sprintf(", and %s passed since", report.Duration(waited))
	}
	if later := v.allLater(h, xs, last); later > 0 {
		f.Severity = report.Warning
		f.Summary += fmt.Sprintf("; %s later such a connection was accepted", report.Duration(later-last))
	} else if accepted := v.acceptedBetween(h, xs, first, last); accepted > 0 {
		f.Values["accepted"] = accepted
		f.Summary += fmt.Sprintf("; meanwhile %s accepted", report.CountedWere(accepted, "such request"))
		f.Not += " Not a host that is down or a service that is not there: it took other requests."
		f.Advice = "Look for loss of CM packets between the two (the class of QP 1), for requests beyond what the listener's backlog takes, and whether the server's CM sees these (cm_rx_msgs/req below /sys/class/infiniband/DEV/ports/1)."
	}
	f.Summary += "."
	return f, true
}

// acceptedBetween counts requests of the client for the same services that were
// granted between two times.
func (v *connectionsView) acceptedBetween(h hosts, xs []*cmRow, from, to int64) (n int64) {
	services := map[string]bool{}
	for _, x := range xs {
		services[x.service] = true
	}
	for _, x := range v.both[h.eitherWay()] {
		if at := x.accepted(); x.hosts == h && services[x.service] && from <= at && at <= to {
			n++
		}
	}
	return n
}

// allLater returns when, behind a time, each of the services had been granted
// after all; 0 where one never was.
func (v *connectionsView) allLater(h hosts, xs []*cmRow, ns int64) (latest int64) {
	services := map[string]bool{}
	for _, x := range xs {
		if services[x.service] {
			continue
		}
		services[x.service] = true
		_, _, later := v.sameService(h, x.service, ns)
		if later == 0 {
			return 0
		}
		latest = max(latest, later)
	}
	return latest
}

func aConnection(n int64) string {
	if n == 1 {
		return "a connection"
	}
	return report.Count(n) + " connections"
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
