package detect

import "github.com/rocescope/rocescope/analysis/report"

// lossRules are the pages of what Loss finds.
var lossRules = []report.Rule{
	{
		Name: "loss.upstream", Severities: []report.Severity{report.Warning, report.Info},
		Brief: "packets never reached the tap and were sent again: lost before it",
		Means: "Packets are missing from the sequence at the tap, and the sender sent them again later. They were lost between the sender and the tap: " +
			"in the sender's adapter, on a cable, or in a switch on that side.\n\n" +
			"Go-back-N receivers throw away all that follows a hole, so one lost packet costs a round trip and the resending of everything under way.",
		Computed: "Requests of one direction form passes: a pass starts with the first packet and at each resend that steps back. A PSN skipped within a pass is a hole. " +
			"A hole that a resend closes is loss.upstream; READ responses are judged against the PSN range of their READ. " +
			"A resend is told from a late packet by the sender's IPv4 identifications where this capture shows them to rise, by whether the PSNs behind the hole come again, and by the round trip.\n\n" +
			"The count is of packets (lost_upstream, response_lost_upstream). Packets lost behind the last one seen before the resend leave no hole and are missing from it.",
		Not: "Not capture loss (capture.missed): there the receiver acknowledges past the hole and nothing is sent again. Not reordering (reorder.path): a late packet comes in the same pass. " +
			"Where the capture lost as many packets of the flow, one of those that a resend happens to bring again looks the same, and the finding is only possible.\n\n" +
			"A hole that is still open when the capture ends is said as info: it may be filled behind the last frame.",
		Do: "Look on the sender's side of the tap: drop and discard counters of each egress queue between the sender and the tap, `ethtool -S` of the sender (tx_discards_phy, tx_errors_phy) and FEC and symbol errors of its link. " +
			"Compare packet_seq_err of the sender with the number of episodes. A second tap nearer to the sender tells the segment.",
	},
	{
		Name: "loss.downstream", Severities: []report.Severity{report.Warning},
		Brief: "packets passed the tap and did not arrive: lost behind it",
		Means: "The packets stand in the capture, and the receiver says, by a NAK or by what it acknowledges after a timeout, that it does not have them. They were lost between the tap and the receiver, or the receiver's adapter dropped them.",
		Computed: "The PSN that a sequence NAK names was seen at the tap before the NAK came back. Left out are NAKs that echo an RNR NAK, copies, and NAKs that reordering drew (an answer beyond the PSN comes sooner than a resend could have been answered). " +
			"Where a timer had to repair it, the first answer to the resend shows the lowest packet that was missing; READ responses count where the requester reads again what the tap had seen.\n\n" +
			"One packet is counted for each episode: the receiver throws away what follows it, so that further losses behind the first cannot be seen. The number of episodes is right, that of packets is at least as large.",
		Not: "Not loss.ack, where the request had arrived, and not retransmit.spurious, where the answer was already on its way. " +
			"Not reorder.spurious-nak: there the packet arrives without being sent again. Where packets overtake each other behind the tap, only some of the NAKs that they draw can be told from others, so that the finding is only possible where several were. Packets that passed with a bad ICRC count here, though they were damaged before the tap (icrc.path).",
		Do: "Compare drop, discard and error counters of each port between the tap and the receiver, the egress queue of the last switch first, then `ethtool -S` of the receiver: rx_discards_phy, rx_prio*_discards, rx_icrc_encapsulated. " +
			"out_of_sequence of the receiver counts the episodes, packet_seq_err of the sender should read the same.",
	},
	{
		Name: "loss.ack", Severities: []report.Severity{report.Notice},
		Brief: "the request arrived, its acknowledgement did not",
		Means: "The sender's timer ran out and it sent a request again, though the receiver had it: the acknowledgement was lost. Reverse paths drop as well, and ACKs often ride another class than the data.",
		Computed: "After a timeout the first answer covers all that was sent before, more than the packets sent again by then can account for, or it comes twice, of which only one can be to the resend: the receiver had the request. That takes a known round trip, for such an answer may also be late. " +
			"Or the acknowledgement itself had passed the tap before the resend, and the sender waited on: it was lost behind the tap. Counted once for each timeout, in the row of the request (lost_acks).",
		Not: "Not loss.downstream: nothing was missing at the receiver. Where the answer covers no more than what was sent again, the request or its ACK may have been lost: such a timeout is left undecided and counted in neither.",
		Do:  "Look at the way back: drops in the class of the ACKs on each port from the receiver to the sender, and whether that class is protected as the data's is. duplicate_request of the receiver and local_ack_timeout_err of the sender count the episodes.",
	},
	{
		Name: "loss.datagram", Severities: []report.Severity{report.Warning},
		Brief:    "UC or UD packets are missing, and nothing repairs them",
		Means:    "Unreliable queue pairs number their packets, too, and numbers are missing at the tap. The message is gone; the application must notice.",
		Computed: "PSNs skipped between packets of a UC queue pair, or of a UD queue pair that sends to a single destination and has counted up by one three times in a row; late packets close their hole. The count is of packets.",
		Not:      "Whether the network or the capture lost them cannot be known: no acknowledgement tells. A UD queue pair with several destinations numbers over all of them, so its holes are no loss and are not counted.",
		Do:       "See whether the capture lost frames elsewhere (capture.missed, dropped frames of the capturing host). If not, read the drop counters between the sender and the tap.",
	},
	{
		Name: "loss.unrecovered", Severities: []report.Severity{report.Critical},
		Brief: "a loss was never repaired and the queue pair fell silent",
		Means: "Packets were lost or refused by a NAK, and neither a resend nor another packet of that queue pair came afterwards though it had work outstanding. The connection is dead or hangs.",
		Computed: "A hole or NAK that is open when the row ends with requests unanswered. The queue pair must be silent for 100 ms (Limits.UnrecoveredWait) and 20 (Limits.UnrecoveredRTTs) of its round trips while the capture goes on, or, where a NAK asked for the packet and the capture missed no run of packets between the two hosts since, connection managers must speak after its last packet: " +
			"a NAK is served within a round trip, and where it is lost, timers of the usual exponent 14 run out after 67 ms. The count is of packets.",
		Not: "Not the end of the capture: where the file ends too soon after a hole, loss.upstream says so as info, and as well where the connection is closed and no NAK had asked for what is missing: a capture that pauses may lack the packet, and then the end of the work. Not retransmit.exhausted, where the resends are to be seen. Where answers are not in view, nothing is said.",
		Do:  "Look for the completion error on the sender (IBV_WC_RETRY_EXC_ERR, local_ack_timeout_err, the application's log) and for the drop as under loss.upstream and loss.downstream.",
	},
}
