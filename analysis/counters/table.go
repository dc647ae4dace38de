package counters

import "github.com/rocescope/rocescope/analysis/report"

// counter is one counter of an adapter.
type counter struct {
	name, with string
	expect     func(*host) *expectation
}

// table holds all counters, those of the receiver of requests first.
var table = []counter{
	{"out_of_sequence", "", outOfSequence},
	{"duplicate_request", "", duplicateRequest},
	{"out_of_buffer", "", outOfBuffer},
	{"rx_icrc_encapsulated", "", badICRC},
	{"np_ecn_marked_roce_packets", "", marked},
	{"np_cnp_sent", "", cnpSent},
	{"roce_slow_restart_cnps", "", slowRestart},
	{"packet_seq_err", "", refusals(func(f *report.Flow) int64 { return f.NAKSequence })},
	{"implied_nak_seq_err", "", impliedNAK},
	{"local_ack_timeout_err", "", ackTimeout},
	{"roce_adp_retrans", "", adaptive},
	{"rnr_nak_retry_err", "", refusals(func(f *report.Flow) int64 { return f.RNRNAKs })},
	{"rp_cnp_handled", "rp_cnp_ignored", cnpGot},
	{"req_remote_invalid_request", "", refusals(func(f *report.Flow) int64 { return f.NAKInvalidRequest })},
	{"req_remote_access_errors", "", refusals(func(f *report.Flow) int64 { return f.NAKRemoteAccess })},
}

// outOfSequence counts gaps in the requests that came to the host: each draws
// one NAK, whatever was missing.
func outOfSequence(h *host) *expectation {
	e := h.sends(func(f *report.Flow) int64 { return f.NAKSequence })
	e.mayBeMore(has(h.got, timedOut), "a NAK lost before the tap leaves a timeout only")
	e.mayBeMore(sum(h.got, func(f *report.Flow) int64 { return f.Reordered }) > 0,
		"some adapters count reordered requests that draw no NAK")
	e.mayBeMore(has(h.got, func(f *report.Flow) bool { return f.Transport == "UC" && f.Gaps > 0 }), "gaps of UC draw no NAK")
	return e
}

// duplicateRequest counts requests that the host had executed before. Copies
// that the network makes behind the tap it counts as well, and no capture shows
// them.
func duplicateRequest(h *host) *expectation {
	e := h.gets(executed)
	e.mayBeLess(h.missed != "", h.missed) // then a resend may not be what it looks like
	e.mayBeMore(sum(h.got, func(f *report.Flow) int64 { return f.Retransmitted - f.RetransmittedNAK - f.RetransmittedRNR }) > e.value,
		"of some resends it cannot be told whether the first sending had arrived")
	e.mayBeMore(sum(h.got, func(f *report.Flow) int64 { return f.Reordered + f.NeedlessNAKs }) > 0,
		"a request that was late, not lost, comes twice when it is sent again")
	e.mayBeMore(sum(h.got, func(f *report.Flow) int64 { return f.MirrorDuplicates }) > 0,
		"copies may be the network's, and then count, or the mirror's")
	return e
}

// executed counts resent requests that show their first sending to have been
// executed, and that came to the host again for all that is known. What an RNR
// NAK refused had not been executed, however soon its resend was answered.
func executed(f *report.Flow) int64 {
	n := max(f.Spurious-f.RetransmittedRNR, f.RetransmittedImplied, f.LostAcks)
	return max(0, n-f.LostDownstream)
}

// outOfBuffer counts messages for which no receive buffer was posted.
func outOfBuffer(h *host) *expectation {
	e := h.sends(func(f *report.Flow) int64 { return f.RNRNAKs })
	e.mayBeMore(has(h.got, timedOut), "a NAK lost before the tap leaves a timeout only")
	e.mayBeMore(has(h.got, func(f *report.Flow) bool { return !connected(f) && f.DestQP > 1 }), "datagrams that found no buffer leave no trace")
	return e
}

// badICRC counts packets that came to the host damaged.
func badICRC(h *host) *expectation {
	bad := sum(h.got, func(f *report.Flow) int64 { return f.ICRCBad })
	e := h.gets(func(f *report.Flow) int64 { return f.ICRCBad })
	lost := sum(h.got, (*report.Flow).Lost) - sum(h.got, func(f *report.Flow) int64 { return f.LostUpstream + f.ResponseLostUpstream })
	e.mayBeLess(lost != bad, "not all of the damaged packets were thrown away, or not by the host")
	e.mayBeMore(lost > bad, "what was lost behind the tap may have been damaged there")
	e.mayBeMore(has(h.got, func(f *report.Flow) bool { return f.ICRCUnchecked > 0 }), "not every packet is whole, so that its ICRC can be checked")
	e.mayBeMore(has(h.sent, timedOut) || has(h.got, timedOut), "a packet damaged behind the tap leaves a timeout only")
	e.mayBeMore(has(h.got, func(f *report.Flow) bool { return f.MirrorDuplicates > 0 }), "the ICRC of copies does not count")
	return e
}

