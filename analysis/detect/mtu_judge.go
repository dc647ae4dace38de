package detect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

func judgeMTU(r *report.Report, c *analysis.Config) []report.Finding {
	var holes, parts []report.Finding
	for _, w := range waysOf(r, int64(c.Limits.SizeTries)) {
		if f, ok := w.blackHole(c); ok {
			holes = append(holes, f)
		} else if f, ok := w.onlyWhole(c); ok {
			parts = append(parts, f)
		}
	}
	return slices.Concat(condense(holes, "host pair", "infiniband"), condense(parts, "host pair", "infiniband"), judgeMTUMismatch(r))
}

// way is what is known of one direction between two hosts, by size.
type way struct {
	hosts
	answers          int64 // that requests drew
	reads            int64 // READ responses that came
	only, part, read int64 // the largest that arrived: whole messages, parts of longer ones, READ responses
	ack              int64 // size of the ACKs that went this way, 0 where none did
	lastNs           int64 // when a request arrived last
	vain             []*vain
}

func (w *way) largest() int64 { return max(w.only, w.part, w.read, w.ack) }

// vain is one packet that was sent again and again in vain.
type vain struct {
	flow                         *report.Flow // in which the request travels, or the READ response
	psn                          string
	sendings, size, behind, naks int64
	first                        bool  // of a message of several packets
	asked                        int64 // it is a READ of so many bytes, and the response to that is meant
	answers                      int64 // to anything in its row
	firstFrame, lastFrame        uint64
	firstNs, lastNs              int64
	response                     bool // a READ response that passes the tap, each time in vain
}

// waysOf reads the tables, and returns the directions in which packets were sent
// in vain often enough, in the order of the table.
func waysOf(r *report.Report, tries int64) []*way {
	flows := map[[3]string][]*report.Flow{}
	for _, g := range groupBy(r, func(f *report.Flow) [3]string { return [3]string{f.Src, f.Dst, qpText(f.DestQP)} }) {
		flows[g.key] = g.flows
	}
	var out []*way
	ways := map[hosts]*way{}
	for _, row := range r.Rows("mtu", "unanswered") {
		for _, f := range flows[[3]string(row.Key)] {
			v := readVain(row, f)
			if v == nil || v.sendings < tries {
				continue
			}
			h := hostsOf(f)
			switch {
			case v.asked > 0:
				h = h.back()
				v.size = responseSize(v, flows)
			case v.size == 0:
				v.size = v.fullSize(flows)
			}
			if ways[h] == nil {
				ways[h] = &way{hosts: h}
				out = append(out, ways[h])
			}
			ways[h].vain = append(ways[h].vain, v)
			break
		}
	}
	for _, row := range r.Rows("mtu", "arrived") {
		if w := ways[hosts{row.Key[0], row.Key[1]}]; w != nil {
			w.answers, w.only, w.part, w.lastNs, w.reads, w.read = row.Values[0], row.Values[1], row.Values[2], row.Values[3], row.Values[4], row.Values[5]
		}
	}
	for i := range r.Flows {
		f := &r.Flows[i]
		if w := ways[hostsOf(f)]; w != nil && f.Acks > 0 {
			w.ack = headerSize(f) + 4
		}
	}
	return out
}

// readVain reads a row of the table; it returns nil where the flow is another one
// of the same numbers, or goes on later.
func readVain(row report.Row, f *report.Flow) *vain {
	x := row.Values
	v := &vain{flow: f, psn: row.Key[3], sendings: x[0], size: x[1], behind: x[2], naks: x[3], first: x[4] != 0, asked: x[5], answers: x[6],
		firstFrame: uint64(x[7]), lastFrame: uint64(x[8]), firstNs: x[9], lastNs: x[10], response: row.Key[4] != "request"}
	interval := (v.lastNs - v.firstNs) / max(1, v.sendings-1)
	if v.lastNs < f.FirstNs || v.firstNs > f.LastNs || f.LastNs-v.lastNs > max(interval, 0)+interval/2 {
		return nil
	}
	return v
}

// headerSize is the bytes of a packet without extension headers and payload.
func headerSize(f *report.Flow) int64 {
	switch {
	case f.Version == 1:
		return 40 + 16
	case f.Version != 2:
		return 16
	case strings.Contains(f.Src, ":"):
		return 40 + 8 + 16
	}
	return 20 + 8 + 16
}

// responseSize is the size of the first response to a READ, at most: where no
// full packet tells the path MTU, the largest there is.
func responseSize(v *vain, flows map[[3]string][]*report.Flow) int64 {
	mtu := v.pathMTU(flows)
	if mtu == 0 {
		mtu = 4096
	}
	return headerSize(v.flow) + 4 + min(v.asked, mtu)
}

