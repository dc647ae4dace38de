package detect

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

func judgeStraggler(r *report.Report, c *analysis.Config) []report.Finding {
	v := readPace(r, c)
	limits := c.Limits // what is no longer than two times are off by is nobody's delay
	limits.StragglerExcess = max(limits.StragglerExcess, 2*clockNoise(r))
	var out []report.Finding
	for _, host := range v.hosts {
		if slow, late := v.outlier(host, &limits); slow != nil || late != nil {
			out = append(out, v.straggler(host, slow, late))
		}
	}
	return condense(out, "host", "infiniband.bth.opcode == 0x11")
}

// pace is a report as the judge looks at it: what each host answers and carries.
type pace struct {
	hosts    []string
	towards  map[string][]*report.Flow
	from     map[string][]*report.Flow
	answers  map[string]*report.Hist // round trips of requests to a host
	medians  []int64                 // of these, ascending
	loads    []int64                 // what these hosts receive, ascending
	sent     map[string]int64        // data, in bytes
	received map[string]int64
	gap      string // the silence that cuts the steps best; empty where there are none
	steps    map[string]int64
	last     map[string][]int64 // row of the table "last"
}

func readPace(r *report.Report, c *analysis.Config) *pace {
	v := &pace{towards: map[string][]*report.Flow{}, from: map[string][]*report.Flow{}, answers: map[string]*report.Hist{},
		sent: map[string]int64{}, received: map[string]int64{}, steps: map[string]int64{}, last: map[string][]int64{}}
	data := func(f *report.Flow) int64 { return f.RequestBytes + f.ResponseBytes }
	for _, g := range groupBy(r, func(f *report.Flow) string { return f.Src }) {
		v.from[g.key], v.sent[g.key] = g.flows, total(g.flows, data)
	}
	for _, g := range groupBy(r, func(f *report.Flow) string { return f.Dst }) {
		v.towards[g.key], v.received[g.key] = g.flows, total(g.flows, data)
		h := new(report.Hist)
		for _, f := range g.flows {
			h.Merge(&f.AckRTT)
		}
		if h.Count() >= int64(c.Limits.StragglerSamples) {
			v.answers[g.key] = h
		}
		v.hosts = append(v.hosts, g.key)
	}
	slices.Sort(v.hosts)
	for host, h := range v.answers {
		v.medians, v.loads = append(v.medians, h.Quantile(0.5)), append(v.loads, v.received[host])
	}
	slices.Sort(v.medians)
	slices.Sort(v.loads)
	v.readSteps(r, c)
	return v
}

// readSteps takes the steps of the longest silence that leaves enough of them,
// with most hosts in most; where none does, enough for a sign beside another.
func (v *pace) readSteps(r *report.Report, c *analysis.Config) {
	rows := map[string]map[string]int64{}
	for _, row := range r.Rows("straggler", "steps") {
		if rows[row.Key[0]] == nil {
			rows[row.Key[0]] = map[string]int64{}
		}
		rows[row.Key[0]][row.Key[1]] = row.Values[0]
	}
	found := false
	for _, gap := range stepGaps {
		key := strconv.FormatInt(gap, 10)
		most, steady := int64(0), 0
		for _, n := range rows[key] {
			most = max(most, n)
		}
		for _, n := range rows[key] {
			if 5*n >= 4*most {
				steady++
			}
		}
		enough := most >= int64(c.Limits.StragglerSteps)
		if steady >= stepHosts && (enough || !found && most >= int64(c.Limits.StragglerBothSteps)) {
			v.gap, v.steps, found = key, rows[key], enough
		}
	}
	for _, row := range r.Rows("straggler", "last") {
		if row.Key[0] == v.gap {
			v.last[row.Key[1]] = row.Values
		}
	}
}

// outlier asks for either sign at its full strength, or for both together.
func (v *pace) outlier(host string, l *analysis.Limits) (*slowness, *tardiness) {
	slow, late := v.slow(host, l.StragglerBothRatio, l), v.late(host, l.StragglerBothSteps, l.StragglerBothLate, l)
	if slow != nil && late != nil && late.chance <= l.StragglerBothChance {
		return slow, late
	}
	if late = v.late(host, l.StragglerSteps, l.StragglerLate, l); late != nil && (late.chance > l.StragglerChance || late.alone < l.StragglerAlone) {
		late = nil // or the end of a row of hosts that wait for each other, or that begin one after the other
	}
	if slow = v.slow(host, l.StragglerRatio, l); slow != nil && slow.askers == 1 && slow.ratio() < l.StragglerLoneRatio {
		slow = nil // it may be the way from the one host that asks
	}
	return slow, late
}

// slowness is a host whose ACKs take longer than those of its peers.
type slowness struct {
	own, peers int64 // the medians
	among      int
	askers     int // hosts that it answers
	samples    int64
}

func (s *slowness) ratio() float64 { return float64(s.own) / float64(max(1, s.peers)) }

