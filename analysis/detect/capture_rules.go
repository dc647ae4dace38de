package detect

import "github.com/rocescope/rocescope/analysis/report"

// captureRules are the pages of what Capture finds.
var captureRules = []report.Rule{
	{
		Name: "capture.missed", Severities: []report.Severity{report.Notice},
		Brief: "the capture lost packets that the network delivered",
		Means: "Packets are missing from the file and were not missing on the wire. Nothing is wrong with the fabric, but every count of the report is a little too low, " +
			"and where many are missing, losses and reordering are told less surely.",
		Computed: "Three things show it, each with a finding of its own. A hole in the PSNs of requests that the receiver acknowledges past, and that nobody sends again; of READ responses, one behind which the requester goes on without asking again " +
			"(columns not_captured and response_not_captured). A jump in the GRE sequence numbers of an ERSPAN mirror, which count mirrored frames of any kind. And what the capturing host wrote into the file about its own drops.\n\n" +
			"The count is of packets. The three overlap and must not be added.",
		Not: "Not loss in the network (loss.upstream): what the network loses, a reliable connection sends again. " +
			"Unreliable traffic has nothing to tell the two apart by, see loss.datagram. A hole that a NAK named and that no resend is to be seen for is left undecided (column unresolved).",
		Do: "Read tcpdump's \"packets dropped by kernel\", `ethtool -S` of the capturing interface (rx_out_of_buffer, rx_missed_errors), and the drops of the mirror port on the switch: mirroring both directions of a busy port asks for twice its rate. " +
			"A larger buffer (tcpdump -B), a shorter snap length (-s 128) and a filter on UDP port 4791 help. On the RDMA device itself the drop counter always reads 0.",
	},
	{
		Name: "capture.duplicated", Severities: []report.Severity{report.Notice},
		Brief: "frames stand in the capture more than once",
		Means: "The same frame was captured at two places: a mirror of a port's ingress and of another one's egress, or two taps in one file. Counted twice, it would look like a retransmission.",
		Computed: "A frame is a copy where addresses, queue pair, opcode, PSN, length, ICRC (as far as it was captured) and IPv4 identification are those of one just seen. DSCP, ECN, TTL and tags may differ, because a switch may rewrite them on the way. " +
			"Where identifications tell nothing (IPv6, or a sender that does not count them up), the time must: it is a copy if it comes sooner than any resend can. Fewer than four acknowledgements that only their time shows to be copies are counted and not reported: duplicates that nobody saw may have drawn them.\n\n" +
			"Copies count in frames and bytes of a flow and in mirror_duplicates, and in no other number.",
		Not: "Not retransmission: a resend has an identification of its own and takes at least the way of a NAK and back. Where identifications tell nothing, a few copies and resends that follow each other closely may be taken for one another.",
		Do:  "Mirror a single direction of each port (SPAN rx only), or write each tap to a file of its own and analyze them in one call: `rocescope leaf1.pcap leaf2.pcap`. No need to remove the copies before.",
	},
	{
		Name: "capture.clock", Severities: []report.Severity{report.Notice},
		Brief: "the frames do not stand in the order of their times",
		Means: "The times of several interfaces, queues or files disagree. An answer may then stand before its question, and a round trip come out too short or negative.",
		Computed: "Frames whose time lies before that of a frame ahead of them in the file are counted. It is said from 0.1 % (Limits.Backward) of all frames on: the queues of one adapter disagree now and then.\n\n" +
			"So are requests that pass behind an answer which covers them, an acknowledgement or a READ response. It takes 1 % (Limits.AnsweredFirst) of the RoCE frames, and several queue pairs where several are in view. What rests on the order of requests and answers is only possible then: loss.upstream, loss.downstream, loss.ack, capture.missed, reorder.spurious-nak, retransmit.spurious.\n\n" +
			"Times are never sorted: the analysis follows the order of the file.\n\n" +
			"How coarse the clock is (clock_noise) is no finding; other rules leave room for it. Times are off by the tick of the clock, which is the common divisor of more than 32 (Limits.ClockSteps) of them, or of so few that chance makes it no likelier: six of whole microseconds. " +
			"Drivers may give frames one time that came in a row: at least 8 (Limits.ClockBatch), several of one host, and more than a link carries in a tick at 800 (Limits.FastestLink) Gbit/s. Then times are off by what lies between that time and the one before it, of no more than 20 µs (Limits.ClockWait), beyond which it is silence.",
		Not: "Not reordering in the network (reorder.path): that shows in PSNs. With both of them in one capture, the capturing host may have swapped the frames, and reorder.path says so.",
		Do:  "Sort with `reordercap in.pcapng out.pcapng`, or join files with `mergecap`. Capture with hardware times (`tcpdump -j adapter_unsynced`), or on a single receive queue (`ethtool -L IFACE combined 1`). Between hosts or switches, see whether PTP is locked.",
	},
	{
		Name: "capture.one-direction", Severities: []report.Severity{report.Notice},
		Brief: "only one direction between two hosts is in the capture",
		Means: "Requests are here and their answers are not, or the reverse. What answers tell cannot be known: losses behind the tap, NAKs, RNR waits, round trips.",
		Computed: "For each pair of hosts of which no frame of the one direction is in the capture, the other one must prove that it exists: there are responses, or connections go on without repeating themselves, with at least 16 (Limits.OneWay) requests that are no resends, " +
			"for so much may be on its way to a dead peer. Glimpses of less than 0.2 ms (Limits.Glimpse) count only where no pair of hosts is seen both ways, and from 4 (Limits.GlimpseFrames) frames on. The count is of connections.",
		Not: "Not a silent peer (peer.silent): a sender that got no answers would stop and repeat. Datagrams need no answer and do not count.",
		Do:  "Mirror both directions of the port, or both fibres of a tap. Where the two directions take different switches or members of a bond, tap both. A capture on the host itself always has both.",
	},
	{
		Name: "capture.truncated", Severities: []report.Severity{report.Info},
		Brief: "the snap length cut frames short",
		Means: "Frames were stored with their first bytes only. That is good practice on fast links, and costs little: payloads cannot be read, and the ICRC, which stands at the end, cannot be checked.",
		Computed: "Frames whose captured length is less than their length on the wire, by file; packets without a checked ICRC are counted in icrc_unchecked. " +
			"Frames cut within the headers, so that RoCE may hide in them, are counted apart (cut_frames).",
		Not: "Not malformed, and not damaged: the lengths on the wire are known and right. A mirror that cuts frames by itself is counted here only where the file tells their true length.",
		Do:  "Nothing, where headers are all that is asked: 128 bytes hold every combination of RoCE headers without a tunnel, ERSPAN or VXLAN add 50 to 70. Capture with `tcpdump -s 0` where corruption (icrc.path, icrc.sender) is the question.",
	},
	{
		Name: "capture.damaged", Severities: []report.Severity{report.Warning},
		Brief:    "the capture file is cut or corrupt",
		Means:    "The file could not be read as it should: it ends within a record, or a length or checksum in it cannot be. What could be read is analysed; what the damage held is unknown.",
		Computed: "The reader says where and what, reads on behind the damage where the format allows, and counts the bytes that gave no frame (skipped_bytes). One finding for each file, whatever the number of its faults.",
		Not:      "Not corruption of packets on the wire, which the ICRC shows (icrc.path).",
		Do:       "Copy the file again and compare checksums; end the capture before taking its file (`kill -INT` of tcpdump, or `tcpdump -U`). `capinfos FILE` shows how far others read it. With --strict such a file makes the exit code 3.",
	},
	{
		Name: "capture.no-roce", Severities: []report.Severity{report.Warning, report.Info},
		Brief:    "there is no RoCE in the capture",
		Means:    "Not one frame could be read as RoCEv1, RoCEv2 or InfiniBand. Mostly the tap is blind: adapters carry RoCE past the kernel, so that an ordinary capture on the host does not see it.",
		Computed: "No frame counts as RoCE. What is there instead is named by protocol, the most frequent first. Where the payload of another UDP port reads as RoCEv2, that port is named. Info where most frames are cut before a RoCE header could be told.",
		Not:      "Not proof that no RDMA ran. RoCEv2 on another UDP port, iWARP (RDMA over TCP) and Ultra Ethernet (uet.present) are not RoCE as it is looked for here.",
		Do: "Capture on the RDMA device (`tcpdump -i mlx5_0`, libpcap 1.9 and later), switch the offloaded-traffic sniffer on (`ethtool --set-priv-flags IFACE sniffer on`), or mirror the switch port. " +
			"`rdma statistic show` tells whether RDMA traffic runs at all. Another UDP port is set with --port.",
	},
	{
		Name: "uet.present", Severities: []report.Severity{report.Info},
		Brief:    "frames of Ultra Ethernet are in the capture, counted and not analysed",
		Means:    "Another RDMA transport shares the links with RoCE. It has its own headers and its own congestion control.",
		Computed: "Frames to UDP port 4793, counted in uet_frames.",
		Not:      "Not RoCE, and nothing of it counts in flows or findings.",
		Do:       "Keep it in mind where a class is full: see which DSCP it rides in (Wireshark: udp.port == 4793) and whether that is the queue of RoCE.",
	},
}
