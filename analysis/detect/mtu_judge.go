package detect

import (
	"fmt"
	"slices"

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
		case v.asked == 0 && v.behind > 0 && v.behind <= t.passes && v.naks == 0:
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
	case t.after && len(t.list) > 1:
		f.Not = "Not a dead peer, and not a path that went down: what is smaller arrives after the first large packet was sent, too."
	case t.after:
		f.Confidence = report.Possible
		f.Not = "Not a dead peer, and not a path that went down: in other queue pairs, what is smaller arrives after the large packet was sent, too. A queue pair that died by itself, just then, would look the same."
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
	out := report.Finding{Rule: rule, Severity: severity, Host: w.src, Toward: w.dst, Count: int64(len(list)), Values: map[string]int64{"queue_pairs": int64(len(list)), "answers": w.answers},
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
