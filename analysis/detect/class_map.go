package detect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rocescope/rocescope/analysis/report"
)

// tagPoint is a DSCP and the tag's priority, and who sends with both: frames.
type tagPoint struct {
	dscp, pcp string
	usual     string // the priority by the map that equipment comes with
	senders   map[string]int64
}

func (p *tagPoint) fits() bool { return p.pcp == p.usual }

// tagPoints are those of the tagged frames, in order.
func (v *classView) tagPoints() []*tagPoint {
	points := map[string]*tagPoint{}
	for _, x := range v.rows {
		n, err := strconv.Atoi(x.dscp)
		if x.pcp == pcpText(untagged) || err != nil {
			continue
		}
		p := points[x.dscp+" "+x.pcp]
		if p == nil {
			p = &tagPoint{dscp: x.dscp, pcp: x.pcp, usual: strconv.Itoa(n >> 3), senders: map[string]int64{}}
			points[x.dscp+" "+x.pcp] = p
		}
		p.senders[x.src] += x.frames
	}
	var out []*tagPoint
	for _, k := range sortedKeys(points) {
		out = append(out, points[k])
	}
	return out
}

// offMap speaks of senders that tag a DSCP with a priority that others keep for
// another DSCP, where all of the others follow the usual map, eight DSCPs to each
// priority. What mismatches can tell by the senders of the same DSCP is left out.
func (v *classView) offMap() []report.Finding {
	points := v.tagPoints()
	odd := map[string]bool{}
	for _, p := range points {
		for src := range p.senders {
			odd[src] = odd[src] || !p.fits()
		}
	}
	var out []report.Finding
	for _, p := range points {
		keepers, dscps := keepersOf(p, points, odd)
		same := slices.ContainsFunc(points, func(x *tagPoint) bool { return x != p && x.dscp == p.dscp && len(x.senders) >= 2 })
		if p.fits() || same || len(keepers) < 2 || len(keepers) <= len(p.senders) {
			continue
		}
		for _, src := range sortedKeys(p.senders) {
			out = append(out, v.offMapBy(src, p, int64(len(keepers)), dscps))
		}
	}
	return out
}

// keepersOf returns who uses the priority of a point with a DSCP that it belongs
// to and follows the map in all else, and those DSCPs.
func keepersOf(p *tagPoint, points []*tagPoint, odd map[string]bool) (keepers map[string]bool, dscps []string) {
	keepers = map[string]bool{}
	for _, x := range points {
		if x.pcp != p.pcp || !x.fits() {
			continue
		}
		dscps = append(dscps, x.dscp)
		for src := range x.senders {
			if !odd[src] {
				keepers[src] = true
			}
		}
	}
	return keepers, dscps
}

func (v *classView) offMapBy(src string, p *tagPoint, keepers int64, dscps []string) report.Finding {
	f := v.mismatch(src, p.dscp, p.pcp, p.usual, p.senders[src], keepers)
	f.Confidence = report.Possible
	f.Values = map[string]int64{"frames": p.senders[src], "senders_with_the_priority": keepers}
	f.Summary = fmt.Sprintf("%s tags %s of DSCP %s with priority %s, which %s keep for DSCP %s: by the usual map (DSCP / 8), which they all follow, it would be %s, so that switches that trust DSCP and those that trust the tag give them different queues.%s",
		src, report.Counted(p.senders[src], "frame"), p.dscp, p.pcp, report.Counted(keepers, "other sender"), strings.Join(dscps, ", "), p.usual, v.lossless(p.pcp))
	f.Not += " A map that puts both DSCPs into one priority on purpose would look the same; whether the DSCP or the priority is the wrong one, the frames do not tell."
	f.Filter = fmt.Sprintf("infiniband && vlan.priority == %s && %s == %s && %s", p.pcp, dscpField(src), p.dscp, address(src, "src"))
	return f
}
