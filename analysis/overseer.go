package analysis

import (
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
)

// view is frames on their way to the overseer, in the order of the capture, and the
// batch of a shard that goes on once it has seen them.
type view struct {
	frames [batchSize]*decode.Packet
	goesOn marks
	n      int
	to     int    // the shard
	in     *input // nil: none
}

// overseer sees all frames in the order of the capture, before the shards do, and
// beside the goroutine that reads: it counts them, and shows them to the watchers.
type overseer struct {
	lookout *Lookout
	wire    *wire
	clock   clock
	seen    [decode.NumStatus][4]int64 // frames, by RoCE's version
	cut     int64                      // by mirrors
	back    int64                      // in time
	latest  int64                      // the highest time so far
}

// see takes the frames of a view, none of which is needed behind it.
func (o *overseer) see(v *view) {
	for i := 0; i < v.n; {
		to := min(v.goesOn.train(i), v.n)
		train := v.frames[i:to]
		o.count(train)
		o.clock.watch(train)
		o.lookout.Add(train[0])
		o.lookout.goOn(train[1:])
		i = to
	}
	o.lookout.Show()
}

// count takes frames of a train.
func (o *overseer) count(train []*decode.Packet) {
	n, p := int64(len(train)), train[0]
	o.seen[p.Status][p.Version&3] += n
	for _, p := range train {
		if p.Time < o.latest {
			o.back++
		} else {
			o.latest = p.Time
		}
	}
	if p.CutByMirror {
		o.cut += n
	}
	if p.Status != decode.RoCE || p.Odd != 0 || p.Encap != 0 || p.HasGRESeq {
		for _, p := range train {
			o.wire.count(p)
		}
	}
}

// totals returns what has been counted.
func (o *overseer) totals() report.Totals {
	of := func(s decode.Status) (n int64) {
		for _, v := range o.seen[s] {
			n += v
		}
		return n
	}
	t := report.Totals{
		Backward: o.back, MirrorCut: o.cut,
		RoCE: of(decode.RoCE), NativeIB: o.seen[decode.RoCE][0], RoCEv1: o.seen[decode.RoCE][1], RoCEv2: o.seen[decode.RoCE][2],
		PFC: of(decode.PFC), Pause: of(decode.Pause), UET: of(decode.UET),
		Fragments: of(decode.Fragment), CutShort: of(decode.Truncated), Malformed: of(decode.Malformed),
		RoCEv15: of(decode.RoCEv15), IWARP: of(decode.IWARP),
	}
	t.Other = of(decode.Other) + of(decode.LLDP) + t.RoCEv15 + t.IWARP
	t.Frames = t.RoCE + t.PFC + t.Pause + t.UET + t.Fragments + t.CutShort + t.Malformed + t.Other
	return t
}
