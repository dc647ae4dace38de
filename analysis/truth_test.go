package analysis_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
)

// exactTruth are runs whose truth the tap shows in full: the named columns
// equal it, and no other column of loss or of resending counts anything, save
// those left open because the truth does not tell them.
var exactTruth = []struct {
	name, capture string
	want          map[string]count
	open          []string
}{
	{"random loss behind the sender's tap", "loss_post.h1.pcap", map[string]count{
		"lost_downstream": lost("h1->h2"), "naks_psn_sequence": counter("rxe2.out_of_seq_request"),
		"retransmitted": resent("h1->h2", 0), "retransmitted_nak": resent("h1->h2", 0),
	}, nil},
	{"random loss behind a tap in the switch", "loss_post.s1.s128.pcap", map[string]count{
		"lost_downstream": lost("h1->h2"), "naks_psn_sequence": counter("rxe2.out_of_seq_request"),
		"retransmitted": resent("h1->h2", 0), "retransmitted_nak": resent("h1->h2", 0),
	}, nil},
	{"random loss before the receiver's tap", "loss_post.h2.pcap", map[string]count{
		"lost_upstream": lost("h1->h2"), "gaps": gapsSeen("loss_post.h2.pcap"), "naks_psn_sequence": counter("rxe2.out_of_seq_request"),
		"retransmitted": resent("h1->h2", 0), "retransmitted_nak": resent("h1->h2", 0),
	}, nil},
	{"every fortieth packet lost behind the tap", "det_drop.h1.pcap", map[string]count{
		"lost_downstream": drops("s1"), "retransmitted": resent("h1->h2", 0), "retransmitted_nak": resent("h1->h2", 0),
	}, nil},
	{"every fortieth packet lost before the tap", "det_drop.h2.pcap", map[string]count{
		"lost_upstream": drops("s1"), "gaps": gapsSeen("det_drop.h2.pcap"), "retransmitted": resent("h1->h2", 0), "retransmitted_nak": resent("h1->h2", 0),
	}, nil},
	{"one packet that could not be marked lost behind the tap", "ecn_not_ect.h1.pcap", map[string]count{
		"lost_downstream": lost("h1->h2"), "retransmitted": resent("h1->h2", 0), "retransmitted_nak": resent("h1->h2", 0),
	}, nil},
	{"one packet that could not be marked lost before the tap", "ecn_not_ect.h2.pcap", map[string]count{
		"lost_upstream": lost("h1->h2"), "gaps": gapsSeen("ecn_not_ect.h2.pcap"), "retransmitted": resent("h1->h2", 0), "retransmitted_nak": resent("h1->h2", 0),
	}, nil},
	{"READ responses lost before the requester's tap", "loss_read_resp.h1.s128.pcap", map[string]count{
		"response_lost_upstream": lost("h2->h1"), "retransmitted": reread("h1->h2"),
	}, []string{"response_gaps", "retransmitted_implied", "retransmitted_timeout", "response_retransmitted"}},
	{"READ responses lost behind the responder's tap, one proven by each time the requester asks again", "loss_read_resp.h2.s128.pcap", map[string]count{
		"response_lost_downstream": counter("rxe1.completer_retry_err"), "retransmitted": reread("h1->h2"),
	}, []string{"retransmitted_implied", "retransmitted_timeout", "response_retransmitted"}},
	{"a mirror that loses frames of a network that does not", "span_lossy.span.pcap", map[string]count{
		"not_captured": gapsSeen("span_lossy.span.pcap"), "gaps": gapsSeen("span_lossy.span.pcap"),
		"response_not_captured": minus(drops("span"), gapsSeen("span_lossy.span.pcap")),
	}, []string{"response_gaps"}},
	{"a mirror of both ways of both ports", "span_double.span.pcap", map[string]count{"mirror_duplicates": half("span_double.span.pcap")}, nil},
	{"copies made by the network behind the host that sent", "duplicate.h1.s128.pcap", map[string]count{"mirror_duplicates": copies("h2->h1")}, nil},
	{"copies made by the network before the host that answers", "duplicate.h2.s128.pcap", map[string]count{"mirror_duplicates": copies("h1->h2")}, nil},
	{"receive buffers that are missing draw RNR NAKs and their echoes", "rnr_recover.h1.pcap", map[string]count{
		"rnr_naks": counter("rxe2.send_rnr_err"), "naks_psn_sequence": counter("rxe2.out_of_seq_request"),
		"retransmitted": resent("h1->h2", 0), "retransmitted_rnr": resent("h1->h2", 0),
	}, nil},
	{"receive buffers that are missing, at the receiver", "rnr_recover.h2.pcap", map[string]count{
		"rnr_naks": counter("rxe2.send_rnr_err"), "naks_psn_sequence": counter("rxe2.out_of_seq_request"),
		"retransmitted": resent("h1->h2", 0), "retransmitted_rnr": resent("h1->h2", 0),
	}, []string{"spurious"}},
	{"bits flipped behind the tap", "corrupt.h1.pcap", map[string]count{
		"lost_downstream": counter("rxe2.out_of_seq_request"), "naks_psn_sequence": counter("rxe2.out_of_seq_request"),
		"retransmitted": resent("h1->h2", 0), "retransmitted_nak": resent("h1->h2", 0),
	}, nil},
	{"bits flipped before the tap, one of them in what made the frame RoCE", "corrupt.h2.pcap", map[string]count{
		"icrc_bad": minus(counter("rxe2.out_of_seq_request"), lost("h1->h2")), "lost_downstream": minus(counter("rxe2.out_of_seq_request"), lost("h1->h2")),
		"lost_upstream": lost("h1->h2"), "gaps": lost("h1->h2"), "naks_psn_sequence": counter("rxe2.out_of_seq_request"),
		"retransmitted": resent("h1->h2", 0), "retransmitted_nak": resent("h1->h2", 0),
	}, nil},
	{"bits flipped in READ responses before the tap", "tagged_corrupt_resp.h1.pcap", map[string]count{
		"response_lost_downstream": counter("rxe1.completer_retry_err"), "retransmitted": reread("h1->h2"),
	}, []string{"retransmitted_implied", "retransmitted_timeout", "response_retransmitted"}},
	{"bits flipped in READ responses behind the tap", "tagged_corrupt_resp.h2.pcap", map[string]count{
		"response_lost_downstream": counter("rxe1.completer_retry_err"), "retransmitted": reread("h1->h2"),
	}, []string{"retransmitted_implied", "retransmitted_timeout", "response_retransmitted"}},
	{"acknowledgements lost behind the responder's tap, each of which costs a timeout", "loss_ack.h2.pcap", map[string]count{
		"lost_acks": counter("rxe1.completer_retry_err"), "retransmitted": resent("h1->h2", 0), "retransmitted_timeout": resent("h1->h2", 0), "spurious": counter("rxe2.duplicate_request"),
	}, nil},
	{"acknowledgements covered by later ones, at the responder's tap", "loss_ack_pipelined.h2.pcap", map[string]count{
		"lost_acks": counter("rxe1.completer_retry_err"), "retransmitted": resent("h1->h2", 0), "retransmitted_timeout": resent("h1->h2", 0), "spurious": counter("rxe2.duplicate_request"),
	}, nil},
	{"acknowledgements covered by later ones, at the requester's tap", "loss_ack_pipelined.h1.pcap", map[string]count{
		"lost_acks": counter("rxe1.completer_retry_err"), "retransmitted": resent("h1->h2", 0), "retransmitted_timeout": resent("h1->h2", 0),
	}, nil},
	{"datagrams of connections lost before the tap", "loss_uc.h2.pcap", map[string]count{"lost_upstream": lost("h1->h2")}, []string{"gaps"}},
	{"datagrams lost before the tap", "loss_ud.h2.pcap", map[string]count{"lost_upstream": lost("h1->h2")}, []string{"gaps"}},
	{"datagrams lost behind the tap leave no trace", "loss_uc.h1.pcap", nil, nil},
	{"PSNs that wrap", "psnwrap.h1.pcap", nil, nil},
	{"PSNs that wrap, at the receiver", "psnwrap.h2.pcap", nil, nil},
	{"READ of many packets", "long_read.h1.s128.pcap", nil, nil},
	{"a capture that starts and ends amid traffic", "midstream.h1.s128.pcap", nil, nil},
	{"a tap that sees one direction", "one_direction.h1.pcap", nil, nil},
	{"a network that loses nothing beside a mirror that does", "span_lossy.h1.pcap", nil, nil},
}

