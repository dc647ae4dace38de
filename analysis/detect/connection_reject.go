package detect

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode/ib"
)

// rejection is what rejected connections have in common.
type rejection struct {
	hosts
	service string
	client  bool  // the client itself refused, or gave up
	replied bool  // what it refused is the server's reply
	sidr    bool  // the reason is a status of service ID resolution
	reason  int64 // 0 where it is not in view
}

func (k *rejection) String() string {
	switch {
	case k.reason == 0:
		return "for a reason that is not in view"
	case k.sidr:
		return ib.SIDRStatus(k.reason).String()
	}
	return fmt.Sprintf("%s (reason %d)", ib.REJReason(k.reason), k.reason)
}

func (k *rejection) is(reason ib.REJReason) bool { return !k.sidr && k.reason == int64(reason) }

func rejectionOf(x *cmRow, client bool) rejection {
	k := rejection{hosts: x.hosts, service: x.service, client: client, reason: x.v[cmServerReason]}
	switch {
	case client:
		k.reason, k.replied = x.v[cmClientReason], x.v[cmReplies] > 0
	case x.v[cmStatus] != 0:
		k.sidr, k.reason = true, x.v[cmStatus]
	}
	return k
}

// rejected speaks of refused connections, for each service between two hosts.
func (v *connectionsView) rejected(c *analysis.Config) []report.Finding {
	byServer, ofServer := groupCM(v.all, func(x *cmRow) (rejection, bool) { return rejectionOf(x, false), x.v[cmServerRejects] > 0 })
	byClient, ofClient := groupCM(v.all, func(x *cmRow) (rejection, bool) {
		return rejectionOf(x, true), x.v[cmClientRejects] > 0 && !x.withdrawn()
	})
	var out []report.Finding
	for _, k := range byServer {
		out = append(out, v.refused(k, ofServer[k], c))
	}
	for _, k := range byClient {
		out = append(out, v.refused(k, ofClient[k], c))
	}
	return condense(out, "host pair", "infiniband.mad.attributeid == 0x12")
}

func (v *connectionsView) refused(k rejection, xs []*cmRow, c *analysis.Config) report.Finding {
	rejects, last := cmSum(xs, cmServerRejects), cmLatest(xs, cmRejectNs)
	if k.client {
		rejects = cmSum(xs, cmClientRejects)
	}
	all, accepted, later := v.sameService(k.hosts, k.service, last)
	crossed := v.crossed(k.hosts, xs)
	f := report.Finding{
		Rule: "cm.rejected", Severity: report.Critical, Confidence: report.Certain, Host: k.src, Toward: k.dst, Count: rejects,
		FirstNs: cmEarliest(xs, cmFirstNs), LastNs: last, Frames: cmFrames(xs, cmFirstFrame, cmRejectFrame),
		Values: map[string]int64{"rejected": int64(len(xs)), "requests": all, "accepted": accepted, "reason": k.reason, "crossed": crossed},
		Not:    k.not(),
		Advice: k.advice(),
		Filter: v.cmFilter(k.hosts),
	}
	f.Summary = k.sentence(int64(len(xs)), all)
	if crossed > 0 {
		f.Summary += fmt.Sprintf("; in %s a request of the other side crossed it", report.Counted(crossed, "case"))
	}
	switch {
	case later > 0:
		f.Severity = report.Warning
		if crossed > 0 && rejects < int64(c.Limits.RejectStorm) {
			f.Severity = report.Notice // two that ask each other at a time settle it that way
		}
		f.Summary += fmt.Sprintf("; %s after the last one such a connection was accepted", report.Duration(later-last))
	case accepted > 0:
		f.Summary += fmt.Sprintf("; %s before had been accepted", report.Counted(accepted, "request"))
	}
	f.Summary += "."
	return f
}

func (k *rejection) not() string {
	if k.is(ib.REJTimeout) {
		return "Not a refusal by an application: " + k.sayer() + " waited for the other side until its time ran out."
	}
	return "Not loss and not an unreachable host: " + k.sayer() + " spoke, and it said no."
}

// sayer is the host that says no.
func (k *rejection) sayer() string {
	if k.client {
		return k.src
	}
	return k.dst
}

