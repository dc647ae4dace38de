package detect

import (
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode/ib"
)

// request sends a WRITE from host 1 to host 2 that nobody answers yet.
func (w *wire) request(psn ib.PSN) {
	w.send(packet{src: 1, dst: 2, op: writeOnly, qp: 0x12, psn: psn, ext: reth(0, 1, 64), payload: 64})
}

// nak asks host 1 for a PSN again.
func (w *wire) nak(psn ib.PSN) { w.answer(2, 1, 0x112, psn, ib.NAKPSNSequence) }

// acked sends WRITEs that are answered at once, so that round trips are known.
func (w *wire) acked(from, to ib.PSN) {
	for psn := from; psn < to; psn++ {
		w.write(1, 2, 0x12, psn)
	}
}

func TestLossOnEitherSideOfTheTap(t *testing.T) {
	for _, test := range []struct {
		desc, rule, not string
		seen            bool // the packet passed the tap before it was lost
	}{
		{"missing at the tap", "loss.upstream", "loss.downstream", false},
		{"seen at the tap", "loss.downstream", "loss.upstream", true},
	} {
		w := newWire()
		w.acked(0, 30)
		if test.seen {
			w.request(30)
		}
		w.request(31)
		w.nak(30)
		w.wait(20 * usec)
		w.request(30)
		w.request(31)
		w.wait(20 * usec)
		w.answer(2, 1, 0x112, 31, 0x1F)
		w.acked(32, 40)
		r := findings(t, w)
		f := finding(t, r, test.rule)
		if f.Count != 1 || f.Severity != report.Warning || !strings.Contains(f.Summary, "NAK sequence error") {
			t.Errorf("%s: %d, %s: %s", test.desc, f.Count, f.Severity, f.Summary)
		}
		if test.seen != strings.Contains(f.Summary, "At least") {
			t.Errorf("%s: %s", test.desc, f.Summary)
		}
		silent(t, r, test.not, "loss.unrecovered", "loss.ack", "retransmit.timeout")
	}
}

func TestAFewLossesAmongNeedlessNAKsAreOnlyPossible(t *testing.T) {
	for _, test := range []struct {
		desc                      string
		lost, responses, needless int64
		want                      report.Confidence
	}{
		{"no NAK was needless", 2, 0, 0, report.Likely},
		{"one NAK of many was needless", 12, 0, 2, report.Likely},
		{"a part of the NAKs was", 78, 0, 28, report.Possible},
		{"needless NAKs prevail", 2, 0, 50, report.Possible},
		{"lost READ responses draw no NAK", 0, 2, 50, report.Likely},
	} {
		f := lossDownstream(&report.Flow{Transport: "RC", LostDownstream: test.lost, ResponseLostDownstream: test.responses, NeedlessNAKs: test.needless})
		if f.Confidence != test.want || (test.want == report.Possible) != strings.Contains(f.Not, "reorder.spurious-nak") {
			t.Errorf("%s: %s, %s", test.desc, f.Confidence, f.Not)
		}
	}
}

func TestGapFramesLeavesOutTimeoutsOfUnknownCause(t *testing.T) {
	w := newWire()
	w.acked(0, 30)
	w.request(30)
	w.wait(20_000 * usec)
	w.request(30)
	w.wait(20 * usec)
	w.answer(2, 1, 0x112, 30, 0x1F)
	w.acked(31, 40)
	w.request(41) // 40 is missing, up to the end
	for _, f := range findings(t, w).Flows {
		if f.DestQP == 0x12 && (f.Unresolved != 2 || f.GapFrames != 1) {
			t.Errorf("%d unresolved and %d missing, want 2 and 1", f.Unresolved, f.GapFrames)
		}
	}
}

