package detect

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// What the analyzers share when they count by flow and put a finding into
// words.

// cnpFilter shows congestion notification packets.
const cnpFilter = "infiniband.bth.opcode == 0x81"

// group is the rows that share a key, in the order of the report.
type group[K comparable] struct {
	key   K
	flows []*report.Flow
}

// hosts is an ordered pair of addresses: what travels from src to dst.
type hosts struct{ src, dst string }

func (h hosts) back() hosts { return hosts{h.dst, h.src} }

func hostsOf(f *report.Flow) hosts { return hosts{f.Src, f.Dst} }

// groupBy groups the rows of a report, groups in the order of their first row.
// The row of the flows beyond the cap is left out.
func groupBy[K comparable](r *report.Report, key func(*report.Flow) K) []group[K] {
	stretches := 0
	for i := range r.Flows {
		if i == 0 || key(&r.Flows[i]) != key(&r.Flows[i-1]) {
			stretches++
		}
	}
	out, index := make([]group[K], 0, stretches), make(map[K]int, stretches)
	eachStretch(r, key, func(k K, flows []*report.Flow) {
		if i, ok := index[k]; ok {
			out[i].flows = append(out[i].flows, flows...)
			return
		}
		index[k] = len(out)
		out = append(out, group[K]{k, flows})
	})
	return out
}

// eachStretch hands out the rows that stand together under one key, as rows of a
// group do more often than not, in slices that append copies. The row of the flows
// beyond the cap is left out.
func eachStretch[K comparable](r *report.Report, key func(*report.Flow) K, each func(K, []*report.Flow)) {
	for all := pointers(r.Flows); len(all) > 0; {
		k, n := key(all[0]), 1
		for n < len(all) && key(all[n]) == k && all[n].Src != report.Other {
			n++
		}
		if all[0].Src != report.Other {
			each(k, all[:n:n])
		}
		all = all[n:]
	}
}

// named is the rows of each name, of which there are several where the number of a queue
// pair was used again.
type named map[report.FlowRef][]*report.Flow

// byName returns the rows of each name, in the order of the report; that of the
// flows beyond the cap is left out.
func byName(r *report.Report) named {
	out := make(named, len(r.Flows))
	eachStretch(r, func(f *report.Flow) report.FlowRef { return *f.Ref() }, func(name report.FlowRef, flows []*report.Flow) {
		if old := out[name]; old != nil {
			flows = append(old, flows...)
		}
		out[name] = flows
	})
	return out
}

// namesIn is byName for who looks up what some tables of a section tell of; nil where that is nothing.
func namesIn(r *report.Report, section string, tables ...string) named {
	for _, t := range tables {
		if len(r.Rows(section, t)) > 0 {
			return byName(r)
		}
	}
	return nil
}

// nameOf reads the name of a row from the first cells of a key.
func nameOf(key []string) report.FlowRef {
	qp, _ := strconv.ParseUint(key[2], 0, 32)
	return report.FlowRef{Src: key[0], Dst: key[1], DestQP: uint32(qp)}
}

// at returns the row that a table's row names by the first cells of its key, as it was at
// a time; nil where there is none.
func (n named) at(key []string, ns int64) *report.Flow {
	for _, f := range n[nameOf(key)] {
		if f.FirstNs <= ns && ns <= f.LastNs {
			return f
		}
	}
	return nil
}

// tableOf returns the rows of a table by the flow of which they tell: the first cells of
// their keys name it, and the one behind those says when it began.
func (n named) tableOf(r *report.Report, section, table string) map[*report.Flow][]report.Row {
	out := map[*report.Flow][]report.Row{}
	for _, row := range r.Rows(section, table) {
		if f := n.at(row.Key, number(row.Key[3])); f != nil {
			out[f] = append(out[f], row)
		}
	}
	return out
}

// lifeKeys names a row so that it is told from others of the same numbers, as tableOf reads it.
var lifeKeys = []string{"src", "dst", "dest_qp", "began_ns"}

func lifeKey(f *report.Flow) []string {
	return []string{f.Src, f.Dst, qpText(f.DestQP), strconv.FormatInt(f.FirstNs, 10)}
}

// neighbours is the rows of a report by host pair, so that what belongs together
// is found without a search through all of them.
type neighbours map[hosts][]*report.Flow

func neighboursOf(r *report.Report) neighbours {
	n := neighbours{}
	for _, g := range groupBy(r, hostsOf) {
		n[g.key] = g.flows
	}
	return n
}

