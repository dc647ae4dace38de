package report

// Other is the Src and Dst of the row in which the flows beyond the cap on
// their number count together. Its other key columns are zero.
const Other = "other"

// FlowRef names a flow in a finding.
type FlowRef struct {
	Src    string `json:"src"`
	Dst    string `json:"dst"`
	DestQP uint32 `json:"dest_qp"`
}

// String returns the name for a reader: "10.0.0.1 → 10.0.0.2 QP 0xd2".
func (f *FlowRef) String() string {
	if f.Src == Other {
		return "all further flows"
	}
	return f.Src + " → " + f.Dst + " " + QP(f.DestQP)
}

// Flow is a row: everything that travels from Src to Dst towards DestQP, which
// is the requests of the peer's send queue and the responses to that queue
// pair's own requests. A queue pair number that is used again by a later
// connection has a row for each, told apart by FirstNs.
//
// The tag merge says how two rows of one flow add: sum, min, max, union of two
// ascending lists, hist, evidence, peer for what is kept from the row that knows
// it best, or key for what names the row.
type Flow struct {
	Src       string  `json:"src" merge:"key"`
	Dst       string  `json:"dst" merge:"key"`
	DestQP    uint32  `json:"dest_qp" merge:"key"`
	SrcQP     *uint32 `json:"src_qp,omitempty" merge:"key"` // UD alone names its sender
	Version   int     `json:"roce_version" merge:"key"`
	Transport string  `json:"transport" merge:"key"` // RC UC UD XRC RD
	VNI       *uint32 `json:"vni,omitempty" merge:"key"`
	VLAN      *uint32 `json:"vlan,omitempty" merge:"key"` // where tags tell tenants with the same addresses apart; 0 untagged

	PeerQP         *uint32  `json:"peer_qp" merge:"peer"` // null where unknown
	PeerBy         string   `json:"peer_by" merge:"peer"` // cm, responses, source-port, datagram; empty where unknown
	UDPSourcePorts []uint16 `json:"udp_source_ports" merge:"union"`
	DSCPs          []uint16 `json:"dscps" merge:"union"`
	VLANs          []uint16 `json:"vlans" merge:"union"`
	PathMTU        int64    `json:"path_mtu" merge:"max"` // 0 unknown

	Frames         int64 `json:"frames" merge:"sum"`
	Bytes          int64 `json:"bytes" merge:"sum"` // wire length
	RequestFrames  int64 `json:"request_frames" merge:"sum"`
	RequestBytes   int64 `json:"request_bytes" merge:"sum"` // payload
	ResponseFrames int64 `json:"response_frames" merge:"sum"`
	ResponseBytes  int64 `json:"response_bytes" merge:"sum"`
	DataFrames     int64 `json:"data_frames" merge:"sum"`
	Acks           int64 `json:"acks" merge:"sum"`
	Messages       int64 `json:"messages" merge:"sum"`
	FirstNs        int64 `json:"first_ns" merge:"min"`
	LastNs         int64 `json:"last_ns" merge:"max"`

	// What became of the requests.
	Gaps                 int64 `json:"gaps" merge:"sum"` // episodes
	GapFrames            int64 `json:"gap_frames" merge:"sum"`
	LostUpstream         int64 `json:"lost_upstream" merge:"sum"`
	LostDownstream       int64 `json:"lost_downstream" merge:"sum"`
	LostAcks             int64 `json:"lost_acks" merge:"sum"`
	NotCaptured          int64 `json:"not_captured" merge:"sum"`
	Unresolved           int64 `json:"unresolved" merge:"sum"`
	Reordered            int64 `json:"reordered" merge:"sum"`
	Retransmitted        int64 `json:"retransmitted" merge:"sum"`
	RetransmittedNAK     int64 `json:"retransmitted_nak" merge:"sum"`
	RetransmittedTimeout int64 `json:"retransmitted_timeout" merge:"sum"`
	RetransmittedImplied int64 `json:"retransmitted_implied" merge:"sum"`
	RetransmittedRNR     int64 `json:"retransmitted_rnr" merge:"sum"`
	Spurious             int64 `json:"spurious" merge:"sum"`
	// NeedlessTimeouts counts timeouts while the answer was on its way.
	NeedlessTimeouts int64 `json:"needless_timeouts" merge:"sum"`
	MirrorDuplicates int64 `json:"mirror_duplicates" merge:"sum"`
	// NeedlessNAKs counts sequence NAKs that a reordered packet drew.
	NeedlessNAKs int64 `json:"needless_naks" merge:"sum"`

	// What became of the READ responses.
	ResponseGaps           int64 `json:"response_gaps" merge:"sum"`
	ResponseGapFrames      int64 `json:"response_gap_frames" merge:"sum"`
	ResponseLostUpstream   int64 `json:"response_lost_upstream" merge:"sum"`
	ResponseLostDownstream int64 `json:"response_lost_downstream" merge:"sum"`
	ResponseNotCaptured    int64 `json:"response_not_captured" merge:"sum"`
	ResponseUnresolved     int64 `json:"response_unresolved" merge:"sum"`
	ResponseReordered      int64 `json:"response_reordered" merge:"sum"`
	ResponseRetransmitted  int64 `json:"response_retransmitted" merge:"sum"`

	// NAKs that travel in this row.
	NAKSequence          int64 `json:"naks_psn_sequence" merge:"sum"`
	NAKInvalidRequest    int64 `json:"naks_invalid_request" merge:"sum"`
	NAKRemoteAccess      int64 `json:"naks_remote_access" merge:"sum"`
	NAKRemoteOperational int64 `json:"naks_remote_operational" merge:"sum"`
	RNRNAKs              int64 `json:"rnr_naks" merge:"sum"`
	RNRStallNs           int64 `json:"rnr_stall_ns" merge:"sum"`

	CE     int64 `json:"ce_frames" merge:"sum"`
	NotECT int64 `json:"not_ect_frames" merge:"sum"`
	CNPs   int64 `json:"cnps" merge:"sum"`
	BECN   int64 `json:"becn_frames" merge:"sum"` // BECN on packets that are no CNP

	ICRCGood      int64 `json:"icrc_good" merge:"sum"`
	ICRCBad       int64 `json:"icrc_bad" merge:"sum"`
	ICRCUnchecked int64 `json:"icrc_unchecked" merge:"sum"`

	// AckRTT holds the ACK round trips of this row's requests, at the tap. It
	// stands in JSON as ack_rtt_p50_ns, ack_rtt_p99_ns, ack_rtt_max_ns (0
	// unknown) and, to be merged again, ack_rtt.
	AckRTT Hist `json:"-" merge:"hist"`

	// Evidence holds, for each kind of event, how many there were and where
	// the first and the last few stand.
	Evidence []Evidence `json:"evidence,omitempty" merge:"evidence"`
}

