package detect

import "github.com/rocescope/rocescope/analysis/report"

// integrityRules are the pages of what Integrity finds.
var integrityRules = []report.Rule{
	{
		Name: "icrc.sender", Severities: []report.Severity{report.Critical},
		Brief: "every packet of one sender has a wrong ICRC",
		Means: "Receivers drop packets with a wrong invariant CRC without a word, so nothing that this host sends is ever accepted. Its connections time out, or never come up.",
		Computed: "The ICRC of each packet captured whole is computed anew (CRC-32 over the packet with what may change on the way masked out: DSCP, ECN, TTL, checksums and BTH byte 4). " +
			"A sender with no right one and at least 8 (Limits.SenderICRC) wrong ones is blamed: fewer may all have met one bad link. The count is of packets.",
		Not: "Not a bad cable, which spares some packets, and not truncation: cut packets are not checked. A device right behind the sender that rewrites what the ICRC covers (NAT, another UDP source port, another IPv4 identification) looks the same. " +
			"Where receivers answer such packets, the capture was rewritten, which icrc.path says.",
		Do: "Update the RoCE stack or firmware of that host (`ethtool -i`, `ibv_devinfo`), capture on the host itself to see whether the packets leave it wrong, and read rx_icrc_encapsulated in `ethtool -S` of a receiver.",
	},
	{
		Name: "icrc.path", Severities: []report.Severity{report.Warning, report.Notice},
		Brief: "packets were damaged on the way: their ICRC is wrong",
		Means: "Bits changed between the sender and the tap in spite of the Ethernet checksum of each link: in the memory of a switch or adapter, or in a device that rewrites packets. The receiver drops them in silence, and each costs a resend.",
		Computed: "Packets captured whole whose computed ICRC differs from theirs, by receiver, with those whose addresses or queue pair fit no connection. A copy that is wrong where the first one was right shows damage between two taps. The count is of packets.\n\n" +
			"A notice, and nothing else, where no ICRC in the capture is right and receivers acknowledge the packets all the same: then the file itself was rewritten, as tools that hide addresses do.",
		Not: "Not truncated packets: they are not checked (icrc_unchecked). Not icrc.sender, where all packets of one sender are wrong; of fewer than 8 (Limits.SenderICRC) it cannot be known which. " +
			"Damage behind the tap cannot be seen; it shows as loss.downstream.",
		Do: "Read rx_icrc_encapsulated of the receiver, and on each port before the tap `ethtool -S` rx_crc_errors_phy and rx_symbol_err_phy, FEC counters (`ethtool -I --show-fec IFACE`, `mlxlink -d DEV -c`) and the optic (`ethtool -m`). " +
			"Where only one pair of hosts is hit, look for address translation, tunnels and load balancers between them.",
	},
}
