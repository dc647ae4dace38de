package detect

import "github.com/rocescope/rocescope/analysis/report"

// pfcRules are the pages of what PFC finds.
var pfcRules = []report.Rule{
	{
		Name: "pfc.paused", Severities: []report.Severity{report.Warning, report.Notice, report.Info},
		Brief: "a port paused a priority of its link, and for how long",
		Means: "A port sent PFC frames: its buffer for that priority ran full, and what waits at the other end of the link stands still. That keeps a fabric free of loss, and short pauses under bursts are normal. " +
			"Long ones cost bandwidth, stop flows that have no part in the congestion, and spread from switch to switch.",
		Computed: "A frame stops a priority for its quanta, 512 bit times each, so that times need the rate of the tapped link (--link-rate). A further frame of the same source MAC replaces what is left, and one with a time of 0 (resume) ends it. " +
			"The paused time is what these stretches cover, up to the end of the capture. Without a rate it is told as a range, from what quanta mean at 1.6 Tbit/s to what they mean at 10 Gbit/s.\n\n" +
			"Its share is that of the capture, or of the worst 100 ms (Limits.PauseWindow) of it where that is more. It is a warning from 1 % (Limits.PauseShare) on if pauses come to at least 100 µs (Limits.PauseLeast) in all, " +
			"and from 10 % (Limits.PauseHeavy) on in any case; a notice where that holds on a slow link only, and the rate was not given; otherwise info. The count is of pause frames, refreshes included and resumes not. " +
			"Priorities and ports are told apart; where several interfaces of the capture saw the port, the count adds them up, and the times are those of the one that saw the most.\n\n" +
			"A flow fell silent meanwhile where gaps at least 4 (Limits.PauseSilence) times as long as usual are paused for the better half, if such pauses are at least 25 % (Limits.PauseQuiet) of the port's by time or number.",
		Not: "Not a fault of the port that pauses, as a rule: it passes on what happens behind it. Whether its MAC is a host's, a router's or a switch's is told from the RoCE frames that bear it, and the finding says how far that goes. " +
			"PFC frames cross one link only, and most adapters and mirror ports drop them: that none are in a capture proves nothing. Who paused first rests on the clocks of the taps.",
		Do: "Follow the pauses to where they come from: `show pfc counters` of the switch behind that port, then `show queue watermark` of its egress queues, until a port that is full or a host that pauses is reached. " +
			"On the host at the other end, `ethtool -S` counts rx_prioN_pause and rx_prioN_pause_duration. See ecn.after-pfc: where marks begin early enough, senders slow down before the link stops.",
	},
	{
		Name: "pfc.storm", Severities: []report.Severity{report.Critical, report.Warning},
		Brief: "a port held a priority paused for longer than any burst lasts",
		Means: "A priority stood still without a break for as long as no burst lasts. What waits for that port blocks what waits for the next, so that one hung host or adapter can stop a whole fabric. " +
			"Many switches have a watchdog against it, which drops the traffic of the queue until the storm is over.",
		Computed: "A stretch of pause in which each frame comes before the time of the one before it is over, without a resume, of at least 200 ms (Limits.StormAfter): the detection time of the SONiC PFC watchdog as it starts by default. " +
			"A stretch ends at a resume, where its time runs out, or with the capture. PAUSE frames count as well. The longest is told. The count is of stretches by port and priority, for each interface of the capture that saw them, of which the first 16 are kept.\n\n" +
			"Without --link-rate times are taken as on a link of 10 Gbit/s. It is critical only if frames follow so closely that no link up to 1.6 Tbit/s would see a break, and else a possible storm, a warning: the finding says up to which rate.",
		Not: "Not many short pauses, however large their share (pfc.paused): each of them ends. Who holds the port need not be its owner: a switch's port pauses for what is behind it.",
		Do: "Look whether the watchdog acted (`show pfcwd stats`, `show pfcwd config`) and where the pauses begin (pfc.paused names what came first). At a host: a hung kernel, adapter firmware, PCIe errors in `dmesg`; " +
			"`ethtool -S` tx_pause_storm_warning_events and tx_pause_storm_error_events, and `ethtool --set-tunable DEV pfc-prevention-tout auto`, with which adapters stop pausing by themselves. Take the port out of PFC until it is well.",
	},
	{
		Name: "pfc.host", Severities: []report.Severity{report.Warning, report.Notice, report.Info},
		Brief: "the port that pauses is an end host's: a slow receiver",
		Means: "An end host cannot take data off its own link as fast as it comes, and stops its switch. Nothing in the network is wrong, yet the pauses spread into it. ECN does not help: the queue that is full is in the adapter, where no switch marks.",
		Computed: "The source MAC of the pauses, PFC or PAUSE, is also that of RoCE frames, all of which come from one IPv4, one IPv6 and one link-local address in each VLAN and mostly have a TTL that no router has lowered. " +
			"Or (possible only) no RoCE frame comes from it, and several senders reach one address by it. The count is of pause frames, added up over priorities.\n\n" +
			"It is a warning if a priority is paused as pfc.paused warns of and the MAC sends RoCE itself; a notice if pauses come to 100 µs (Limits.PauseLeast), on a link of 10 Gbit/s where the rate is not given, or pfc.paused is more than info for another reason, for a host should not pause at all; otherwise info.",
		Not: "Not back-pressure of a switch, whose ports have MACs that no RoCE frame bears, nor a router's port, whose MAC bears those of many addresses. A router that stands before a single host, seen towards it only, would look like that host; so such a finding is only possible.",
		Do: "On the host: PCIe width and speed (`lspci -vv` LnkSta), NUMA placement, IOMMU, power states; `ethtool -S` tx_prioN_pause, rx_prioN_buf_discard, outbound_pci_stalled_wr and rx_discards_phy. " +
			"READs of its own may ask for more than it can take: see whether fewer under way (max_rd_atomic) end it. Compare with hosts of the same make.",
	},
	{
		Name: "pfc.source", Severities: []report.Severity{report.Notice},
		Brief: "pauses with a source MAC that no port can have",
		Means: "The source address of pause frames is all zeros or a group address. Links work on, for nobody looks at it. But who pauses cannot be told from the frames, neither here nor by what counts by source.",
		Computed: "PFC and PAUSE frames, resumes included, with the source 00:00:00:00:00:00 or with the group bit set. " +
			"The count is of pauses and resumes by priority, so that a frame that names several priorities counts once for each.",
		Not: "Not a damaged frame: it is well formed in all else. Its pauses are in force like any others and are told by pfc.paused or pause.global.",
		Do:  "Find the port by its counters: `ethtool -S` tx_prioN_pause of the host at one end of the link, the transmit side of `show pfc counters` of the switch at the other. Newer firmware or switch software fills the address in.",
	},
	{
		Name: "pause.global", Severities: []report.Severity{report.Warning},
		Brief: "a port stops the whole link by 802.3x PAUSE, not a priority by PFC",
		Means: "A PAUSE frame stops every class of the link: storage, management and CNPs together with the data that filled the buffer. A fabric for RoCE uses PFC, which stops one priority.",
		Computed: "Frames of MAC control with opcode 0x0001 and a time other than 0. Times, shares and silent flows are told as by pfc.paused, for the whole link; it is a warning whatever they come to. " +
			"The count is of pause frames, resumes (time 0) left out.",
		Not: "Not PFC, whose frames have opcode 0x0101. A port that sends resumes alone stops nobody, and is not told.",
		Do: "See `ethtool -a DEV` on both ends and turn it off where PFC is meant: `ethtool -A DEV rx off tx off`, then `mlnx_qos -i DEV --pfc 0,0,0,1,0,0,0,0` and the switch's PFC settings. " +
			"`ethtool -S` counts rx_pause_ctrl_phy and tx_pause_ctrl_phy, or rx_global_pause and tx_global_pause.",
	},
	{
		Name: "ecn.after-pfc", Severities: []report.Severity{report.Notice, report.Info},
		Brief: "a priority is paused before any of its packets was marked",
		Means: "PFC acts and ECN has not: senders hear nothing of the congestion until the link stops. Marks should begin well below the fill at which a port pauses, so that pauses stay the last resort.",
		Computed: "Pauses of a priority before any frame of its class has CE and before any CNP, while at least 100 (Limits.ECTBeforePause) data frames of its class passed that could be marked (ECT): a queue marks from 150 kB to 1 MB on, which is about a hundred frames. " +
			"The class is the tag's priority; frames without a tag, or with priority 0, may be of any. A first mark within 100 µs (Limits.MarkLag) behind the first pause counts as set before it. Both directions between some two hosts must be in view, or no CNP could be. The count is of pause frames.\n\n" +
			"It is info where pfc.paused is, where a host pauses (its buffer is full, and no switch marks for it), and where the source MAC is nobody's.",
		Not: "Not data that cannot be marked (ecn.not-ect), which does not count. Where the full queue lies behind the tap its marks are not in view; their CNPs would be, unless the receiver sends none. So it is never more than possible.",
		Do: "Compare the ECN thresholds of the queue with the XOFF threshold of the buffer: `show ecn` or `ecnconfig -l`, `show buffer configuration` or `mmuconfig -l`. Look whether ECN is on for that queue at all, and whether np_ecn_marked_roce_packets and np_cnp_sent of the receivers rise. " +
			"Where a host pauses, see pfc.host.",
	},
}
