package detect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

const nakFilter = "infiniband.aeth.syndrome.opcode == 3"

func judgeLoss(r *report.Report, c *analysis.Config) []report.Finding {
	dropSharedDatagrams(r)
	flows := namesIn(r, "loss", "late", "open")
	late := flows.tableOf(r, "loss", "late")
	var up, down, acks, datagrams []report.Finding
	for i := range r.Flows {
		f := &r.Flows[i]
		if f.Src == report.Other {
			continue
		}
		switch reliable := f.Transport == "RC" || f.Transport == "XRC"; {
		case reliable && f.LostUpstream+f.ResponseLostUpstream > 0:
			up = append(up, lossUpstream(f))
			doubtLate(late[f], f, &up[len(up)-1])
		case !reliable && f.LostUpstream > 0:
			datagrams = append(datagrams, lossDatagram(f))
		}
		if f.LostDownstream+f.ResponseLostDownstream > 0 {
			down = append(down, lossDownstream(f))
		}
		if f.LostAcks > 0 {
			acks = append(acks, lossAck(f))
		}
	}
	sides := slices.Concat(condense(up, "flow", nakFilter), condense(down, "flow", nakFilter), condense(acks, "flow", "infiniband"))
	return slices.Concat(doubtSides(r, &c.Limits, sides), condense(datagrams, "flow", "infiniband"), judgeOpen(r, c, flows))
}

// dropSharedDatagrams takes back what was counted in UD rows whose sender also
// sends to others: its sequence numbers run over all its destinations, so that
// a jump in one row is a packet in another. Only the sum of all shards and
// captures shows them all, so it happens here and not where rows are counted.
func dropSharedDatagrams(r *report.Report) {
	type sender struct {
		src string
		qp  uint32
	}
	rowsOf := map[sender][]*report.Flow{}
	for i := range r.Flows {
		if f := &r.Flows[i]; f.SrcQP != nil && f.DestQP > 1 {
			k := sender{f.Src, *f.SrcQP}
			rowsOf[k] = append(rowsOf[k], f)
		}
	}
	for _, flows := range rowsOf {
		if len(flows) < 2 {
			continue
		}
		for _, f := range flows {
			f.Gaps, f.GapFrames, f.LostUpstream, f.Reordered = 0, 0, 0, 0
			f.Evidence = slices.DeleteFunc(f.Evidence, func(e report.Evidence) bool {
				return e.Kind == analysis.Gap.String() || e.Kind == analysis.LostUpstream.String() || e.Kind == analysis.Reordered.String()
			})
		}
	}
}

// lossFinding is what findings about lost packets of one flow share: n of them,
// shown by events of some kinds.
func lossFinding(f *report.Flow, rule string, severity report.Severity, n int64, kinds ...analysis.EventKind) report.Finding {
	out := report.Finding{Rule: rule, Severity: severity, Confidence: report.Likely, Flow: f.Ref(), Count: n, FirstNs: f.FirstNs, LastNs: f.LastNs, Filter: bothWays(f)}
	seen := false
	for _, k := range kinds {
		e := f.EvidenceOf(k.String())
		if e.Count == 0 {
			continue
		}
		if !seen {
			out.FirstNs, out.LastNs, seen = e.FirstNs, e.LastNs, true
		}
		out.FirstNs, out.LastNs = min(out.FirstNs, e.FirstNs), max(out.LastNs, e.LastNs)
		out.Frames = append(out.Frames, e.Frames...)
	}
	out.Frames = fewFrames(out.Frames)
	return out
}

// lostWhat counts requests and READ responses: "3 packets", "3 packets (1 of
// them a READ response)".
func lostWhat(requests, responses int64) string {
	switch {
	case responses == 0:
		return report.Counted(requests, "packet")
	case requests == 0:
		return report.Counted(responses, "READ response")
	}
	return fmt.Sprintf("%s (READ responses among them: %s)", report.Counted(requests+responses, "packet"), report.Count(responses))
}

// cameAgain tells how the losses of a row were repaired.
func cameAgain(f *report.Flow, requests, responses int64) string {
	switch {
	case requests == 0 || f.Retransmitted > 0:
		return "To repair that, " + repairs(f, requests, responses) + "."
	case responses > 0:
		return "To repair that, " + repairs(f, 0, responses) + "; no other resend is in the capture."
	}
	return "No resend is in the capture."
}

