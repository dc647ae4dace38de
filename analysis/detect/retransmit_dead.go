package detect

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// stuckRow is a flow whose last requests were sent again without an answer.
type stuckRow struct {
	flow                 *report.Flow
	psn                  uint32
	sendings, unanswered int64
	interval, last       int64
	frame                uint64
	read, doubling       bool

	silence                int64 // from the last sending to the end of the capture
	unseen                 bool  // the capture began so shortly before it that answers may have come before
	hungUp                 bool  // the connection managers spoke about when the next resend was due
	answers, answeredBytes int64 // responses of its queue pair, and their payload
	other, others          int64 // what else its peer sends to the same host: RoCE, and other protocols
}

// stuckRows reads the table of stuck requests. A row whose flow goes on, as
// only a later capture can show, is left out.
func stuckRows(r *report.Report, n neighbours, flows named) map[*report.Flow]*stuckRow {
	out := map[*report.Flow]*stuckRow{}
	begin, end := extent(r)
	for _, row := range r.Rows("retransmit", "stuck") {
		v := row.Values
		f := flows.at(row.Key, v[3])
		if f == nil || f.LastNs-v[3] >= v[2] {
			continue
		}
		s := &stuckRow{flow: f, psn: uint32(number(row.Key[3])), sendings: v[0], unanswered: v[1], interval: v[2], last: v[3],
			frame: uint64(v[4]), read: v[5] != 0, doubling: v[6] != 0, silence: end - v[3],
			unseen: f.FirstNs-begin < v[2]}
		s.lookAround(r, n)
		out[f] = s
	}
	return out
}

// extent returns when the capture began and ended.
func extent(r *report.Report) (begin, end int64) {
	begin = math.MaxInt64
	for i := range r.Flows {
		begin, end = min(begin, r.Flows[i].FirstNs), max(end, r.Flows[i].LastNs)
	}
	for i := range r.Captures {
		begin, end = min(begin, r.Captures[i].FirstNs), max(end, r.Captures[i].LastNs)
	}
	return begin, end
}

// lookAround takes in what else travels between the two hosts: a disconnect, what
// the peer sends for this queue pair, and what else it sends.
func (s *stuckRow) lookAround(r *report.Report, n neighbours) {
	h := hostsOf(s.flow)
	for _, f := range n[h] {
		s.hungUp = s.hungUp || f.DestQP == 1 && f.LastNs >= s.last+s.interval-s.interval/10
	}
	for _, f := range n[h.back()] {
		if s.flow.PeerQP != nil && f.DestQP == *s.flow.PeerQP && f.FirstNs <= s.flow.LastNs && f.LastNs >= s.flow.FirstNs {
			s.answers += f.ResponseFrames
			s.answeredBytes += f.ResponseBytes
		} else {
			s.other += f.Frames
		}
	}
	for _, row := range r.Rows("retransmit", "others") {
		if row.Key[0] == h.dst && row.Key[1] == h.src {
			s.others += row.Values[0]
		}
	}
}

// dead reports whether the requester has given up, or will.
func (s *stuckRow) dead(c *analysis.Config) bool {
	not, _ := s.gaveUp(c)
	return not != ""
}

// gaveUp tells how it shows that the requester has given up, or will, and how
// sure that is: silence beyond its timer, a disconnect, or retries that must be
// used up. It is empty where it may still be trying.
func (s *stuckRow) gaveUp(c *analysis.Config) (not string, sure report.Confidence) {
	sure = report.Likely
	next := s.interval
	if s.doubling {
		next *= 2
	}
	switch retries := s.sendings - 1; {
	case retries < 2:
		return "", ""
	case s.silence >= int64(c.Limits.RetryGiveUp)*next:
		not = fmt.Sprintf("Not the end of the capture, which goes on for %s without a further resend.", report.Duration(s.silence))
	case s.hungUp:
		not = "Not the end of the capture: the next resend was due, and its connection manager spoke instead."
	case retries >= 7:
		not = "Not the end of the capture: the retry counter has three bits, so seven resends are all there can be (only Soft-RoCE takes seven for unlimited)."
	case retries >= int64(c.Limits.Retries):
		sure = report.Possible
		not = fmt.Sprintf("Not chance, for none of %s sendings got through. The capture ends %s after the last one, before the timer would run out again: a further resend cannot be ruled out.",
			report.Count(s.sendings), report.Duration(s.silence))
	default:
		return "", ""
	}
	if s.flow.PeerQP == nil && s.other+s.others == 0 {
		sure = report.Possible
		not += " What comes back is not in view: RNR NAKs to each sending would look the same."
	}
	return not, sure
}

