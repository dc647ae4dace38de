package ib_test

import (
	"testing"

	"github.com/rocescope/rocescope/decode/ib"
)

// A field of a cut message is what it is in the whole one, or zero.
func TestParseCutCM(t *testing.T) {
	for _, m := range []struct {
		attr ib.CMAttr
		h    header
	}{
		{ib.AttrREQ, fullREQ()}, {ib.AttrREJ, fullREJ()}, {ib.AttrSIDRREP, fullSIDRREP()},
		{ib.AttrDREQ, &ib.DREQ{LocalCommID: 1, RemoteCommID: 2, RemoteQPN: 0x030405}},
		{ib.AttrREP, &ib.REP{LocalCommID: 1, RemoteCommID: 2, LocalQPN: 0x030405, StartPSN: 0x060708, RNRRetry: 7}},
	} {
		b := message(m.attr, m.h)
		whole, _ := ib.ParseCM(b)
		for n := range len(b) {
			got, ok := ib.ParseCutCM(b[:n:n])
			if ok != (n >= 18) {
				t.Errorf("%v of %d bytes: %v", m.attr, n, ok)
			}
			if !ok {
				continue
			}
			same := func(what string, got, whole uint64) {
				if got != whole && got != 0 {
					t.Errorf("%v of %d bytes: %s is %#x, in the whole message %#x", m.attr, n, what, got, whole)
				}
			}
			same("local ID", uint64(got.LocalCommID), uint64(whole.LocalCommID))
			same("remote ID", uint64(got.RemoteCommID), uint64(whole.RemoteCommID))
			same("service", uint64(got.ServiceID), uint64(whole.ServiceID))
			same("queue pair", uint64(got.QPN), uint64(whole.QPN))
			same("PSN", uint64(got.StartPSN), uint64(whole.StartPSN))
			same("Q_Key", uint64(got.QKey), uint64(whole.QKey))
			same("reason", uint64(got.Reason), uint64(whole.Reason))
			if !got.Cut || got.TransactionID != whole.TransactionID {
				t.Errorf("%v of %d bytes: %+v", m.attr, n, got)
			}
		}
	}
	if c, ok := ib.ParseCutCM(message(ib.AttrREJ, fullREJ())[:ib.MADHeaderLen+12]); !ok || c.Reason != ib.REJConsumerDefined {
		t.Errorf("the reason of a REJ cut right behind it is %v", c.Reason)
	}
}

func TestParseCutCMAllocatesNothing(t *testing.T) {
	b := message(ib.AttrREQ, fullREQ())[:60]
	if n := testing.AllocsPerRun(10, func() { ib.ParseCutCM(b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
