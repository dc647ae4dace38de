package analysis

import (
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// shard analyses the packets of some pairs of addresses, alone and in the
// order of the capture.
type shard struct {
	cfg       *Config
	observers []Observer
	batch     Batch
	rows      []*row
	index     map[rowKey]*row
	bundles   map[bundleKey]*bundle
	rowCount  [buckets]int // rows in each bucket of address pairs
	evidence  map[evidenceKey]*evidenceLog
	totals    report.Totals
	other     *row // what does not fit under the cap
}

// buckets divides the pairs of addresses, whatever the number of shards, so
// that the cap on rows strikes the same rows in every run.
const buckets = 64

func newShard(cfg *Config, as []*Analyzer) *shard {
	s := &shard{
		cfg:      cfg,
		index:    make(map[rowKey]*row),
		bundles:  make(map[bundleKey]*bundle),
		evidence: make(map[evidenceKey]*evidenceLog),
	}
	for _, a := range as {
		if a.New != nil {
			s.observers = append(s.observers, a.New(cfg))
		}
	}
	return s
}

// process takes a batch of decoded packets.
func (s *shard) process(in *input) {
	b := &s.batch
	b.Packets = in.packets
	b.Flow, b.Verdict, b.Events = b.Flow[:0], b.Verdict[:0], b.Events[:0]
	cms := in.cms
	for i := range b.Packets {
		var m *ib.CM
		if len(cms) > 0 && cms[0].index == i {
			m, cms = &cms[0].cm, cms[1:]
		}
		flow, v := s.packet(&b.Packets[i], m)
		b.Flow = append(b.Flow, flow)
		b.Verdict = append(b.Verdict, v)
	}
	s.deliver()
}

// deliver hands the batch to the observers.
func (s *shard) deliver() {
	for _, o := range s.observers {
		o.Observe(&s.batch)
	}
	s.takeNotes()
	if s.cfg.Tap != nil {
		s.cfg.Tap(&s.batch)
	}
}

// packet finds the row of a packet and follows its sequence.
func (s *shard) packet(p *decode.Packet, m *ib.CM) (FlowID, Verdict) {
	if p.Status != decode.RoCE {
		return NoFlow, 0
	}
	r, v := s.rowOf(p)
	if r == nil {
		return NoFlow, v
	}
	if m != nil {
		s.cm(r.bundle, r.dir, m)
	}
	v |= s.take(r, p)
	return r.id, v
}

// take counts a packet in its row and follows it.
func (s *shard) take(r *row, p *decode.Packet) Verdict {
	r.touch(p)
	if r == s.other {
		s.totals.FlowsNotTracked++
		return 0
	}
	var v Verdict
	switch {
	case p.Op == ib.CNP:
		v = s.repeated(r, p)
	case r.reliable() && p.Op.Is(ib.IsRequest):
		r.sawRequest(p)
		v = s.place(r, p)
	case r.reliable() && p.Op.Is(ib.IsResponse):
		v = s.respond(r, p)
	case p.Op.Is(ib.IsRequest) && p.QP > 1:
		v = s.unreliable(r, p)
	}
	if v&Copy != 0 {
		r.count.MirrorDuplicates++
		return v
	}
	r.countFirst(p)
	return v
}

// place follows a request, now or once its partner is known.
func (s *shard) place(r *row, p *decode.Packet) Verdict {
	if s.hold(r, p) {
		return 0
	}
	return s.request(r, p)
}

// respond takes a response packet of row g.
func (s *shard) respond(g *row, p *decode.Packet) Verdict {
	if s.isCopyOfResponse(g, p) {
		return Copy
	}
	if g.peer == nil {
		s.match(g, p)
	}
	if s.hold(g, p) {
		return 0
	}
	return s.news(g, p)
}

// follow takes a packet that was held.
func (s *shard) follow(r *row, p *decode.Packet) {
	if p.Op.Is(ib.IsRequest) {
		s.request(r, p)
	} else {
		s.news(r, p)
	}
}

// news applies a response to the requests it answers.
func (s *shard) news(g *row, p *decode.Packet) Verdict {
	r := g.peer
	if r == nil {
		return 0
	}
	var v Verdict
	if p.Op.Is(ib.IsReadResponse) {
		v = s.readResponse(r, g, p)
	} else if p.Op.Is(ib.IsAck) {
		s.completeReads(r, g, p.PSN, p)
	}
	s.answer(r, g, p)
	return v
}

// unreliable follows a UC or UD request: nothing answers it, nothing repairs it.
func (s *shard) unreliable(r *row, p *decode.Packet) Verdict {
	q := &r.req
	if !q.started {
		*q = requests{started: true, first: p.PSN, cur: p.PSN, high: p.PSN, una: p.PSN, known: true}
		q.ids.last = p.IPID
		return s.accept(r, p, 1, true)
	}
	if s.isCopy(r, &q.recent, &q.ids, p) {
		return Copy
	}
	ahead := p.PSN.Sub(q.cur)
	if ahead < 0 {
		if q.rec != nil {
			for i := range q.rec.holes.list {
				if h := &q.rec.holes.list[i]; h.fate == fateOpen && h.has(p.PSN) {
					return s.late(r, i, p)
				}
			}
		}
		return s.keepLate(r, p, 0)
	}
	if ahead > 0 {
		if r.transport == ib.UD && !q.steady() {
			q.cur, q.inOrder = p.PSN, 0 // nothing says yet that the PSNs count this row's packets
		} else {
			s.skip(r, q.cur, p)
		}
	} else {
		q.inOrder++
	}
	return s.accept(r, p, 1, true)
}

// steady reports whether a UD row has shown that its PSNs rise by one: the
// queue pair sends to nobody else.
func (q *requests) steady() bool { return q.inOrder >= steadySteps }

// steadySteps is how many packets in a row must follow each other.
const steadySteps = 3

// rowOf returns the packet's row, making it where needed. A packet whose ICRC
// is bad and which does not continue its row belongs to none: its numbers may
// be the damage.
func (s *shard) rowOf(p *decode.Packet) (*row, Verdict) {
	bk, dir := keyOf(p)
	b := s.bundles[bk]
	if b == nil {
		b = &bundle{id: uint32(len(s.bundles)), addr: [2][16]byte{bk.lo, bk.hi}}
		s.bundles[bk] = b
	}
	k := rowKey{bundle: b.id, qp: p.QP, dir: dir, transport: p.Op.Transport()}
	switch k.transport {
	case ib.UD:
		k.srcQP = p.SrcQP
	case ib.TransportCNP:
		k.transport = ib.RC
	}
	r := s.index[k]
	bad := p.ICRC == decode.ICRCBad
	if r != nil && bad && !r.fits(p) {
		return nil, Stray
	}
	if r != nil && r.reliable() && p.Op.Is(ib.IsRequest) && s.reused(r, p) {
		s.retireRow(r)
		r = nil
	}
	if r == nil {
		r = s.newRow(b, k, p)
		r.suspect = bad
		return r, 0
	}
	r.suspect = false
	return r, 0
}

// fits reports whether a packet with a bad ICRC continues its row.
func (r *row) fits(p *decode.Packet) bool {
	if p.Op.Is(ib.IsRequest) && r.win.set {
		d := p.PSN.Sub(r.win.high)
		return d < 1024 && d > -1<<16
	}
	return true
}

func (s *shard) newRow(b *bundle, k rowKey, p *decode.Packet) *row {
	bucket := bucketOf(p)
	if s.rowCount[bucket] >= max(1, s.cfg.MaxFlows/buckets) {
		return s.otherRow()
	}
	s.rowCount[bucket]++
	r := &row{id: FlowID(len(s.rows)), bundle: b, dir: k.dir, version: p.Version, transport: k.transport, qp: k.qp, srcQP: k.srcQP}
	s.rows = append(s.rows, r)
	s.index[k] = r
	b.rows[k.dir] = append(b.rows[k.dir], r)
	switch {
	case r.transport == ib.UD:
		r.peerQP, r.peerBy = r.srcQP, byDatagram
	default:
		s.byConn(r)
	}
	return r
}

func (s *shard) otherRow() *row {
	if s.other == nil {
		s.other = &row{id: FlowID(len(s.rows)), bundle: &bundle{}}
		s.rows = append(s.rows, s.other)
	}
	return s.other
}

func (r *row) key() rowKey {
	return rowKey{bundle: r.bundle.id, qp: r.qp, srcQP: r.srcQP, dir: r.dir, transport: r.transport}
}

// finish tells the fate of everything that is still open.
func (s *shard) finish() {
	s.batch = Batch{Events: s.batch.Events[:0]}
	for _, b := range s.bundlesInOrder() {
		s.settlePairs(b)
		b.unsure = 0
		s.release(b)
	}
	for _, r := range s.rows {
		if !r.retired {
			s.finishRow(r)
		}
	}
	s.deliver()
}

// bundlesInOrder returns the bundles by their number, so that what is told at
// the end comes in one order.
func (s *shard) bundlesInOrder() []*bundle {
	out := make([]*bundle, len(s.bundles))
	for _, b := range s.bundles {
		out[b.id] = b
	}
	return out
}

func (s *shard) finishRow(r *row) {
	rec := r.req.rec
	if rec != nil {
		s.settleRow(r, rec)
	}
	if q := &r.req; q.started && r.reliable() && q.high.After(q.una) {
		e := Event{Kind: Outstanding, Count: q.high.Sub(q.una), Flow: r.id, PSN: q.una, Time: q.last, Frame: q.lastFrame, Value: 1}
		if rec != nil && rec.pass.cause == RetransmittedTimeout && rec.pass.start == q.una {
			e.Value += int64(rec.pass.tries)
		}
		s.emit(e)
	}
}

// settleRow tells the fate of all that is open in a row.
func (s *shard) settleRow(r *row, rec *recovery) {
	if len(rec.tent) > 0 {
		s.decide(r, false)
	}
	if rec.pass.late {
		s.judgeLate(r, r.req.last)
	}
	s.judgeWaiting(r)
	for i := range rec.doubts {
		s.judgeDoubt(r, &rec.doubts[i])
	}
	rec.doubts = nil
	for i := range rec.holes.list {
		s.giveUp(r, &rec.holes.list[i])
	}
	if r.peer != nil {
		for i := range rec.reads.holes.list {
			s.giveUpResponse(r, r.peer, &rec.reads.holes.list[i])
		}
	}
	rec.holes, rec.reads = holes{}, reads{}
}
