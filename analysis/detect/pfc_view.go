package detect

import (
	"slices"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
)

// pausing is the pauses of one priority by one MAC, over all interfaces. The
// times are those of the interface that saw the longest.
type pausing struct {
	mac, priority string
	role          pfcRole
	addr          string // of the host

	xoff, xon, refreshed, stretches, quanta int64
	least, most, longest, longestMost       int64
	worst, worstMost, span                  int64
	unmarked, ect                           int64
	firstNs, lastNs, firstFrame, lastFrame  int64
	rate                                    int64
	quiet                                   []report.Row
}

// about returns the host that pauses, and its MAC where it is none.
func (x *pausing) about() string {
	if x.host() && x.addr != "" {
		return x.addr
	}
	return x.mac
}

// pfcView is a report as the judge looks at it.
type pfcView struct {
	r     *report.Report
	c     *analysis.Config
	ports []*pausing // in the order of the table
	edges []pfcEdge
	// twoWays says that both directions are in view between some two hosts.
	twoWays bool
}

func readPFC(r *report.Report, c *analysis.Config) *pfcView {
	v := &pfcView{r: r, c: c}
	uses := macUses(r)
	index := map[[2]string]*pausing{}
	for _, row := range r.Rows("pfc", "pauses") {
		k := [2]string{row.Key[1], row.Key[2]}
		x := index[k]
		if x == nil {
			u := uses[k[0]]
			x = &pausing{mac: k[0], priority: k[1], role: u.roleOf(k[0], r)}
			switch x.role {
			case roleHost:
				x.addr = macAddresses(u.from)
			case roleMaybeHost:
				x.addr = macAddresses(u.to)
			}
			index[k] = x
			v.ports = append(v.ports, x)
		}
		x.add(row.Values)
	}
	v.readQuiet(index)
	v.edges = readSpread(r, index)
	v.twoWays = pfcBothWays(r)
	return v
}

// add takes a row of the table "pauses", of one interface.
func (x *pausing) add(n []int64) {
	first := x.xoff+x.xon == 0
	x.xoff, x.xon, x.refreshed, x.stretches, x.quanta = x.xoff+n[0], x.xon+n[1], x.refreshed+n[2], x.stretches+n[3], x.quanta+n[4]
	if first || n[6] > x.most {
		x.least, x.most, x.longest, x.longestMost, x.worst, x.worstMost, x.span = n[5], n[6], n[7], n[8], n[9], n[10], n[11]
	}
	x.unmarked, x.ect = x.unmarked+n[12], max(x.ect, n[13])
	if first {
		x.firstNs, x.firstFrame = n[14], n[16]
	}
	x.firstNs, x.lastNs = min(x.firstNs, n[14]), max(x.lastNs, n[15])
	x.firstFrame, x.lastFrame = min(x.firstFrame, n[16]), max(x.lastFrame, n[17])
	x.rate = n[18]
}

// name is the pausing port for a reader.
func (x *pausing) name() string {
	switch x.role {
	case roleHost:
		return x.addr + " (" + x.mac + ")"
	case roleMaybeHost:
		return x.mac + " (" + x.addr + ", it seems)"
	case roleRouter:
		return "router port " + x.mac
	case roleSwitch:
		return "switch port " + x.mac
	}
	return x.mac
}

// host reports whether the port is an end host's, as far as that can be known.
func (x *pausing) host() bool { return x.role == roleHost || x.role == roleMaybeHost }

// what is what the port stops.
func (x *pausing) what() string {
	if x.priority == pausePriority(wholeLink) {
		return "the whole link"
	}
	return "priority " + x.priority
}

// filter shows the port's frames.
func (x *pausing) filter() string {
	if x.priority == pausePriority(wholeLink) {
		return pauseFilter + " && eth.src == " + x.mac
	}
	return pfcFilter + " && macc.cbfc.enbv.c" + x.priority + " == 1 && eth.src == " + x.mac
}

const (
	pfcFilter   = "macc.opcode == 0x0101"
	pauseFilter = "macc.opcode == 0x0001"
)

func (x *pausing) frames() []uint64 {
	return fewFrames([]uint64{uint64(max(0, x.firstFrame)), uint64(max(0, x.lastFrame))})
}

// share returns the larger of two shares: of the whole capture, and of the
// worst window.
func (x *pausing) share(ns, worst, window int64) float64 {
	if x.span <= 0 {
		return 0
	}
	return max(float64(ns)/float64(x.span), float64(worst)/float64(max(1, min(window, x.span))))
}

// severity says how much the pauses cost.
func (x *pausing) severity(c *analysis.Config) report.Severity {
	switch {
	case x.matters(x.least, x.worst, &c.Limits):
		return report.Warning
	case x.matters(x.most, x.worstMost, &c.Limits):
		return report.Notice // on a slow link
	}
	return report.Info
}

func (x *pausing) matters(ns, worst int64, l *analysis.Limits) bool {
	share := x.share(ns, worst, l.PauseWindow)
	return share >= l.PauseShare && ns >= l.PauseLeast || share >= l.PauseHeavy
}

// readQuiet gives each port the rows that stood still for it, those that stood
// longest first: a host's pauses stop what goes to it, a switch's at the link of
// one host stop what that host sends. Rows without a tag may be of any
// priority, so they are told only where one alone is paused.
func (v *pfcView) readQuiet(index map[[2]string]*pausing) {
	from, several, least := pfcCommonHost(v.r), v.priorities() > 1, v.c.Limits.PauseQuiet
	for _, row := range v.r.Rows("pfc", "quiet") {
		x := index[[2]string{row.Key[0], row.Key[1]}]
		if x == nil || row.Values[3] > 0 && several || float64(row.Values[0]) < least*float64(x.most) && float64(row.Values[1]) < least*float64(x.stretches) {
			continue
		}
		toward := row.Values[2] > 0
		if toward || !x.host() && (from == "" || row.Key[2] == from) {
			x.quiet = append(x.quiet, row)
		}
	}
	for _, x := range v.ports {
		x.quiet = report.MostFirst(x.quiet)
	}
}

// priorities returns how many priorities are paused at all.
func (v *pfcView) priorities() int {
	paused := map[string]bool{}
	for _, x := range v.ports {
		if x.xoff > 0 && x.priority != pausePriority(wholeLink) {
			paused[x.priority] = true
		}
	}
	return len(paused)
}

// pfcBothWays reports whether there are rows in both directions between any two
// hosts.
func pfcBothWays(r *report.Report) bool {
	pairs := map[hosts]bool{}
	for i := range r.Flows {
		h := hostsOf(&r.Flows[i])
		if h.src != h.dst && pairs[h.back()] {
			return true
		}
		pairs[h] = true
	}
	return false
}

// pfcCommonHost returns the address that takes part in every row, where there is
// just one: that of the host whose link was tapped.
func pfcCommonHost(r *report.Report) string {
	var all []string
	for i := range r.Flows {
		f := &r.Flows[i]
		if f.Src == report.Other {
			continue
		}
		if all == nil {
			all = []string{f.Src, f.Dst}
		}
		all = slices.DeleteFunc(all, func(a string) bool { return a != f.Src && a != f.Dst })
	}
	if len(all) == 1 {
		return all[0]
	}
	return ""
}
