package detect

import (
	"strconv"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
)

// ECMP looks at the load of parallel links.
var ECMP = add(analysis.Analyzer{
	Name: "ecmp",
	Doc: "Do parallel links share the traffic, or does one of them carry most of it?\n\n" +
		"Links are parallel where what travels from one host to another is seen on several interfaces of the capture, or\n" +
		"from several source MACs, and each packet only once: a packet that is seen twice passed two taps in series.\n" +
		"Where the number of links is given, common hash families predict how the traffic would spread over them.",
	Rules: ecmpRules,
	New:   newECMP,
	Judge: judgeECMP,
})

type ecmp struct {
	first  perRow[placeLoad] // a row has one place as a rule
	more   perRow[[]placeLoad]
	limits analysis.Limits
}

// placesMax is how many places of a row are told apart beside the first: packets
// that are sprayed over more links than that are spread well.
const placesMax = 31

// placeLoad is what of one row was seen at one place; it is empty while frames is
// 0.
type placeLoad struct {
	frames, copies  int64
	bytes           int64 // on the wire, without copies
	firstNs, lastNs int64
	first, last     int64 // frames
	iface           uint16
	mac             [6]byte
}

func newECMP(c *analysis.Config) analysis.Observer { return &ecmp{limits: c.Limits} }

func (e *ecmp) Observe(b *analysis.Batch) {
	e.first.warm(b)
	for i := range b.Streaks {
		r := &b.Streaks[i]
		if r.Flow == analysis.NoFlow {
			continue
		}
		p := b.Head(r)
		l := e.place(r.Flow, p)
		if l == nil {
			continue
		}
		if l.frames == 0 {
			l.firstNs, l.first = p.Time, int64(p.Frame)
		}
		l.frames, l.lastNs, l.last = l.frames+r.Len(), max(l.lastNs, r.LastNs), int64(b.Tail(r).Frame)
		if r.Verdict&analysis.Copy != 0 {
			l.copies += r.Len()
		} else {
			l.bytes += r.Bytes
		}
	}
}

// place returns the load of the packet's place; nil where there are too many.
func (e *ecmp) place(id analysis.FlowID, p *decode.Packet) *placeLoad {
	l := e.first.at(id)
	if l.frames == 0 {
		l.iface, l.mac = p.Iface, p.SrcMAC
	}
	if l.iface == p.Iface && l.mac == p.SrcMAC {
		return l
	}
	more := e.more.at(id)
	for i := range *more {
		if l := &(*more)[i]; l.iface == p.Iface && l.mac == p.SrcMAC {
			return l
		}
	}
	if len(*more) == placesMax {
		return nil
	}
	*more = append(*more, placeLoad{iface: p.Iface, mac: p.SrcMAC})
	return &(*more)[len(*more)-1]
}

func (e *ecmp) Report(r *report.Report) {
	col := func(name, unit string, kind report.Kind) report.Column {
		return report.Column{Name: name, Unit: unit, Kind: kind}
	}
	t := report.Table{
		Name: "places", Help: "Where the traffic between two hosts was seen, by interface of the capture and by source MAC; rows and flows are those that were seen there alone, flows those with data.",
		Keys: []string{"interface", "source_mac", "src", "dst"},
		Columns: []report.Column{col("frames", "frames", report.Sum), col("frames_in_series", "frames", report.Sum), col("bytes", "bytes", report.Sum),
			col("rows", "", report.Sum), col("flows", "", report.Sum), col("largest_flow", "bytes", report.Peak),
			col("first_ns", "ns", report.Floor), col("last_ns", "ns", report.Peak), col("first_frame", "", report.Floor), col("last_frame", "", report.Peak)},
	}
	type key struct {
		iface int
		mac   [6]byte
		hosts
	}
	var sums report.Tally[key]
	for id, first := range e.first.of(r) {
		f := &r.Flows[id]
		if first.frames == 0 || f.Src == report.Other {
			continue
		}
		x := ecmpFlow{first: first}
		if more := e.more.known(id); more != nil {
			x.more = *more
		}
		series := x.inSeries(e.limits.InSeries)
		x.rows(func(l *placeLoad) {
			v := [...]int64{l.frames - l.copies, 0, l.bytes, 0, 0, l.bytes, l.firstNs, l.lastNs, l.first, l.last}
			if series {
				v[1] = l.frames
			}
			if mostly(l, &x, e.limits.MemberShare) {
				v[3] = 1
				v[4] = min(1, f.DataFrames)
			}
			sums.Add(&t, key{int(l.iface), l.mac, hostsOf(f)}, v[:], func() []string {
				return []string{strconv.Itoa(int(l.iface)), adapterText(l.mac), f.Src, f.Dst}
			})
		})
	}
	addTable(r, "ecmp", t)
}

// ecmpFlow is where a row was seen.
type ecmpFlow struct {
	first *placeLoad
	more  []placeLoad
}

func (f *ecmpFlow) rows(each func(*placeLoad)) {
	each(f.first)
	for i := range f.more {
		each(&f.more[i])
	}
}

// inSeries reports whether packets of a row were seen at several places, one
// behind the other.
func (f *ecmpFlow) inSeries(limit float64) bool {
	var frames, copies int64
	f.rows(func(l *placeLoad) { frames, copies = frames+l.frames, copies+l.copies })
	return len(f.more) > 0 && float64(copies) > limit*float64(frames)
}

// mostly reports whether a row has a share of its frames at a place.
func mostly(l *placeLoad, f *ecmpFlow, share float64) bool {
	var frames int64
	f.rows(func(l *placeLoad) { frames += l.frames })
	return float64(l.frames) >= share*float64(frames)
}
