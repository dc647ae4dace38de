package counters

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
)

func qp(n uint32) *uint32 { return &n }

// pair is a connection of hosts a and b: the requests of a to QP 2, and the
// answers to QP 1.
func pair(requests, answers report.Flow) *report.Report {
	requests.Src, requests.Dst, requests.DestQP, requests.PeerQP = "10.0.0.1", "10.0.0.2", 2, qp(1)
	answers.Src, answers.Dst, answers.DestQP, answers.PeerQP = "10.0.0.2", "10.0.0.1", 1, qp(2)
	requests.Transport, answers.Transport, requests.Version, answers.Version = "RC", "RC", 2, 2
	return &report.Report{Flows: []report.Flow{requests, answers}}
}

func alone(f report.Flow) *report.Report {
	f.Src, f.Dst, f.DestQP, f.Transport, f.Version = "10.0.0.1", "10.0.0.2", 2, "RC", 2
	return &report.Report{Flows: []report.Flow{f}}
}

func timeout(n int64) []report.Evidence { return []report.Evidence{{Kind: "timeout", Count: n}} }

func TestExpect(t *testing.T) {
	type flow = report.Flow
	for _, test := range []struct {
		desc, host, counter string
		report              *report.Report
		want                int64
		bound               report.Bound
	}{
		{"the responder counts a gap for each NAK it sends", "10.0.0.2", "out_of_sequence",
			pair(flow{}, flow{NAKSequence: 3}), 3, report.Exact},
		{"the requester does not", "10.0.0.1", "out_of_sequence",
			pair(flow{}, flow{NAKSequence: 3}), 0, report.Exact},
		{"the requester counts the NAKs it gets", "10.0.0.1", "packet_seq_err",
			pair(flow{}, flow{NAKSequence: 3}), 3, report.Exact},
		{"a timeout may follow a NAK that did not arrive", "10.0.0.1", "packet_seq_err",
			pair(flow{RetransmittedTimeout: 4, Evidence: timeout(1)}, flow{NAKSequence: 3}), 3, report.AtMost},
		{"and one that the tap did not see", "10.0.0.2", "out_of_sequence",
			pair(flow{RetransmittedTimeout: 4, Evidence: timeout(1)}, flow{NAKSequence: 3}), 3, report.AtLeast},
		{"timeouts, not the packets they send again", "10.0.0.1", "local_ack_timeout_err",
			pair(flow{RequestFrames: 9, Retransmitted: 4, RetransmittedTimeout: 4, Evidence: timeout(1)}, flow{}), 1, report.AtLeast},
		{"which timer it was stays open", "10.0.0.1", "roce_adp_retrans",
			pair(flow{Retransmitted: 4, RetransmittedTimeout: 4, Evidence: timeout(1)}, flow{}), 0, report.Unknown},
		{"no timer at all that can be seen", "10.0.0.1", "roce_adp_retrans", pair(flow{RequestFrames: 9}, flow{}), 0, report.AtLeast},
		{"no timer without requests", "10.0.0.2", "local_ack_timeout_err", pair(flow{RequestFrames: 9}, flow{}), 0, report.Exact},
		{"a queue pair that gives up had one timeout more", "10.0.0.1", "local_ack_timeout_err",
			pair(flow{RetransmittedTimeout: 7, Evidence: append(timeout(7), report.Evidence{Kind: "outstanding", Count: 1})}, flow{}), 7, report.AtLeast},
		{"requests that had been executed", "10.0.0.2", "duplicate_request",
			pair(flow{Retransmitted: 3, RetransmittedTimeout: 3, Spurious: 3}, flow{}), 3, report.Exact},
		{"what go-back-N sends again had not been executed", "10.0.0.2", "duplicate_request",
			pair(flow{Retransmitted: 9, RetransmittedNAK: 9}, flow{NAKSequence: 1}), 0, report.Exact},
		{"nor had what an RNR NAK refused", "10.0.0.2", "duplicate_request",
			pair(flow{Retransmitted: 9, RetransmittedRNR: 9, Spurious: 4}, flow{RNRNAKs: 3}), 0, report.Exact},
		{"a mirror's copy or the network's", "10.0.0.2", "duplicate_request",
			pair(flow{MirrorDuplicates: 5}, flow{}), 0, report.AtLeast},
		{"a READ asked again", "10.0.0.2", "duplicate_request",
			pair(flow{Retransmitted: 2, RetransmittedImplied: 2}, flow{ResponseBytes: 9}), 2, report.Exact},
		{"is an implied NAK", "10.0.0.1", "implied_nak_seq_err",
			pair(flow{Retransmitted: 2, RetransmittedImplied: 2}, flow{ResponseBytes: 9}), 2, report.AtLeast},
		{"RNR NAKs at the receiver", "10.0.0.2", "out_of_buffer", pair(flow{}, flow{RNRNAKs: 2}), 2, report.Exact},
		{"RNR NAKs at the sender", "10.0.0.1", "rnr_nak_retry_err", pair(flow{}, flow{RNRNAKs: 2}), 2, report.Exact},
		{"CNPs at the receiver", "10.0.0.2", "np_cnp_sent", pair(flow{CE: 7}, flow{CNPs: 2}), 2, report.Exact},
		{"CNPs at the sender", "10.0.0.1", "rp_cnp_handled", pair(flow{CE: 7}, flow{CNPs: 2}), 2, report.Exact},
		{"marks that the tap sees", "10.0.0.2", "np_ecn_marked_roce_packets",
			pair(flow{CE: 7, Frames: 9}, flow{}), 7, report.AtLeast},
		{"what cannot be marked is not marked behind the tap either", "10.0.0.2", "np_ecn_marked_roce_packets",
			pair(flow{Frames: 9, NotECT: 9}, flow{}), 0, report.Exact},
		{"marks of which some were lost, and some are not seen", "10.0.0.2", "np_ecn_marked_roce_packets",
			pair(flow{CE: 7, Frames: 9, LostDownstream: 1}, flow{}), 7, report.About},
		{"damage that made the receiver throw away", "10.0.0.2", "rx_icrc_encapsulated",
			pair(flow{ICRCBad: 3, LostDownstream: 3}, flow{NAKSequence: 3}), 3, report.Exact},
		{"damage that nobody minded is the capture's", "10.0.0.2", "rx_icrc_encapsulated",
			pair(flow{ICRCBad: 3}, flow{}), 3, report.AtMost},
		{"packets cut short hide damage", "10.0.0.2", "rx_icrc_encapsulated",
			pair(flow{ICRCUnchecked: 30}, flow{}), 0, report.AtLeast},
		{"refused for good", "10.0.0.1", "req_remote_access_errors", pair(flow{}, flow{NAKRemoteAccess: 1}), 1, report.Exact},
		{"requests alone tell nothing of NAKs sent", "10.0.0.2", "out_of_sequence", alone(flow{}), 0, report.Unknown},
		{"nor of NAKs that came", "10.0.0.1", "packet_seq_err", alone(flow{}), 0, report.Unknown},
		{"nor what a resend is for", "10.0.0.1", "local_ack_timeout_err",
			alone(flow{RetransmittedTimeout: 1, Evidence: timeout(1)}), 0, report.Unknown},
		{"but of marks", "10.0.0.2", "np_ecn_marked_roce_packets", alone(flow{CE: 4, Frames: 9}), 4, report.AtLeast},
	} {
		t.Run(test.desc, func(t *testing.T) {
			c := find(t, Expect(test.report), test.host, test.counter)
			if c.Value != test.want || c.Bound != test.bound || (c.Why == "") != (c.Bound == report.Exact) {
				t.Errorf("%s is %s %d (%s), want %s %d", c.Name, c.Bound, c.Value, c.Why, test.bound, test.want)
			}
		})
	}
}

