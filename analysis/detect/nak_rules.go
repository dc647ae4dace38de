package detect

import "github.com/rocescope/rocescope/analysis/report"

// nakRules are the pages of what NAK finds.
var nakRules = []report.Rule{
	{
		Name: "nak.invalid-request", Severities: []report.Severity{report.Critical},
		Brief:    "a receiver refused a request as invalid, which ends the queue pair",
		Means:    "The request does not fit what the receiver's queue pair allows: an operation that is not enabled, packets of another path MTU, opcodes out of order, a message longer than the receive buffer, or more READs at a time than agreed.",
		Computed: "NAKs with code 1 in the AETH (syndrome 0x61), counted in naks_invalid_request. The request is the newest message that starts at or before the NAK's PSN, of the last eight; it is named with operation, address, length and R_Key where it was seen.",
		Not:      "Not loss or congestion: the request arrived whole, and sending it again does not help. What follows on the queue pair (silence, a disconnect) is the consequence. Why it is invalid the packet does not say.",
		Do: "Compare both ends of the queue pair: qp_access_flags, path_mtu, max_rd_atomic of the requester against max_dest_rd_atomic of the receiver, size of the posted receives. `rdma resource show qp`; req_remote_invalid_request of the requester and resp_local_length_error of the receiver in hw_counters. " +
			"The completion says IBV_WC_REM_INV_REQ_ERR.",
	},
	{
		Name: "nak.remote-access", Severities: []report.Severity{report.Critical},
		Brief:    "a receiver refused address, length or key, which ends the queue pair",
		Means:    "A WRITE, READ or ATOMIC named memory that it may not touch: the R_Key is unknown or no longer valid, the range reaches beyond the region, or the region lacks the right.",
		Computed: "NAKs with code 2 in the AETH (syndrome 0x62), counted in naks_remote_access. The request is the newest message that starts at or before the NAK's PSN, of the last eight; it is named with operation, address, length and R_Key where it was seen.",
		Not:      "Not loss or congestion: the request arrived whole. The packet does not say which of address, length, key or right was wrong.",
		Do: "Compare address, length and R_Key of the finding with what the receiver registered and announced: a key from before a registration anew, a wrong offset, IBV_ACCESS_REMOTE_WRITE or _READ missing. req_remote_access_errors of the requester, resp_remote_access_errors of the receiver in hw_counters. " +
			"The completion says IBV_WC_REM_ACCESS_ERR.",
	},
	{
		Name: "nak.remote-operational", Severities: []report.Severity{report.Critical},
		Brief:    "a receiver failed while carrying out a request, which ends the queue pair",
		Means:    "The request was in order, and the receiver could not do it: its own work request was unusable, as a posted buffer that is not registered any more, or its adapter failed.",
		Computed: "NAKs with code 3 in the AETH (syndrome 0x63), counted in naks_remote_operational. The request is the newest message that starts at or before the NAK's PSN, of the last eight; it is named where it was seen.",
		Not:      "Not loss or congestion, and not the requester's mistake. What failed stands in no packet.",
		Do:       "Look at the receiver: completions of its application (IBV_WC_LOC_PROT_ERR, IBV_WC_LOC_QP_OP_ERR), `dmesg`, `devlink health show`. The requester's completion says IBV_WC_REM_OP_ERR.",
	},
}
