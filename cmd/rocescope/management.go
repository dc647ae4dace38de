package main

import (
	"fmt"
	"strings"

	"github.com/rocescope/rocescope/decode/ib"
)

// management says what a message of connection management asks or answers.
func management(m *ib.CM) string {
	d := []string{"CM " + m.Attr.String()}
	add := func(format string, a ...any) { d = append(d, fmt.Sprintf(format, a...)) }
	switch m.Attr {
	case ib.AttrREQ:
		if m.ServiceID != 0 {
			add("for %v", m.ServiceID)
		}
		if m.PathMTU != 0 {
			add("path MTU %v, retries %d, RNR retries %d", m.PathMTU, m.RetryCount, m.RNRRetry)
		}
	case ib.AttrSIDRREQ:
		if m.ServiceID != 0 {
			add("for %v", m.ServiceID)
		}
	case ib.AttrREJ:
		if m.Reason != 0 {
			add("%v (reason %d)", m.Reason, uint16(m.Reason))
		}
	case ib.AttrSIDRREP:
		if m.Status != 0 {
			add("%v", m.Status)
		}
	}
	if m.QPN != 0 && m.Attr != ib.AttrDREQ {
		add("own QP %#x", m.QPN)
	} else if m.QPN != 0 {
		add("closes QP %#x", m.QPN)
	}
	if m.Cut {
		add("cut")
	}
	return d[0] + strings.TrimSuffix(" "+strings.Join(d[1:], ", "), " ")
}
