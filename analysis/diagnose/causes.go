package diagnose

import (
	"path"
	"slices"

	"github.com/rocescope/rocescope/analysis/report"
)

// cause is a rule whose findings explain those of other rules.
type cause struct {
	rule    string
	effects []string // rules; a * stands for anything
	how     string   // why the one follows from the other
	covers  func(v *view, cause, effect *report.Finding) bool
}

func (c *cause) mayExplain(rule string) bool {
	for _, e := range c.effects {
		if ok, _ := path.Match(e, rule); ok {
			return true
		}
	}
	return false
}

// causes are tried in order. A rule's own line stands before those of the rules
// it may follow from, or names none of them: see TestCausesCloseNoCircle.
var causes = []cause{
	{"gid.mixed", []string{"peer.silent", "cm.unanswered", "retransmit.exhausted", "retransmit.timeout", "loss.unrecovered"},
		"The two sides use addresses, or versions of RoCE, that do not meet, so that nothing is answered.",
		func(v *view, c, e *report.Finding) bool {
			return v.lies(e, func(f *report.Flow) bool {
				return slices.Contains(c.Addresses, f.Src) && slices.Contains(c.Addresses, f.Dst)
			})
		}},
	{"mtu.mismatch", []string{"nak.invalid-request", "retransmit.exhausted", "loss.*", "retransmit.timeout"},
		"The receiver refuses packets larger than the path MTU it was told.", (*view).hostsOf},
	{"mtu.blackhole", []string{"retransmit.*", "loss.*", "peer.read-unanswered", "peer.silent", "nak.*"},
		"What is resent are the packets that are too large for the way; each resend meets the same end.", (*view).hostsOf},
	{"mtu.only-opcodes", []string{"retransmit.*", "loss.unrecovered", "peer.silent"},
		"What is resent are messages of several packets, which do not pass.", (*view).hostsOf},
	{"icrc.sender", []string{"retransmit.*", "loss.*", "peer.silent"},
		"Receivers drop packets with a wrong ICRC, so that they never count as arrived.", (*view).ofHost},
	{"icrc.path", []string{"loss.downstream", "loss.unrecovered", "retransmit.timeout", "retransmit.exhausted"},
		"The receiver drops a packet whose ICRC is wrong, and asks for it again.",
		func(v *view, c, e *report.Finding) bool {
			return v.lies(e, func(f *report.Flow) bool { return f.ICRCBad > 0 || f.Src == c.Host && f.Dst == c.Toward })
		}},
	{"pfc.source", []string{"pfc.paused", "pause.global", "pfc.storm"},
		"Its frames name a source that nobody can be.", (*view).pause},
	{"pfc.storm", []string{"pfc.paused", "pfc.host", "retransmit.timeout", "retransmit.exhausted", "loss.unrecovered", "straggler.host"},
		"While the priority is held paused nothing of it moves.", (*view).pause},
	{"pfc.host", []string{"pfc.paused", "pause.global", "straggler.host", "ecn.after-pfc"},
		"It is the host that pauses the link: it does not take what arrives.", (*view).pause},
	{"ecn.not-ect", []string{"loss.upstream", "loss.downstream", "retransmit.timeout"},
		"A congested queue drops what it cannot mark.", (*view).ofSender},
	{"incast.burst", []string{"loss.upstream", "loss.downstream", "loss.unrecovered", "retransmit.timeout", "retransmit.exhausted", "ecn.marked", "pfc.paused", "ecn.after-pfc"},
		"It lies on the flows of the burst, and begins with it.",
		func(v *view, c, e *report.Finding) bool { return notBefore(c, e) && v.towards(e, c.Host) }},
	{"class.dscp-outlier", []string{"loss.*", "retransmit.*", "peer.silent"},
		"Only the packets in the other class are hit.",
		func(v *view, c, e *report.Finding) bool {
			return v.lies(e, func(f *report.Flow) bool {
				return f.Src == c.Host && f.Dst == c.Toward && slices.Contains(f.DSCPs, uint16(c.Values["dscp"]))
			})
		}},
	{"cnp.missing", []string{"ecn.marked", "incast.burst"},
		"Nobody tells the senders to slow down, so the queue stays full.", (*view).toHost},
	{"cnp.no-reaction", []string{"ecn.marked", "incast.burst"},
		"The sender is told and does not slow down, so the queue stays full.", (*view).toHost},
	{"peer.silent", []string{"retransmit.*", "loss.unrecovered"},
		"Every resend of it goes unanswered.", (*view).sameConnection},
	{"peer.read-unanswered", []string{"retransmit.*", "loss.unrecovered"},
		"What is resent are the READ requests that nothing answers.", (*view).sameConnection},
	{"retransmit.exhausted", []string{"retransmit.timeout", "retransmit.adaptive", "loss.downstream", "loss.unrecovered"},
		"These are the resends that never got through.", (*view).sameConnection},
	{"rnr.exhausted", []string{"rnr.stall", "rnr.timer-zero", "retransmit.exhausted"},
		"These are the waits that used the retries up.", (*view).sameConnection},
	{"rnr.timer-zero", []string{"rnr.stall"},
		"The stalls are as long as they are because the timer code 0 asks for 655.36 ms.", (*view).sameConnection},
	{"rnr.stall", []string{"straggler.host"},
		"It stands out by the time that it makes others wait.", (*view).ofHost},
	{"reorder.spurious-nak", []string{"reorder.path", "retransmit.spurious"},
		"Late packets draw the NAKs.", (*view).sameRows},
	{"reorder.spurious-nak", []string{"loss.downstream"},
		"Late packets draw most of the NAKs, and may draw those that seem to ask for something lost.",
		func(v *view, c, e *report.Finding) bool {
			return e.Confidence == report.Possible && v.lies(e, (*report.Flow).ReorderPrevails) && v.sameRows(c, e)
		}},
	{"loss.ack", []string{"retransmit.timeout", "retransmit.spurious"},
		"The timer runs out because the acknowledgement is lost.", (*view).sameConnection},
	{"loss.downstream", []string{"retransmit.timeout", "cnp.without-ce"},
		"The sender notices the loss by it.", (*view).lossOf},
	{"loss.upstream", []string{"retransmit.timeout", "cnp.without-ce"},
		"The sender notices the loss by it.", (*view).lossOf},
	{"entropy.single-port", []string{"ecmp.imbalance", "entropy.low"},
		"One source port is one path.", (*view).sameRows},
}

