package detect

import "github.com/rocescope/rocescope/analysis/report"

// mtuRules are the pages of what MTU finds.
var mtuRules = []report.Rule{
	{
		Name: "mtu.mismatch", Severities: []report.Severity{report.Warning, report.Info},
		Brief: "the ends of a connection, or queue pairs beside it, use unlike path MTUs",
		Means: "Both ends of a connection must be set to one path MTU. A receiver that is set to a smaller one refuses full packets as invalid requests, and the queue pair is dead. Short messages pass all the same, so it may show late.",
		Computed: "First and Middle packets are full by definition, so their payload is the path MTU of their sender. Four things are told, each by a finding of its own.\n\n" +
			"The two directions of a connection show different sizes: a warning. A queue pair sends larger packets than the connection request in view asked for: a warning. Both count connections.\n\n" +
			"One host uses several sizes towards another, in queue pairs whose ends agree as far as it shows: info; a warning, if the peer refuses a First packet as an invalid request in each queue pair of one size and in none of the others. The count is of its queue pairs towards the other. " +
			"And the very first full packet of a queue pair is refused as an invalid request, where nothing shows the path MTU of the host that refused it: info, possible only.",
		Not: "Not messages of different length: Only and Last packets do not count. Several sizes between two hosts are no fault where unlike applications chose them. " +
			"An operation that is not allowed, or a message longer than the receive buffer, draws the same NAK (nak.invalid-request). A direction without messages of several packets shows no size, and is not judged.",
		Do: "Compare `ip link show` MTU and active_mtu in `ibv_devinfo` of both ends: the path MTU is the largest of 256 to 4096 that fits into the interface's MTU less 96 bytes of headers (1500 gives 1024, 4200 and more give 4096). " +
			"Applications that set it by themselves (ibv_modify_qp) must exchange it and take the smaller one; `rdma resource show qp` lists queue pairs.",
	},
	{
		Name: "mtu.blackhole", Severities: []report.Severity{report.Critical, report.Info},
		Brief: "small packets arrive, large ones never do: a link is too narrow",
		Means: "A link or a port on the way has a smaller MTU than the path MTU needs, and drops what is larger without a word: RoCE does not fragment, and nothing tells the sender. Connections come up and die with the first large message.",
		Computed: "Packets that were sent at least 3 (Limits.SizeTries) times, up to the end of their row, without an answer, and are larger than all that is known to have arrived that way between the two hosts: chance loses one packet three times in a row only where smaller ones would hardly get through. " +
			"A request has arrived where an answer says so, a READ response where the requester did not ask for it again. Something must have been answered on such a connection.\n\n" +
			"One of these must hold besides: a smaller packet behind a large one arrived and drew a NAK for it; smaller ones arrived after the first large one was sent; or at least 5 (Limits.SizePassed) answers had come, for fewer may stand before a path that went down for everything. For the latter two, no small packet (no larger than what arrives, or than 576 bytes) may have been sent in vain as well. The last is possible only, and so is a single queue pair of the second kind. " +
			"Where only ends of messages pass the tap and the rest never does, the narrow link is before it. The count is of queue pairs.\n\n" +
			"It is critical; info if all that did not come is READ responses and no READ of any length was answered.",
		Not: "Not a dead peer (peer.silent) and not a path that is down, from which small packets would not come either. Not random loss, which takes small packets as well and repairs itself. Sizes are those of IP packets, with the GRH for RoCEv1, as MTUs limit them; what the finding calls a likely MTU is only a usual one that would do it.",
		Do: "Send full packets along that path: `ping -M do -s SIZE HOST`, with the size that the finding gives, and hop by hop with `tracepath`. Compare `ip link show` and `show interfaces` of each port between; a path MTU of 4096 needs 4200, and a tunnel (VXLAN) comes on top. " +
			"Giants or oversize counters of the switches, and rx_oversize_pkts_phy in `ethtool -S` of the receiver, count what was dropped.",
	},
	{
		Name: "mtu.only-opcodes", Severities: []report.Severity{report.Notice},
		Brief: "messages of one packet arrive, and none of several, whatever the size",
		Means: "What gets through has Only opcodes; messages that are cut into First, Middle and Last packets never arrive, though their packets are no larger. So it is not their size: something on the way, or the receiver, does not take these opcodes.",
		Computed: "All that was sent at least 3 (Limits.SizeTries) times in vain between two hosts, one way, opens a message of several packets, on queue pairs that had other answers; it, or what follows it, is no larger than Only packets that arrived. " +
			"No part of a longer message arrived that way, at least 5 (Limits.SizePassed) answers came, and either some came after such a packet was sent or two queue pairs are stuck alike. The count is of queue pairs.",
		Not: "Not mtu.blackhole, where size decides: here some that arrived are as large. Where NAKs ask for the packet it was lost on the way, and nothing is said here. A receiver that is set to another path MTU would answer by a NAK (mtu.mismatch).",
		Do:  "Compare the path MTU of both queue pairs, and adapter firmware and drivers of both ends (a soft stack against hardware). Look for a filter or offload between that reads the BTH opcode: access lists, DPUs, in-network acceleration. Capture at the receiver to see whether First packets arrive.",
	},
}
