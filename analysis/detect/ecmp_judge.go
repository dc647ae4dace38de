package detect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

func judgeECMP(r *report.Report, c *analysis.Config) []report.Finding {
	rows := r.Rows("ecmp", "places")
	out := observed(r, c, rows, 0)
	if len(out) == 0 { // what differs by interface mostly differs by MAC, too
		out = observed(r, c, rows, 1)
	}
	return append(condense(out, "group", "infiniband"), predicted(r, c)...)
}

// member is one of several parallel links: an interface of the capture, or a
// source MAC.
type member struct {
	name                                string
	bytes, frames, rows, flows, largest int64
	first, last                         int64 // frames
	firstNs, lastNs                     int64
}

// onMember is what travels between two hosts along one member.
type onMember struct {
	member
	series int64
}

// observed speaks of each group of parallel links that are loaded unevenly. kind
// is the key column that names them.
func observed(r *report.Report, c *analysis.Config, rows []report.Row, kind int) []report.Finding {
	if !splits(rows, kind) {
		return nil
	}
	pairs := map[hosts]map[string]*onMember{}
	var order []hosts
	for _, row := range rows {
		h, name, x := hosts{row.Key[2], row.Key[3]}, row.Key[kind], row.Values
		if name == "" {
			continue
		}
		if pairs[h] == nil {
			pairs[h] = map[string]*onMember{}
			order = append(order, h)
		}
		m := pairs[h][name]
		o := member{name: name, frames: x[0], bytes: x[2], rows: x[3], flows: x[4], largest: x[5], firstNs: x[6], lastNs: x[7], first: x[8], last: x[9]}
		if m == nil {
			m = &onMember{}
			pairs[h][name] = m
		}
		m.add(&o)
		m.series += x[1]
	}
	var out []report.Finding
	for _, g := range parallel(order, pairs, c) {
		if f, ok := g.judge(r, c, kind); ok {
			out = append(out, f)
		}
	}
	return out
}

// splits reports whether the traffic between any two hosts stands on more than one
// link: no links are parallel else.
func splits(rows []report.Row, kind int) bool {
	on := make(map[hosts]string, len(rows))
	for _, row := range rows {
		h, name := hosts{row.Key[2], row.Key[3]}, row.Key[kind]
		if one := on[h]; one != "" && name != "" && name != one {
			return true
		}
		if name != "" {
			on[h] = name
		}
	}
	return false
}

func (m *member) add(o *member) {
	if m.frames == 0 {
		m.name, m.firstNs, m.lastNs, m.first, m.last = o.name, o.firstNs, o.lastNs, o.first, o.last
	}
	m.bytes, m.frames, m.rows, m.flows, m.largest = m.bytes+o.bytes, m.frames+o.frames, m.rows+o.rows, m.flows+o.flows, max(m.largest, o.largest)
	m.firstNs, m.lastNs = min(m.firstNs, o.firstNs), max(m.lastNs, o.lastNs)
	m.first, m.last = min(m.first, o.first), max(m.last, o.last)
}

// beside reports whether two members were in use at a time, not one after the
// other.
func (m *member) beside(o *member) bool {
	both := min(m.lastNs, o.lastNs) - max(m.firstNs, o.firstNs)
	return both >= 0 && 2*both >= min(m.lastNs-m.firstNs, o.lastNs-o.firstNs)
}

// bundled is links that are parallel, and the host pairs they carry.
type bundled struct {
	members []*member // the busiest first
	pairs   map[hosts]bool
}

// parallel joins members that carry whole flows of one host pair at a time.
func parallel(order []hosts, pairs map[hosts]map[string]*onMember, c *analysis.Config) []*bundled {
	root := map[string]string{}
	find := func(n string) string {
		for root[n] != "" && root[n] != n {
			if up := root[root[n]]; up != "" {
				root[n] = up // so that chains stay short
			}
			n = root[n]
		}
		return n
	}
	for _, h := range order {
		var before *onMember
		for _, name := range sortedKeys(pairs[h]) {
			m := pairs[h][name]
			if m.rows == 0 || m.frames < 2 || float64(m.series) > c.Limits.InSeries*float64(m.frames+m.series) {
				continue
			}
			if before != nil && m.beside(&before.member) {
				root[find(name)] = find(before.name)
			}
			before = m
		}
	}
	groups := map[string]map[string]*member{}
	carried := map[string]map[hosts]bool{}
	for _, h := range order {
		for _, name := range sortedKeys(pairs[h]) {
			top := find(name)
			if groups[top] == nil {
				groups[top], carried[top] = map[string]*member{}, map[hosts]bool{}
			}
			m := groups[top][name]
			if m == nil {
				m = &member{}
				groups[top][name] = m
			}
			m.add(&pairs[h][name].member)
			carried[top][h] = true
		}
	}
	var out []*bundled
	for _, top := range sortedKeys(groups) {
		if len(groups[top]) < 2 {
			continue
		}
		b := &bundled{members: slices.Collect(maps.Values(groups[top])), pairs: carried[top]}
		slices.SortFunc(b.members, func(x, y *member) int { return cmp.Or(cmp.Compare(y.bytes, x.bytes), cmp.Compare(x.name, y.name)) })
		out = append(out, b)
	}
	return out
}