func TestRecordedLossEqualsTheTruth(t *testing.T) {
	for _, tc := range exactTruth {
		t.Run(tc.name, func(t *testing.T) {
			truth := truthOf(t, tc.capture)
			r := analyze(t, filepath.Join(softroce, tc.capture), oneWorker())
			except := map[string]bool{}
			for name, want := range tc.want {
				except[name] = true
				if got, want := sum(r, name), want(truth); got != want {
					t.Errorf("%s is %d, want %d", name, got, want)
				}
			}
			for _, name := range tc.open {
				except[name] = true
			}
			wantZero(t, r, lossColumns, except)
			wantZero(t, r, resendColumns, except)
		})
	}
}

// boundedTruth are runs of which the tap cannot show all. Every bound has its
// reason.
var boundedTruth = []struct {
	name, capture, column string
	least, most           count
	why                   string
}{
	{"loss before both taps", "loss_pre.h1.pcap", "lost_upstream", counter("rxe2.out_of_seq_request"), drops("h1"),
		"a packet that was lost again when it was sent again leaves one hole for two drops"},
	{"loss before both taps, at the receiver", "loss_pre.h2.pcap", "lost_upstream", counter("rxe2.out_of_seq_request"), drops("h1"),
		"a packet that was lost again when it was sent again leaves one hole for two drops"},
	{"loss before both taps draws every NAK", "loss_pre.h1.pcap", "naks_psn_sequence", counter("rxe2.out_of_seq_request"), counter("rxe2.out_of_seq_request"), "NAKs are seen"},
	{"loss before both taps is never behind them", "loss_pre.h1.pcap", "lost_downstream", exactly(0), exactly(0), "nothing was lost behind the tap"},
	{"loss before both taps is never behind them, at the receiver", "loss_pre.h2.pcap", "lost_downstream", exactly(0), exactly(0), "nothing was lost behind the tap"},
	{"loss behind the tap of eight queue pairs", "loss_multiqp.h1.s128.pcap", "lost_downstream", counter("rxe2.out_of_seq_request"), lost("h1->h2"),
		"a NAK tells the first loss of a pass alone"},
	{"loss behind the tap of eight queue pairs is all there is", "loss_multiqp.h1.s128.pcap", "lost_upstream", exactly(0), exactly(0), "nothing was lost before the tap"},
	{"what eight queue pairs sent again", "loss_multiqp.h1.s128.pcap", "retransmitted", resent("h1->h2", 0), resent("h1->h2", 0), "every packet is seen"},
	{"loss before the tap of eight queue pairs", "loss_multiqp.h2.s128.pcap", "lost_upstream", counter("rxe2.out_of_seq_request"), lost("h1->h2"),
		"a packet that was lost again when it was sent again leaves one hole for two drops"},
	{"lost acknowledgements at the requester's tap", "loss_ack.h1.pcap", "lost_acks", exactly(2), counter("rxe1.completer_retry_err"),
		"where the first answer covers all that was sent again, the request may have been lost as well"},
	{"lost acknowledgements are no lost requests", "loss_ack.h1.pcap", "lost_downstream", exactly(0), exactly(0), "no request was lost"},
	{"lost acknowledgements are no requests lost before the tap", "loss_ack.h1.pcap", "lost_upstream", exactly(0), exactly(0), "no request was lost"},
	{"what was sent again for lost acknowledgements", "loss_ack.h1.pcap", "retransmitted_timeout", resent("h1->h2", 0), resent("h1->h2", 0), "every packet is seen"},
	{"the queue of the receiver's port overflows, first sender", "incast_tail.h1.s128.pcap", "lost_downstream", exactly(1), lost("h1->h4"), "a NAK tells the first loss of a pass alone"},
	{"the queue of the receiver's port overflows, second sender", "incast_tail.h2.s128.pcap", "lost_downstream", exactly(1), lost("h2->h4"), "a NAK tells the first loss of a pass alone"},
	{"the queue of the receiver's port overflows, third sender", "incast_tail.h3.s128.pcap", "lost_downstream", exactly(1), lost("h3->h4"), "a NAK tells the first loss of a pass alone"},
	{"the queue of the receiver's port overflows, behind it", "incast_tail.h4.s128.pcap", "lost_upstream", counter("rxe4.out_of_seq_request"), drops("s4"), "losses at the end of a pass leave no hole"},
	{"what the first sender of an incast sent again", "incast_tail.h1.s128.pcap", "retransmitted", resent("h1->h4", 0), resent("h1->h4", 0), "every packet is seen"},
	{"what the second sender of an incast sent again", "incast_tail.h2.s128.pcap", "retransmitted", resent("h2->h4", 1), resent("h2->h4", 1), "every packet is seen"},
	{"what the third sender of an incast sent again", "incast_tail.h3.s128.pcap", "retransmitted", resent("h3->h4", 2), resent("h3->h4", 2), "every packet is seen"},
	{"half a second without a link", "blackout.h1.pcap", "lost_downstream", exactly(0), lost("h1->h2"), "the first answer covers all that was sent again"},
	{"what was sent again for half a second without a link", "blackout.h1.pcap", "retransmitted_timeout", resent("h1->h2", 0), resent("h1->h2", 0), "every packet is seen"},
	{"a gap in time is no gap in PSNs", "blackout.h2.pcap", "lost_upstream", exactly(0), lost("h1->h2"), "nothing behind the loss passed the tap"},
	{"reordering behind the tap", "reorder.h1.s128.pcap", "lost_downstream", exactly(0), counter("rxe2.out_of_seq_request"),
		"a NAK that reordering drew looks like one that loss drew"},
	{"what was sent again for reordering behind the tap", "reorder.h1.s128.pcap", "retransmitted", resent("h1->h2", 0), resent("h1->h2", 0), "every packet is seen"},
	{"reordering before the tap", "reorder.h2.s128.pcap", "reordered", exactly(1), late("h1->h2"), "a resend that comes late may look like one that does not"},
	{"reordering before the tap is no loss before it", "reorder.h2.s128.pcap", "lost_upstream", exactly(0), exactly(0), "nothing was lost"},
	{"reordering before the tap is no loss behind it", "reorder.h2.s128.pcap", "lost_downstream", exactly(0), exactly(0), "nothing was lost"},
	{"reordering before the tap is no fault of the mirror", "reorder.h2.s128.pcap", "not_captured", exactly(0), exactly(0), "the tap missed nothing"},
	{"reordering before the tap draws needless NAKs", "reorder.h2.s128.pcap", "needless_naks", exactly(1), counter("rxe2.out_of_seq_request"), "each NAK was needless, not each can be seen to be"},
	{"reordering before the tap, sent again", "reorder.h2.s128.pcap", "retransmitted", exactly(1), resent("h1->h2", 0), "a resend that comes late counts as late"},
}