// pointers returns all rows.
func pointers(flows []report.Flow) []*report.Flow {
	out := make([]*report.Flow, len(flows))
	for i := range flows {
		out[i] = &flows[i]
	}
	return out
}

// total adds a column over rows.
func total(flows []*report.Flow, column func(*report.Flow) int64) int64 {
	var n int64
	for _, f := range flows {
		n += column(f)
	}
	return n
}

// originals is the share of the frames of rows that are no mirror copies.
func originals(flows []*report.Flow) float64 {
	frames := total(flows, func(f *report.Flow) int64 { return f.Frames })
	copies := total(flows, func(f *report.Flow) int64 { return f.MirrorDuplicates })
	if copies <= 0 || frames <= copies {
		return 1
	}
	return float64(frames-copies) / float64(frames)
}

// evidence joins what rows kept of one kind of event: the first and last few
// frames, and the time between. Without events it spans the rows themselves.
func evidence(flows []*report.Flow, kind analysis.EventKind) report.Evidence {
	out := report.Evidence{Kind: kind.String()}
	for _, f := range flows {
		e := f.EvidenceOf(out.Kind)
		if e.Count == 0 {
			continue
		}
		if out.Count == 0 {
			out.FirstNs, out.LastNs = e.FirstNs, e.LastNs
		}
		out.FirstNs, out.LastNs = min(out.FirstNs, e.FirstNs), max(out.LastNs, e.LastNs)
		out.Count += e.Count
		out.Frames = append(out.Frames, e.Frames...)
	}
	out.Frames = fewFrames(out.Frames)
	if out.Count == 0 && len(flows) > 0 {
		out.FirstNs, out.LastNs = span(flows)
	}
	return out
}

// fewFrames returns frames in order, only the first and last few of many.
func fewFrames(frames []uint64) []uint64 {
	slices.Sort(frames)
	frames = slices.Compact(frames)
	if n := len(frames); n > 2*report.EvidenceFrames {
		frames = slices.Delete(frames, report.EvidenceFrames, n-report.EvidenceFrames)
	}
	return frames
}

// span returns the time that rows cover.
func span(flows []*report.Flow) (first, last int64) {
	for i, f := range flows {
		if i == 0 || f.FirstNs < first {
			first = f.FirstNs
		}
		if i == 0 || f.LastNs > last {
			last = f.LastNs
		}
	}
	return first, last
}

// only returns the name of the row where there is just one.
func only(flows []*report.Flow) *report.FlowRef {
	if len(flows) == 1 {
		return flows[0].Ref()
	}
	return nil
}

// fewFindings is how many findings of one rule stand side by side; more of them
// become one.
const fewFindings = 8

// condense puts findings of one rule, each about one flow (or host), into one
// where they are many: the worst is named, in its words, the counts are added, and
// the sum, which speaks of all of them, is as sure as the least sure one. What says
// what they are about: "flow", "host". The filter is that of the sum.
func condense(fs []report.Finding, what, filter string) []report.Finding {
	if len(fs) <= fewFindings {
		return fs
	}
	slices.SortStableFunc(fs, func(a, b report.Finding) int {
		return cmp.Or(cmp.Compare(a.Severity.Rank(), b.Severity.Rank()), cmp.Compare(b.Count, a.Count))
	})
	sum := fs[0]
	sum.Count, sum.Frames, sum.Flow = 0, nil, nil
	if slices.ContainsFunc(fs, func(f report.Finding) bool { return f.Host != sum.Host }) {
		sum.Host = ""
	}
	if slices.ContainsFunc(fs, func(f report.Finding) bool { return f.Toward != sum.Toward }) {
		sum.Host, sum.Toward = "", ""
	}
	for i := range fs {
		f := &fs[i]
		sum.Count += f.Count
		sum.FirstNs, sum.LastNs = min(sum.FirstNs, f.FirstNs), max(sum.LastNs, f.LastNs)
		sum.Frames = fewFrames(append(sum.Frames, f.Frames...))
	}
	sum.Values = map[string]int64{what + "s": int64(len(fs)), "worst_count": fs[0].Count}
	sum.Summary = fmt.Sprintf("%s are alike, %s in all; the worst: %s",
		report.Counted(int64(len(fs)), what), report.Count(sum.Count), fs[0].Summary)
	sum.Filter = filter
	sum.Confidence, sum.Not = doubtOf(fs)
	return []report.Finding{sum}
}

