package detect

import (
	"math"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// PFC adds up pauses.
var PFC = add(analysis.Analyzer{
	Name: "pfc",
	Doc: "Who pauses whom, for how long, and is it a host or the fabric?\n\n" +
		"A PFC frame stops some priorities of a link for a time in quanta of 512 bit times; a PAUSE frame stops the link. A\n" +
		"further frame replaces the time, and a time of 0 ends it. Without the link's rate quanta are no time: then the\n" +
		"shortest and the longest time that they can mean are told. MACs that send RoCE of one address belong to hosts.",
	Rules: pfcRules,
	New:   newPFC,
	Watch: newPFCWatch,
	Judge: judgePFC,
})

// The rates between which links of RoCE lie where none is given.
const (
	fastestLink = 1.6e12
	slowestLink = 10e9
)

// wholeLink stands for the priority of a PAUSE frame, and for the class of
// frames without a tag.
const wholeLink = 8

// pfcWatch follows all pauses of a capture, and what was marked before them.
type pfcWatch struct {
	cfg      *analysis.Config
	index    map[pauserKey]*pauser
	list     []*pauser // in the order of their first frame
	beyond   int64     // frames of pausers that found no room
	spreads  map[pfcSpreadKey]*pfcSpread
	episodes [wholeLink + 1]pfcEpisode // by priority
	ect      [wholeLink + 1]int64      // by class: data frames that could be marked, until one was
	marked   [wholeLink + 1]bool
	seen     bool
	first    int64 // time of the capture's first frame
	last     int64
}

// pausersMax is how many pausing ports are told apart, whatever MACs frames say.
const pausersMax = 1024

// pauserKey names one priority of one pausing port.
type pauserKey struct {
	iface    uint16
	priority uint8 // or wholeLink
	mac      [6]byte
}

// pauser is the pauses of one priority by one port.
type pauser struct {
	pauserKey
	xoff, xon           int64
	refreshed           int64 // pauses made longer while they were in force
	quanta              int64
	firstNs, lastNs     int64
	firstAt, lastAt     uint64     // frames
	least, most         pfcHold    // at the rate given, or at the fastest and the slowest
	unmarked, ectBefore int64      // pauses before any mark, and what could have been marked
	open                pfcStretch // in force
	storms              []pfcStretch
	episode             int64 // the last that it joined
}

func newPFCWatch(c *analysis.Config) analysis.Watcher {
	return &pfcWatch{cfg: c, index: map[pauserKey]*pauser{}, spreads: map[pfcSpreadKey]*pfcSpread{}}
}

func (w *pfcWatch) Watch(ts []analysis.Train, _ analysis.Sorts) {
	if first := ts[0].First().Time; !w.seen {
		w.seen, w.first, w.last = true, first, first
	}
	for i := range ts {
		t := &ts[i]
		w.last = max(w.last, t.Last().Time)
		switch {
		case t.Sort == analysis.Stop:
			for _, p := range t.Packets {
				w.stop(p)
			}
		case t.Sort != analysis.NoRoCE && !w.marked[wholeLink]:
			w.markable(t.First(), int64(len(t.Packets)))
		}
	}
}

// stop takes a pause.
func (w *pfcWatch) stop(p *decode.Packet) {
	switch p.Status {
	case decode.PFC:
		for n, quanta := range p.Pause.Quanta {
			if p.Pause.Enabled>>n&1 != 0 {
				w.pause(p, uint8(n), quanta)
			}
		}
	case decode.Pause:
		w.pause(p, wholeLink, p.Pause.Quanta[0])
	}
}

// markable counts what a switch could have marked, up to the first mark, of n
// packets that are alike.
func (w *pfcWatch) markable(p *decode.Packet, n int64) {
	class := pfcClass(p)
	switch {
	case p.Op == ib.CNP:
		w.mark(wholeLink, p.Time) // it rides in a class of its own
	case p.ECN == decode.CE && p.Version == 2:
		w.mark(class, p.Time)
	case p.ECN != decode.NotECT && p.Version == 2 && p.MovesData():
		w.ect[class] += n
	}
}

// pfcClass returns the priority that a tag names, wholeLink where none does:
// where devices go by DSCP tags mostly say 0, which then may be any.
func pfcClass(p *decode.Packet) uint8 {
	if p.Tagged && p.PCP != 0 {
		return p.PCP
	}
	return wholeLink
}

// mark takes the first mark of a class. Without a tag it may be of any.
func (w *pfcWatch) mark(class uint8, t int64) {
	if w.marked[class] {
		return
	}
	w.marked[class] = true
	for _, x := range w.list {
		if (x.priority == class || class == wholeLink) && t-x.firstNs <= w.cfg.Limits.MarkLag {
			x.unmarked = 0
		}
	}
}

func (w *pfcWatch) pause(p *decode.Packet, priority uint8, quanta uint16) {
	x := w.pauser(pauserKey{p.Iface, priority, p.SrcMAC})
	if x == nil {
		w.beyond++
		return
	}
	x.storm(p, quanta, w.cfg.Limits.StormAfter)
	refreshed := x.least.set(p.Time, quanta)
	x.most.set(p.Time, quanta)
	if x.xoff == 0 {
		x.firstNs, x.firstAt = p.Time, p.Frame
	}
	x.lastNs, x.lastAt = p.Time, p.Frame
	if quanta == 0 {
		x.xon++
		return
	}
	if refreshed {
		x.refreshed++
	} else {
		w.spread(x, p)
	}
	x.xoff++
	x.quanta += int64(quanta)
	if priority < wholeLink && !w.marked[priority] && !w.marked[wholeLink] {
		x.unmarked++
		x.ectBefore = w.ect[priority] + w.ect[wholeLink]
	}
}

// pauser returns the pauses of a port, nil where there are too many ports.
func (w *pfcWatch) pauser(k pauserKey) *pauser {
	x := w.index[k]
	if x == nil && len(w.list) < pausersMax {
		least, most := pfcHolds(w.cfg)
		x = &pauser{pauserKey: k, least: least, most: most}
		w.index[k] = x
		w.list = append(w.list, x)
	}
	return x
}

// pfcHolds returns what adds up pauses at the least and at the most. Where the
// rate is given both are the same.
func pfcHolds(c *analysis.Config) (least, most pfcHold) {
	fast, slow := c.LinkRate, c.LinkRate
	if !pfcRateKnown(c.LinkRate) {
		fast, slow = fastestLink, slowestLink
	}
	return pfcHold{quantum: pfcQuantum(fast), window: c.Limits.PauseWindow}, pfcHold{quantum: pfcQuantum(slow), window: c.Limits.PauseWindow}
}

// pfcRateKnown reports whether a link rate was given that can be one.
func pfcRateKnown(rate float64) bool { return rate > 0 && !math.IsInf(rate, 0) }
