package wrapped

import (
	"fmt"
	"slices"
	"testing"
)

// What LLDP says of priorities stands in the report, port by port.
func TestDCBIsReported(t *testing.T) {
	want := map[string][]string{
		"lldp-dcbx-ieee.pcap": {
			"dcb [02:00:00:00:00:0a] [8]",
			"dcb_applications [02:00:00:00:00:0a DSCP 48] [64]",
			"dcb_applications [02:00:00:00:00:0a EtherType 0x8915] [8]",
			"dcb_applications [02:00:00:00:00:0a UDP 4791] [8]",
			"dcb_classes [02:00:00:00:00:0a 0] [50 183]",
			"dcb_classes [02:00:00:00:00:0a 3] [50 8]",
			"dcb_classes [02:00:00:00:00:0a 6] [0 64]",
		},
		"lldp-dcbx-cee.pcap": {
			"dcb [02:00:00:00:00:0a] [8]",
			"dcb_applications [02:00:00:00:00:0a EtherType 0x8915] [16]",
			"dcb_applications [02:00:00:00:00:0a port 4791] [8]",
			"dcb_classes [02:00:00:00:00:0a 0] [50 183]",
			"dcb_classes [02:00:00:00:00:0a 3] [50 8]",
		},
		"ethernet.pcap": nil,
	}
	each(t, func(t *testing.T, s *sample) {
		rows, ok := want[s.name]
		if !ok {
			return
		}
		r := analyzed(t, s)
		var got []string
		for _, table := range []string{"dcb", "dcb_applications", "dcb_classes"} {
			for _, row := range r.Rows("wire", table) {
				got = append(got, fmt.Sprint(table, " ", row.Key, " ", row.Values))
			}
		}
		if !slices.Equal(got, rows) {
			t.Errorf("got %q\nwant %q", got, rows)
		}
	})
}
