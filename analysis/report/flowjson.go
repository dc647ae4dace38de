package report

import (
	"encoding/json"
	"slices"
)

// flowRow is a Flow as encoding/json sees it by itself.
type flowRow Flow

// flowJSON adds what a row's JSON has beyond the fields of Flow. Its Evidence
// hides that of the row, so that it stands last.
type flowJSON struct {
	*flowRow
	AckRTTP50 int64      `json:"ack_rtt_p50_ns"`
	AckRTTP99 int64      `json:"ack_rtt_p99_ns"`
	AckRTTMax int64      `json:"ack_rtt_max_ns"`
	AckRTT    *Hist      `json:"ack_rtt,omitempty"`
	Evidence  []Evidence `json:"evidence,omitempty"`
}

// MarshalJSON writes the row with its columns of latency. Lists are never null.
func (f Flow) MarshalJSON() ([]byte, error) {
	f.UDPSourcePorts = list(f.UDPSourcePorts)
	f.DSCPs = list(f.DSCPs)
	f.VLANs = list(f.VLANs)
	out := flowJSON{
		flowRow:   (*flowRow)(&f),
		AckRTTP50: f.AckRTT.Quantile(0.50),
		AckRTTP99: f.AckRTT.Quantile(0.99),
		AckRTTMax: f.AckRTT.Max,
		Evidence:  slices.Clone(f.Evidence),
	}
	if !f.AckRTT.IsZero() {
		out.AckRTT = &f.AckRTT
	}
	for i := range out.Evidence {
		out.Evidence[i].Frames = list(out.Evidence[i].Frames)
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads a row. The columns of latency are computed from ack_rtt,
// so what the row says of them itself is not read.
func (f *Flow) UnmarshalJSON(data []byte) error {
	var row flowRow
	in := flowJSON{flowRow: &row}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	if in.AckRTT != nil {
		row.AckRTT = *in.AckRTT
	}
	row.Evidence = in.Evidence
	*f = Flow(row)
	return nil
}

// list returns s, or an empty list for nil, which JSON would write as null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