// slow compares the time a host takes to acknowledge. Congestion on the way to it
// is no slowness of its own: then some requests find the queue empty, or marks
// tell, or it simply receives more than the others.
func (v *pace) slow(host string, ratio float64, l *analysis.Limits) *slowness {
	h := v.answers[host]
	if h == nil {
		return nil
	}
	among := len(v.medians) - 1
	if among < stepHosts-1 {
		return nil
	}
	own := h.Quantile(0.5)
	s := &slowness{own: own, peers: medianWithout(v.medians, own), among: among, samples: h.Count()}
	flows := v.towards[host]
	ce := total(flows, func(f *report.Flow) int64 { return f.CE })
	frames := total(flows, func(f *report.Flow) int64 { return f.DataFrames })
	switch {
	case s.ratio() < ratio, s.own-s.peers < l.StragglerExcess:
		return nil
	case float64(own) < ratio*float64(quarterWithout(v.medians, own)): // it is one of many
		return nil
	case float64(h.Min) < ratio/2*float64(s.peers): // a queue, or now and then something else
		return nil
	case float64(ce) >= l.CEWarn*float64(frames) && ce > 0:
		return nil
	case v.received[host] > 3*medianWithout(v.loads, v.received[host]):
		return nil
	}
	if partners := v.partners(host); len(partners) > 0 && float64(own) < ratio*float64(partners[(len(partners)-1)/2]) {
		return nil // they are all of a slower kind, or the way between them is slow
	}
	var all bool
	if s.askers, all = askers(flows, int64(ratio/2*float64(s.peers))); !all {
		return nil
	}
	return s
}

// partners returns how long the hosts that a host talks to take to answer, ascending.
func (v *pace) partners(host string) []int64 {
	seen := map[string]bool{host: true}
	var out []int64
	add := func(other string) {
		if h := v.answers[other]; h != nil && !seen[other] {
			out = append(out, h.Quantile(0.5))
		}
		seen[other] = true
	}
	for _, f := range v.towards[host] {
		add(f.Src)
	}
	for _, f := range v.from[host] {
		add(f.Dst)
	}
	slices.Sort(out)
	return out
}

// askers returns how many hosts ask, and whether all of them are kept waiting:
// where one is not, the way from the others is slow.
func askers(flows []*report.Flow, least int64) (n int, all bool) {
	by := map[string]*report.Hist{}
	for _, f := range flows {
		if f.AckRTT.IsZero() {
			continue
		}
		if by[f.Src] == nil {
			by[f.Src] = new(report.Hist)
		}
		by[f.Src].Merge(&f.AckRTT)
	}
	for _, h := range by {
		if h.Quantile(0.5) < least {
			return len(by), false
		}
	}
	return len(by), true
}

// medianWithout returns the upper median of the others: of sorted values without
// one of them.
func medianWithout(sorted []int64, own int64) int64 {
	return without(sorted, own, (len(sorted)-1)/2)
}

// quarterWithout returns what no more than a quarter of the others exceed: of sorted
// values without one of them.
func quarterWithout(sorted []int64, own int64) int64 {
	return without(sorted, own, (3*(len(sorted)-1)+3)/4-1)
}

// without returns the value at a place among sorted ones that lack one of them.
func without(sorted []int64, own int64, place int) int64 {
	if at, _ := slices.BinarySearch(sorted, own); place >= at {
		place++
	}
	return sorted[place]
}

// upperMedian returns the median, the larger of two in the middle.
func upperMedian(xs []int64) int64 {
	if len(xs) == 0 {
		return 0
	}
	slices.Sort(xs)
	return xs[len(xs)/2]
}

// The columns of the table "last", in their order; first and last times and frames
// lie before the silence.
const (
	lastCount = iota
	lastNs
	lastBegin
	lastAlone
	lastRest
	lastShare
	lastSilence = lastShare + 5
)

// silenceBehind is the shortest silence that followed a step which a host ended: at least
// that which cuts the steps.
func silenceBehind(row []int64, gap int64) int64 {
	if len(row) <= lastSilence {
		return gap
	}
	return max(gap, row[lastSilence])
}

// tardiness is a host that others wait for at the end of steps.
type tardiness struct {
	last, steps int64
	ns, begin   int64 // on average, behind the median host
	alone       float64
	chance      float64
	row         []int64
}

// late asks whether a host ends more steps, and later, than chance would have it.
// Only hosts with a like share of the work can be compared: the root of a tree or
// the end of a chain is last by its place.
func (v *pace) late(host string, enough int, least float64, l *analysis.Limits) *tardiness {
	row, steps := v.last[host], v.steps[host]
	if row == nil || steps < int64(enough) || !v.alike(v.sent, host) || !v.alike(v.received, host) {
		return nil
	}
	t := &tardiness{last: row[lastCount], steps: steps, ns: row[lastNs] / row[lastCount], begin: row[lastBegin] / row[lastCount], row: row}
	switch {
	case float64(t.last) < l.StragglerShare*float64(steps):
		return nil
	case float64(row[lastShare]) < 1000*least*float64(t.last):
		return nil
	case t.ns < l.StragglerExcess:
		return nil
	case min(t.begin, row[lastAlone]/row[lastCount]) > silenceBehind(row, number(v.gap))/2:
		return nil // all others have long ended when it begins: it may as well be early for the next step
	}
	t.alone = float64(row[lastAlone]) / float64(max(1, row[lastRest]))
	t.chance = byChance(t.last, steps, len(v.steps))
	return t
}