func TestRecordedLossStaysWithinItsBounds(t *testing.T) {
	for _, tc := range boundedTruth {
		t.Run(tc.name, func(t *testing.T) {
			truth := truthOf(t, tc.capture)
			r := analyze(t, filepath.Join(softroce, tc.capture), oneWorker())
			got, least, most := sum(r, tc.column), tc.least(truth), tc.most(truth)
			if got < least || got > most {
				t.Errorf("%s is %d, want %d to %d: %s", tc.column, got, least, most, tc.why)
			}
		})
	}
}

func TestEvidenceOfLossNamesTheFramesThatWereLost(t *testing.T) {
	for _, name := range []string{"loss_post.h1.pcap", "det_drop.h1.pcap", "ecn_not_ect.h1.pcap"} {
		t.Run(name, func(t *testing.T) {
			want := truthOf(t, name).Between["h1->h2"].LostFrames
			if len(want) == 0 || len(want) > report.EvidenceFrames {
				t.Fatalf("the truth lists %d frames; evidence holds all of %d at most", len(want), report.EvidenceFrames)
			}
			r := analyze(t, filepath.Join(softroce, name), oneWorker())
			var got []uint64
			for i := range r.Flows {
				got = append(got, r.Flows[i].EvidenceOf("lost_downstream").Frames...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("frames %v, want %v", got, want)
			}
		})
	}
}

func TestCopiesStandInTheRowTheyTravelIn(t *testing.T) {
	for _, tc := range []struct{ capture, way, other string }{
		{"duplicate.h1.s128.pcap", "h2->h1", "10.0.0.2"},
		{"duplicate.h2.s128.pcap", "h1->h2", "10.0.0.1"},
	} {
		t.Run(tc.capture, func(t *testing.T) {
			want := copies(tc.way)(truthOf(t, tc.capture))
			r := analyze(t, filepath.Join(softroce, tc.capture), oneWorker())
			for i := range r.Flows {
				f := &r.Flows[i]
				if f.Src != tc.other && f.MirrorDuplicates != 0 {
					t.Errorf("%v: %d copies of what leaves here", f.Ref(), f.MirrorDuplicates)
				}
				if f.Src == tc.other && f.MirrorDuplicates != want {
					t.Errorf("%v: %d copies, want %d", f.Ref(), f.MirrorDuplicates, want)
				}
			}
		})
	}
}