// repairs tells what made the sender of a row send again.
func repairs(f *report.Flow, requests, responses int64) string {
	var texts []string
	if requests > 0 {
		for _, k := range []struct {
			n    int64
			text string
		}{
			{f.RetransmittedNAK, "after a NAK sequence error"}, {f.RetransmittedTimeout, "after a timeout"},
			{f.RetransmittedImplied, "because a later response showed one missing"}, {f.RetransmittedRNR, "after an RNR NAK"},
		} {
			if k.n > 0 {
				texts = append(texts, report.Counted(k.n, "packet")+" "+k.text)
			}
		}
	}
	switch {
	case len(texts) > 0:
		texts[0] = "the sender resent " + texts[0]
	case requests > 0 && f.PeerQP == nil:
		texts = append(texts, "the sender resent packets for a reason not in view, for the way back is not in the capture")
	case requests > 0:
		texts = append(texts, "the sender resent packets for a reason not in view")
	}
	if responses > 0 {
		texts = append(texts, "the requester asked for the READ responses again")
	}
	return strings.Join(texts, ", ")
}

func lossUpstream(f *report.Flow) report.Finding {
	n := f.LostUpstream + f.ResponseLostUpstream
	out := lossFinding(f, "loss.upstream", report.Warning, n, analysis.LostUpstream, analysis.ResponseLostUpstream)
	out.Summary = fmt.Sprintf("%s from %s to %s %s never reached the tap%s: lost before it. %s",
		lostWhat(f.LostUpstream, f.ResponseLostUpstream), f.Src, f.Dst, report.QP(f.DestQP),
		inGaps(f, n), cameAgain(f, f.LostUpstream, f.ResponseLostUpstream))
	out.Values = map[string]int64{
		"lost_upstream": f.LostUpstream, "response_lost_upstream": f.ResponseLostUpstream, "gaps": f.Gaps + f.ResponseGaps,
		"gap_frames": f.GapFrames + f.ResponseGapFrames, "retransmitted": f.Resent(),
	}
	out.Not = "Not reordering: what was missing was sent again, and not merely late. Not lost by the capture: it would not have been asked for."
	if missed := f.NotCaptured + f.ResponseNotCaptured; missed >= n {
		out.Confidence = report.Possible
		out.Not = fmt.Sprintf("Not reordering: what was missing was sent again, and not merely late. But the capture itself lost %s of this flow, "+
			"and one of those that a resend for another reason brings again looks the same.", report.Counted(missed, "packet"))
	}
	out.Advice = fmt.Sprintf("The drop lies between %s and the tap: compare the drop, discard and error counters of each port on that way, the sender's own adapter and link first. "+
		"`ethtool -S` of %s counts packet_seq_err, of %s out_of_sequence. A second tap nearer to %s halves the way.", f.Src, f.Src, f.Dst, f.Src)
	return out
}

// latePart is how many of the packets lost before the tap, one in so many, may only have
// come late so that the finding is doubted.
const latePart = 2

// doubtLate weakens a finding of loss before the tap where most of what is missing came
// again no later than what came late, and no ID tells one from the other.
func doubtLate(late []report.Row, f *report.Flow, out *report.Finding) {
	var n int64
	for _, row := range late {
		n += row.Values[0]
	}
	if n = min(n, f.LostUpstream); latePart*n <= out.Count {
		return
	}
	out.Values["late_or_lost"] = n
	doubt(out, fmt.Sprintf("%s of them were missing for no longer than others from %s to %s that came late, and no IPv4 ID tells which were sent again: these may not have been lost.", report.Count(n), f.Src, f.Dst))
}

// inGaps says in how many gaps a number of packets is missing, where the row has
// no gaps of another kind: what came late leaves gaps as well.
func inGaps(f *report.Flow, lost int64) string {
	if f.GapFrames+f.ResponseGapFrames != lost {
		return ""
	}
	return ", in " + report.Counted(f.Gaps+f.ResponseGaps, "gap")
}

// needlessPart is how many lost packets there must be more than for each NAK that was
// needless, so that the others are not doubted: behind the tap few of those that late
// packets draw can be told from others.
const needlessPart = 5

