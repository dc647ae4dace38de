package report

import (
	"strconv"
	"strings"
)

// The section that says what stands around the RoCE packets, and its tables.
const (
	WireSection  = "wire"
	WrappedTable = "encapsulations"
	OddTable     = "oddities"
	PortTable    = "ports"
	MirrorTable  = "mirrors"
	DCBTable     = "dcb"
	ETSTable     = "dcb_classes"
	AppTable     = "dcb_applications"
	OthersTable  = "others"
)

// Priorities names the priorities whose bits are set: "priority 3, 4".
func Priorities(bits int64) string {
	var names []string
	for i := range 8 {
		if bits>>i&1 != 0 {
			names = append(names, strconv.Itoa(i))
		}
	}
	if len(names) == 0 {
		return "no priority"
	}
	return "priority " + strings.Join(names, ", ")
}

// IsRoCEv2App reports whether an application of AppTable is RoCEv2: UDP port
// 4791, or the port where LLDP does not say of which protocol.
func IsRoCEv2App(name string) bool { return name == "UDP 4791" || name == "port 4791" }
