package analysis

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"github.com/rocescope/rocescope/analysis/counters"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// batchSize is how many packets travel to a shard at a time: enough to pay for
// the hand-over, few enough to stay in the cache.
const batchSize = 512

// queued is how many batches wait for a shard at most. Where there are few, reader
// and shards wait for each other after every one of them, and each time wander from
// core to core, away from what they had in the caches: with 4 in place of 16 the
// same analysis took a third longer on two cores.
const queued = 16

// atATime is how many frames are read at a time at most.
const atATime = 64

// input is a batch on its way to a shard.
type input struct {
	packets []decode.Packet
	cms     []CMAt
	goesOn  marks
	began   int64 // time of the capture's first frame
	noise   []noiseFrom
}

func (in *input) reset() {
	in.packets, in.cms, in.goesOn = in.packets[:0], in.cms[:0], marks{}
}

// marks has a bit for each packet of a batch that goes on with the message of the
// one before it.
type marks [batchSize / 64]uint64

// set marks n packets, atATime at most, from an index on.
func (m *marks) set(from, n int) {
	word, bit := uint(from)/64, uint(from)%64
	ones := uint64(1)<<n - 1
	m[word] |= ones << bit
	if bit+uint(n) > 64 {
		m[word+1] |= ones >> (64 - bit)
	}
}

// train returns up to where, from the packet at index i on, each packet goes on with
// the message of the one before.
func (m *marks) train(i int) int {
	for i++; i < batchSize; i = i | 63 + 1 {
		if n := bits.TrailingZeros64(^(m[i/64] >> (i % 64))); n < 64-i%64 {
			return i + n
		}
	}
	return i
}

// Run reads src to its end, or until ctx is done, and returns what was counted.
// The report has no findings yet: see Judge. An error of src other than io.EOF
// is returned together with the report of all before it.
func Run(ctx context.Context, src Source, as []*Analyzer, cfg *Config) (*report.Report, error) {
	e := newEngine(as, cfg)
	err := e.read(ctx, src)
	r, merr := e.finish()
	return r, errors.Join(err, merr)
}

// Judge sets the findings of a report, and what the hosts' counters should read,
// be it fresh, merged or read back. Judges only read the report, so that several
// are at work at a time.
func Judge(r *report.Report, as []*Analyzer, cfg *Config) {
	said := make([][]report.Finding, len(as))
	free := make(chan struct{}, max(1, cfg.Workers))
	var done sync.WaitGroup
	do := func(f func()) {
		free <- struct{}{}
		done.Go(func() {
			f()
			<-free
		})
	}
	var expected []report.HostCounters
	do(func() { expected = counters.Expect(r) })
	for i, a := range as {
		if a.Judge != nil {
			do(func() { said[i] = a.Judge(r, cfg) })
		}
	}
	done.Wait()
	r.Findings = append([]report.Finding{}, slices.Concat(said...)...)
	report.SortFindings(r.Findings)
	r.Counters = expected
}

// engine decodes frames and feeds the shards, by way of the overseer.
type engine struct {
	cfg      *Config
	decoder  decode.Decoder
	shards   []*shard
	queues   []chan *input
	filling  []*input
	at       int // the shard of the frame before
	view     *view
	views    chan *view
	inputs   sync.Pool
	free     sync.Pool // views
	done     sync.WaitGroup
	watch    []Watcher
	overseer overseer
	dcbs     dcbs
	began    int64 // time of the first frame
	begun    bool
}

func newEngine(as []*Analyzer, cfg *Config) *engine {
	e := &engine{cfg: cfg, decoder: decode.Decoder{Port: cfg.Port}, views: make(chan *view, queued), dcbs: dcbs{}}
	for _, a := range as {
		if a.Watch != nil {
			e.watch = append(e.watch, a.Watch(cfg))
		}
	}
	e.overseer = overseer{lookout: NewLookout(e.watch...), wire: newWire(), clock: clock{limits: &cfg.Limits}}
	e.inputs.New = func() any { return &input{packets: make([]decode.Packet, 0, batchSize)} }
	e.free.New = func() any { return new(view) }
	e.view = new(view)
	for range max(1, cfg.Workers) {
		s, q := newShard(cfg, as), make(chan *input, queued)
		e.shards, e.queues = append(e.shards, s), append(e.queues, q)
		e.filling = append(e.filling, e.inputs.Get().(*input))
		e.done.Go(func() {
			for in := range q {
				s.process(in)
				in.reset()
				e.inputs.Put(in)
			}
		})
	}
	e.done.Go(e.oversee)
	return e
}

// oversee has the overseer see what was read, and gives it to the shards.
func (e *engine) oversee() {
	for v := range e.views {
		e.overseer.see(v)
		if v.in != nil {
			v.in.noise = e.overseer.clock.known
			e.queues[v.to] <- v.in
		}
		v.n, v.in, v.goesOn = 0, nil, marks{}
		e.free.Put(v)
	}
	for _, q := range e.queues {
		close(q)
	}
}

