package render

import (
	"slices"

	"github.com/rocescope/rocescope/analysis/report"
)

const start = 1_772_366_400_000_000_000 // 2026-03-01 12:00:00 UTC

func at(ns int64) int64 { return start + ns }

func rtt(values ...int64) (h report.Hist) {
	for _, v := range values {
		h.Add(v)
	}
	return h
}

func qp(n uint32) *uint32 { return &n }

// connection returns the rows of both directions between two hosts.
func connection(a, b string, qpA, qpB uint32, frames int64) []report.Flow {
	return []report.Flow{
		{
			Src: a, Dst: b, DestQP: qpB, PeerQP: qp(qpA), PeerBy: "cm", Version: 2, Transport: "RC",
			PathMTU: 4096, Frames: frames, Bytes: frames * 4170, RequestFrames: frames, RequestBytes: frames * 4096,
			FirstNs: at(0), LastNs: at(2_413_000_000), ICRCGood: frames, AckRTT: rtt(16_800, 17_100, 21_000),
		},
		{
			Src: b, Dst: a, DestQP: qpA, PeerQP: qp(qpB), PeerBy: "cm", Version: 2, Transport: "RC",
			Frames: frames / 8, Bytes: frames / 8 * 62, ResponseFrames: frames / 8, Acks: frames / 8,
			FirstNs: at(17_000), LastNs: at(2_413_017_000), ICRCGood: frames / 8,
		},
	}
}

func healthy() *report.Report {
	r := &report.Report{
		Captures: []report.Capture{{
			Name: "rack7-leaf.pcapng", Format: "pcapng", LinkTypes: []string{"Ethernet"}, SnapLen: 262144,
			Frames: 14_470, Bytes: 53_493_744, FirstNs: at(0), LastNs: at(2_413_017_000),
		}},
		Totals: report.Totals{Frames: 14_470, RoCE: 14_400, RoCEv2: 14_400, Other: 70, Data: 12_800, Acks: 1600, ICRCGood: 14_400},
	}
	r.Flows = append(r.Flows, connection("10.0.0.1", "10.0.0.2", 0xd1, 0xd2, 8000)...)
	r.Flows = append(r.Flows, connection("10.0.0.1", "10.0.0.3", 0xd4, 0x1a7, 4800)...)
	return r
}

// faulty is a capture in which a receiver died, packets were lost behind the
// tap on many flows, and marks came in the wrong proportion.
func faulty() *report.Report {
	r := healthy()
	r.Totals.CE, r.Totals.CNPs, r.Totals.PFC, r.Totals.ICRCUnchecked = 3120, 41, 212, 84
	r.Totals.ICRCGood -= 84
	for i := range uint32(12) {
		r.Flows = append(r.Flows, connection("10.0.0.9", "10.0.0.2", 0x200+i, 0x300+i, 100+int64(i))...)
		f := &r.Flows[len(r.Flows)-2]
		f.LostDownstream, f.Retransmitted, f.CE = int64(12-i), int64(40-i), 260
		r.Flows[len(r.Flows)-1].NAKSequence = int64(12 - i)
		r.Findings = append(r.Findings, report.Finding{
			Rule: "loss.downstream", Severity: report.Warning, Confidence: report.Likely, Flow: f.Ref(), Count: int64(12 - i),
			Summary: report.Counted(int64(12-i), "packet") + " from 10.0.0.9 passed the tap and never reached 10.0.0.2 " + report.QP(f.DestQP) +
				"; each was asked for again by a NAK and cost a go-back-N resend.",
			FirstNs: at(412_000_000), LastNs: at(2_100_331_000), Frames: []uint64{14, 119, 246, 391, 8120, 8344, 9001, 9811},
			Not:    "a spurious resend: the NAK names the very packet, and no ACK covers it before the resend.",
			Advice: "Look at the drop and discard counters of the switch ports between the tap and 10.0.0.2, of the class with DSCP 26, and at rx_discards and out_of_buffer of the receiving NIC.",
			Filter: "ip.addr == 10.0.0.9 && ip.addr == 10.0.0.2 && infiniband.bth.destqp == 0x300 && (infiniband.aeth.syndrome.opcode == 3 || roce.analysis.retransmission)",
		})
	}
	r.Findings = append(r.Findings,
		report.Finding{
			Rule: "ecn.marked", Severity: report.Warning, Confidence: report.Certain, Count: 3120,
			Summary: "22 % of the packets to 10.0.0.2 carry CE, in 12 flows from 10.0.0.9: standing congestion at or before the tap.",
			FirstNs: at(400_000_000), LastNs: at(2_400_000_000), Frames: []uint64{77},
			Advice: "Look at the queue of the egress port towards 10.0.0.2; with this many flows from one host, at its rate limiter.",
			Filter: "ip.dst == 10.0.0.2 && ip.dsfield.ecn == 3",
		},
		report.Finding{
			Rule: "peer.silent", Severity: report.Critical, Confidence: report.Likely, Count: 8, Flow: &report.FlowRef{Src: "10.0.0.1", Dst: "10.0.0.3", DestQP: 0x1a7},
			Summary: "10.0.0.3 stopped answering: PSN 4711 was sent 8 times over 4.19 s and nothing came back, though that direction is visible.",
			FirstNs: at(1_204_817_000), LastNs: at(1_204_817_000), Frames: []uint64{6001, 6020, 6040},
			Not:    "capture.one-direction: 600 frames of 10.0.0.3 are here from before.",
			Advice: "Check that 10.0.0.3 is up and that its queue pair 0x1a7 still exists (rdma resource show qp).",
			Filter: "infiniband.bth.destqp == 0x1a7 && infiniband.bth.psn == 4711",
		},
		report.Finding{
			Rule: "class.direction", Severity: report.Notice, Summary: "Data from 10.0.0.9 rides DSCP 26, its ACKs ride DSCP 0.",
			Advice: "Set the traffic class on both sides.", Filter: "ip.addr == 10.0.0.9 && ip.dsfield.dscp == 0",
		},
		report.Finding{Rule: "uet.present", Severity: report.Info, Summary: "3 frames of Ultra Ethernet were counted and not analysed."},
	)
	report.SortFindings(r.Findings)
	burst := slices.IndexFunc(r.Findings, func(f report.Finding) bool { return f.Rule == "ecn.marked" })
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Rule == "class.direction" {
			f.ExplainedBy, f.Explanation = &burst, "The class of the ACKs is the one that fills."
		}
	}
	r.NotKnowable = []report.Question{{What: "pauses", Why: "No PFC frame is here.", Instead: "Read rx_prio*_pause."}}
	return r
}

