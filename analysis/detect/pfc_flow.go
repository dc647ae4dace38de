package detect

import (
	"strconv"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
)

// pfc learns, by row, whose MACs frames bear, and how long data stood still
// while it was paused.
type pfc struct {
	cfg   *analysis.Config
	flows perRow[pfcFlow]
	ports []quietPort
	// pauses is how many were seen, and over when they end at the latest: behind
	// that no more time is paused until there is another.
	pauses uint32
	over   int64
	paused bool // there was any pause
}

// quietPort is one pausing port as rows look at it, whatever the interface: the
// two directions of a link may have been captured apart.
type quietPort struct {
	mac      [6]byte
	priority uint8
	pfcHold
	last int64 // time of the last pause
}

// quietPorts is how many ports are held against each row.
const quietPorts = 16

// pfcFlow is what a row has to do with pauses. Its list stays empty while no
// pause is seen.
type pfcFlow struct {
	src, dst   [6]byte // of the first frame, as are the next
	vlan       uint16  // 0 where untagged
	ttl        uint8
	v2         bool
	used, data bool
	class      uint8  // of data, see pfcClass
	calm       bool   // behind pfc.over
	pauses     uint32 // pfc.pauses when quiet was brought up to date
	last       int64  // time of the last data frame
	usual      int64  // ns between data frames that follow one another
	quiet      []pfcQuiet
}

// pfcQuiet is how a row stood still while one port paused.
type pfcQuiet struct {
	held  int64 // pfcHold.held when its last data frame came
	ns    int64 // of pause within gaps that are mostly pause
	times int64
}

func newPFC(c *analysis.Config) analysis.Observer { return &pfc{cfg: c} }

func (o *pfc) Observe(b *analysis.Batch) {
	o.flows.warm(b)
	for i := range b.Streaks {
		r := &b.Streaks[i]
		p := b.Head(r)
		switch {
		case p.Status == decode.PFC || p.Status == decode.Pause:
			o.pause(p)
		case r.Counts():
			f := o.flows.at(r.Flow)
			if !f.used {
				f.used, f.src, f.dst, f.vlan, f.ttl, f.v2 = true, p.SrcMAC, p.DstMAC, p.VLAN, p.TTL, p.Version == 2
			}
			if p.MovesData() {
				o.data(f, p)
				o.dataOn(f, b.Packets[r.From+1:r.To])
			}
		}
	}
}

func (o *pfc) pause(p *decode.Packet) {
	o.paused = true
	if p.Status == decode.Pause {
		o.set(p, wholeLink, p.Pause.Quanta[0])
		return
	}
	for n, quanta := range p.Pause.Quanta {
		if p.Pause.Enabled>>n&1 != 0 {
			o.set(p, uint8(n), quanta)
		}
	}
}

func (o *pfc) set(p *decode.Packet, priority uint8, quanta uint16) {
	for i := range o.ports {
		if x := &o.ports[i]; x.mac == p.SrcMAC && x.priority == priority {
			o.hold(x, p.Time, quanta)
			return
		}
	}
	if quanta == 0 || len(o.ports) == quietPorts {
		return
	}
	_, most := pfcHolds(o.cfg)
	o.ports = append(o.ports, quietPort{mac: p.SrcMAC, priority: priority, pfcHold: most})
	o.hold(&o.ports[len(o.ports)-1], p.Time, quanta)
}

func (o *pfc) hold(x *quietPort, t int64, quanta uint16) {
	x.set(t, quanta)
	x.last = max(x.last, t)
	o.pauses, o.over = o.pauses+1, 0
	for i := range o.ports {
		if x := &o.ports[i]; x.on {
			o.over = max(o.over, x.until)
		}
	}
}

// data takes a frame that moves data.
func (o *pfc) data(f *pfcFlow, p *decode.Packet) {
	gap := p.Time - f.last
	f.class = pfcClass(p)
	long := f.silent(gap, o.cfg.Limits.PauseSilence)
	if f.pauses != o.pauses || !f.calm {
		o.held(f, p, gap, long)
	}
	switch {
	case !f.data || gap < 0:
	case f.usual == 0:
		f.usual = max(1, gap)
	case !long:
		f.usual = max(1, (7*f.usual+gap)/8)
	}
	f.data, f.last = true, max(f.last, p.Time)
}

// dataOn takes further frames of a message, between which no pause came.
func (o *pfc) dataOn(f *pfcFlow, ps []decode.Packet) {
	if !f.calm {
		for i := range ps {
			o.data(f, &ps[i])
		}
		return
	}
	times, last, usual := o.cfg.Limits.PauseSilence, f.last, f.usual
	for i := range ps {
		gap := ps[i].Time - last
		switch {
		case gap < 0:
			continue
		case usual == 0:
			usual = max(1, gap)
		case gap < times*usual:
			usual = max(1, (7*usual+gap)>>3)
		}
		last += gap
	}
	f.last, f.usual = last, usual
}