// marked counts packets with the CE mark that came to the host.
func marked(h *host) *expectation {
	e := h.gets(func(f *report.Flow) int64 { return f.CE })
	e.mayBeLess(has(h.got, lossy), "marked packets may have been lost behind the tap")
	e.mayBeMore(has(h.got, func(f *report.Flow) bool { return f.Version == 2 && f.NotECT < f.Frames-f.CNPs }),
		"a switch behind the tap may have marked more")
	return e
}

// lossy reports whether anything of a row was lost behind the tap.
func lossy(f *report.Flow) bool { return f.LostDownstream+f.ResponseLostDownstream > 0 }

// cnpSent counts CNPs that the host sent.
func cnpSent(h *host) *expectation {
	e := h.sends(func(f *report.Flow) int64 { return f.CNPs })
	e.mayBeMore(lostBefore(h), "CNPs may have been lost before the tap")
	return e
}

// lostBefore reports whether any of what the host sent did not come to the tap.
func lostBefore(h *host) bool {
	return sum(h.sent, func(f *report.Flow) int64 { return f.LostUpstream + f.ResponseLostUpstream }) > 0 ||
		sum(h.got, func(f *report.Flow) int64 { return f.LostAcks }) > 0
}

// slowRestart counts CNPs that a NAK drew, not a mark.
func slowRestart(h *host) *expectation {
	e := cnpSent(h)
	e.cannotTell(e.value > 0, "a CNP does not tell whether a mark or a NAK drew it")
	return e
}

// refusals counts NAKs of one kind that the host got.
func refusals(of column) func(*host) *expectation {
	return func(h *host) *expectation {
		e := h.gets(of)
		e.mayBeLess(h.partnersTimedOut(of), "some of the NAKs may have been lost behind the tap")
		return e
	}
}

// impliedNAK counts responses and ACKs beyond a READ response that the host
// missed.
func impliedNAK(h *host) *expectation {
	e := h.sends(func(f *report.Flow) int64 { return f.RetransmittedImplied })
	h.needsGot(e)
	e.mayBeMore(e.value > 0, "adapters count each response beyond the missing one")
	reads := has(h.got, func(f *report.Flow) bool { return f.ResponseBytes > 0 })
	e.mayBeMore(has(h.got, func(f *report.Flow) bool { return f.ResponseGaps+f.ResponseReordered+f.ResponseLostDownstream > 0 }),
		"READ responses were missing or late")
	e.mayBeMore(reads && has(h.sent, timedOut), "some resends have no cause in view")
	return e
}

// ackTimeout counts how often a timer of the host ran out. It is never known
// whole: the usual reason is a lost end of a message, and where that was lost
// before the tap, its resend looks like a first sending.
func ackTimeout(h *host) *expectation {
	e := h.sends(timeouts)
	e.mayBeLess(h.missed != "", h.missed) // the NAK that drew the resend, perhaps
	e.cannotTell(h.blindTo == blind, "without the answers a timeout looks like a NAK")
	e.mayBeMore(h.blindTo == partly, "some of what came to this host is not in the capture")
	e.mayBeMore(has(h.sent, func(f *report.Flow) bool { return unexplained(f) > 0 }), "some resends have no cause in view")
	e.mayBeMore(has(h.sent, func(f *report.Flow) bool { return timeouts(f) > 0 && f.EvidenceOf("outstanding").Count > 0 }),
		"the last timeout of a queue pair that gives up resends nothing")
	e.mayBeMore(has(h.sent, func(f *report.Flow) bool { return connected(f) && f.RequestFrames > 0 }),
		"the end of a message that was lost before the tap leaves no trace of its timeout")
	return e
}

// adaptive counts timeouts of the adapter's own, shorter timer.
func adaptive(h *host) *expectation {
	e := ackTimeout(h)
	e.cannotTell(e.value > 0, "which of its timers ran out an adapter does not tell")
	return e
}

// cnpGot counts CNPs that came to the host, whether it slowed down for them or
// not.
func cnpGot(h *host) *expectation {
	e := h.gets(func(f *report.Flow) int64 { return f.CNPs })
	e.mayBeLess(has(h.got, lossy) || sum(h.sent, func(f *report.Flow) int64 { return f.LostAcks }) > 0, "CNPs may have been lost behind the tap")
	return e
}