// fullSize is the size of a full packet, 0 where the path MTU is not known.
func (v *vain) fullSize(flows map[[3]string][]*report.Flow) int64 {
	if mtu := v.pathMTU(flows); mtu > 0 {
		return headerSize(v.flow) + mtu
	}
	return 0
}

func (v *vain) pathMTU(flows map[[3]string][]*report.Flow) int64 {
	mtu := v.flow.PathMTU
	if p := v.flow.PeerQP; p != nil && mtu == 0 {
		for _, f := range flows[[3]string{v.flow.Dst, v.flow.Src, qpText(*p)}] {
			mtu = max(mtu, f.PathMTU)
		}
	}
	return mtu
}

// within reports whether a packet is known to be no larger than one that passes,
// or than what every link carries (RFC 791).
func (v *vain) within(passes int64) bool { return v.size > 0 && v.size <= max(passes, leastMTU) }

const leastMTU = 576

// tooLarge is the packets that are larger than all that arrived, and what speaks
// for their size.
type tooLarge struct {
	list   []*vain
	passes int64 // the largest that arrived
	naks   int64 // drawn by what arrived behind them
	after  bool  // smaller ones arrived after the first of them was sent
	reads  int   // how many of them are responses, to READs that may never be answered
}

// sized returns the packets whose size may be why they were sent in vain. There
// are none where small ones are lost as well.
func (w *way) sized(c *analysis.Config) (t tooLarge, ok bool) {
	t.passes = w.largest()
	for _, v := range w.vain {
		if v.naks > 0 { // something behind it arrived
			t.passes = max(t.passes, v.behind)
		}
	}
	small, alive, passed := false, false, max(w.answers, w.reads)
	for _, v := range w.vain {
		switch {
		case v.within(t.passes):
			small = true
			continue
		case v.behind > 0 && v.behind <= t.passes && v.naks == 0:
			continue // what is small behind it would have drawn a NAK
		case v.asked > 0 && w.read == 0:
			t.reads++
		}
		alive = alive || v.answers+v.naks > 0 || v.flow.Acks > 0
		t.after = t.after || w.lastNs > v.firstNs
		t.naks += v.naks
		if passed = max(passed, v.flow.Acks); v.asked > 0 {
			passed = max(passed, v.answers) // they came the way that the response did not
		}
		t.list = append(t.list, v)
	}
	enough := t.naks > 0 || !small && (t.after || passed >= int64(c.Limits.SizePassed))
	return t, t.passes > 0 && alive && enough
}

// blackHole says that size decides what passes.
func (w *way) blackHole(c *analysis.Config) (report.Finding, bool) {
	t, ok := w.sized(c)
	if !ok {
		return report.Finding{}, false
	}
	f := w.finding("mtu.blackhole", report.Critical, t.list)
	f.Confidence = report.Likely
	switch {
	case t.naks > 0:
		f.Not = fmt.Sprintf("Not a dead peer, and not a path that went down: a smaller packet behind a large one arrived and drew %s for it.", report.Counted(t.naks, "NAK"))
	case t.after:
		f.Not = "Not a dead peer, and not a path that went down: what is smaller arrives after the first large packet was sent, too."
	default:
		f.Confidence = report.Possible
		f.Not = "Not a peer that was dead from the beginning: what was smaller arrived before. A path that went down for everything, just when the first large packet was sent, would look the same."
	}
	w.describeHole(&f, &t)
	if t.reads == len(t.list) {
		f.Severity, f.Confidence = report.Info, report.Possible
		f.Summary = fmt.Sprintf("The path from %s to %s may be too narrow for READ responses: none of up to %s bytes came in %s, and nothing that came that way is larger than %s bytes.",
			w.src, w.dst, report.Count(f.Values["smallest_unanswered_bytes"]), report.Counted(f.Count, "queue pair"), report.Count(t.passes))
		f.Not = "Not known: a peer that answers no READ at all, of any length, would look the same, for no short READ was answered either."
	}
	return f, true
}

// knownMTUs are what links are set to, the usual ones first.
var knownMTUs = []int64{1500, 9000, 4200, 2500, 2048, 1600, 1280, leastMTU}

