package detect

import (
	"fmt"
	"strings"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// offloadBlind finds connections that were set up and lived, while not one
// packet of data of either host is in the capture.
func (v *connectionsView) offloadBlind(c *analysis.Config) []report.Finding {
	if len(v.all) == 0 {
		return nil
	}
	e := readEnds(v.r)
	moved := map[string]bool{} // hosts whose data is in view
	for i := range e.rows {
		if x := &e.rows[i]; x.v[endsData] > 0 {
			moved[e.id(x.src)], moved[e.id(x.dst)] = true, true
		}
	}
	var blind []*cmRow
	var named, closed, longest int64
	for i := range v.all {
		x := &v.all[i]
		if x.v[cmReady] == 0 || x.v[cmRequests] == 0 || x.frames > 0 || moved[e.id(x.src)] || moved[e.id(x.dst)] {
			continue
		}
		life := v.end(x.v[cmReadyNs]) - x.v[cmReadyNs]
		if x.v[cmCloseNs] > x.v[cmReadyNs] {
			life = x.v[cmCloseNs] - x.v[cmReadyNs]
			closed++
		}
		if life < c.Limits.DataWait {
			continue
		}
		longest = max(longest, life)
		blind = append(blind, x)
		if serviceName(x.service) != "" {
			named++
		}
	}
	if len(blind) == 0 {
		return nil
	}
	n := int64(len(blind))
	f := report.Finding{
		Rule: "capture.offload-blind", Severity: report.Warning, Confidence: report.Likely, Count: n,
		FirstNs: cmEarliest(blind, cmFirstNs), LastNs: max(cmLatest(blind, cmReadyNs), cmLatest(blind, cmCloseNs)),
		Frames: cmFrames(blind, cmFirstFrame, cmReadyFrame, cmCloseFrame),
		Values: map[string]int64{"connections": n, "longest_life_ns": longest, "closed": closed},
		Not:    "Not a silent peer and not a refused connection: every request was answered and taken into use. A capture filter for connection management would have the same effect.",
		Advice: "Capture where the adapter cannot hide it: mirror the switch port (SPAN, ERSPAN), or on the host tcpdump -i on the RDMA device (mlx5_0; libpcap 1.9 or later with RDMA sniffing), ibdump, or `ethtool --set-priv-flags IFACE sniffer on`; on a hypervisor, the uplink or the vport representor.",
		Filter: "infiniband.bth.destqp == 1 || arp",
	}
	if n == 1 && named == 0 {
		f.Severity, f.Confidence = report.Notice, report.Possible
		f.Not += " A connection that is kept idle would look the same."
	}
	if len(moved) > 0 {
		f.Severity, f.Confidence = report.Notice, report.Possible
		f.Not += " Data of other hosts is in view, so theirs may only take another path past the tap (ECMP, the other member of a bond)."
	}
	servers, services := servedBy(blind)
	f.Summary = fmt.Sprintf("%s to %s for %s %s set up and lived up to %s, and not one packet of data of these hosts is in the capture: the tap cannot see offloaded traffic.",
		report.Counted(n, "connection"), servers, services, cmWere(n), report.Duration(longest))
	if most := v.otherTraffic(); most != "" {
		f.Summary += " Beside them it holds " + most + "."
	}
	return []report.Finding{f}
}

func cmWere(n int64) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// servedBy lists a few servers and services.
func servedBy(xs []*cmRow) (servers, services string) {
	to, what := map[string]bool{}, map[string]bool{}
	for _, x := range xs {
		to[x.dst], what[serviceText(x.service)] = true, true
	}
	return fewNames(sortedKeys(to), "hosts"), fewNames(sortedKeys(what), "services")
}

// fewNames joins names, or counts them where they are many.
func fewNames(names []string, what string) string {
	if len(names) > 3 {
		return report.Count(int64(len(names))) + " " + what
	}
	return strings.Join(names, ", ")
}

// otherTraffic names the protocols that most other frames carry.
func (v *connectionsView) otherTraffic() string {
	var out []string
	for _, row := range report.MostFirst(v.r.Rows(report.WireSection, report.OthersTable)) {
		if len(out) < 3 {
			out = append(out, fmt.Sprintf("%s × %s", report.Count(row.Values[0]), row.Key[0]))
		}
	}
	return strings.Join(out, ", ")
}