// held notes what of the gap before a data frame was paused.
func (o *pfc) held(f *pfcFlow, p *decode.Packet, gap int64, long bool) {
	if len(f.quiet) < len(o.ports) {
		f.quiet = append(f.quiet, make([]pfcQuiet, len(o.ports)-len(f.quiet))...)
	}
	for i := range f.quiet {
		x, q := &o.ports[i], &f.quiet[i]
		held := x.held(p.Time)
		if long && x.stops(p.SrcMAC, f.class) {
			q.add(held-q.held, gap)
		}
		q.held = max(q.held, held)
	}
	f.pauses, f.calm = o.pauses, p.Time >= o.over
}

// silent reports whether a gap before a data frame is so many times longer than
// usual.
func (f *pfcFlow) silent(gap, times int64) bool {
	return f.data && f.usual > 0 && gap >= times*f.usual
}

// add takes a gap of which some time was paused. It is owed to the pause where
// that fills the better half of it.
func (q *pfcQuiet) add(paused, gap int64) {
	if paused > 0 && 2*paused >= gap {
		q.ns += paused
		q.times++
	}
}

// stops reports whether pauses of the port can concern frames: its own they do
// not, nor those of another priority, as far as a tag tells.
func (x *quietPort) stops(mac [6]byte, class uint8) bool {
	return mac != x.mac && (class == wholeLink || x.priority == wholeLink || class == x.priority)
}

func (o *pfc) Report(r *report.Report) {
	if !o.paused {
		return
	}
	macs := report.Table{Name: "macs", Help: "Addresses of RoCE by VLAN and the MAC that its frames come from or go to; routed: with a TTL that a router has lowered.",
		Keys: []string{"mac", "vlan", "address"}, Columns: columns("frames", "from_frames", "to_frames", "routed_frames")}
	still := report.Table{Name: "quiet", Help: "Rows whose data stood still while a port paused: at least half of each gap was paused.",
		Keys: []string{"mac", "priority", "src", "dst", "dest_qp"}, Columns: []report.Column{
			{Name: "silent_ns", Unit: "ns", Kind: report.Sum}, {Name: "times", Kind: report.Sum}, {Name: "toward", Kind: report.Peak}, {Name: "untagged", Kind: report.Peak}}}
	type key struct {
		mac  [6]byte
		vlan int
		addr string
	}
	var sums report.Tally[key]
	count := func(k key, values ...int64) {
		sums.Add(&macs, k, values, func() []string { return []string{macText(k.mac), strconv.Itoa(k.vlan), k.addr} })
	}
	for id, x := range o.flows.of(r) {
		f := &r.Flows[id]
		if f.Src == report.Other || !x.used || x.src == [6]byte{} && x.dst == [6]byte{} {
			continue
		}
		routed := int64(0)
		if x.v2 && ttlLowered(x.ttl) {
			routed = f.Frames
		}
		count(key{x.src, int(x.vlan), f.Src}, f.Frames, 0, routed)
		count(key{x.dst, int(x.vlan), f.Dst}, 0, f.Frames, 0)
		still.Rows = append(still.Rows, o.quietRows(x, f)...)
	}
	addTable(r, "pfc", macs)
	addTable(r, "pfc", still)
}

// quietRows are the ports that a row stood still for. A row that never spoke
// again did so up to the last pause.
func (o *pfc) quietRows(x *pfcFlow, f *report.Flow) []report.Row {
	var out []report.Row
	for i := range x.quiet {
		q, port := x.quiet[i], &o.ports[i]
		if gap := port.last - x.last; x.silent(gap, o.cfg.Limits.PauseSilence) && port.stops(x.src, x.class) {
			q.add(port.held(port.last)-q.held, gap)
		}
		if q.times == 0 {
			continue
		}
		var toward, untagged int64
		if port.mac == x.dst {
			toward = 1
		}
		if x.class == wholeLink && port.priority != wholeLink {
			untagged = 1
		}
		out = append(out, report.Row{Key: []string{macText(port.mac), pausePriority(port.priority), f.Src, f.Dst, qpText(f.DestQP)},
			Values: []int64{q.ns, q.times, toward, untagged}})
	}
	return out
}

// ttlLowered reports whether a TTL looks as if routers had lowered it: stacks start
// at 64, 128 or 255, and no fabric has more than sixteen of them in a row.
func ttlLowered(ttl uint8) bool {
	for _, from := range [...]uint8{64, 128, 255} {
		if d := int(from) - int(ttl); 0 < d && d <= 16 {
			return true
		}
	}
	return false
}
