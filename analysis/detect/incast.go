package detect

import (
	"math/bits"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/decode"
)

// Burst watches what arrives at each receiver from everywhere at once.
var Burst = add(analysis.Analyzer{
	Name: "incast",
	Doc: "Do many senders hit one receiver at a time, and what does that cost?\n\n" +
		"Rate and number of senders have their peaks in windows of 10 µs, 100 µs and 1 ms. A burst is data towards one\n" +
		"receiver from several senders without a pause between. Many senders at once are how collectives work and no\n" +
		"fault; marks, losses or pauses that begin within the burst and meet several of its senders are its price.",
	Rules: burstRules,
	New:   newBurstLoss,
	Watch: newBurst,
	Judge: judgeBurst,
})

// What bounds a burst: it ends with a silence of burstGap, and after burstMost in
// any case, so that long transfers are judged piece by piece. It needs
// burstSenders to be one.
//
// A queue that is full takes next to nothing from anybody, so that within
// burstMoment most senders lose; chance losses lie all over the burst.
const (
	burstMoment  = 25_000    // ns
	burstGap     = 100_000   // ns
	burstMost    = 1_000_000 // ns
	burstSenders = 3
)

// burst is the whole capture's receivers. They, and pairs of hosts, are capped:
// what comes beyond counts together.
type burst struct {
	index     burstIndex
	receivers []receiver
	senders   []sender
	kept      []keptRun
	beyond    int64 // data frames of receivers beyond the cap

	pauses    int64 // frames that begin a pause
	pauser    [6]byte
	lastPause int64
}

// sender is what one host sends in the current window of sentWindow, wherever to,
// and the most in any: no more than its link carries. A message is often too short
// to fill a longer one.
type sender struct{ at, bytes, peak int64 }

const sentWindow = 2_000 // ns, a part of the shortest of burstWindows

// receiver is what arrives at one address.
type receiver struct {
	addr          [16]byte
	senders       int // distinct ones, of the first few exactly
	mac           [6]byte
	frames, bytes int64
	ce, naks      int64
	windows       [len(burstWindows)]window
	peaks         [len(burstWindows)]peak
	run           run
	bursts        int64 // runs of several senders
	hurt          int64 // bursts with marks, NAKs or pauses
	inBursts      struct{ frames, ce, naks int64 }
	kept          [2]int8 // bursts: without and with harm
}

// burstWindows are the lengths of the windows in ns, each a multiple of the one
// before. Windows lie on multiples of their length.
var burstWindows = [...]struct {
	ns   int64
	name string
}{{10_000, "10us"}, {100_000, "100us"}, {1_000_000, "1ms"}}

// window is the current one of its length. Senders are bits of a set.
type window struct {
	at      int64 // its number since the epoch
	bytes   int64
	senders uint64
}

type peak struct{ bytes, senders int64 }

// run is data towards a receiver without a pause between.
type run struct {
	start, last       int64
	crowd             int64  // when the senders became enough of them for a burst
	first, end        uint64 // frames
	frames, bytes     int64
	ce, naks, pauses  int64
	senders           uint64
	marked, refused   uint64 // of the senders
	mark, nak, pause  int64  // the time of the first of each
	markAt, nakAt     uint64 // its frame
	pauser            [6]byte
	paused            int64 // pauses in the capture so far
	pausedBefore, set bool
}

// keptRun is a burst that the report tells of.
type keptRun struct {
	receiver int32
	run
}

func newBurst(*analysis.Config) analysis.Watcher { return &burst{} }

func (b *burst) Watch(ts []analysis.Train, _ analysis.Sorts) {
	for i := range ts {
		switch t := &ts[i]; t.Sort {
		case analysis.Data, analysis.Reply:
			b.data(t)
		case analysis.Refusal:
			for _, p := range t.Packets {
				b.refused(p, t)
			}
		case analysis.Stop:
			for _, p := range t.Packets {
				b.paused(p)
			}
		}
	}
}

func (b *burst) data(t *analysis.Train) {
	id := b.index.receiver(t, &b.receivers)
	if id < 0 {
		b.beyond += int64(len(t.Packets))
		return
	}
	bit := b.index.sender(t, &b.receivers[id])
	if b.whole(t, &b.receivers[id].run) {
		b.part(t, t.Packets, t.Bytes, id, bit)
		return
	}
	for i, p := range t.Packets {
		b.part(t, t.Packets[i:i+1], int64(p.Len), id, bit)
	}
}

// whole reports whether nothing ends between the frames of a train: no window,
// and no run.
func (b *burst) whole(t *analysis.Train, u *run) bool {
	first, last := t.First().Time, t.Last().Time
	if first == last {
		return true
	}
	return first/burstWindows[0].ns == last/burstWindows[0].ns && (u.over(first) || uint64(last-u.start) <= burstMost)
}

// over reports whether data at a time begins a run anew: unsigned, so that time
// that runs backwards does, too.
func (u *run) over(ns int64) bool {
	return uint64(ns-u.last) > burstGap || uint64(ns-u.start) > burstMost || !u.set
}

