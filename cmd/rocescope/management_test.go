package main

import (
	"testing"

	"github.com/rocescope/rocescope/decode/ib"
)

func TestManagement(t *testing.T) {
	for _, c := range []struct {
		m    ib.CM
		want string
	}{
		{ib.CM{Attr: ib.AttrREQ, ServiceID: ib.ServiceIDOf(ib.PortSpaceTCP, 4420), QPN: 0x12, PathMTU: ib.MTUOf(4096), RetryCount: 7, RNRRetry: 6},
			"CM REQ for TCP 4420, path MTU 4096, retries 7, RNR retries 6, own QP 0x12"},
		{ib.CM{Attr: ib.AttrREJ, Reason: ib.REJStaleConnection}, "CM REJ stale connection (reason 10)"},
		{ib.CM{Attr: ib.AttrREJ, Cut: true}, "CM REJ cut"},
		{ib.CM{Attr: ib.AttrRTU}, "CM RTU"},
		{ib.CM{Attr: ib.AttrDREQ, QPN: 0x12}, "CM DREQ closes QP 0x12"},
		{ib.CM{Attr: ib.AttrSIDRREP, Status: 1}, "CM SIDR_REP service ID not supported"},
	} {
		if got := management(&c.m); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