// read decodes each frame where it was read and hands it on by value.
func (e *engine) read(ctx context.Context, src Source) error {
	some, frames, last := someOf(src), make([]decode.Frame, atATime), uint64(0)
	for ctx.Err() == nil {
		n, err := some.ReadSome(frames)
		for i := 0; i < n; {
			if on := e.goOn(frames[i:n]); on > 0 {
				i += on
				continue
			}
			e.frame(&frames[i])
			i++
		}
		if n > 0 {
			last = frames[n-1].Number
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading on after frame %d: %w", last, err)
		}
	}
	return ctx.Err()
}

// goOn decodes frames that go on with the message of the one before, where that one
// is in the batch that is filled, and returns how many.
func (e *engine) goOn(frames []decode.Frame) int {
	in, v := e.filling[e.at], e.view
	from := len(in.packets)
	if from == 0 {
		return 0
	}
	room := min(len(frames), batchSize-from, batchSize-v.n)
	n := e.decoder.GoOn(frames[:room], in.packets[from:from+room])
	if n == 0 {
		return 0
	}
	in.packets = in.packets[:from+n]
	in.goesOn.set(from, n)
	v.goesOn.set(v.n, n)
	ps, seen := in.packets[from:], v.frames[v.n:v.n+n]
	for i := range seen {
		seen[i] = &ps[i]
	}
	v.n += n
	e.filled()
	return n
}

// frame decodes a frame into the batch of the shard that has the frame before it,
// where most frames belong, since data comes in trains.
func (e *engine) frame(f *decode.Frame) {
	in := e.filling[e.at]
	n := len(in.packets)
	in.packets = in.packets[:n+1]
	p := &in.packets[n]
	e.decoder.Decode(f, p)
	if !e.begun {
		e.began, e.begun = p.Time, true
	}
	p = e.place(in, p, f)
	v := e.view // place may have passed one on
	v.frames[v.n] = p
	v.n++
	e.filled()
}

// filled hands on what is full.
func (e *engine) filled() {
	if e.view.n == batchSize {
		e.pass(nil, 0)
	}
	if len(e.filling[e.at].packets) == batchSize {
		e.send(e.at)
	}
}

// pass hands what is to be seen to the overseer, with the batch of a shard.
func (e *engine) pass(in *input, to int) {
	e.view.in, e.view.to = in, to
	e.views <- e.view
	e.view = e.free.Get().(*view)
}

// place moves a packet to the shard that it belongs to, and looks at what concerns
// more than that one.
func (e *engine) place(in *input, p *decode.Packet, f *decode.Frame) *decode.Packet {
	to := 0
	if p.Status == decode.RoCE && len(e.shards) > 1 {
		to = bucketOf(p) % len(e.shards)
	}
	if to != e.at {
		in.packets = in.packets[:len(in.packets)-1]
		e.at, in = to, e.filling[to]
		in.packets = append(in.packets, *p)
		p = &in.packets[len(in.packets)-1]
	}
	switch {
	case p.Status == decode.LLDP:
		e.dcbs.learn(p, f)
	case p.Status == decode.PFC || p.Status == decode.Pause:
		e.tellAll(p)
	case p.Status == decode.RoCE && p.QP == 1 && p.HasExt && int(p.PayloadOff) <= len(f.Data):
		if m, ok := managementOf(p, f.Data); ok {
			in.cms = append(in.cms, CMAt{len(in.packets) - 1, m})
		}
	}
	return p
}

// managementOf reads the message that a packet to the management queue pair
// carries, or what the capture left of it.
func managementOf(p *decode.Packet, data []byte) (ib.CM, bool) {
	mad := data[p.PayloadOff:min(len(data), int(p.PayloadOff)+int(p.PayloadLen))]
	if m, ok := ib.ParseCM(mad); ok || len(mad) == int(p.PayloadLen) {
		return m, ok
	}
	return ib.ParseCutCM(mad)
}

// tellAll hands a pause, which concerns every pair of hosts, to all shards but
// the first, which has it.
func (e *engine) tellAll(p *decode.Packet) {
	for i := 1; i < len(e.shards); i++ {
		e.filling[i].packets = append(e.filling[i].packets, *p)
		if len(e.filling[i].packets) == batchSize {
			e.send(i)
		}
	}
}

func (e *engine) send(shard int) {
	if len(e.filling[shard].packets) == 0 {
		return
	}
	e.filling[shard].began = e.began
	e.pass(e.filling[shard], shard)
	e.filling[shard] = e.inputs.Get().(*input)
}

// finish waits for the shards and adds up their reports.
func (e *engine) finish() (*report.Report, error) {
	for i := range e.filling {
		e.send(i)
	}
	e.pass(nil, 0)
	close(e.views)
	e.done.Wait()
	own := &report.Report{Schema: report.Schema, Totals: e.overseer.totals()}
	e.overseer.wire.report(own, e.dcbs)
	e.overseer.clock.report(own)
	for _, w := range e.watch {
		w.Report(own)
	}
	for _, s := range e.shards {
		s.times = times{e.overseer.clock.known, math.MaxUint64}
	}
	e.watch, e.overseer = nil, overseer{}
	return report.Join(append(e.reports(own), own)...)
}

