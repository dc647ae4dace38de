package counters

import "github.com/rocescope/rocescope/analysis/report"

// expectation is a value, and why the truth may lie beside it.
type expectation struct {
	value      int64
	less, more string // why the adapter may have counted less, or more; empty where it cannot
	unknown    string // why nothing can be told; empty where something can
}

// mayBeMore notes the first reason why the truth may exceed the value.
func (e *expectation) mayBeMore(when bool, why string) {
	if when && e.more == "" {
		e.more = why
	}
}

// mayBeLess notes the first reason why the truth may stay below the value.
func (e *expectation) mayBeLess(when bool, why string) {
	if when && e.less == "" {
		e.less = why
	}
}

func (e *expectation) cannotTell(when bool, why string) {
	if when && e.unknown == "" {
		e.unknown = why
	}
}

// bound returns what the reasons come to. Nothing counts below 0.
func (e *expectation) bound() (report.Bound, string) {
	less := e.less
	if e.value == 0 {
		less = ""
	}
	switch {
	case e.unknown != "":
		return report.Unknown, e.unknown
	case less != "" && e.more != "":
		if less != e.more {
			less += "; " + e.more
		}
		return report.About, less
	case less != "":
		return report.AtMost, less
	case e.more != "":
		return report.AtLeast, e.more
	}
	return report.Exact, ""
}

// column is a count of a row.
type column func(*report.Flow) int64

func sum(rows []*report.Flow, of column) (n int64) {
	for _, f := range rows {
		n += of(f)
	}
	return n
}

func has(rows []*report.Flow, is func(*report.Flow) bool) bool {
	for _, f := range rows {
		if is(f) {
			return true
		}
	}
	return false
}

// sends is the count of what the host sent.
func (h *host) sends(of column) *expectation {
	e := &expectation{value: sum(h.sent, of)}
	h.needsSent(e)
	return e
}

// gets is the count of what came to the host.
func (h *host) gets(of column) *expectation {
	e := &expectation{value: sum(h.got, of)}
	h.needsGot(e)
	return e
}

// needsSent adds the doubts of a number that what the host sent tells.
func (h *host) needsSent(e *expectation) {
	e.cannotTell(h.blindFrom == blind, "nothing that this host sent is in the capture")
	e.mayBeMore(h.blindFrom == partly, "some of what this host sent is not in the capture")
	e.mayBeMore(h.missed != "", h.missed)
}

// needsGot adds the doubts of a number that what came to the host tells.
func (h *host) needsGot(e *expectation) {
	e.cannotTell(h.blindTo == blind, "nothing that came to this host is in the capture")
	e.mayBeMore(h.blindTo == partly, "some of what came to this host is not in the capture")
	e.mayBeMore(h.missed != "", h.missed)
}

// timeouts counts how often the timer of a row's sender ran out.
func timeouts(f *report.Flow) int64 { return f.EvidenceOf("timeout").Count }

// timedOut reports whether a timer ran out, or may have: the resend has no
// cause in view.
func timedOut(f *report.Flow) bool {
	return timeouts(f) > 0 || f.RetransmittedTimeout > 0 || unexplained(f) > 0
}

// unexplained counts resent requests without a cause.
func unexplained(f *report.Flow) int64 {
	return max(0, f.Retransmitted-f.RetransmittedNAK-f.RetransmittedTimeout-f.RetransmittedImplied-f.RetransmittedRNR)
}

// partnersTimedOut reports whether, of the rows to the host in which something
// was counted, one carries answers to requests whose timer ran out: the host
// may not have got what passed the tap.
func (h *host) partnersTimedOut(of column) bool {
	return has(h.got, func(f *report.Flow) bool {
		return of(f) > 0 && h.timedOut[partnerOf(f)]
	})
}

// partner names the row of the other direction; where the queue pair is not
// known, all rows towards the peer stand for it.
type partner struct {
	peer string
	qp   int64 // -1 any
}

func partnerOf(f *report.Flow) partner { return partner{f.Src, number(f.PeerQP)} }
