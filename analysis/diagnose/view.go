package diagnose

import "github.com/rocescope/rocescope/analysis/report"

// view is a report as causes look at it.
type view struct {
	r    *report.Report
	rows map[report.FlowRef][]*report.Flow
}

func newView(r *report.Report) *view {
	v := &view{r: r, rows: map[report.FlowRef][]*report.Flow{}}
	for i := range r.Flows {
		f := &r.Flows[i]
		v.rows[*f.Ref()] = append(v.rows[*f.Ref()], f)
	}
	return v
}

// counted says which counts of a row a rule speaks of.
var counted = map[string]func(*report.Flow) int64{
	"loss.upstream":        func(f *report.Flow) int64 { return f.LostUpstream + f.ResponseLostUpstream },
	"loss.downstream":      func(f *report.Flow) int64 { return f.LostDownstream + f.ResponseLostDownstream },
	"loss.ack":             func(f *report.Flow) int64 { return f.LostAcks },
	"retransmit.timeout":   func(f *report.Flow) int64 { return f.RetransmittedTimeout },
	"retransmit.spurious":  func(f *report.Flow) int64 { return f.Spurious },
	"reorder.path":         func(f *report.Flow) int64 { return f.Reordered + f.ResponseReordered },
	"reorder.spurious-nak": func(f *report.Flow) int64 { return f.NeedlessNAKs },
	"rnr.stall":            func(f *report.Flow) int64 { return f.RNRNAKs },
	"ecn.marked":           func(f *report.Flow) int64 { return f.CE },
	"ecn.not-ect":          func(f *report.Flow) int64 { return f.NotECT },
	"cnp.without-ce":       func(f *report.Flow) int64 { return f.CNPs },
	"icrc.path":            func(f *report.Flow) int64 { return f.ICRCBad },
	"icrc.sender":          func(f *report.Flow) int64 { return f.ICRCBad },
}

// most is the share of what a finding counts that must lie where a cause reaches
// before that cause explains it: the rest may be chance.
const most = 0.9

// lies reports whether nearly all that a finding speaks of lies in rows that
// fit. A finding that is about neither rows nor a host lies nowhere.
func (v *view) lies(f *report.Finding, fits func(*report.Flow) bool) bool {
	if f.Flow != nil {
		rows := v.rows[*f.Flow]
		for _, row := range rows {
			if !fits(row) {
				return false
			}
		}
		return len(rows) > 0
	}
	count := counted[f.Rule]
	if count == nil {
		if f.Host == "" || f.Toward == "" {
			return false
		}
		count = func(row *report.Flow) int64 { return row.Frames }
	}
	var in, all int64
	for i := range v.r.Flows {
		row := &v.r.Flows[i]
		if !within(f, row) {
			continue
		}
		n := count(row)
		all += n
		if fits(row) {
			in += n
		}
	}
	return all > 0 && float64(in) >= most*float64(all)
}

// within reports whether a row may belong to what a finding is about.
func within(f *report.Finding, row *report.Flow) bool {
	if f.Toward != "" {
		return row.Src == f.Host && row.Dst == f.Toward
	}
	return f.Host == "" || row.Src == f.Host || row.Dst == f.Host
}

// between reports whether a finding is about traffic between the same two hosts
// as another, in whichever direction.
func (v *view) between(a, b *report.Finding) bool {
	src, dst := a.Host, a.Toward
	if a.Flow != nil {
		src, dst = a.Flow.Src, a.Flow.Dst
	}
	if src == "" || dst == "" {
		return false
	}
	return v.lies(b, func(f *report.Flow) bool {
		return f.Src == src && f.Dst == dst || f.Src == dst && f.Dst == src
	})
}

// connection reports whether two findings are about one connection, in
// whichever direction.
func (v *view) connection(a, b *report.Finding) bool {
	if a.Flow == nil && b.Flow == nil { // several of them, between two hosts
		return a.Toward != "" && a.Host == b.Host && a.Toward == b.Toward
	}
	if a.Flow == nil || b.Flow == nil {
		return false
	}
	if *a.Flow == *b.Flow {
		return true
	}
	for _, row := range v.rows[*a.Flow] {
		if row.PeerQP != nil && *b.Flow == (report.FlowRef{Src: row.Dst, Dst: row.Src, DestQP: *row.PeerQP}) {
			return true
		}
	}
	return false
}

// touches reports whether a finding is about traffic of a host.
func (v *view) touches(f *report.Finding, host string) bool {
	return host != "" && (f.Host == host || v.lies(f, func(row *report.Flow) bool { return row.Src == host || row.Dst == host }))
}

// towards reports whether a finding is about traffic to a host.
func (v *view) towards(f *report.Finding, host string) bool {
	return host != "" && (f.Flow == nil && f.Host == host || v.lies(f, func(row *report.Flow) bool { return row.Dst == host }))
}

// from reports whether a finding is about traffic of a sender.
func (v *view) from(f *report.Finding, host string) bool {
	return host != "" && v.lies(f, func(row *report.Flow) bool { return row.Src == host })
}

// notBefore reports whether an effect goes on after its cause has begun.
func notBefore(cause, effect *report.Finding) bool { return effect.LastNs >= cause.FirstNs }
