package detect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// What the rows of the table "damaged" hold.
const (
	damagedCopy  = "copy"
	damagedStray = "stray"
)

const icrcAdvice = "`ethtool -S` on the receiver counts rx_icrc_encapsulated; rx_crc_errors_phy and symbol errors of the ports on the way point to a cable or optic. "

// party is what is known of the frames from or to one host.
type party struct {
	good, bad int64
	firstNs   int64
	lastNs    int64
	frames    []uint64
	flows     []*report.Flow // with bad frames
	peers     map[string]bool
	accepted  int64 // frames that show that receivers take bad ones for right
}

// integrityView is the frames by sender, by receiver, and copies by direction.
type integrityView struct {
	from, to map[string]*party
	copies   map[hosts]*party
}

func judgeIntegrity(r *report.Report, c *analysis.Config) []report.Finding {
	v := readIntegrity(r)
	var out []report.Finding
	if f := v.rewritten(); f != nil {
		return append(out, *f)
	}
	blamed := map[string]bool{}
	for _, src := range sortedKeys(v.from) {
		if p := v.from[src]; p.good == 0 && p.bad >= int64(c.Limits.SenderICRC) {
			blamed[src] = true
			out = append(out, icrcSender(src, p))
		}
	}
	out = condense(out, "sender", "infiniband")
	return append(out, condense(append(v.path(blamed), v.behind()...), "receiver", "infiniband")...)
}

func readIntegrity(r *report.Report) *integrityView {
	v := &integrityView{from: map[string]*party{}, to: map[string]*party{}, copies: map[hosts]*party{}}
	for i := range r.Flows {
		if f := &r.Flows[i]; f.Src == report.Other {
			v.to[report.Other] = v.to[report.Other].flow(f, report.Other)
		}
	}
	directions := groupBy(r, hostsOf)
	back := map[hosts][]*report.Flow{}
	for _, g := range directions {
		back[g.key.back()] = g.flows
		for _, f := range g.flows {
			v.from[f.Src] = v.from[f.Src].flow(f, f.Dst)
			v.to[f.Dst] = v.to[f.Dst].flow(f, f.Src)
		}
	}
	for _, g := range directions {
		if bad := total(g.flows, icrcBad); bad > 0 && answered(g.flows, back[g.key]) {
			v.from[g.key.src].accepted += bad
		}
	}
	for _, row := range r.Rows("integrity", "damaged") {
		h := hosts{row.Key[0], row.Key[1]}
		if row.Key[2] == damagedCopy {
			v.copies[h] = v.copies[h].row(row, h.src)
			continue
		}
		if h.src != report.Other {
			v.from[h.src] = v.from[h.src].row(row, h.dst)
		}
		v.to[h.dst] = v.to[h.dst].row(row, h.src)
	}
	return v
}

func icrcBad(f *report.Flow) int64 { return f.ICRCBad }

// answered reports whether the receiver of damaged requests acknowledges them
// and gets nothing again: then they were not damaged when it got them.
func answered(flows, back []*report.Flow) bool {
	return total(flows, func(f *report.Flow) int64 { return f.RequestFrames }) > 0 && total(flows, (*report.Flow).Resent) == 0 &&
		total(back, func(f *report.Flow) int64 { return f.Acks }) > 0 && total(back, (*report.Flow).NAKs) == 0
}

func (p *party) flow(f *report.Flow, peer string) *party {
	if p == nil {
		p = &party{peers: map[string]bool{}}
	}
	p.good += f.ICRCGood
	if f.ICRCBad == 0 {
		return p
	}
	ev := evidence([]*report.Flow{f}, analysis.BadICRC)
	p.seen(f.ICRCBad, ev.FirstNs, ev.LastNs, peer, ev.Frames...)
	p.flows = append(p.flows, f)
	return p
}

func (p *party) row(row report.Row, peer string) *party {
	if p == nil {
		p = &party{peers: map[string]bool{}}
	}
	x := row.Values
	p.seen(x[0], x[4], x[5], peer, uint64(x[2]), uint64(x[3]))
	p.accepted += x[1]
	return p
}

func (p *party) seen(bad, first, last int64, peer string, frames ...uint64) {
	if p.bad == 0 {
		p.firstNs, p.lastNs = first, last
	}
	p.bad += bad
	p.firstNs, p.lastNs = min(p.firstNs, first), max(p.lastNs, last)
	p.frames = fewFrames(append(p.frames, frames...))
	p.peers[peer] = true
}

// finding starts a finding about the party.
func (p *party) finding(rule string, severity report.Severity) report.Finding {
	return report.Finding{
		Rule: rule, Severity: severity, Confidence: report.Likely, Flow: only(p.flows), FirstNs: p.firstNs, LastNs: p.lastNs, Count: p.bad, Frames: p.frames,
		Values: map[string]int64{"icrc_bad": p.bad, "icrc_good": p.good, "peers": int64(len(p.peers))},
	}
}

