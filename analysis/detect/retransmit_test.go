package detect

import (
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode/ib"
)

func TestExponentOfAnInterval(t *testing.T) {
	for _, test := range []struct {
		ns   int64
		want int
	}{{0, 0}, {5_000, 0}, {8_192, 1}, {16_777_216, 12}, {16_700_000, 12}, {68_000_000, 14}, {576_000_000, 17}, {1 << 62, 31}} {
		if got := exponent(test.ns); got != test.want {
			t.Errorf("%d ns: exponent %d, want %d", test.ns, got, test.want)
		}
	}
}

// tries sends a packet again and again, and lets it wait so long, in µs, before each.
func (w *wire) tries(p packet, waits ...int64) {
	w.send(p)
	for _, ns := range waits {
		w.wait(ns * usec)
		w.send(p)
	}
}

var (
	lastWrite = packet{src: 1, dst: 2, op: writeOnly, qp: 0x12, psn: 30, ext: reth(0, 1, 64), payload: 64}
	lastRead  = packet{src: 1, dst: 2, op: ib.Of(ib.RC, ib.ReadRequest), qp: 0x12, psn: 30, ext: reth(0, 1, 64)}
)

func TestWhenAQueuePairHasGivenUp(t *testing.T) {
	const timer = 16_777
	for _, test := range []struct {
		desc  string
		tries []int64
		after int64 // µs that others go on
		want  string
		not   []string
	}{
		{"two resends, and the capture ends", []int64{timer, timer}, 0, "retransmit.timeout", []string{"retransmit.exhausted"}},
		{"two resends, and the next is not due yet", []int64{timer, timer}, timer, "retransmit.timeout", []string{"retransmit.exhausted"}},
		{"two resends, and others go on", []int64{timer, timer}, 3 * timer, "retransmit.exhausted", []string{"retransmit.timeout"}},
		{"growing waits need more patience", []int64{2_000, 4_000, 8_000}, 3 * 8_000, "retransmit.adaptive", []string{"retransmit.exhausted"}},
		{"growing waits, and others go on", []int64{2_000, 4_000, 8_000}, 5 * 8_000, "retransmit.exhausted", []string{"retransmit.timeout"}},
		{"seven resends at the end", []int64{timer, timer, timer, timer, timer, timer, timer}, 0, "retransmit.exhausted", []string{"retransmit.timeout"}},
		{"one resend", []int64{timer}, 10 * timer, "retransmit.timeout", []string{"retransmit.exhausted"}},
	} {
		t.Run(test.desc, func(t *testing.T) {
			w := newWire()
			w.acked(0, 30)
			w.tries(lastWrite, test.tries...)
			if test.after > 0 {
				w.wait(test.after * usec)
				w.write(3, 4, 0x22, 1)
			}
			r := findings(t, w)
			if f := finding(t, r, test.want); f.Rule == "retransmit.exhausted" && f.Values["retries"] != int64(len(test.tries)) {
				t.Errorf("%v", f.Values)
			}
			silent(t, r, append(test.not, "peer.silent", "peer.read-unanswered")...)
		})
	}
}

func TestReadsUnanswered(t *testing.T) {
	w := newWire()
	w.acked(0, 30)
	w.tries(lastRead, 600_000, 576_000, 576_000, 576_000)
	r := findings(t, w)
	f := finding(t, r, "peer.read-unanswered")
	if f.Severity != report.Critical || f.Values["retries"] != 4 || f.Values["timeout_exponent"] != 17 {
		t.Errorf("%s: %v", f.Severity, f.Values)
	}
	silent(t, r, "peer.silent")
}

// What a queue pair answered before the capture began is not known: where it is a
// READ that goes unanswered, the queue pair is not called silent.
func TestREADsUnansweredFromTheStartOfTheCapture(t *testing.T) {
	for _, before := range []int{0, 30} {
		w := newWire()
		for n := range 12 {
			w.write(1, 2, 0x13, ib.PSN(n))
			w.answer(2, 1, 0x31, ib.PSN(n)+1<<16, 0) // none of what 0x13 asks
			if n == 3 && before > 0 {
				w.wait(int64(before) * 1_000_000)
			}
		}
		w.tries(lastRead, 16_777, 16_777, 16_777, 16_777)
		r := findings(t, w)
		finding(t, r, "peer.read-unanswered")
		if before == 0 {
			silent(t, r, "peer.silent")
		} else {
			finding(t, r, "peer.silent")
		}
	}
}

func TestPeerIsSilentOnlyWhereItsDirectionIsInView(t *testing.T) {
	for _, test := range []struct {
		desc string
		seen func(*wire)
		want bool
	}{
		{"nothing else of it", func(w *wire) { w.write(3, 4, 0x22, 1) }, false},
		{"another queue pair of it answers", func(w *wire) { w.write(1, 2, 0x13, 1) }, true},
	} {
		w := newWire()
		test.seen(w)
		w.tries(lastWrite, 16_777, 16_777, 16_777)
		r := findings(t, w)
		if !test.want {
			silent(t, r, "peer.silent")
			continue
		}
		if f := finding(t, r, "peer.silent"); f.Severity != report.Critical {
			t.Errorf("%s: %s", test.desc, f.Severity)
		}
	}
}

func TestNeedlessTimeout(t *testing.T) {
	w := newWire()
	for psn := range ib.PSN(30) { // 10 ms of round trip
		w.request(psn)
		w.wait(10_000 * usec)
		w.answer(2, 1, 0x112, psn, 0x1F)
	}
	w.tries(lastWrite, 8_000)
	w.wait(2_000 * usec)
	w.answer(2, 1, 0x112, 30, 0x1F)
	w.request(31)
	r := findings(t, w)
	f := finding(t, r, "retransmit.spurious")
	if f.Count != 1 || f.Values["shortest_round_trip_ns"] < 10_000*usec {
		t.Errorf("%d: %v", f.Count, f.Values)
	}
	silent(t, r, "retransmit.timeout", "loss.downstream", "loss.ack")
}

func TestDoublingNeedsThreeIntervals(t *testing.T) {
	for _, test := range []struct {
		waits []int64
		want  bool
	}{
		{[]int64{2_000, 4_000, 8_000}, true},
		{[]int64{34_000, 67_000, 67_000, 67_000}, false}, // the first wait began late
		{[]int64{16_000, 16_000, 16_000}, false},
	} {
		w := newWire()
		w.acked(0, 30)
		w.tries(lastWrite, test.waits...)
		w.wait(20 * usec)
		w.answer(2, 1, 0x112, 30, 0x1F)
		r := findings(t, w)
		if !test.want {
			silent(t, r, "retransmit.adaptive")
			continue
		}
		if f := finding(t, r, "retransmit.adaptive"); f.Values["first_interval_ns"]/1e6 != 2 || f.Values["last_interval_ns"]/1e6 != 8 {
			t.Errorf("%v: %v", test.waits, f.Values)
		}
	}
}