// judgeDead speaks of queue pairs that were never answered again, host pair by
// host pair: a path that goes down takes all of them.
func judgeDead(r *report.Report, c *analysis.Config, all map[*report.Flow]*stuckRow) []report.Finding {
	var exhausted, silent, reads []report.Finding
	ups := setUpsOf(r)
	for _, g := range groupBy(r, hostsOf) {
		var spent, mute, unread []*stuckRow
		for _, f := range g.flows {
			s := all[f]
			if s == nil {
				continue
			}
			often := s.sendings >= int64(c.Limits.SilentTries)
			if s.dead(c) {
				spent = append(spent, s)
			}
			// A queue pair that answered all but READs, before the capture began, is
			// not silent.
			if often && s.answers == 0 && s.other+s.others > 0 && !(s.read && s.unseen) {
				mute = append(mute, s)
			}
			if often && s.read && s.answeredBytes == 0 && s.answers+s.other > 0 {
				unread = append(unread, s)
			}
		}
		if len(spent) > 0 {
			exhausted = append(exhausted, ups.told(g.key, spent, retransmitExhausted(g, spent, c)))
		}
		if len(mute) > 0 {
			silent = append(silent, ups.told(g.key, mute, peerSilent(g, mute)))
		}
		if len(unread) > 0 {
			reads = append(reads, ups.told(g.key, unread, peerReadUnanswered(g, unread)))
		}
	}
	return slices.Concat(condense(exhausted, "host pair", "infiniband"), condense(silent, "host pair", "infiniband"),
		condense(reads, "host pair", "infiniband.bth.opcode == 12"))
}

// worstStuck returns the row that was sent most often, and of those the one silent
// for the longest.
func worstStuck(rows []*stuckRow) *stuckRow {
	return slices.MaxFunc(rows, func(a, b *stuckRow) int {
		return cmp.Or(cmp.Compare(a.sendings, b.sendings), cmp.Compare(a.silence, b.silence))
	})
}

// deadFinding is what findings about the stuck rows between two hosts share.
func deadFinding(g group[hosts], rule string, rows []*stuckRow) report.Finding {
	var flows []*report.Flow
	for _, s := range rows {
		flows = append(flows, s.flow)
	}
	ev, w := evidence(flows, analysis.TimeoutPass), worstStuck(rows)
	out := report.Finding{
		Rule: rule, Severity: report.Critical, Host: g.key.src, Toward: g.key.dst, Confidence: report.Likely, Flow: only(flows), FirstNs: ev.FirstNs, LastNs: w.last, Count: int64(len(rows)),
		Values: map[string]int64{"queue_pairs": int64(len(rows)), "sendings": w.sendings, "retries": w.sendings - 1, "interval_ns": w.interval,
			"timeout_exponent": int64(exponent(w.interval)), "silence_ns": w.silence},
		Filter: between(g.key),
	}
	if hasGRH(w.flow) {
		out.Filter = fmt.Sprintf("infiniband.grh.sgid == %s && infiniband.grh.dgid == %s", gid(g.key.src), gid(g.key.dst))
	}
	if w.doubling {
		delete(out.Values, "timeout_exponent")
	}
	frames := slices.Clone(ev.Frames)
	for _, s := range rows {
		out.LastNs = max(out.LastNs, s.last)
		frames = append(frames, s.frame)
	}
	out.Frames = fewFrames(frames)
	if len(rows) == 1 {
		out.Filter = toward(flows[0]) + fmt.Sprintf(" && infiniband.bth.psn == %d", w.psn)
	}
	return out
}