// sentence says who refused whom what, and why.
func (k *rejection) sentence(n, all int64) string {
	which := report.Counted(n, "connection request")
	switch {
	case n == 1 && all <= 1:
		which = "the connection request"
	case n == all:
		which = "all " + which
	case n < all:
		which = fmt.Sprintf("%s of %s", report.Count(n), report.Counted(all, "connection request"))
	}
	service := serviceText(k.service)
	switch {
	case k.client && k.is(ib.REJTimeout):
		return fmt.Sprintf("%s itself withdrew %s to %s for %s with a timeout, although an answer of %s is in the capture: it came too late or was lost behind the tap", k.src, which, k.dst, service, k.dst)
	case k.replied:
		return fmt.Sprintf("%s refused what %s replied to %s for %s: %s", k.src, k.dst, which, service, k)
	case k.client:
		return fmt.Sprintf("%s itself ended %s to %s for %s: %s", k.src, which, k.dst, service, k)
	case k.is(ib.REJTimeout):
		return fmt.Sprintf("%s gave up %s of %s for %s, which it had taken: %s, the client did not go on", k.dst, which, k.src, service, k)
	}
	return fmt.Sprintf("%s rejected %s of %s for %s: %s", k.dst, which, k.src, service, k)
}

func (k *rejection) advice() string {
	switch {
	case k.sidr, k.is(ib.REJInvalidServiceID):
		return "Nothing listens for " + serviceText(k.service) + " at that address of " + k.dst + ": is the service up, and bound to this address and port (`rdma resource show cm_id`, its own log)?"
	case k.is(ib.REJStaleConnection):
		return k.dst + " still holds an older connection of that queue pair number: usually " + k.src + " crashed or restarted without a disconnect. It clears when the old one times out, or at the next try."
	case k.is(ib.REJConsumerDefined) && k.client:
		return "The application on " + k.src + " refused the answer of " + k.dst + "; its log says why. The private data of the REJ may hold its own code."
	case k.is(ib.REJConsumerDefined):
		return "The application on " + k.dst + " refused, not the adapter; its log says why (access lists, limits on queues, name of a subsystem, version). The private data of the REJ may hold its own code."
	case k.is(ib.REJInvalidMTU):
		return "The two ends disagree on the path MTU: compare the interface MTU and active_mtu (`ibv_devinfo`) of both."
	case k.is(ib.REJInvalidGID):
		return "The address asked for is none of " + k.dst + "'s on that port: compare the GID tables (show_gids) of both ends and their GID index."
	case k.is(ib.REJTimeout):
		return "Look for loss of CM packets between the two (class of QP 1), and for a busy application thread that does not serve connection events in time."
	case k.is(ib.REJNoQP), k.is(ib.REJNoResources):
		return k.dst + " is out of queue pairs or memory for them: `rdma resource` there, limits on locked memory, connections that are never closed."
	}
	return "Look at the log of the service and the kernel on " + k.sayer() + " at that time, and at `rdma resource show cm_id` on both ends."
}

// sameService counts the connections that the client asked for and those the
// server accepted, and returns when the first one behind a time was, whoever of
// the two had asked.
func (v *connectionsView) sameService(h hosts, service string, ns int64) (asked, accepted, later int64) {
	for _, x := range v.both[h.eitherWay()] {
		if x.service != service {
			continue
		}
		at := x.accepted()
		if x.hosts == h {
			asked += min(1, x.v[cmRequests])
			accepted += min(1, at)
		}
		if at > ns && (later == 0 || at < later) {
			later = at
		}
	}
	return asked, accepted, later
}

// crossed counts the rejected requests during which, or as long before, the
// other side asked as well.
func (v *connectionsView) crossed(h hosts, xs []*cmRow) int64 {
	var back []int64
	for _, x := range v.both[h.eitherWay()] {
		if x.hosts == h.back() && x.v[cmRequests] > 0 {
			back = append(back, x.v[cmFirstNs])
		}
	}
	slices.SortFunc(back, cmp.Compare)
	var n int64
	for _, x := range xs {
		from, to := x.v[cmFirstNs], x.v[cmRejectNs]
		i, _ := slices.BinarySearch(back, from-(to-from))
		if i < len(back) && back[i] <= to {
			n++
		}
	}
	return n
}
