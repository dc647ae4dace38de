package detect

import (
	"slices"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode/ib"
)

func judgeConnection(r *report.Report, c *analysis.Config) []report.Finding {
	v := readConnections(r)
	return slices.Concat(v.rejected(c), v.unanswered(c), v.offloadBlind(c), gidMixed(r))
}

// connectionsView is a report as the judge looks at it.
type connectionsView struct {
	r    *report.Report
	all  []cmRow
	both map[hosts][]*cmRow // by the two hosts, whoever asked
	from map[string]bool    // addresses that send
	to   map[string]bool    // addresses that something travels to
	seen map[hosts]bool
	last int64          // time of the last frame of a row
	v1   map[hosts]bool // whose addresses stand in a GRH
}

// cmRow is a connection of the table, and its data.
type cmRow struct {
	hosts   // from client to server
	service string
	v       []int64
	frames  int64 // of data
}

func readConnections(r *report.Report) *connectionsView {
	v := &connectionsView{r: r, both: map[hosts][]*cmRow{}, from: map[string]bool{}, to: map[string]bool{}, seen: map[hosts]bool{}, v1: map[hosts]bool{}}
	frames := map[[5]string]int64{}
	for _, row := range r.Rows("connection", "uses") {
		if len(row.Key) == len(connectionKeys) && len(row.Values) > 1 {
			frames[[5]string(row.Key)] = row.Values[0] + row.Values[1]
		}
	}
	for _, row := range r.Rows("connection", "connections") {
		if len(row.Key) == len(connectionKeys) && len(row.Values) == numCM { // else of another release
			v.all = append(v.all, cmRow{hosts{row.Key[0], row.Key[1]}, row.Key[2], row.Values, frames[[5]string(row.Key)]})
		}
	}
	if len(v.all) == 0 {
		return v
	}
	for i := range v.all {
		k := v.all[i].eitherWay()
		v.both[k] = append(v.both[k], &v.all[i])
	}
	for i := range r.Flows {
		f := &r.Flows[i]
		if f.Src == report.Other {
			continue
		}
		v.from[f.Src], v.to[f.Dst], v.seen[hostsOf(f)] = true, true, true
		v.last = max(v.last, f.LastNs)
		if hasGRH(f) {
			v.v1[hostsOf(f)] = true
		}
	}
	return v
}

// eitherWay names two hosts, whichever comes first.
func (h hosts) eitherWay() hosts {
	if h.src > h.dst {
		return h.back()
	}
	return h
}

// answered reports whether the server said anything to the request.
func (x *cmRow) answered() bool {
	return x.v[cmReplies]+x.v[cmServerRejects]+x.v[cmDelays]+x.v[cmReady]+x.frames > 0
}

// withdrawn reports whether the client gave up with nothing heard of the server,
// in words the capture may have cut off.
func (x *cmRow) withdrawn() bool {
	reason := x.v[cmClientReason]
	return x.v[cmClientRejects] > 0 && !x.answered() && (reason == 0 || reason == int64(ib.REJTimeout))
}

// accepted returns when the server granted the connection, 0 for never. What the
// client refused at once was none.
func (x *cmRow) accepted() int64 {
	if x.v[cmClientRejects] > 0 && x.v[cmReady]+x.frames == 0 {
		return 0
	}
	return max(x.v[cmReplyNs]*min(1, x.v[cmReplies]), x.v[cmReadyNs])
}

// groupCM joins connections by a key, in the order of the table.
func groupCM[K comparable](all []cmRow, key func(*cmRow) (K, bool)) (keys []K, groups map[K][]*cmRow) {
	groups = map[K][]*cmRow{}
	for i := range all {
		k, ok := key(&all[i])
		if !ok {
			continue
		}
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], &all[i])
	}
	return keys, groups
}

// cmSum adds a column over connections, cmLatest takes the largest.
func cmSum(xs []*cmRow, column int) (n int64) {
	for _, x := range xs {
		n += x.v[column]
	}
	return n
}

func cmLatest(xs []*cmRow, column int) (n int64) {
	for _, x := range xs {
		n = max(n, x.v[column])
	}
	return n
}

// cmEarliest takes the smallest of a time that every connection has.
func cmEarliest(xs []*cmRow, column int) int64 {
	n := xs[0].v[column]
	for _, x := range xs {
		n = min(n, x.v[column])
	}
	return n
}

// cmFrames gathers the frames that columns name.
func cmFrames(xs []*cmRow, columns ...int) []uint64 {
	var out []uint64
	for _, x := range xs {
		for _, c := range columns {
			if x.v[c] > 0 {
				out = append(out, uint64(x.v[c]))
			}
		}
	}
	return fewFrames(out)
}

// end returns when the capture that holds a time ends.
func (v *connectionsView) end(ns int64) int64 {
	for i := range v.r.Captures {
		if c := &v.r.Captures[i]; c.FirstNs <= ns && ns <= c.LastNs {
			return c.LastNs
		}
	}
	return max(ns, v.last)
}

// cmFilter shows the CM messages between two hosts, both ways.
func (v *connectionsView) cmFilter(h hosts) string {
	if v.v1[h] || v.v1[h.back()] {
		return "infiniband.bth.destqp == 1 && infiniband.grh.sgid in {" + gid(h.src) + ", " + gid(h.dst) + "}"
	}
	return "infiniband.bth.destqp == 1 && (" + between(h) + " || " + between(h.back()) + ")"
}