// Ref returns the flow's name for a finding.
func (f *Flow) Ref() *FlowRef { return &FlowRef{f.Src, f.Dst, f.DestQP} }

// Lost returns how many packets of the row are known lost, requests and READ
// responses, on either side of the tap.
func (f *Flow) Lost() int64 {
	return f.LostUpstream + f.LostDownstream + f.ResponseLostUpstream + f.ResponseLostDownstream
}

// ReorderPrevails reports whether more NAKs were needless than packets were lost. Of
// the rarer kind each may rather be one more of the other.
func (f *Flow) ReorderPrevails() bool { return f.NeedlessNAKs > f.Lost() }

// Resent returns how many packets of the row were sent again.
func (f *Flow) Resent() int64 { return f.Retransmitted + f.ResponseRetransmitted }

// NAKs returns how many NAKs travel in the row, RNR NAKs included.
func (f *Flow) NAKs() int64 {
	return f.NAKSequence + f.NAKInvalidRequest + f.NAKRemoteAccess + f.NAKRemoteOperational + f.RNRNAKs
}

// EvidenceOf returns the events of one kind, and an empty Evidence where there
// are none.
func (f *Flow) EvidenceOf(kind string) Evidence {
	for _, e := range f.Evidence {
		if e.Kind == kind {
			return e
		}
	}
	return Evidence{Kind: kind}
}

// Evidence tells where events of one kind stand in the capture.
type Evidence struct {
	Kind    string `json:"kind"`
	Count   int64  `json:"count"` // of packets, or of episodes, as the kind says
	FirstNs int64  `json:"first_ns"`
	LastNs  int64  `json:"last_ns"`
	// Frames are the numbers of the first and the last few frames, ascending: at
	// most EvidenceFrames of each, and all where there are not more than both.
	Frames []uint64 `json:"frames"`
}

// EvidenceFrames is how many first, and how many last, frames an Evidence keeps
// when it is merged.
const EvidenceFrames = 8
