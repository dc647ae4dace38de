package detect

import "github.com/rocescope/rocescope/analysis/report"

// rnrRules are the pages of what RNR finds.
var rnrRules = []report.Rule{
	{
		Name: "rnr.stall", Severities: []report.Severity{report.Warning, report.Notice},
		Brief: "a receiver had no buffer posted, and the sender had to wait",
		Means: "A SEND or a WRITE with immediate data found no receive posted. The receiver answers with an RNR NAK that names a time to wait, and the whole queue pair stands still for it: the receiver's software is too slow or its queue too short.",
		Computed: "RNR NAKs of each queue pair (rnr_naks), with the wait that their timer codes stand for. A stall runs from the NAK to the resend of the PSN it named (rnr_stall_ns).\n\n" +
			"It is a warning where all stalls together take 1 % (Limits.RNRShare) of the queue pair's life or more, or the longest of them 1 ms (Limits.RNRWait), many round trips of any fabric; else a notice.",
		Not: "Not loss: the request arrived and was put off. A NAK sequence error right behind an RNR NAK is only its echo, for requests that were under way, and counts as no loss. Datagrams without a buffer are dropped in silence, so nothing shows there.",
		Do:  "On the receiver: out_of_buffer in `rdma statistic show` or hw_counters, the depth of its receive queue or SRQ and its limit event, and what holds up the thread that posts receives. rnr_nak_retry_err of the sender counts the NAKs. min_rnr_timer of the receiver sets the wait.",
	},
	{
		Name: "rnr.timer-zero", Severities: []report.Severity{report.Warning},
		Brief:    "RNR timer code 0 is in use, which is the longest wait and not the shortest",
		Means:    "Code 0 stands for 655.36 ms, code 1 for 0.01 ms. An attribute left at zero makes every empty receive queue cost two thirds of a second.",
		Computed: "RNR NAKs with timer code 0 in the AETH (syndrome 0x20), by queue pair. The count is of all RNR NAKs of that queue pair.",
		Not:      "Not a retransmission timeout: the wait is what the receiver asked for. Senders may wait longer than asked, never shorter.",
		Do:       "Set min_rnr_timer of ibv_modify_qp (INIT to RTR) on the receiver to 1 (0.01 ms) or 12 (0.64 ms), and see why no receive was posted: rnr.stall.",
	},
	{
		Name: "rnr.exhausted", Severities: []report.Severity{report.Critical},
		Brief:    "a sender used up its RNR retries and gave up",
		Means:    "The receiver had no buffer each time the request came, until the sender's rnr_retry was used up. The queue pair is in the error state.",
		Computed: "The last RNR NAK of a queue pair is followed by no resend and by nothing else towards it but what was on its way, though the capture goes on for 4 (Limits.RNRGiveUp) waits of the time it asked for (adapters wait up to twice that) and for the longest stall that ended, or its connection was closed since. It is certain where connection management named an rnr_retry that is used up, and only possible where it named 7. The count is of RNR NAKs in a row for that PSN.",
		Not:      "Not the end of the capture, and not loss: every try was answered. Where the way from the sender is not in view, nothing is said. An rnr_retry of 7 means for ever, so such a sender never gives up.",
		Do:       "The completion says IBV_WC_RNR_RETRY_EXC_ERR. Post receives before the connection is used and keep the queue filled (out_of_buffer of the receiver), or raise rnr_retry to 7 on the sender (rdma_conn_param.rnr_retry_count, ibv_modify_qp).",
	},
}
