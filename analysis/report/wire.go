package report

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
