package synth

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
)

// Truth is what happened in a scenario, as far as it passed the tap or should
// have.
type Truth struct {
	Rows        []Row `json:"flows"` // ordered by Src, Dst and DestQP
	PauseFrames int64 `json:"pause_frames"`
	// Connections are those of which management said anything in the capture.
	Connections []Exchange `json:"connections,omitempty"`
	Lost        []Lost     `json:"lost_signals,omitempty"`
	// MustFind names rules of which the capture holds the proof, so that an
	// analysis has to find them. Others may be right as well.
	MustFind []string `json:"must_find"`
}

// Row is what travelled from Src to Dst towards DestQP.
type Row struct {
	Src    string `json:"src"`
	Dst    string `json:"dst"`
	DestQP uint32 `json:"dest_qp"`
	PeerQP uint32 `json:"peer_qp"` // the other end's queue pair; 0 for queue pair 1
	// BothWays says that requests and the answers to them are in the capture.
	BothWays bool `json:"both_ways"`
	// Twin is another queue pair that may as well be the peer, by all that the
	// order of packets tells: its requests had the same PSNs and always passed
	// before the answers, or may have while the capture paused. 0 where there is none.
	Twin      uint32 `json:"twin,omitempty"`
	Transport string `json:"transport"`
	// Counts holds a number for each of Columns; one that is missing is 0.
	Counts map[string]int64 `json:"counts"`
	// Open holds, by column, what happened and does not show in the capture, or
	// looks like something else there. A column may be larger by so many.
	Open map[string][]Open `json:"not_knowable,omitempty"`
}

// Open is packets of which the capture does not tell, and why.
type Open struct {
	Count int64  `json:"count"`
	Why   string `json:"why"`
}

// Opened returns how much larger a column may be.
func (r *Row) Opened(column string) int64 {
	n := int64(0)
	for _, o := range r.Open[column] {
		n += o.Count
	}
	return n
}

// Columns are the columns of a report's flows that a Truth tells of.
//
// What lies behind the tap and leaves no trace there, as a lost datagram, is
// not counted.
var Columns = []string{
	"frames", "bytes", "request_frames", "request_bytes", "response_frames", "response_bytes", "data_frames", "acks", "messages",
	"gaps", "gap_frames", "lost_upstream", "lost_downstream", "not_captured", "unresolved", "reordered", "lost_acks",
	"retransmitted", "retransmitted_nak", "retransmitted_timeout", "retransmitted_rnr", "retransmitted_implied", "spurious",
	"response_gaps", "response_gap_frames", "response_lost_upstream", "response_lost_downstream", "response_not_captured", "response_unresolved", "response_reordered", "response_retransmitted",
	"naks_psn_sequence", "naks_invalid_request", "naks_remote_access", "naks_remote_operational", "rnr_naks", "rnr_stall_ns",
	"ce_frames", "cnps", "mirror_duplicates", "icrc_good", "icrc_bad", "icrc_unchecked",
}

// Write writes the truth as JSON.
func (t *Truth) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(t)
}

// counter builds the rows of a Truth.
type counter struct {
	rows   map[rowKey]*Row
	stalls map[*packet]int64 // RNR NAKs and when they were captured
}

type rowKey struct {
	src, dst string
	qp       uint32
}

func newCounter() *counter {
	return &counter{rows: map[rowKey]*Row{}, stalls: map[*packet]int64{}}
}

// row returns the row of a packet.
func (c *counter) row(p *packet) *Row {
	return c.rowOf(p, rowKey{src: p.from.addr.String(), dst: p.to.addr.String(), qp: p.bth.DestQP})
}

// rowBack returns the row of what the receiver of a packet sends back.
func (c *counter) rowBack(p *packet) *Row {
	return c.rowOf(p, rowKey{src: p.to.addr.String(), dst: p.from.addr.String(), qp: p.conn.a.qpn + p.conn.b.qpn - p.bth.DestQP})
}

func (c *counter) rowOf(p *packet, k rowKey) *Row {
	r := c.rows[k]
	if r == nil {
		r = &Row{Src: k.src, Dst: k.dst, DestQP: k.qp, Counts: map[string]int64{}, Open: map[string][]Open{}}
		r.Transport = p.bth.Opcode.Transport().String()
		if p.kind != isManagement {
			r.PeerQP = p.conn.a.qpn + p.conn.b.qpn - k.qp
		}
		c.rows[k] = r
	}
	return r
}

// add counts in the packet's row.
func (c *counter) add(p *packet, column string, n int64) { c.row(p).Counts[column] += n }

// open notes that the capture does not tell whether a packet belongs into some
// columns.
func (c *counter) open(p *packet, why string, columns ...string) {
	r := c.row(p)
	for _, column := range columns {
		i := slices.IndexFunc(r.Open[column], func(o Open) bool { return o.Why == why })
		if i < 0 {
			r.Open[column] = append(r.Open[column], Open{Why: why})
			i = len(r.Open[column]) - 1
		}
		r.Open[column][i].Count++
	}
}

// sorted returns the rows of which anything was captured.
func (c *counter) sorted() []Row {
	var out []Row
	for _, r := range c.rows {
		if r.Counts["frames"] > 0 {
			out = append(out, *r)
		}
	}
	slices.SortFunc(out, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Src, b.Src), cmp.Compare(a.Dst, b.Dst), cmp.Compare(a.DestQP, b.DestQP))
	})
	return out
}