// part takes frames of a train between which nothing ends.
func (b *burst) part(t *analysis.Train, ps []*decode.Packet, bytes int64, id int32, bit uint64) {
	r, p, n := &b.receivers[id], ps[0], int64(len(ps))
	r.frames += n
	r.bytes += bytes
	at := p.Time / burstWindows[0].ns
	if at != r.windows[0].at {
		r.roll(at)
	}
	b.sent(t.Src, ps, bytes)
	w := &r.windows[0]
	w.bytes += bytes
	w.senders |= bit
	u := &r.run
	if u.over(p.Time) {
		paused := uint64(p.Time-u.last) > burstGap
		b.end(id)
		u.begin(p, b, paused)
		r.mac = p.DstMAC
	}
	last := ps[len(ps)-1]
	u.last, u.end = last.Time, last.Frame
	u.frames += n
	u.bytes += bytes
	if u.senders&bit == 0 {
		u.senders |= bit
		if u.crowd == 0 && bits.OnesCount64(u.senders) == burstSenders {
			u.crowd = p.Time
		}
	}
	if p.ECN == decode.CE {
		r.ce += n
		u.marks(p, n, bit)
	}
	if u.paused != b.pauses {
		u.stopped(b)
	}
}

// begin starts a run anew. The next piece of a long one keeps when the crowd
// came: its queue has been filling since.
func (u *run) begin(p *decode.Packet, b *burst, paused bool) {
	crowd := u.crowd
	if paused {
		crowd = 0
	}
	*u = run{start: p.Time, first: p.Frame, crowd: crowd, paused: b.pauses, set: true, pausedBefore: b.pauses > 0 && p.Time-b.lastPause < burstMost}
}

// sent takes what a host sends. Those without a number share the first place.
func (b *burst) sent(host int32, ps []*decode.Packet, bytes int64) {
	if int(host)+1 >= len(b.senders) {
		b.senders = append(b.senders, make([]sender, int(host)+2-len(b.senders))...)
	}
	s := &b.senders[host+1]
	if at := ps[0].Time / sentWindow; at == ps[len(ps)-1].Time/sentWindow {
		s.add(at, bytes)
		return
	}
	for _, p := range ps {
		s.add(p.Time/sentWindow, int64(p.Len))
	}
}

func (s *sender) add(at, n int64) {
	if s.at != at {
		s.at, s.bytes = at, 0
	}
	s.bytes += n
	s.peak = max(s.peak, s.bytes)
}

// crowded reports whether what happens now may be the work of many senders.
func (u *run) crowded() bool { return u.crowd != 0 }

// marks takes n marked frames, the first of them.
func (u *run) marks(p *decode.Packet, n int64, bit uint64) {
	if !u.crowded() {
		return
	}
	if u.ce == 0 {
		u.mark, u.markAt = p.Time, p.Frame
	}
	u.ce += n
	u.marked |= bit
}

// stopped takes pauses between two packets of the run.
func (u *run) stopped(b *burst) {
	if !u.crowded() {
		u.paused, u.pausedBefore = b.pauses, true
		return
	}
	if u.pauses == 0 {
		u.pause, u.pauser = b.lastPause, b.pauser
	}
	u.pauses += b.pauses - u.paused
	u.paused = b.pauses
}

// refused takes a NAK from a receiver to one of its senders. Its burst may be
// just over.
func (b *burst) refused(p *decode.Packet, t *analysis.Train) {
	id, bit := b.index.refused(t)
	if id < 0 {
		return
	}
	r := &b.receivers[id]
	r.naks++
	u := &r.run
	if u.senders&bit == 0 || !u.crowded() || p.Time-u.last > burstMost {
		return
	}
	if u.naks == 0 {
		u.nak, u.nakAt = p.Time, p.Frame
	}
	u.naks++
	u.refused |= bit
}

func (b *burst) paused(p *decode.Packet) {
	on := p.Status == decode.Pause && p.Pause.Quanta[0] > 0
	for i, q := range p.Pause.Quanta {
		on = on || p.Status == decode.PFC && p.Pause.Enabled>>i&1 != 0 && q > 0
	}
	if on {
		b.pauses++
		b.pauser, b.lastPause = p.SrcMAC, p.Time
	}
}

// roll closes windows up to the one of the shortest length numbered at. Each
// adds to the next longer one.
func (r *receiver) roll(at int64) {
	for i := range r.windows {
		w, top := &r.windows[i], &r.peaks[i]
		top.bytes = max(top.bytes, w.bytes)
		top.senders = max(top.senders, int64(bits.OnesCount64(w.senders)))
		if i+1 < len(r.windows) {
			r.windows[i+1].bytes += w.bytes
			r.windows[i+1].senders |= w.senders
		}
		*w = window{at: at}
		if i+1 == len(r.windows) {
			break
		}
		if at /= burstWindows[i+1].ns / burstWindows[i].ns; at == r.windows[i+1].at {
			break
		}
	}
}

// How many bursts of a receiver are told of: of those that cost nothing in view,
// for a loss that only a timer shows may belong to one, and of those that did;
// and of all receivers, by which the report stays small.
var burstsKept = [2]int8{4, 8}

const burstsMost = 4096

// end counts the run of a receiver where it was a burst.
func (b *burst) end(id int32) {
	r := &b.receivers[id]
	harm, ok := r.finish()
	if !ok || r.kept[harm] >= burstsKept[harm] || len(b.kept) >= burstsMost {
		return
	}
	r.kept[harm]++
	b.kept = append(b.kept, keptRun{id, r.run})
}

// finish reports whether the run was a burst, and whether anything followed it.
func (r *receiver) finish() (harm int, ok bool) {
	u := &r.run
	if bits.OnesCount64(u.senders) < burstSenders {
		return 0, false
	}
	r.bursts++
	r.inBursts.frames += u.frames
	r.inBursts.ce += u.ce
	r.inBursts.naks += u.naks
	if u.ce > 0 || u.naks > 0 || u.pauses > 0 && !u.pausedBefore {
		r.hurt++
		return 1, true
	}
	return 0, true
}
