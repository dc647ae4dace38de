package detect

import "github.com/rocescope/rocescope/analysis/report"

// retransmitRules are the pages of what Retransmit finds.
var retransmitRules = []report.Rule{
	{
		Name: "retransmit.timeout", Severities: []report.Severity{report.Warning},
		Brief: "a sender's timer ran out, and it sent packets again",
		Means: "A request stayed unanswered until the queue pair's timer ran out: 4.096 µs · 2^t, 67 ms for t = 14 and 1.07 s for t = 18. Nothing moves on that queue pair meanwhile, so a few timeouts cost more than thousands of NAKs.",
		Computed: "A resend that no NAK, RNR NAK or missing response explains, after at least 1.8 ms of silence (1 ms where the way back is not in view). The interval runs from the last sending of the packet. " +
			"Only intervals between the second and later sendings of one packet show the timer itself; the exponent is the largest whose time fits into the shortest of them. Needless ones, and those of a queue pair that died, are told by other rules.",
		Not: "Not retransmit.spurious, where the answer was on its way, and not a resend that a NAK drew. What was lost, request or answer, is told by the loss rules of the same flow. " +
			"Adapters may wait about twice the nominal time, so the exponent can be too large by one.",
		Do: "Look for the loss behind it: a loss at the end of a message draws no NAK, so that only the timer repairs it. local_ack_timeout_err of the sender (`rdma statistic show`, `ethtool -S`) counts the same. The timer is set with NCCL_IB_TIMEOUT, UCX_RC_TIMEOUT or rdma_set_option.",
	},
	{
		Name: "retransmit.spurious", Severities: []report.Severity{report.Warning},
		Brief: "a timer ran out while the answer was already on its way",
		Means: "The timer is shorter than the path takes at times, so packets are sent again though none was lost. That wastes bandwidth when the network is slowest.",
		Computed: "After a timeout the first answer comes sooner than a round trip allows, or it had passed the tap and the sender goes on sooner than it could have turned around after the answer to its resend (needless_timeouts; the packets in spurious). " +
			"The count is of timeouts.",
		Not: "Not loss, neither of the request nor of its answer (loss.ack, where the sender waits for the answer to its resend).",
		Do: "Raise the timer above the longest round trip of the path (NCCL_IB_TIMEOUT, UCX_RC_TIMEOUT, rdma_set_option), or find what delays answers: congestion (ecn.marked), a receiver that sits on them. " +
			"If the intervals are far below 4.096 µs · 2^t, adaptive retransmission fires: roce_adp_retrans in hw_counters.",
	},
	{
		Name: "retransmit.adaptive", Severities: []report.Severity{report.Notice},
		Brief:    "resends of one packet come at doubling intervals",
		Means:    "The adapter retransmits adaptively: it begins with a short timer and doubles it, up to the queue pair's own. The timeout attribute is only the upper bound then, and resends far earlier are normal.",
		Computed: "At least 3 (Limits.Doublings) intervals in a row of one packet's resends after timeouts, each 1.6 to 2.4 times the one before. The count is of intervals in the longest such run.",
		Not:      "Not the queue pair's own timer, which repeats at one interval. Two intervals are not enough: the first may hold a wait for packets before it. Software that backs off by itself looks the same.",
		Do:       "roce_adp_retrans in hw_counters counts them. The mode is set by the register ROCE_ACCL (`mlxreg -d DEV --reg_name ROCE_ACCL --get`). Why the packet stayed unanswered is told by the other findings of the flow.",
	},
	{
		Name: "retransmit.exhausted", Severities: []report.Severity{report.Critical},
		Brief: "a packet was sent again and again, and the sender gave up",
		Means: "Not one sending of a packet was answered until the retries were used up. The queue pair is in the error state, and the application sees a failed completion; most jobs end with it.",
		Computed: "A row ends with a packet sent at least three times after timeouts, and one of these holds: the capture goes on for 2 (Limits.RetryGiveUp) further intervals without a resend (the next would come after one, doubled where the intervals grow); " +
			"connection managers speak when the next resend is due; seven resends were made, all that the three bits of the retry counter allow; or 5 (Limits.Retries) were, and the capture ends: a flap of the path that outlasts five timers hardly ends within the last two.\n\n" +
			"Queue pairs between two hosts are told together. The count is of queue pairs.",
		Not: "Not the end of the capture: fewer resends without further silence are not judged. Where the way back is not in view, a receiver without buffers (rnr.exhausted) looks the same. Soft-RoCE takes a retry count of seven for unlimited.",
		Do: "The completion says IBV_WC_RETRY_EXC_ERR (transport retry counter exceeded); local_ack_timeout_err counts the timeouts. Find out what became of the peer or the path then: `ip neigh`, `ip route get`, link flaps in `dmesg`, a paused class (`show pfc counters`), the peer's log. " +
			"More retries or a longer timer (NCCL_IB_RETRY_CNT, NCCL_IB_TIMEOUT) only bridge a path that comes back.",
	},
	{
		Name: "peer.silent", Severities: []report.Severity{report.Critical},
		Brief: "a queue pair never answers, though its host is heard",
		Means: "Requests reach the tap again and again, not one answer comes, and other traffic of the same peer does pass. So the direction is in view: it is that queue pair that says nothing, or nothing reaches it.",
		Computed: "A row that ends with a packet sent at least 4 (Limits.SilentTries) times after timeouts, no response of its queue pair in the capture, and other frames, RoCE or not, from the same peer to the same host. Chance loses one packet four times in a row only where nothing else would get through either. " +
			"The count is of queue pairs.\n\n" +
			"Who answers whom follows from connection management or the UDP source port, or else from what responses name. Where queue pairs count alike, as all that start at PSN 0, round trips tell: those of true pairs differ by 1 % (Limits.PeerSame) at most in the least of 8 (Limits.PeerAnswers) answers. " +
			"A queue pair stays in question for responses ahead of its requests where the capture would lack no more than 3 (Limits.PeerMissed). Where several assignments remain, the peer is unknown.",
		Not: "Not capture.one-direction, where nothing from the peer is in view. Not a peer that died at work: one that had answered before is retransmit.exhausted alone. Answers that take another link than the rest of the peer's traffic would look the same, but the sender did not get them either, or it would not repeat.",
		Do:  "On the peer: `rdma resource show qp` (does the queue pair exist, in RTR or RTS), its GID index (`show_gids`, NCCL_IB_GID_INDEX), VLAN and route of the address, `nft list ruleset` on UDP port 4791. A missing neighbour entry on the way back does it too.",
	},
	{
		Name: "peer.read-unanswered", Severities: []report.Severity{report.Critical},
		Brief:    "READ requests get no response, while other operations are answered",
		Means:    "The peer acknowledges what it is sent, and not one READ response comes. Often its responses are the first full-size packets in that direction and do not fit through: a path MTU above that of a link.",
		Computed: "A row that ends with a READ request sent at least 4 (Limits.SilentTries) times after timeouts, no payload of any response on its queue pair in the capture, and answers on that queue pair or other frames of RoCE from the peer to the same host. The count is of queue pairs.",
		Not:      "Not a dead peer: other requests are answered. Not a refusal, which would be a NAK (nak.remote-access). Responses lost behind the tap, between the peer and it, cannot be told from ones never sent.",
		Do:       "Send full-size packets that way: `ping -M do -s 4128 HOST` on the peer, for a path MTU of 4096. Compare `ip link` MTU of both hosts and each port between with active_mtu in `ibv_devinfo`. See max_dest_rd_atomic of the peer's queue pair.",
	},
}
