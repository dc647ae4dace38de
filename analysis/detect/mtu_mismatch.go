package detect

import (
	"fmt"
	"slices"

	"github.com/rocescope/rocescope/analysis/report"
)

// sizeSeen is a path MTU as the packets of one row show it.
type sizeSeen struct{ mtu, packets, firstFrame, lastFrame, firstNs, lastNs int64 }

// pathMTUs is what a report says of path MTUs.
type pathMTUs struct {
	r     *report.Report
	seen  map[report.FlowRef][]sizeSeen
	asked map[report.FlowRef][]sizeSeen // by the REQ's source, destination and queue pair
	flows named
	taken map[*report.Flow]bool // they have their finding
}

func judgeMTUMismatch(r *report.Report) []report.Finding {
	p := &pathMTUs{r: r, seen: sizesSeen(r.Rows("mtu", "path-mtu")), asked: sizesSeen(r.Rows("mtu", "negotiated")), taken: map[*report.Flow]bool{}}
	if len(p.seen) == 0 {
		return nil
	}
	p.flows = byName(r)
	var both, beyond []report.Finding
	for _, g := range groupBy(r, hostsOf) {
		if f, ok := p.directions(g); ok {
			both = append(both, f)
		}
		if f, ok := p.negotiated(g); ok {
			beyond = append(beyond, f)
		}
	}
	return slices.Concat(condense(both, "host pair", "infiniband"), condense(beyond, "host pair", "infiniband"), p.siblings(), p.refusedFirst())
}

// sizesSeen reads a table of path MTUs, in which the rows of one name stand
// together. What connection management asked for has one frame and one time.
func sizesSeen(rows []report.Row) map[report.FlowRef][]sizeSeen {
	all := make([]sizeSeen, len(rows))
	out := make(map[report.FlowRef][]sizeSeen, len(rows))
	for i, row := range rows {
		x := row.Values
		if all[i] = (sizeSeen{mtu: number(row.Key[3])}); len(x) == 2 {
			all[i].firstFrame, all[i].lastFrame, all[i].firstNs, all[i].lastNs = x[0], x[0], x[1], x[1]
		} else {
			all[i].packets, all[i].firstFrame, all[i].lastFrame, all[i].firstNs, all[i].lastNs = x[0], x[1], x[2], x[3], x[4]
		}
		name := nameOf(row.Key)
		if old := out[name]; len(old) > 0 {
			out[name] = append(slices.Clip(old), all[i])
			continue
		}
		out[name] = all[i : i+1 : i+1]
	}
	return out
}

// of returns the largest path MTU that a flow's packets show; nothing where they
// show none.
func (p *pathMTUs) of(f *report.Flow) (most sizeSeen) {
	for _, s := range p.seen[*f.Ref()] {
		if s.firstNs <= f.LastNs && s.lastNs >= f.FirstNs && s.mtu > most.mtu {
			most = s
		}
	}
	return most
}

// peer returns the other direction of a flow's connection, nil where it is not
// known: of several connections with the same numbers the one that is closest in
// time.
func (p *pathMTUs) peer(f *report.Flow) (best *report.Flow) {
	if f.PeerQP == nil {
		return nil
	}
	apart := func(g *report.Flow) int64 { return max(0, g.FirstNs-f.LastNs, f.FirstNs-g.LastNs) }
	for _, g := range p.flows[report.FlowRef{Src: f.Dst, Dst: f.Src, DestQP: *f.PeerQP}] {
		if g.PeerQP != nil && *g.PeerQP == f.DestQP && (best == nil || apart(g) < apart(best)) {
			best = g
		}
	}
	return best
}

// unlike is connections between two hosts whose path MTU does not fit, one
// finding in all.
type unlike struct {
	flows       []*report.Flow
	ours, other int64 // of the first one
	naks        int64
	frames      []uint64
	unsure      bool // which rows belong together is a guess
	first, last int64
}

func (u *unlike) add(f, peer *report.Flow, ours, other sizeSeen) {
	if len(u.flows) == 0 {
		u.ours, u.other, u.first, u.last = ours.mtu, other.mtu, ours.firstNs, ours.lastNs
	}
	u.first, u.last = min(u.first, ours.firstNs, other.firstNs), max(u.last, ours.lastNs, other.lastNs)
	u.flows = append(u.flows, f)
	u.naks += f.NAKInvalidRequest
	if peer != nil {
		u.naks += peer.NAKInvalidRequest
	}
	u.frames = append(u.frames, uint64(ours.firstFrame), uint64(other.firstFrame))
	u.unsure = u.unsure || f.PeerBy != "cm" && f.PeerBy != "responses"
}