// judge compares the busiest link with its fair share.
func (b *bundled) judge(r *report.Report, c *analysis.Config, kind int) (report.Finding, bool) {
	links := len(b.members)
	if kind == 0 {
		links = max(links, c.Links)
	}
	var sum member
	for _, m := range b.members {
		sum.add(m)
	}
	hot := b.members[0]
	times := hundredths(hot.bytes, sum.bytes, links)
	if sum.flows < int64(c.Limits.MemberFlows) || sum.frames < int64(c.Limits.MemberFrames) || float64(times) <= 100*c.Limits.Hottest {
		return report.Finding{}, false
	}
	what := "interface"
	if kind == 1 {
		what = "source MAC"
	}
	f := report.Finding{
		Rule: "ecmp.imbalance", Severity: report.Warning, Confidence: report.Likely, Count: hot.flows, FirstNs: sum.firstNs, LastNs: sum.lastNs, Frames: []uint64{},
		Values: map[string]int64{"members": int64(links), "members_seen": int64(len(b.members)), "hottest_bytes": hot.bytes, "bytes": sum.bytes, "hottest_of_fair_share_x100": times,
			"flows": sum.flows, "hottest_flows": hot.flows, "largest_flow_bytes": sum.largest},
		Filter: filterOf(hot.name, kind),
	}
	for _, m := range b.members {
		f.Frames = append(f.Frames, uint64(m.first), uint64(m.last))
	}
	f.Frames = fewFrames(f.Frames)
	f.Summary = fmt.Sprintf("Of %s (told apart by %s), %s carries %s of the bytes, %s times its fair share: %d of %s; the others carry %s",
		report.Counted(int64(links), "parallel link"), what, memberName(hot.name, kind), report.Share(hot.bytes, sum.bytes), decimal(times), hot.flows, report.Counted(sum.flows, "flow"), b.others(sum.bytes, kind))
	f.Not = "Not two taps in series: each packet is seen on one of them alone, while flows between the same hosts take several. What travels over links that the capture does not show is not counted."
	keys := hashKeys(r, func(h hosts) bool { return b.pairs[h] })
	if len(keys) > 0 {
		chance := medianOf(keys, links, false)
		f.Values["expected_x100"] = chance
		f.Not += fmt.Sprintf(" With what there is to hash (%s), common hash families put %s times the fair share on the busiest link; a switch's own hash may differ.", report.Counted(int64(len(keys)), "data flow"), decimal(chance))
	}
	b.cause(&f, c, &sum, kind)
	return f, true
}

// cause tells whether the hash or the flows are uneven.
func (b *bundled) cause(f *report.Finding, c *analysis.Config, sum *member, kind int) {
	hot := b.members[0]
	f.Advice = "Give the hash more to tell flows apart: a UDP source port for each queue pair, more queue pairs to each peer, or the BTH destination queue pair in the switch's hash; " +
		"adaptive routing where there is. Compare the counters of the members (`show interfaces counters`, `ip -s link`) and look for the same hash seed in two tiers of switches (polarization)."
	if kind == 1 && b.oneSender() {
		f.Advice = "Look at how the sender chooses: `cat /proc/net/bonding/bond0` (xmit_hash_policy layer3+4), the port affinity of queue pairs (roce_lag_port_select: queue affinity or hash; NCCL_IB_QPS_PER_CONNECTION, NCCL_IB_SPLIT_DATA_ON_QPS), and `ethtool -S` of each member."
	}
	if float64(hot.bytes) <= c.Limits.Hottest*float64(hot.largest) {
		f.Severity = report.Info
		f.Summary += fmt.Sprintf(". One flow alone makes it: %s, which no hash can divide.", report.Bytes(hot.largest))
		return
	}
	f.Summary += "."
}

// oneSender reports whether one host sends all: its links form a bond, where
// MACs of several senders are those of routers.
func (b *bundled) oneSender() bool {
	senders := map[string]bool{}
	for h := range b.pairs {
		senders[h.src] = true
	}
	return len(senders) == 1
}

// others lists what the further links carry, at most a few.
func (b *bundled) others(sum int64, kind int) string {
	var parts []string
	for i, m := range b.members[1:] {
		if i == 3 && len(b.members) > 5 {
			parts = append(parts, fmt.Sprintf("and %d more", len(b.members)-4))
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", report.Share(m.bytes, sum), memberName(m.name, kind)))
	}
	return strings.Join(parts, ", ")
}

func memberName(name string, kind int) string {
	if kind == 0 {
		return "interface " + name
	}
	return name
}

func filterOf(name string, kind int) string {
	if kind == 0 {
		return "frame.interface_id == " + name
	}
	return "eth.src == " + name
}

func decimal(hundredths int64) string { return fmt.Sprintf("%.1f", float64(hundredths)/100) }