func lossDownstream(f *report.Flow) report.Finding {
	n := f.LostDownstream + f.ResponseLostDownstream
	out := lossFinding(f, "loss.downstream", report.Warning, n, analysis.LostDownstream, analysis.ResponseLostDownstream)
	out.Summary = fmt.Sprintf("At least %s passed the tap and did not arrive at %s %s: lost behind it. %s",
		lostWhat(f.LostDownstream, f.ResponseLostDownstream), f.Dst, report.QP(f.DestQP), cameAgain(f, f.LostDownstream, f.ResponseLostDownstream))
	out.Values = map[string]int64{
		"lost_downstream": f.LostDownstream, "response_lost_downstream": f.ResponseLostDownstream,
		"retransmitted": f.Resent(), "icrc_bad": f.ICRCBad,
	}
	out.Not = "Not a needless resend: no answer came that was too early to be caused by it. "
	if f.Resent() == 0 {
		out.Not = "Not lost before the tap: it passed here, and a NAK asked for it. "
	}
	out.Not += "One loss an episode is known: the receiver throws away what follows, so that further losses behind the first cannot be seen."
	out.Advice = fmt.Sprintf("The drop lies between the tap and %s: compare the drop, discard and error counters of each port on that way (egress queue of the last switch first), and `ethtool -S` of %s: "+
		"rx_discards_phy, rx_prio*_discards and out_of_sequence, which counts the episodes; packet_seq_err of %s should read the same.", f.Dst, f.Dst, f.Src)
	if f.LostDownstream > 0 && f.ResponseLostDownstream == 0 && needlessPart*f.NeedlessNAKs >= f.LostDownstream {
		doubt(&out, fmt.Sprintf("packets that only came late drew %s of this flow (reorder.spurious-nak). That shows only where answers come too soon, so they may have drawn the NAKs for lost packets as well.",
			report.Counted(f.NeedlessNAKs, "NAK")))
	}
	if f.ICRCBad > 0 {
		out.Summary += fmt.Sprintf(" %s of this flow had a bad ICRC here already, which a receiver drops.", report.Counted(f.ICRCBad, "frame"))
		out.Advice = "Damage comes before the tap: see the ICRC finding. " + out.Advice
	}
	return out
}

func lossAck(f *report.Flow) report.Finding {
	out := lossFinding(f, "loss.ack", report.Notice, f.LostAcks, analysis.LostAck)
	out.Summary = fmt.Sprintf("%s of %s waited for a timer though the requests had arrived at %s %s: only the acknowledgement was lost.",
		report.Counted(f.LostAcks, "resend"), f.Src, f.Dst, report.QP(f.DestQP))
	out.Values = map[string]int64{"lost_acks": f.LostAcks, "retransmitted_timeout": f.RetransmittedTimeout}
	out.Not = "Not loss of requests: the receiver had them, as its acknowledgement before the resend, or beyond it, shows."
	out.Advice = fmt.Sprintf("Look at the way back, from %s to %s: drops there, and in which class ACKs ride. %s counts duplicate_request, %s local_ack_timeout_err (`ethtool -S`, `rdma statistic`).",
		f.Dst, f.Src, f.Dst, f.Src)
	return out
}

func lossDatagram(f *report.Flow) report.Finding {
	out := lossFinding(f, "loss.datagram", report.Warning, f.LostUpstream, analysis.LostUpstream)
	out.Summary = fmt.Sprintf("%s from %s to %s %s %s missing at the tap%s, and %s has no repair. Whether the network or the capture lost them cannot be told.",
		report.Counted(f.LostUpstream, f.Transport+" packet"), f.Src, f.Dst, report.QP(f.DestQP), report.Are(f.LostUpstream), inGaps(f, f.LostUpstream), f.Transport)
	out.Values = map[string]int64{"lost_upstream": f.LostUpstream, "gaps": f.Gaps, "request_frames": f.RequestFrames}
	out.Confidence = report.Possible
	out.Not = "Not reordering: the missing numbers did not come later. What only the capture lost looks the same."
	out.Advice = fmt.Sprintf("If reliable flows of the same capture show capture.missed, suspect the capture; if they show loss.upstream, the network between %s and the tap. "+
		"A UC receiver drops the rest of a message after a gap.", f.Src)
	return out
}