// hostsOf: both are about the same two hosts.
func (v *view) hostsOf(c, e *report.Finding) bool {
	return v.between(c, e) || c.Flow == nil && v.touches(e, c.Host)
}

// ofHost: the effect is about traffic of the cause's host, to or from it.
func (v *view) ofHost(c, e *report.Finding) bool { return v.touches(e, hostOf(c, false)) }

// ofSender: the effect is about what the cause's host sends.
func (v *view) ofSender(c, e *report.Finding) bool { return v.from(e, hostOf(c, true)) }

// toHost: the effect is about what goes to the cause's host. A burst that
// overflowed the queue needs no further reason.
func (v *view) toHost(c, e *report.Finding) bool {
	return v.towards(e, hostOf(c, false)) && (e.Rule != "incast.burst" || e.Values["lost"] == 0)
}

// hostOf returns the host that a finding is about; of a flow its sender or its
// receiver.
func hostOf(f *report.Finding, sender bool) string {
	switch {
	case f.Host != "" || f.Flow == nil:
		return f.Host
	case sender:
		return f.Flow.Src
	}
	return f.Flow.Dst
}

// sameConnection: both are about one connection.
func (v *view) sameConnection(c, e *report.Finding) bool { return v.connection(c, e) }

// sameRows: the effect lies in the rows that the cause counts.
func (v *view) sameRows(c, e *report.Finding) bool {
	if c.Flow != nil {
		return v.lies(e, func(f *report.Flow) bool { return *f.Ref() == *c.Flow })
	}
	count := counted[c.Rule]
	return count != nil && v.lies(e, func(f *report.Flow) bool { return count(f) > 0 })
}

// lossOf: resends after a loss lie in its row; notifications that follow NAKs
// travel against it.
func (v *view) lossOf(c, e *report.Finding) bool {
	if e.Rule == "cnp.without-ce" {
		return e.Values["cnps_near_nak"] > 0 && v.lies(e, func(f *report.Flow) bool { return v.peerLost(f) })
	}
	return v.connection(c, e)
}

// peerLost reports whether the other direction of a row's connection lost
// packets.
func (v *view) peerLost(f *report.Flow) bool {
	if f.PeerQP == nil {
		return false
	}
	for _, row := range v.rows[report.FlowRef{Src: f.Dst, Dst: f.Src, DestQP: *f.PeerQP}] {
		if row.Lost() > 0 {
			return true
		}
	}
	return false
}

// pause: pauses of one device, or flows that stood still meanwhile. No finding
// names the priority of its flow, so that a storm is taken to hold them all.
func (v *view) pause(c, e *report.Finding) bool {
	if e.FirstNs > c.LastNs || e.LastNs < c.FirstNs {
		return false
	}
	if e.Flow != nil && c.Rule == "pfc.storm" {
		return true // nothing of the priority moves, wherever it goes
	}
	return v.touches(e, c.Host)
}
