package detect

import "testing"

func TestRoundTripsOfRequestsSentOnce(t *testing.T) {
	w := newWire()
	w.acked(0, 10)
	w.tries(lastWrite, 20_000)
	w.answer(2, 1, 0x112, 30, 0x1F)
	for _, f := range findings(t, w).Flows {
		if f.DestQP == 0x12 && (f.AckRTT.Count() != 10 || f.AckRTT.Max != usec) {
			t.Errorf("%d round trips of up to %d ns, want 10 of 1 µs", f.AckRTT.Count(), f.AckRTT.Max)
		}
	}
}
