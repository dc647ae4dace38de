package decode

// LinkType says how a frame begins. The values are those of pcap's
// LINKTYPE_ registry, so a file's number converts directly.
type LinkType uint16

// The link types Decode understands.
const (
	LinkEthernet LinkType = 1
	LinkRaw      LinkType = 101 // an IPv4 or IPv6 header at once
	LinkSLL      LinkType = 113 // Linux cooked capture, 16 bytes
	LinkIPv4     LinkType = 228
	LinkIPv6     LinkType = 229
	LinkSLL2     LinkType = 276 // Linux cooked capture version 2, 20 bytes
)

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
