package report

import (
	"encoding/json"
	"reflect"
)

// flowRow is a Flow as encoding/json sees it by itself.
type flowRow Flow

// flowJSON adds what is read of a row's JSON beyond the fields of Flow.
type flowJSON struct {
	*flowRow
	AckRTT *Hist `json:"ack_rtt,omitempty"`
}

var flowNode = nodeOf(reflect.TypeFor[Flow](), 0)

// MarshalJSON writes the row with its columns of latency. Lists are never null.
func (f Flow) MarshalJSON() ([]byte, error) {
	return flowNode.encode(nil, reflect.ValueOf(&f).Elem()), nil
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
	*f = Flow(row)
	return nil
}
