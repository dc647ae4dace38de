package detect

import (
	"cmp"
	"strconv"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// Class watches which classes traffic rides in.
var Class = add(analysis.Analyzer{
	Name: "class",
	Doc: "Does all that belongs together ride in one class, and nothing else beside it?\n\n" +
		"Switches choose the queue, and whether PFC protects it, by DSCP or by the tag's priority. A queue pair with another\n" +
		"DSCP than its siblings, answers in another class than the data, a priority that does not fit the DSCP, or TCP in the\n" +
		"class of RoCE: each shows up as loss or stalls elsewhere. What LLDP announces (DCBX) is held beside it.",
	Rules: classRules,
	New:   newClass,
	Judge: judgeClass,
})

type class struct {
	flows  perRow[classUse]
	others map[codepoint]*traffic
}

// codepoint is what a switch can tell a class by.
type codepoint struct {
	dscp uint8
	pcp  uint8 // untagged where there is no tag
}

const untagged = 8

func codepointOf(p *decode.Packet) codepoint {
	c := codepoint{dscp: p.DSCP, pcp: untagged}
	if p.Tagged {
		c.pcp = p.PCP
	}
	return c
}

// classUse is one codepoint of a row, for one kind of packet; no row that is
// sane uses more than classUses.
type classUse struct {
	traffic
	point codepoint
	kind  uint8     // in classKinds
	ttl   [2]uint8  // the lowest and the highest: paths of unlike length differ
	next  *classUse // nil for the last
}

const classUses = 6

type traffic struct{ frames, bytes int64 }

func (t *traffic) add(r *analysis.Streak) { t.frames += r.Len(); t.bytes += r.Bytes }

// The kinds of packet in the table of classes. Control is ACKs, NAKs and READ
// requests.
const (
	classData    = "data"
	classControl = "control"
	classCNP     = "cnps"
)

var classKinds = [...]string{classControl, classData, classCNP}

func classKind(p *decode.Packet) uint8 {
	switch {
	case p.Op == ib.CNP:
		return 2
	case p.MovesData():
		return 1
	}
	return 0
}

func newClass(*analysis.Config) analysis.Observer {
	return &class{others: map[codepoint]*traffic{}}
}

func (c *class) Observe(b *analysis.Batch) {
	c.flows.warm(b)
	for i := range b.Streaks {
		r := &b.Streaks[i]
		p := b.Head(r)
		if p.Status == decode.Other && p.Dst != [16]byte{} {
			c.other(p, r)
			continue
		}
		if !r.Counts() || p.Version != 2 || p.QP <= 1 {
			continue // CM has a class of its own
		}
		c.flows.at(r.Flow).seen(p, r)
	}
}

// other counts what is no RoCE. There are no more keys than codepoints.
func (c *class) other(p *decode.Packet, r *analysis.Streak) {
	k := codepointOf(p)
	t := c.others[k]
	if t == nil {
		t = new(traffic)
		c.others[k] = t
	}
	t.add(r)
}

// seen counts packets that are alike in their codepoint's use, of which u is the
// first.
func (u *classUse) seen(p *decode.Packet, r *analysis.Streak) {
	point, kind := codepointOf(p), classKind(p)
	for n := 1; ; n++ {
		if u.frames == 0 {
			u.point, u.kind, u.ttl = point, kind, [2]uint8{p.TTL, p.TTL}
		}
		if u.point == point && u.kind == kind {
			u.ttl = [2]uint8{min(u.ttl[0], p.TTL), max(u.ttl[1], p.TTL)}
			u.add(r)
			return
		}
		if n == classUses {
			return
		}
		if u.next == nil {
			u.next = new(classUse) // a few times in a row's life
		}
		u = u.next
	}
}

func (c *class) Report(r *report.Report) {
	t := report.Table{Name: "classes", Help: "What queue pairs ride in, between hosts, by DSCP and the tag's priority, and their TTL (hop limit).",
		Keys: []string{"src", "dst", "kind", "dscp", "pcp"}, Columns: append(append(columns("", "queue_pairs", "frames"), columns("bytes", "bytes")...),
			report.Column{Name: "ttl_least", Kind: report.Floor}, report.Column{Name: "ttl_most", Kind: report.Peak})}
	type key struct {
		hosts
		kind uint8
		codepoint
	}
	var sums report.Tally[key]
	for id, u := range c.flows.of(r) {
		f := &r.Flows[id]
		if f.Src == report.Other || u.frames == 0 {
			continue
		}
		for ; u != nil; u = u.next {
			values := [...]int64{1, u.frames, u.bytes, int64(u.ttl[0]), int64(u.ttl[1])}
			sums.Add(&t, key{hostsOf(f), u.kind, u.point}, values[:], func() []string {
				return []string{f.Src, f.Dst, classKinds[u.kind], strconv.Itoa(int(u.point.dscp)), pcpText(u.point.pcp)}
			})
		}
	}
	addTable(r, "class", t)

	others := report.Table{Name: "others", Help: "What is no RoCE, by DSCP and the tag's priority.",
		Keys: []string{"dscp", "pcp"}, Columns: append(columns("", "frames"), columns("bytes", "bytes")...)}
	for k, x := range c.others {
		others.Rows = append(others.Rows, report.Row{Key: []string{strconv.Itoa(int(k.dscp)), pcpText(k.pcp)}, Values: []int64{x.frames, x.bytes}})
	}
	addTable(r, "class", others)
}

func pcpText(pcp uint8) string {
	if pcp == untagged {
		return "untagged"
	}
	return strconv.Itoa(int(pcp))
}

// most returns the key with the largest value, and the smallest such key.
func most[K cmp.Ordered](m map[K]int64) (key K) {
	first := true
	for k, n := range m {
		if first || n > m[key] || n == m[key] && k < key {
			key, first = k, false
		}
	}
	return key
}