func find(t *testing.T, hosts []report.HostCounters, host, name string) report.Counter {
	t.Helper()
	i := slices.IndexFunc(hosts, func(h report.HostCounters) bool { return h.Host == host })
	if i < 0 {
		t.Fatalf("there is no host %s in %v", host, hosts)
	}
	return expectedOf(&hosts[i], name)
}

func TestWhatACaptureLacksMakesLowerBounds(t *testing.T) {
	for _, test := range []struct {
		desc string
		lack func(*report.Report)
	}{
		{"damage", func(r *report.Report) { r.Captures = []report.Capture{{Damaged: "cut"}} }},
		{"drops of the capturing host", func(r *report.Report) { r.Captures = []report.Capture{{Dropped: 1}} }},
		{"losses of the mirror", func(r *report.Report) { r.Totals.MirrorLost = 1 }},
		{"flows beyond the cap", func(r *report.Report) { r.Totals.FlowsNotTracked = 1 }},
		{"frames cut before the BTH", func(r *report.Report) { r.Totals.CutShort = 1 }},
		{"frames that were not captured, of whatever flow", func(r *report.Report) { r.Flows[0].NotCaptured = 1 }},
	} {
		r := pair(report.Flow{}, report.Flow{NAKSequence: 3})
		test.lack(r)
		for _, c := range Expect(r)[1].Counters {
			if c.Bound == report.Exact || c.Bound == report.AtMost {
				t.Errorf("%s: %s is %s", test.desc, c.Name, c.Bound)
			}
		}
	}
}

func TestHostsAreToldApart(t *testing.T) {
	r := pair(report.Flow{}, report.Flow{})
	r.Flows = append(r.Flows,
		report.Flow{Src: "10.0.0.1", Dst: "10.0.0.2", VNI: qp(7), Transport: "RC"},
		report.Flow{Src: "10.0.0.10", Dst: "239.0.0.1", Transport: "UD"},
		report.Flow{Src: report.Other, Dst: report.Other})
	var got []string
	for _, h := range Expect(r) {
		name := h.Host
		if h.VNI != nil {
			name += " VNI"
		}
		got = append(got, name)
	}
	want := []string{"10.0.0.1", "10.0.0.1 VNI", "10.0.0.2", "10.0.0.2 VNI", "10.0.0.10"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("hosts %q, want %q", got, want)
	}
}

func TestEveryAliasIsOfACounter(t *testing.T) {
	for name, a := range aliases {
		if !slices.Contains(Names(), a.name) {
			t.Errorf("%s of %s stands for %s, which is none", name, a.driver, a.name)
		}
		if slices.Contains(Names(), name) {
			t.Errorf("%s is a name and an alias", name)
		}
	}
	if _, ok := Canonical("rx_out_of_buffer"); ok {
		t.Error("the kernel's own queues count as RDMA's")
	}
}

func BenchmarkExpect(b *testing.B) {
	r := &report.Report{}
	for i := range 1 << 17 {
		src, dst := fmt.Sprintf("10.0.%d.%d", i>>8&3, i&255), fmt.Sprintf("10.1.0.%d", i>>10)
		r.Flows = append(r.Flows, report.Flow{Src: src, Dst: dst, DestQP: uint32(i), Transport: "RC", NAKSequence: 1, PeerQP: qp(uint32(i)), RetransmittedTimeout: 1})
	}
	for b.Loop() {
		Expect(r)
	}
}