// doubtOf returns how sure findings are together, and what they are not: in the
// words of the first, and of the least sure one where that is another.
func doubtOf(fs []report.Finding) (report.Confidence, string) {
	least := slices.MaxFunc(fs, func(a, b report.Finding) int { return cmp.Compare(a.Confidence.Rank(), b.Confidence.Rank()) })
	not := fs[0].Not
	if least.Confidence != fs[0].Confidence && least.Not != not {
		not = strings.TrimSpace(not + " Not all are as sure as the worst; another one: " + least.Not)
	}
	return least.Confidence, not
}

// addTable adds a table to the section of an analyzer, where it has rows.
func addTable(r *report.Report, section string, t report.Table) {
	if len(t.Rows) > 0 {
		s := r.Section(section)
		s.Tables = append(s.Tables, t)
	}
}

// columns names columns that add up.
func columns(unit string, names ...string) []report.Column {
	out := make([]report.Column, len(names))
	for i, n := range names {
		out[i] = report.Column{Name: n, Unit: unit, Kind: report.Sum}
	}
	return out
}

// between filters what travels from src to dst, whatever the IP version.
func between(h hosts) string {
	return address(h.src, "src") + " && " + address(h.dst, "dst")
}

// address filters one address; which is src or dst.
func address(addr, which string) string {
	if lid, ok := strings.CutPrefix(addr, "LID "); ok {
		return fmt.Sprintf("infiniband.lrh.%.1slid == %s", which, lid)
	}
	family := "ip"
	if strings.Contains(addr, ":") {
		family = "ipv6"
	}
	return fmt.Sprintf("%s.%s == %s", family, which, addr)
}

// toward filters what travels in a row.
func toward(f *report.Flow) string {
	if hasGRH(f) {
		return fmt.Sprintf("infiniband.bth.destqp == %#08x && infiniband.grh.sgid == %s", f.DestQP, gid(f.Src))
	}
	return fmt.Sprintf("infiniband.bth.destqp == %#08x && %s", f.DestQP, between(hostsOf(f)))
}

// bothWays filters both directions of the queue pair, as far as its
// partner is known.
func bothWays(f *report.Flow) string {
	if f.PeerQP == nil || f.SrcQP != nil {
		return toward(f)
	}
	back := report.Flow{Src: f.Dst, Dst: f.Src, DestQP: *f.PeerQP, Version: f.Version}
	return "(" + toward(f) + ") || (" + toward(&back) + ")"
}

// onlyHost filters what travels from or to a host, which is src or dst, where its
// rows are these.
func onlyHost(addr, which string, flows []*report.Flow) string {
	if len(flows) > 0 && hasGRH(flows[0]) {
		return fmt.Sprintf("infiniband.grh.%.1sgid == %s", which, gid(addr))
	}
	return "infiniband && " + address(addr, which)
}

// hasGRH reports whether the addresses of a row stand in a GRH.
func hasGRH(f *report.Flow) bool { return f.Version != 2 && !strings.HasPrefix(f.Src, "LID ") }

// gid writes an address as a GRH holds it.
func gid(addr string) string {
	if strings.Contains(addr, ":") {
		return addr
	}
	return "::ffff:" + addr
}

// macText writes a MAC address.
func macText(m [6]byte) string { return net.HardwareAddr(m[:]).String() }

// adapterText writes an adapter's MAC address; empty where it is none of one
// adapter.
func adapterText(m [6]byte) string {
	if m == [6]byte{} || m[0]&1 != 0 {
		return ""
	}
	return macText(m)
}

// qpText is a queue pair number as tables hold it.
func qpText(n uint32) string { return "0x" + strconv.FormatUint(uint64(n), 16) }

// number reads what a key cell of a table holds as a number; 0 where it is none.
func number(cell string) int64 {
	n, _ := strconv.ParseInt(cell, 10, 64)
	return n
}

// sortedKeys returns the keys of a map in order, for a judge's result must not
// depend on the order of maps.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// oneIf writes yes or no as a column holds it.
func oneIf(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// sortedHosts does the same where the keys are pairs of hosts.
func sortedHosts[V any](m map[hosts]V) []hosts {
	return slices.SortedFunc(maps.Keys(m), func(a, b hosts) int { return cmp.Or(cmp.Compare(a.src, b.src), cmp.Compare(a.dst, b.dst)) })
}

// clockNoise is by how much times in the capture may be wrong, ns.
func clockNoise(r *report.Report) int64 { return r.Value("capture", "clock_noise") }