func (u *unlike) finding(h hosts) report.Finding {
	out := report.Finding{
		Rule: "mtu.mismatch", Severity: report.Warning, Confidence: report.Certain, Host: h.src, Toward: h.dst, Flow: only(u.flows), Count: int64(len(u.flows)),
		FirstNs: u.first, LastNs: u.last, Frames: fewFrames(u.frames),
		Values: map[string]int64{"connections": int64(len(u.flows)), "path_mtu": u.ours, "peer_path_mtu": u.other, "naks_invalid_request": u.naks},
		Filter: between(h),
	}
	if len(u.flows) == 1 {
		out.Filter = toward(u.flows[0])
	}
	if u.unsure {
		out.Confidence = report.Likely
	}
	return out
}

// directions speaks of connections whose ends send packets of unlike sizes.
func (p *pathMTUs) directions(g group[hosts]) (report.Finding, bool) {
	var u unlike
	for _, f := range g.flows {
		ours := p.of(f)
		if ours.mtu == 0 || p.taken[f] {
			continue
		}
		peer := p.peer(f)
		if peer == nil {
			continue
		}
		other := p.of(peer)
		if other.mtu == 0 || ours.mtu == other.mtu {
			continue
		}
		p.taken[f], p.taken[peer] = true, true
		u.add(f, peer, ours, other)
	}
	if len(u.flows) == 0 {
		return report.Finding{}, false
	}
	f := u.finding(g.key)
	f.Summary = fmt.Sprintf("The two ends of %s between %s and %s use different path MTUs: %s sends packets of %d bytes, %s of %d",
		report.Counted(f.Count, "connection"), g.key.src, g.key.dst, g.key.src, u.ours, g.key.dst, u.other)
	if u.naks > 0 {
		f.Summary += fmt.Sprintf("; %s of invalid request answer that, and end the queue pairs.", report.Counted(u.naks, "NAK"))
	} else {
		f.Summary += "; none was refused so far."
	}
	f.Not = "Not different messages: First and Middle packets are full by definition, so their payload is the path MTU of their sender."
	f.Advice = fmt.Sprintf("Set one path MTU at both ends (the smaller of both `ibv_devinfo` active_mtu, exchanged before ibv_modify_qp; NCCL and UCX take the port's): compare `ip link show` of %s and %s, for the path MTU follows from the interface's MTU.", g.key.src, g.key.dst)
	return f, true
}

// negotiated speaks of connections whose packets are larger than connection
// management agreed on.
func (p *pathMTUs) negotiated(g group[hosts]) (report.Finding, bool) {
	var u unlike
	for _, f := range g.flows {
		agreed := p.agreed(f)
		if agreed.mtu == 0 {
			continue
		}
		ours := p.of(f)
		if ours.mtu == 0 || ours.mtu <= agreed.mtu {
			continue
		}
		u.add(f, nil, ours, agreed)
	}
	if len(u.flows) == 0 {
		return report.Finding{}, false
	}
	f := u.finding(g.key)
	f.Values["negotiated_mtu"] = u.other
	delete(f.Values, "peer_path_mtu")
	f.Confidence = report.Certain
	f.Summary = fmt.Sprintf("%s sends %s packets of %d bytes in %s, though connection management agreed on a path MTU of %d.",
		g.key.src, g.key.dst, u.ours, report.Counted(f.Count, "connection"), u.other)
	f.Not = "Not a guess of the path MTU: First and Middle packets are full by definition, and the connection request is in the capture."
	f.Advice = "The application (or its library) sets the path MTU of the queue pair itself (ibv_modify_qp) in place of what rdma_connect agreed on: its peer may refuse such packets as invalid requests."
	return f, true
}

// agreed returns what the last REQ before a flow's end asked for.
func (p *pathMTUs) agreed(f *report.Flow) (last sizeSeen) {
	if len(p.asked) == 0 {
		return last
	}
	consider := func(k report.FlowRef) {
		for _, s := range p.asked[k] {
			if s.firstNs <= f.FirstNs && (last.mtu == 0 || s.firstNs > last.firstNs) {
				last = s
			}
		}
	}
	consider(report.FlowRef{Src: f.Dst, Dst: f.Src, DestQP: f.DestQP}) // asked by the queue pair it travels to
	if f.PeerQP != nil {
		consider(report.FlowRef{Src: f.Src, Dst: f.Dst, DestQP: *f.PeerQP})
	}
	return last
}