func noRoCE() *report.Report {
	return &report.Report{
		Captures: []report.Capture{{
			Name: "eth0.pcap", Format: "pcap", LinkTypes: []string{"Ethernet"}, SnapLen: 65535,
			Frames: 120, Bytes: 88_123, FirstNs: at(0), LastNs: at(90_000_000_000),
		}},
		Totals: report.Totals{Frames: 120, Other: 120},
		Findings: []report.Finding{{
			Rule: "capture.no-roce", Severity: report.Warning, Count: 120,
			Summary: "Nothing of RoCE is in this capture: 120 frames, of which 96 are TCP, 20 UDP and 4 ARP.",
			Advice:  "A NIC that offloads RoCE hides it from the host's own capture. Mirror the switch port, or use the driver's sniffer mode, and capture again.",
		}},
	}
}

// damaged is two captures, cut short in both ways, of one direction over IPv6.
func damaged() *report.Report {
	r := &report.Report{
		Captures: []report.Capture{
			{
				Name: "mirror-00001.pcap.gz", Format: "pcap", LinkTypes: []string{"Ethernet"}, SnapLen: 96,
				Frames: 5000, Bytes: 20_000_000, FirstNs: at(0), LastNs: at(800_000_000), Truncated: 4100, Dropped: 12,
				Damaged: "the file ends within frame 5001, at byte 559,104",
			},
			{
				Name: "mirror-00002\x1b[31m.pcap.gz", Format: "pcap", LinkTypes: []string{"Ethernet"}, SnapLen: 96,
				Frames: 20, Bytes: 80_000, FirstNs: at(900_000_000), LastNs: at(910_000_000), Truncated: 20,
			},
		},
		Totals: report.Totals{
			Frames: 5020, RoCE: 5000, RoCEv2: 5000, Other: 8, CutShort: 12, Data: 5000, ICRCUnchecked: 4100, ICRCGood: 900, FlowsNotTracked: 100,
		},
		Findings: []report.Finding{
			{
				Rule: "capture.damaged", Severity: report.Warning, Count: 1,
				Summary: "mirror-00001.pcap.gz ends within frame 5001; what came before was read.",
				Advice:  "Copy the file again, or end the capture before copying.",
			},
			{
				Rule: "capture.truncated", Severity: report.Info, Count: 4120,
				Summary: "4,120 frames are cut at 96 bytes: their ICRC cannot be checked.",
			},
		},
	}
	row := connection("2001:db8:cafe:100:a00:27ff:fe4e:66a1", "2001:db8:cafe:200:a00:27ff:fe4e:66a2", 0xd1, 0xd2, 4900)[0]
	row.PeerQP, row.AckRTT = nil, report.Hist{}
	r.NotKnowable = []report.Question{{What: "the ICRC of 4,100 frames", Why: "These are cut.", Instead: "Capture whole frames.", Narrows: true}}
	r.Flows = []report.Flow{row, {Src: report.Other, Dst: report.Other, Frames: 100, Bytes: 400_000}}
	return r
}
