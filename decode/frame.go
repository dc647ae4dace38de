package decode

import "strconv"

// LinkType says how a frame begins. The values are those of pcap's
// LINKTYPE_ registry, so a file's number converts directly.
type LinkType uint16

// The link types Decode understands.
const (
	LinkNull       LinkType = 0   // BSD loopback: an address family in the byte order of the host
	LinkEthernet   LinkType = 1   // without the preamble; a frame check sequence may follow
	LinkRaw12      LinkType = 12  // LinkRaw by the number that most systems wrote
	LinkRaw14      LinkType = 14  // LinkRaw by the number that OpenBSD wrote
	LinkRaw        LinkType = 101 // an IPv4 or IPv6 header at once
	LinkLoop       LinkType = 108 // OpenBSD loopback: an address family in network byte order
	LinkSLL        LinkType = 113 // Linux cooked capture, 16 bytes
	LinkERF        LinkType = 197 // Endace: a record header, and then what its type says
	LinkIPv4       LinkType = 228 // an IPv4 header at once
	LinkIPv6       LinkType = 229 // an IPv6 header at once
	LinkInfiniBand LinkType = 247 // native InfiniBand, from the LRH on
	LinkMPacket    LinkType = 274 // Ethernet from the preamble on (802.3br)
	LinkSLL2       LinkType = 276 // Linux cooked capture version 2, 20 bytes
)

// String names the link type as a reader would, as "Ethernet"; numbers that mean
// the same have the same name, and one that Decode does not understand is called
// "link type 105".
func (l LinkType) String() string {
	switch l {
	case LinkNull, LinkLoop:
		return "BSD loopback"
	case LinkEthernet:
		return "Ethernet"
	case LinkRaw12, LinkRaw14, LinkRaw, LinkIPv4, LinkIPv6:
		return "raw IP"
	case LinkSLL:
		return "Linux cooked"
	case LinkERF:
		return "ERF"
	case LinkInfiniBand:
		return "InfiniBand"
	case LinkMPacket:
		return "Ethernet mPacket"
	case LinkSLL2:
		return "Linux cooked v2"
	}
	return "link type " + strconv.Itoa(int(l))
}

// Frame is one captured frame as its source hands it out.
type Frame struct {
	// Data holds the captured bytes. It belongs to the source and is valid
	// only until the source's next Read; whoever keeps it copies it.
	Data []byte
	// Time is nanoseconds since the Unix epoch.
	Time int64
	// Number counts frames of the whole input from 1, as Wireshark does.
	Number uint64
	// Len is the frame's length on the wire; it exceeds len(Data) where a
	// snap length cut the frame, and is never below it.
	Len int
	// Link says how Data begins.
	Link LinkType
	// Iface numbers the capturing interface, from 0, over the whole input.
	Iface uint16
}