// alike reports whether a host has about the median share of something among the
// hosts of the steps.
func (v *pace) alike(shares map[string]int64, host string) bool {
	var all []int64
	for other := range v.steps {
		all = append(all, shares[other])
	}
	median := upperMedian(all)
	return 3*shares[host] >= 2*median && 2*shares[host] <= 3*median
}

// byChance bounds the probability that any one of n hosts is last in k of so many
// steps where all are equally fast.
func byChance(k, steps int64, n int) float64 {
	choose := lgamma(steps+1) - lgamma(k+1) - lgamma(steps-k+1)
	return math.Exp(choose - float64(k-1)*math.Log(float64(max(1, n))))
}

func lgamma(n int64) float64 {
	x, _ := math.Lgamma(float64(n))
	return x
}

func (v *pace) straggler(host string, slow *slowness, late *tardiness) report.Finding {
	f := report.Finding{
		Rule: "straggler.host", Severity: report.Warning, Confidence: report.Likely, Host: host, Count: 1,
		Values: map[string]int64{},
		Not:    "Not congestion on the way to it: it receives no more than its peers, and no standing queue is marked.",
		Advice: "Compare " + host + " with a peer: link speed and width of adapter and PCIe slot (`ethtool`, `lspci -vv` LnkSta), NUMA node of adapter, memory and GPU, CPU frequency and power states, firmware, " +
			"`ethtool -S` rx_discards_phy, rx_prio*_pause, rx_out_of_buffer, and `mlnx_perf` outbound_pci_stalled_rd and _wr.",
		Filter: onlyHost(host, "src", v.from[host]),
	}
	f.FirstNs, f.LastNs = span(v.towards[host])
	var parts []string
	if late != nil {
		f.Count, f.FirstNs, f.LastNs = late.last, late.row[lastShare+1], late.row[lastShare+2]
		f.Frames = fewFrames([]uint64{uint64(late.row[lastShare+3]), uint64(late.row[lastShare+4])})
		parts = append(parts, fmt.Sprintf("is the last to finish in %s of %s, on average %s behind the median host", report.Count(late.last), report.Counted(late.steps, "step"), report.Duration(late.ns)))
		f.Values["steps"], f.Values["steps_last"], f.Values["lateness_ns"], f.Values["late_start_ns"] = late.steps, late.last, late.ns, late.begin
		f.Values["hosts"] = int64(len(v.steps))
	}
	if slow != nil {
		parts = append(parts, fmt.Sprintf("takes %s to acknowledge where the median of %s takes %s", report.Duration(slow.own), report.Counted(int64(slow.among), "peer"), report.Duration(slow.peers)))
		f.Values["ack_rtt_p50_ns"], f.Values["peers_ack_rtt_p50_ns"], f.Values["ack_samples"] = slow.own, slow.peers, slow.samples
		if slow.askers == 1 {
			f.Not += " One host alone asks it, so that the way between the two may be what is slow."
		}
		if late == nil {
			f.Confidence = report.Possible
			f.Not += " A host that is much farther away than all others would look the same: compare hop limits and `ping`."
		}
	}
	f.Summary = host + " " + strings.Join(parts, ", and ") + "; " + v.reason(host, slow, late) + "."
	return f
}

// reason says what the packets tell of why.
func (v *pace) reason(host string, slow *slowness, late *tardiness) string {
	var why []string
	if late != nil && 2*late.begin >= late.ns {
		why = append(why, fmt.Sprintf("it begins %s after the median host", report.Duration(late.begin)))
	}
	if slow != nil {
		why = append(why, "it answers slowly itself")
	}
	if n := total(v.from[host], func(f *report.Flow) int64 { return f.RNRNAKs }); n > 0 {
		why = append(why, fmt.Sprintf("it had no receive buffer for %s", report.Counted(n, "request")))
	}
	if n := total(v.from[host], (*report.Flow).Resent) + total(v.towards[host], (*report.Flow).Resent); n > 0 {
		why = append(why, fmt.Sprintf("%s to or from it were sent again", report.Counted(n, "packet")))
	}
	if n := total(v.from[host], func(f *report.Flow) int64 { return f.CE }); n > 0 {
		why = append(why, fmt.Sprintf("%s of its own were marked by congestion", report.Counted(n, "frame")))
	}
	if len(why) == 0 {
		return "its packets do not show why"
	}
	return strings.Join(why, ", ")
}