func (w *way) describeHole(f *report.Finding, t *tooLarge) {
	least := slices.MinFunc(t.list, func(a, b *vain) int { return int(a.size - b.size) }).size
	f.Values["largest_arrived_bytes"], f.Values["naks"] = t.passes, t.naks
	beyond := "and no full one"
	if least > 0 {
		f.Values["smallest_unanswered_bytes"] = least
		beyond = fmt.Sprintf("and none of %s bytes and more", report.Count(least))
	} else { // unknown; no path MTU is larger than 4096
		least = max(t.passes+1, headerSize(t.list[0].flow)+4096)
	}
	f.Summary = fmt.Sprintf("Large packets from %s do not reach %s: IP packets of up to %s bytes arrive, %s, though %s tried one up to %s",
		w.src, w.dst, report.Count(t.passes), beyond, report.Counted(f.Count, "queue pair"), sentTimes(f.Values["sendings"]))
	fits := slices.IndexFunc(knownMTUs, func(m int64) bool { return t.passes <= m && m < least })
	if fits >= 0 {
		f.Values["likely_mtu"] = knownMTUs[fits]
		f.Summary += fmt.Sprintf("; a link with an MTU of %d between them would do that.", knownMTUs[fits])
	} else {
		f.Summary += "; a link between them carries less than the path MTU needs."
	}
	f.Advice = fmt.Sprintf("Test the path from %s: `ping -M do -s %d %s` fails where the MTU is too small. Raise the MTU of each port on the way, switches included (`ip link show`, `show interfaces`; a path MTU of 4096 needs 4200), "+
		"or lower the path MTU of the queue pairs (`ibv_devinfo` active_mtu; NCCL and UCX take it from the port). A switch counts what it drops as giants or oversize; `ethtool -S` of the receiver as rx_oversize_pkts_phy.",
		w.src, least-headerSize(t.list[0].flow)+16, w.dst)
}

func sentTimes(n int64) string {
	if n == 1 {
		return "once"
	}
	return report.Count(n) + " times"
}

// onlyWhole says that messages of one packet arrive, and longer ones do not,
// however small their packets are.
func (w *way) onlyWhole(c *analysis.Config) (report.Finding, bool) {
	after := false
	for _, v := range w.vain {
		small := v.size <= w.only || v.behind > 0 && v.behind <= w.only
		if !v.first || !small || v.naks > 0 || v.answers == 0 {
			return report.Finding{}, false
		}
		after = after || w.lastNs > v.firstNs
	}
	if w.part > 0 || w.answers < int64(c.Limits.SizePassed) || !after && len(w.vain) < 2 {
		return report.Finding{}, false
	}
	f := w.finding("mtu.only-opcodes", report.Notice, w.vain)
	f.Confidence = report.Likely
	v := w.vain[0]
	f.Values["largest_arrived_bytes"], f.Values["smallest_unanswered_bytes"] = w.only, v.size
	f.Summary = fmt.Sprintf("Only messages of a single packet get from %s to %s (Only opcodes): IP packets of %s bytes arrive so, while no message of several packets did, though its first one has just %s bytes and was sent up to %s.",
		w.src, w.dst, report.Count(w.only), report.Count(v.size), sentTimes(f.Values["sendings"]))
	f.Not = "Not a black hole of large packets: some that arrived are as large as those that did not."
	f.Advice = fmt.Sprintf("%s does not take First, Middle and Last packets, or something before it drops them: compare the path MTU of both queue pairs, and suspect the adapter's firmware or driver (a soft stack against hardware), or a filter that reads the BTH opcode.", w.dst)
	return f, true
}

// finding is what findings about packets sent in vain share.
func (w *way) finding(rule string, severity report.Severity, list []*vain) report.Finding {
	out := report.Finding{Rule: rule, Severity: severity, Count: int64(len(list)), Values: map[string]int64{"queue_pairs": int64(len(list)), "answers": w.answers},
		Filter: between(w.hosts)}
	var flows []*report.Flow
	var frames []uint64
	out.FirstNs, out.LastNs = list[0].firstNs, list[0].lastNs
	for _, v := range list {
		flows = append(flows, v.flow)
		frames = append(frames, v.firstFrame, v.lastFrame)
		out.FirstNs, out.LastNs = min(out.FirstNs, v.firstNs), max(out.LastNs, v.lastNs)
		out.Values["sendings"] = max(out.Values["sendings"], v.sendings)
	}
	out.Frames, out.Flow = fewFrames(frames), only(flows)
	if hasGRH(list[0].flow) {
		out.Filter = fmt.Sprintf("infiniband.grh.sgid == %s && infiniband.grh.dgid == %s", gid(w.src), gid(w.dst))
	}
	if v := list[0]; len(list) == 1 {
		out.Filter = toward(v.flow) + " && infiniband.bth.psn == " + v.psn
	}
	return out
}
