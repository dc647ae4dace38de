package report

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestJSONRoundTrip(t *testing.T) {
	for seed := range uint64(50) {
		r := randomReport(rand.New(rand.NewPCG(seed, 2)))
		want := text(t, r)
		if got := text(t, again(t, r)); got != want {
			t.Fatalf("seed %d: %s", seed, firstDifference(got, want))
		}
	}
}

func TestListsAreNeverNull(t *testing.T) {
	r := &Report{
		Captures: []Capture{{}},
		Flows:    []Flow{{Evidence: []Evidence{{Kind: "gap", Count: 1}}}},
		Findings: []Finding{{}},
		Sections: []Section{{Name: "pfc", Tables: []Table{{Rows: []Row{{}}}}}},
	}
	for _, line := range strings.Split(text(t, r), "\n") {
		if strings.Contains(line, "null") && !strings.Contains(line, `"peer_qp": null`) {
			t.Error(line)
		}
	}
	if r.Captures[0].LinkTypes != nil || r.Findings[0].Values != nil || r.Sections[0].Tables[0].Rows[0].Key != nil {
		t.Error("writing changed the report")
	}
	for _, name := range []string{"captures", "flows", "findings"} {
		if !strings.Contains(text(t, &Report{}), `"`+name+`": []`) {
			t.Errorf("%s of an empty report is no empty list", name)
		}
	}
}

func TestFiltersStayReadable(t *testing.T) {
	r := &Report{Findings: []Finding{{Filter: "a && b > 3"}}}
	if !strings.Contains(text(t, r), "a && b > 3") {
		t.Error(text(t, r))
	}
}

// People script against these names and read them in this order.
func TestFlowColumns(t *testing.T) {
	want := strings.Fields(`
		src dst dest_qp src_qp roce_version transport vni vlan peer_qp peer_by udp_source_ports dscps vlans path_mtu
		frames bytes request_frames request_bytes response_frames response_bytes data_frames acks messages
		first_ns last_ns
		gaps gap_frames lost_upstream lost_downstream lost_acks not_captured unresolved reordered
		retransmitted retransmitted_nak retransmitted_timeout retransmitted_implied retransmitted_rnr
		spurious needless_timeouts mirror_duplicates needless_naks
		response_gaps response_gap_frames response_lost_upstream response_lost_downstream
		response_not_captured response_unresolved response_reordered response_retransmitted
		naks_psn_sequence naks_invalid_request naks_remote_access naks_remote_operational rnr_naks rnr_stall_ns
		ce_frames not_ect_frames cnps becn_frames icrc_good icrc_bad icrc_unchecked
		ack_rtt_p50_ns ack_rtt_p99_ns ack_rtt_max_ns ack_rtt evidence`)
	f := Flow{SrcQP: new(uint32), VNI: new(uint32), VLAN: new(uint32), AckRTT: histOf(5), Evidence: []Evidence{{Count: 1}}}
	if got := fieldNames(t, marshal(t, f)); !slices.Equal(got, want) {
		t.Errorf("columns\n%v\nwant\n%v", got, want)
	}
}

// fieldNames returns the names of an object's fields in their order.
func fieldNames(t *testing.T, object string) []string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(object))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name.(string))
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

func TestFlowLatencyColumns(t *testing.T) {
	var h Hist
	h.AddN(10, 98)
	h.AddN(50, 2)
	for _, test := range []struct {
		desc string
		flow Flow
		want []string
	}{
		{"unknown", Flow{}, []string{`"ack_rtt_p50_ns":0,"ack_rtt_p99_ns":0,"ack_rtt_max_ns":0}`}},
		{"known", Flow{AckRTT: h}, []string{
			`"ack_rtt_p50_ns":10,"ack_rtt_p99_ns":50,"ack_rtt_max_ns":50`,
			`"ack_rtt":{"min":10,"max":50,"buckets":[[10,98],[50,2]]}`,
		}},
	} {
		got := marshal(t, test.flow)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s is not in %s", test.desc, want, got)
			}
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, test := range []struct{ desc, text, want string }{
		{"nothing", "", "empty"},
		{"no JSON", "hello", "invalid character"},
		{"JSON of something else", `{"schema":"other/1"}`, "no report"},
		{"JSON without a schema", `{}`, "no report"},
		{"a report of another version", `{"schema":"rocescope.report/2"}`, "another version"},
		{"a report cut short", `{"schema":"rocescope.report/1","flows":[`, "unexpected EOF"},
		{"two reports", `{"schema":"rocescope.report/1"} {}`, "more data"},
		{"a broken histogram", `{"schema":"rocescope.report/1","flows":[{"ack_rtt":{"buckets":[[65,1]]}}]}`, "no bucket"},
	} {
		_, err := Read(strings.NewReader(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.desc, err, test.want)
		}
	}
}

func TestReadPassesOverLaterFields(t *testing.T) {
	if _, err := Read(strings.NewReader(`{"schema":"rocescope.report/1","weather":"fine"}`)); err != nil {
		t.Error(err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

var errFull = errors.New("no space left")

func TestWriteReportsFailure(t *testing.T) {
	if err := Write(fullDisk{}, &Report{}); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}