// sendingsText tells how often and how far apart the worst packet was sent.
func sendingsText(w *stuckRow) string {
	if w.doubling {
		return fmt.Sprintf("%s, at growing intervals up to %s", repeatedly(w.sendings), report.Duration(w.interval))
	}
	return fmt.Sprintf("%s, %s apart (%s)", repeatedly(w.sendings), report.Duration(w.interval), exponentText(w.interval))
}

func retransmitExhausted(g group[hosts], rows []*stuckRow, c *analysis.Config) report.Finding {
	w := worstStuck(rows)
	out := deadFinding(g, "retransmit.exhausted", rows)
	if len(rows) == 1 {
		out.Summary = fmt.Sprintf("%s gave up on %s %s: PSN %d was sent %s without an answer, so that %s are used up; %s never completed.",
			g.key.src, g.key.dst, report.QP(w.flow.DestQP), w.psn, sendingsText(w), retriesText(w), report.Counted(w.unanswered, "packet"))
	} else {
		out.Summary = fmt.Sprintf("%s gave up on %s in %s: each sent one packet again and again without an answer, %s %s, so that %s are used up.",
			g.key.src, g.key.dst, report.Counted(int64(len(rows)), "queue pair"), report.QP(w.flow.DestQP), sendingsText(w), retriesText(w))
	}
	out.Not, out.Confidence = w.gaveUp(c)
	out.Advice = fmt.Sprintf("The completion at %s says transport retry counter exceeded. Find out what became of %s at that time: link, route and neighbour entry, a paused or blackholed class, its own log; "+
		"where others between the two go on, its queue pair, or a packet size that does not pass. A longer timer or more retries (NCCL_IB_TIMEOUT, NCCL_IB_RETRY_CNT) only bridge a path that comes back. %s", g.key.src, g.key.dst, timerCounters)
	return out
}

func retriesText(w *stuckRow) string {
	if w.sendings == 2 {
		return "1 retry"
	}
	return report.Count(w.sendings-1) + " retries"
}

func peerSilent(g group[hosts], rows []*stuckRow) report.Finding {
	w := worstStuck(rows)
	out := deadFinding(g, "peer.silent", rows)
	what := report.QP(w.flow.DestQP) + " of " + g.key.dst + " never answered"
	if n := int64(len(rows)); n > 1 {
		what = fmt.Sprintf("%s of %s never answered, %s among them", report.Counted(n, "queue pair"), g.key.dst, report.QP(w.flow.DestQP))
	}
	out.Values["frames_back"] = w.other + w.others
	out.Summary = fmt.Sprintf("%s: PSN %d from %s was sent %s. %s of %s reach the tap on their way to the same host.",
		what, w.psn, g.key.src, sendingsText(w), report.Counted(w.other+w.others, "other frame"), g.key.dst)
	out.Not = "Not a capture of one direction: other traffic of the same peer is in it, and the requester itself got no answer, or it would not repeat."
	out.Advice = fmt.Sprintf("Look at the queue pair on %s: not in RTR/RTS, destroyed, or of another number (`rdma resource show qp`); a wrong GID index or VLAN; a packet filter. %s", g.key.dst, timerCounters)
	return out
}

func peerReadUnanswered(g group[hosts], rows []*stuckRow) report.Finding {
	w := worstStuck(rows)
	out := deadFinding(g, "peer.read-unanswered", rows)
	where := report.QP(w.flow.DestQP)
	if n := int64(len(rows)); n > 1 {
		where = report.Counted(n, "queue pair") + ", among them " + where
	}
	out.Values["answers"] = w.answers
	out.Summary = fmt.Sprintf("%s answers no RDMA READ of %s on %s: the request with PSN %d was sent %s, a retry count of %d or more, and not one response came, while other operations are answered.",
		g.key.dst, g.key.src, where, w.psn, sendingsText(w), w.sendings-1)
	out.Not = "Not a dead peer: it acknowledges other requests. Not refused either: that would be a NAK."
	out.Advice = fmt.Sprintf("READ responses are the first full-size packets that %s has to send: check its MTU and the path MTU of the queue pair, large packets in that direction, "+
		"and its outstanding READ limits (max_dest_rd_atomic). %s", g.key.dst, timerCounters)
	out.Filter += " && infiniband.bth.opcode == 12"
	return out
}