// rewritten tells captures whose frames were changed after they were taken: no
// ICRC is right, and receivers acknowledge all the same.
func (v *integrityView) rewritten() *report.Finding {
	all := party{peers: map[string]bool{}}
	var accepted int64
	if p := v.to[report.Other]; p != nil {
		all.good += p.good
	}
	for _, src := range sortedKeys(v.from) {
		p := v.from[src]
		all.good += p.good
		accepted += p.accepted
		if p.bad > 0 {
			all.seen(p.bad, p.firstNs, p.lastNs, src, p.frames...)
		}
	}
	if all.good > 0 || accepted == 0 {
		return nil
	}
	f := all.finding("icrc.path", report.Notice)
	f.Summary = fmt.Sprintf("No ICRC in this capture is right (%s), yet receivers acknowledge the frames and nothing is sent again: the capture itself was rewritten, for instance to hide addresses.",
		report.Counted(all.bad, "frame"))
	f.Not = "Not damage on the wire: receivers drop damaged packets without a word."
	f.Advice = "Nothing to do in the network. What the ICRC could tell is lost in this file."
	f.Filter = "infiniband"
	return &f
}

func icrcSender(src string, p *party) report.Finding {
	f := p.finding("icrc.sender", report.Critical)
	f.Host = src
	f.Summary = fmt.Sprintf("Every one of the %s that %s sent fails the ICRC, to %s: that host computes it wrong, and every receiver drops what it sends.",
		report.Counted(p.bad, "checked packet"), src, report.Counted(int64(len(p.peers)), "host"))
	f.Not = "Not corruption on the way, which spares some packets, and not truncation: only packets captured whole are checked."
	f.Advice = "Update or replace the RoCE stack or firmware of " + src + "; see whether a tunnel or middlebox right behind it rewrites headers that the ICRC covers. " + icrcAdvice
	f.Filter = "infiniband && " + address(src, "src")
	return f
}

// path speaks of each receiver that gets some damaged packets.
func (v *integrityView) path(blamed map[string]bool) []report.Finding {
	var out []report.Finding
	for _, dst := range sortedKeys(v.to) {
		p := v.to[dst]
		if p.bad == 0 || !slices.ContainsFunc(sortedKeys(p.peers), func(src string) bool { return !blamed[src] }) {
			continue
		}
		f := p.finding("icrc.path", report.Warning)
		f.Summary = fmt.Sprintf("%s of the checked packets towards %s, %s of %s, fail the ICRC: they were damaged between the sender and the tap (from %s).",
			report.Share(p.bad, p.bad+p.good), dst, report.Count(p.bad), report.Count(p.bad+p.good), report.Counted(int64(len(p.peers)), "sender"))
		f.Filter = "infiniband && " + address(dst, "dst")
		f.Host = dst
		if dst == report.Other {
			f.Host = ""
			f.Summary = fmt.Sprintf("%s of the checked packets of flows beyond the limit on their number, %s of %s, fail the ICRC. Who sent them is not kept.",
				report.Share(p.bad, p.bad+p.good), report.Count(p.bad), report.Count(p.bad+p.good))
			f.Filter = "infiniband"
		}
		f.Not = "Not truncated packets, which are not checked, and not a sender that computes the ICRC wrong: its other packets are right."
		f.Confidence = report.Certain
		if !v.spares(p) {
			f.Confidence = report.Possible
			f.Not = "Not truncated packets, which are not checked. But no other packet of the sender is here and right: one that computes the ICRC wrong would look the same, as would one that is only known by a damaged address."
		}
		f.Advice = icrcAdvice + "The receiver drops such packets in silence; the losses that follow are their doing."
		out = append(out, f)
	}
	return out
}

// spares reports whether some sender of the damaged packets has sent right ones,
// too. What flows beyond the limit got names no sender.
func (v *integrityView) spares(p *party) bool {
	for peer := range p.peers {
		if x := v.from[peer]; peer == report.Other || x != nil && x.good > 0 {
			return true
		}
	}
	return false
}

// behind speaks of frames that are right at one tap and wrong at the next.
func (v *integrityView) behind() []report.Finding {
	var out []report.Finding
	pairs := slices.SortedFunc(maps.Keys(v.copies), func(a, b hosts) int { return cmp.Or(cmp.Compare(a.src, b.src), cmp.Compare(a.dst, b.dst)) })
	for _, h := range pairs {
		p := v.copies[h]
		f := p.finding("icrc.path", report.Warning)
		f.Host, f.Toward = h.src, h.dst
		f.Summary = fmt.Sprintf("%s from %s to %s pass twice, and the second time the ICRC is wrong: something between the two taps changes what it covers.",
			report.Counted(p.bad, "frame"), h.src, h.dst)
		f.Not = "Not a sender that computes the ICRC wrong: the first copy is right."
		f.Advice = "Look for address or port translation, tunnels and load balancers between the two taps. " + icrcAdvice
		f.Filter = "infiniband && " + between(h)
		out = append(out, f)
	}
	return out
}
