package detect

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// spread is how bytes divide over keys.
type spread []int64

// effective returns 2^H, the number of keys that would carry as much were all
// alike, and how many keys there are and the largest one's bytes.
func (s spread) effective() (paths float64, keys, largest, sum int64) {
	for _, n := range s {
		if n > 0 {
			keys, largest, sum = keys+1, max(largest, n), sum+n
		}
	}
	var loads []float64
	for _, n := range s {
		if n > 0 {
			loads = append(loads, float64(n)/float64(sum))
		}
	}
	if sum == 0 {
		return 0, 0, 0, 0
	}
	slices.Sort(loads) // so that the sum does not depend on the order of the keys
	var h float64
	for _, p := range loads {
		h -= p * math.Log2(p)
	}
	return math.Exp2(h), keys, largest, sum
}

func judgeEntropy(r *report.Report, c *analysis.Config) []report.Finding {
	var ports, queues spread
	rows := r.Rows("entropy", "paths")
	used := make(map[report.FlowRef][]string, len(rows)) // ports by row
	for i, row := range rows {
		queues = append(queues, row.Values[2])
		if i > 0 && slices.Equal(row.Key[:3], rows[i-1].Key[:3]) { // rows are ordered by key
			ports[len(ports)-1] += row.Values[2]
		} else {
			ports = append(ports, row.Values[2])
		}
		if row.Values[0] > 0 {
			flow := nameOf([]string{row.Key[0], row.Key[1], row.Key[3]})
			used[flow] = append(used[flow], row.Key[2])
		}
	}
	return append(singlePort(r, used, c), entropyLow(r, ports, queues, c)...)
}

// singlePort looks for host pairs whose queue pairs, at the moment when most of
// them are active, all use one source port.
func singlePort(r *report.Report, used map[report.FlowRef][]string, c *analysis.Config) []report.Finding {
	var out []report.Finding
	for _, g := range groupBy(r, hostsOf) {
		flows := slices.DeleteFunc(slices.Clone(g.flows), func(f *report.Flow) bool {
			return f.DestQP <= 1 || f.Transport == "UD" || len(used[*f.Ref()]) == 0
		})
		active := busiest(flows)
		ports := map[string]bool{}
		for _, f := range active {
			for _, p := range used[*f.Ref()] {
				ports[p] = true
			}
		}
		if len(active) < 2 || len(ports) != 1 {
			continue
		}
		port := used[*active[0].Ref()][0]
		first, last := span(active)
		f := report.Finding{
			Rule: "entropy.single-port", Host: g.key.src, Toward: g.key.dst, Severity: report.Info, Confidence: report.Certain, FirstNs: first, LastNs: last, Count: int64(len(active)),
			Values: map[string]int64{"queue_pairs": int64(len(active)), "source_ports": 1, "bytes": total(active, func(f *report.Flow) int64 { return f.Bytes })},
			Summary: fmt.Sprintf("%s from %s to %s are active at a time and all use UDP source port %s: switches that hash addresses and ports see a single flow, and send it over a single path.",
				report.Counted(int64(len(active)), "queue pair"), g.key.src, g.key.dst, port),
			Not:    "Not a single busy queue pair, which has one port by nature.",
			Advice: "Let the port follow from the queue pair: leave the flow label unset or set one for each (ibv_modify_qp ah_attr.grh.flow_label, UCX_IB_ROCE_PATH_FACTOR, NCCL_IB_QPS_PER_CONNECTION), or let switches hash on the BTH destination queue pair.",
			Filter: between(g.key) + " && udp.srcport == " + port,
		}
		if len(active) >= c.Limits.SharedPort {
			f.Severity = report.Warning
		}
		out = append(out, f)
	}
	return condense(out, "host pair", "infiniband && udp.srcport")
}

// busiest returns the rows that are active at the moment when most are.
func busiest(flows []*report.Flow) []*report.Flow {
	flows = slices.Clone(flows)
	slices.SortStableFunc(flows, func(a, b *report.Flow) int { return cmp.Compare(a.FirstNs, b.FirstNs) })
	ends := make([]int64, 0, len(flows)) // of the rows that are active, ascending
	most, moment := 0, int64(0)
	for _, f := range flows {
		over, _ := slices.BinarySearch(ends, f.FirstNs)
		ends = ends[over:]
		i, _ := slices.BinarySearch(ends, f.LastNs)
		ends = slices.Insert(ends, i, f.LastNs)
		if len(ends) > most {
			most, moment = len(ends), f.FirstNs
		}
	}
	return slices.DeleteFunc(flows, func(f *report.Flow) bool { return f.FirstNs > moment || f.LastNs < moment })
}

// entropyLow says how many paths all traffic together can fill.
func entropyLow(r *report.Report, ports, queues spread, c *analysis.Config) []report.Finding {
	paths, keys, largest, sum := ports.effective()
	byQueue, queuePairs, _, _ := queues.effective()
	links, severity := c.Links, report.Notice
	if links == 0 {
		links, severity = c.Limits.Paths, report.Info
		if queuePairs < int64(links) {
			return nil // few queue pairs have few paths
		}
	}
	if sum == 0 || paths >= float64(links) {
		return nil
	}
	f := report.Finding{
		Rule: "entropy.low", Severity: severity, Confidence: report.Likely, Count: keys,
		Values: map[string]int64{"effective_paths_x100": int64(math.Round(100 * paths)), "effective_paths_with_qp_x100": int64(math.Round(100 * byQueue)),
			"source_ports": keys, "queue_pairs": queuePairs, "largest_bytes": largest, "bytes": sum, "links": int64(c.Links)},
		Not:    "Not the load of any link: which link a port lands on is the switches' hash to decide.",
		Advice: "More queue pairs to each peer, or a source port for each, spread the load; hashing on the BTH destination queue pair helps where ports are shared.",
		Filter: "infiniband && udp.dstport == 4791",
	}
	f.FirstNs, f.LastNs = span(pointers(r.Flows))
	f.Summary = fmt.Sprintf("All data spreads over %s with a weight of %.1f effective paths (%.1f with the destination queue pair in the hash); the largest one carries %s of the bytes",
		report.Counted(keys, "hash key"), paths, byQueue, report.Share(largest, sum))
	if c.Links > 0 {
		f.Summary += fmt.Sprintf(": fewer than the %d equal-cost links, so some stay idle", c.Links)
	} else {
		f.Summary += "; over more equal-cost links than that it cannot spread"
	}
	if byQueue >= 2*paths {
		f.Summary += ", unless switches hash the queue pair"
	}
	f.Summary += "."
	return []report.Finding{f}
}
