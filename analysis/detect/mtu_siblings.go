package detect

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis/report"
)

// siblings speaks of hosts that use several path MTUs towards one peer, in
// connections of their own: a habit of unlike applications, unless the peer refuses
// requests of one size.
func (p *pathMTUs) siblings() []report.Finding {
	refused := map[report.FlowRef]bool{} // requests of several packets
	for _, row := range p.r.Rows("nak", "refused") {
		if strings.HasSuffix(row.Key[4], "invalid request") && strings.HasSuffix(row.Key[5], "First") {
			refused[nameOf(row.Key)] = true
		}
	}
	var out []report.Finding
	for _, g := range groupBy(p.r, hostsOf) {
		if !p.several(g.flows) {
			continue
		}
		sizes := map[int64][]*report.Flow{}
		seen := map[int64]sizeSeen{}
		for _, f := range g.flows {
			if s := p.of(f); s.mtu != 0 && !p.taken[f] {
				sizes[s.mtu] = append(sizes[s.mtu], f)
				if old, ok := seen[s.mtu]; !ok || s.firstNs < old.firstNs {
					seen[s.mtu] = s
				}
			}
		}
		if len(sizes) > 1 {
			out = append(out, p.sibling(g.key, sizes, seen, refused))
		}
	}
	return condense(out, "host pair", "infiniband")
}

// several reports whether rows show more than one path MTU.
func (p *pathMTUs) several(flows []*report.Flow) bool {
	first := int64(0)
	for _, f := range flows {
		if mtu := p.of(f).mtu; mtu != 0 && first != 0 && mtu != first {
			return true
		} else if first == 0 {
			first = mtu
		}
	}
	return false
}

func (p *pathMTUs) sibling(h hosts, sizes map[int64][]*report.Flow, seen map[int64]sizeSeen, refused map[report.FlowRef]bool) report.Finding {
	f := report.Finding{Rule: "mtu.mismatch", Severity: report.Info, Confidence: report.Certain, Values: map[string]int64{}, Filter: between(h)}
	var texts []string
	bad := map[int64]int{}
	for i, mtu := range slices.Sorted(maps.Keys(sizes)) {
		s := seen[mtu]
		first, last := span(sizes[mtu])
		if i == 0 {
			f.FirstNs, f.LastNs = first, last
		}
		f.FirstNs, f.LastNs = min(f.FirstNs, first), max(f.LastNs, last)
		f.Count += int64(len(sizes[mtu]))
		f.Frames = append(f.Frames, uint64(s.firstFrame))
		f.Values[fmt.Sprintf("flows_%d", mtu)] = int64(len(sizes[mtu]))
		texts = append(texts, fmt.Sprintf("%d in %s", mtu, report.Counted(int64(len(sizes[mtu])), "flow")))
		for _, x := range sizes[mtu] {
			if x.PeerQP != nil && refused[report.FlowRef{Src: x.Dst, Dst: x.Src, DestQP: *x.PeerQP}] {
				bad[mtu]++
			}
		}
	}
	f.Frames = fewFrames(f.Frames)
	f.Summary = fmt.Sprintf("%s uses several path MTUs towards %s: %s", h.src, h.dst, strings.Join(texts, ", "))
	f.Not = "Not a fault by itself: unlike applications may set their queue pairs to unlike path MTUs, and both ends of each agree as far as it shows."
	f.Advice = "Where they are meant to be alike, compare how each application sets the path MTU (ibv_modify_qp; NCCL, UCX and storage take the port's active_mtu, or a setting of their own)."
	if len(bad) == 1 && len(sizes[slices.Collect(maps.Keys(bad))[0]]) == bad[slices.Collect(maps.Keys(bad))[0]] {
		mtu := slices.Collect(maps.Keys(bad))[0]
		f.Severity, f.Confidence = report.Warning, report.Likely
		f.Values["refused_mtu"] = mtu
		f.Summary += fmt.Sprintf("; %s refuses all that use %d as invalid requests.", h.dst, mtu)
		f.Not = "Not a habit of unlike applications alone: the size that is refused is one of them. What else is wrong with a request (an operation not allowed, a message longer than its buffer) draws the same NAK."
		return f
	}
	f.Summary += "; nothing speaks against it."
	return f
}

// refusedFirst speaks of queue pairs whose first full packet was refused, where
// nothing tells the path MTU of the host that refused it.
func (p *pathMTUs) refusedFirst() []report.Finding {
	var out []report.Finding
	for _, row := range p.r.Rows("nak", "refused") {
		if !strings.HasSuffix(row.Key[4], "invalid request") || !strings.HasSuffix(row.Key[5], "First") {
			continue
		}
		for _, f := range p.flows[nameOf(row.Key)] {
			asks := p.peer(f)
			if asks == nil || p.taken[asks] || p.of(f).mtu != 0 {
				continue
			}
			s := p.of(asks)
			if s.firstFrame == 0 || s.firstFrame != row.Values[1] {
				continue // others were taken before
			}
			out = append(out, report.Finding{
				Rule: "mtu.mismatch", Severity: report.Info, Confidence: report.Possible, Flow: asks.Ref(), Count: 1,
				FirstNs: s.firstNs, LastNs: s.lastNs, Frames: fewFrames([]uint64{uint64(row.Values[1]), uint64(row.Values[0])}),
				Values: map[string]int64{"path_mtu": s.mtu},
				Summary: fmt.Sprintf("%s refused the very first full packet of %s (%d bytes) as an invalid request: its own path MTU may be smaller, which this capture does not show.",
					f.Src, asks.Ref(), s.mtu),
				Not:    "Not known: an operation that the queue pair does not allow, or a message longer than its receive buffer, draws the same NAK.",
				Advice: fmt.Sprintf("Compare the path MTU of the queue pair on %s with %d (`rdma resource show qp`, `ibv_devinfo` active_mtu, the MTU of the interface).", f.Src, s.mtu),
				Filter: toward(asks),
			})
			p.taken[asks] = true
		}
	}
	return condense(out, "flow", "infiniband.aeth.syndrome.error_code == 1")
}