// manyRows is from how many rows on what has been given up is collected at once.
const manyRows = 1 << 13

// reports returns what each shard has counted, and gives up the shards. All rows
// come to stand in one array, that of sum.
func (e *engine) reports(sum *report.Report) []*report.Report {
	n := 0
	for _, s := range e.shards {
		e.done.Go(s.finish)
	}
	e.done.Wait()
	for _, s := range e.shards {
		s.dismiss()
		n += len(s.rows)
	}
	if n > manyRows {
		runtime.GC() // the report needs as much again
	}
	sum.Flows = make([]report.Flow, 0, n)
	out := make([]*report.Report, len(e.shards))
	from := 0
	for i, s := range e.shards {
		to := from + len(s.rows)
		mine := sum.Flows[from:from:to]
		e.done.Go(func() { out[i] = s.rowsIn(mine, true) })
		from = to
	}
	e.done.Wait()
	for i, s := range e.shards {
		e.done.Go(func() { s.observed(out[i], true) })
	}
	e.done.Wait()
	e.shards = nil
	for _, r := range out { // closes gaps where suspects were left out
		sum.Flows = append(sum.Flows, r.Flows...)
		r.Flows = nil
	}
	return out
}

// dismiss gives up what nothing but further packets asks for.
func (s *shard) dismiss() {
	for _, r := range s.rows {
		b := r.bundle
		b.rows, b.asking, b.held, b.conns, b.early = [2][]*row{}, [2][]*row{}, nil, nil, nil
		r.peer, r.cand, r.win, r.req, r.rsp = nil, nil, window{}, requests{}, responses{}
	}
	s.bundles, s.udSenders, s.index, s.last, s.batch = nil, nil, rowTable{}, nil, Batch{}
}

// report returns what the shard has counted so far.
func (s *shard) report() *report.Report {
	r := s.rowsIn(nil, false)
	s.observed(r, false)
	return r
}

// rowsIn begins a report with the shard's rows, in memory that is given. At the
// end it gives up what has been reported, as observed does, piece by piece: the
// report may be as large.
func (s *shard) rowsIn(flows []report.Flow, end bool) *report.Report {
	r := &report.Report{Schema: report.Schema, Totals: s.totals, Flows: slices.Grow(flows, len(s.rows))}
	s.suspects = suspectsOf(s.rows)
	for i, row := range s.rows {
		f := row.report()
		if row == s.other {
			f = row.count.report()
			f.Src, f.Dst = report.Other, report.Other
		}
		r.Flows = append(r.Flows, f)
		if end {
			s.rows[i] = nil
		}
	}
	if end {
		s.rows, s.other = nil, nil
	}
	return r
}

// observed adds what the observers have seen of these rows.
func (s *shard) observed(r *report.Report, end bool) {
	for i, o := range slices.Backward(s.observers) { // those last in the alphabet keep much and say little
		o.Report(r)
		if end {
			s.observers[i] = nil
		}
	}
	s.attach(r)
	r.Flows = without(r.Flows, s.suspects)
	for i := range r.Flows {
		f := &r.Flows[i]
		r.Totals.Data += f.DataFrames
		r.Totals.Acks += f.Acks
	}
}

// suspectsOf returns the rows that the report leaves out, in order.
func suspectsOf(rows []*row) (ids []FlowID) {
	for _, r := range rows {
		if r.suspect {
			ids = append(ids, r.id)
		}
	}
	return ids
}

// without takes rows out, in place.
func without(flows []report.Flow, ids []FlowID) []report.Flow {
	if len(ids) == 0 {
		return flows
	}
	kept := flows[:0]
	for i := range flows {
		if len(ids) > 0 && int(ids[0]) == i {
			ids = ids[1:]
			continue
		}
		kept = append(kept, flows[i])
	}
	return kept
}

// seed is fixed, so that the cap on rows strikes the same rows in every run.
const seed = 0x9E3779B97F4A7C15

// Buckets is into how many parts BucketOf divides the pairs of addresses.
const Buckets = buckets

// BucketOf returns the part of all pairs of addresses that a packet's pair
// belongs to, in either direction. A shard has whole parts, so that a cap on what
// is kept of each strikes the same whatever the number of shards.
func BucketOf(p *decode.Packet) int { return bucketOf(p) }

// bucketOf hashes the unordered pair of addresses.
func bucketOf(p *decode.Packet) int {
	h := mixed(&p.Src) + mixed(&p.Dst) // addition does not mind the order of the two
	h ^= h >> 31
	h *= seed
	return int(h >> 58)
}

// mixed hashes an address.
func mixed(a *[16]byte) uint64 {
	hi, lo := bits.Mul64(binary.LittleEndian.Uint64(a[:8])^seed, binary.LittleEndian.Uint64(a[8:])^bits.RotateLeft64(seed, 32))
	return hi ^ lo
}