func TestLossThatIsNotRepaired(t *testing.T) {
	for _, test := range []struct {
		desc       string
		asked      bool
		then       func(*wire)
		unanswered int64 // of a dead queue pair
	}{
		{"the capture ends", true, func(*wire) {}, 0},
		{"others go on for a moment", true, func(w *wire) { w.wait(2_000 * usec); w.write(3, 4, 0x22, 1) }, 0},
		{"others go on for long", true, func(w *wire) { w.wait(200_000 * usec); w.write(3, 4, 0x22, 1) }, 2},
		{"so they do, and no NAK is in view", false, func(w *wire) { w.wait(200_000 * usec); w.write(3, 4, 0x22, 1) }, 2},
		{"more is sent, which the capture may have missed in part", true, func(w *wire) { w.request(33); w.wait(200_000 * usec); w.write(3, 4, 0x22, 1) }, 4},
	} {
		w := newWire()
		w.acked(0, 30)
		w.request(31)
		if test.asked {
			w.nak(30)
		}
		test.then(w)
		r := findings(t, w)
		if test.unanswered > 0 {
			if f := finding(t, r, "loss.unrecovered"); f.Severity != report.Critical || f.Values["unanswered_requests"] != test.unanswered {
				t.Errorf("%s: %s, %v", test.desc, f.Severity, f.Values)
			}
			continue
		}
		silent(t, r, "loss.unrecovered")
		if f := finding(t, r, "loss.upstream"); f.Severity != report.Info || !strings.Contains(f.Summary, "nresolved at end of capture") {
			t.Errorf("%s: %s: %s", test.desc, f.Severity, f.Summary)
		}
	}
}

// A queue pair that is closed behind an open NAK is dead, unless the capture shows
// that it missed runs of packets between the two hosts, and with them perhaps the repair.
func TestLossThatACaptureMayHaveSeenNoRepairOf(t *testing.T) {
	// neighbour sends WRITEs from host 2 to host 1 on another queue pair, of which the capture misses some.
	neighbour := func(w *wire, missing ib.PSN) {
		for psn := range ib.PSN(20) {
			if psn < 10 || psn >= 10+missing {
				w.write(2, 1, 0x33, psn)
			}
		}
	}
	for _, test := range []struct {
		desc     string
		before   ib.PSN // so many of the neighbour's packets the capture misses before the NAK
		after    ib.PSN // and behind it
		goesOn   int64  // for so long the capture goes on, ns
		want     report.Confidence
		closedBy bool
	}{
		{"the connection is closed", 0, 0, 100 * usec, report.Likely, true},
		{"so it is, and the capture misses a packet now and then", 0, 1, 100 * usec, report.Likely, true},
		{"so it is, and the capture missed a run of packets before", 4, 0, 100 * usec, report.Likely, true},
		{"so it is, and the capture missed a run of packets meanwhile", 0, 4, 100 * usec, "", true},
		{"long silence", 0, 0, 200_000 * usec, report.Likely, false},
		{"long silence, and the capture missed a run of packets meanwhile", 0, 4, 200_000 * usec, report.Possible, false},
	} {
		w := newWire()
		if test.before > 0 {
			neighbour(w, test.before)
		}
		w.acked(0, 30)
		w.request(30)
		w.request(31)
		w.nak(30)
		if test.before == 0 {
			neighbour(w, test.after)
		}
		w.wait(test.goesOn)
		if test.closedBy {
			w.disconnect(1, 2, 1)
		}
		w.write(3, 4, 0x22, 1)
		r := findings(t, w)
		if f := finding(t, r, "loss.downstream"); !strings.Contains(f.Summary, "No resend is in the capture") || strings.Contains(f.Not, "needless resend") {
			t.Errorf("%s: %s %s", test.desc, f.Summary, f.Not)
		}
		if test.want == "" {
			silent(t, r, "loss.unrecovered", "loss.upstream")
			continue
		}
		if f := finding(t, r, "loss.unrecovered"); f.Confidence != test.want || (test.want == report.Possible) != strings.Contains(f.Not, "capture.missed") {
			t.Errorf("%s: %s: %s", test.desc, f.Confidence, f.Not)
		}
	}
}

// datagrams sends UD packets from a queue pair of host 1, with one missing.
func (w *wire) datagrams(dst byte) {
	for psn := range ib.PSN(20) {
		if psn == 10 {
			continue
		}
		h := ib.DETH{QKey: 1, SrcQP: 0x99}
		w.send(packet{src: 1, dst: dst, op: ib.Of(ib.UD, ib.SendOnly), qp: 0x30, psn: psn, ext: h.Append(nil), payload: 64})
	}
}

func TestDatagramsOfOneSenderToManyAreNotCounted(t *testing.T) {
	w := newWire()
	w.datagrams(2)
	if f := finding(t, findings(t, w), "loss.datagram"); f.Count != 1 {
		t.Errorf("%d lost", f.Count)
	}
	w = newWire()
	w.datagrams(2)
	w.datagrams(3)
	r := findings(t, w)
	silent(t, r, "loss.datagram")
	for _, f := range r.Flows {
		if f.Gaps+f.GapFrames+f.LostUpstream != 0 {
			t.Errorf("%v keeps its gaps", f.Ref())
		}
	}
}
