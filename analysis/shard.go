package analysis

import (
	"slices"

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
	index     rowTable
	last      *row // the newest packet's
	bundles   map[bundleKey]*bundle
	rowCount  [buckets]int // rows in each bucket of address pairs
	room      [buckets]recentRoom
	udSenders map[udSender]*row
	evidence  evidence
	totals    report.Totals
	began     int64 // time of the capture's first frame
	times     times
	held      int // packets that wait, in all bundles
	spare     [][]heldPacket
	atOnce    int      // packets taken with others of their train
	other     *row     // what does not fit under the cap
	suspects  []FlowID // rows that the report at hand leaves out
	warmed    uint32   // so that what was read for nothing is read all the same
}

// buckets divides the pairs of addresses, whatever the number of shards, so
// that the cap on rows strikes the same rows in every run.
const buckets = 64

func newShard(cfg *Config, as []*Analyzer) *shard {
	s := &shard{
		cfg:       cfg,
		bundles:   make(map[bundleKey]*bundle),
		udSenders: make(map[udSender]*row),
	}
	for i := range s.room {
		s.room[i] = recentAll
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
	s.began, s.times.known = in.began, in.noise
	b.Packets = in.packets
	b.Flow, b.Peer, b.Verdict = sized(b.Flow, len(b.Packets)), sized(b.Peer, len(b.Packets)), sized(b.Verdict, len(b.Packets))
	b.CMs, b.Streaks, b.Events = in.cms, b.Streaks[:0], b.Events[:0]
	if len(s.rows) > warmRows {
		s.warm(in)
	}
	cms := in.cms
	for i := 0; i < len(b.Packets); {
		end := min(in.goesOn.train(i), len(b.Packets))
		var m *ib.CM
		if len(cms) > 0 && cms[0].Index == i {
			m, cms = &cms[0].CM, cms[1:]
		}
		flow, v := s.packet(&b.Packets[i], m)
		s.judged(i, 1, flow, v)
		b.streak(i, runOf(b.Packets[i:i+1]))
		for i++; i < end; {
			i = s.restOf(i, end)
		}
	}
	s.deliver()
}

// judged notes row and verdict of n packets of the batch, from index i on.
func (s *shard) judged(i, n int, flow FlowID, v Verdict) {
	b, peer := &s.batch, s.peerOf(flow)
	fill(b.Flow[i:i+n], flow)
	fill(b.Peer[i:i+n], peer)
	fill(b.Verdict[i:i+n], v)
}

func fill[T any](list []T, v T) {
	for i := range list {
		list[i] = v
	}
}

// sized returns a list of n elements, in the memory of one where it has room.
func sized[T any](list []T, n int) []T { return slices.Grow(list[:0], n)[:n] }

// restOf takes the packets of the batch from index i on, up to end, which go on with
// the message of the one before: those that tell nothing else at once, or else a
// single one. It returns how far it came.
func (s *shard) restOf(i, end int) int {
	b := &s.batch
	if flow := b.Flow[i-1]; flow != NoFlow && b.Verdict[i-1] == 0 {
		if u := s.goOn(s.rows[flow], b.Packets[i:end]); u.n > 0 {
			s.judged(i, u.n, flow, 0)
			b.streak(i, u)
			s.atOnce += u.n
			return i + u.n
		}
	}
	flow, v := s.packet(&b.Packets[i], nil)
	s.judged(i, 1, flow, v)
	b.streak(i, runOf(b.Packets[i:i+1]))
	return i + 1
}

// peerOf returns the row that a row is paired with.
func (s *shard) peerOf(id FlowID) FlowID {
	if id == NoFlow || s.rows[id].peer == nil {
		return NoFlow
	}
	return s.rows[id].peer.id
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
	if m != nil && !m.Cut {
		s.cm(r.bundle, r.dir, m)
	}
	s.times.frame = p.Frame
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
		back := r.sawRequest(p)
		v = s.place(r, p)
		if back && v&Copy == 0 && r.peer == nil {
			r.steppedBack(p)
		}
	case r.reliable() && p.Op.Is(ib.IsResponse):
		v = s.respond(r, p)
	case p.Op.Is(ib.IsRequest) && p.QP > 1:
		v = s.unreliable(r, p)
	default:
		v = s.management(r, p)
	}
	if v&held == 0 {
		r.tally(p, v)
	}
	return v &^ held
}

// management takes a packet of the management queue pairs, which are left out of
// loss.
func (s *shard) management(r *row, p *decode.Packet) Verdict {
	q := &r.req
	if s.isCopy(r, &q.recent, &q.ids, p) {
		return Copy
	}
	q.ids.newest(p.IPID, false)
	q.recent.put(p, 0, p.PSN, r.bundle.room)
	r.countMessage(p)
	return 0
}

// tally counts a packet that has been judged.
func (r *row) tally(p *decode.Packet, v Verdict) {
	if v&Copy != 0 {
		r.count.copied(&r.twice)
	} else {
		r.countFirst(p)
	}
}

// place follows a request, now or once its partner is known.
func (s *shard) place(r *row, p *decode.Packet) Verdict {
	if b := r.bundle; (len(b.held) > 0 || b.unsure > 0 && r.peer == nil) && s.copyOfHeld(r, p) {
		return Copy
	}
	if s.hold(r, p) {
		return held
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
		return held
	}
	return s.news(g, p)
}

// news applies a response to the requests it answers.
func (s *shard) news(g *row, p *decode.Packet) Verdict {
	r := g.peer
	if r == nil {
		if p.IsSequenceNAK() {
			g.bundle.keepNAK(g, p)
		}
		return 0
	}
	if rec := r.req.rec; rec != nil && len(rec.tent) > 0 && !p.PSN.Before(rec.tent[0].PSN) {
		s.decide(r, nil) // answered, so it has arrived
	}
	var v Verdict
	if p.Op.Is(ib.IsReadResponse) {
		v = s.readResponse(r, g, p)
	} else if p.Op.Is(ib.IsAck | ib.IsAtomicAck) {
		s.completeReads(r, g, p.PSN, p)
	}
	s.answer(r, g, p)
	return v
}

// rowOf returns the packet's row, making it where needed. A packet whose ICRC
// is bad and which does not continue its row belongs to none: its numbers may
// be the damage.
func (s *shard) rowOf(p *decode.Packet) (*row, Verdict) {
	r := s.find(p)
	if r == nil {
		return s.firstOf(p, hashOf(p)), 0
	}
	hash := r.hash // tags have no part in it
	tag, bad := r.bundle.tags.number(p, r.dir), p.ICRC == decode.ICRCBad
	if r.tag != tag && !r.bundle.tags.split && !bad && !r.likeRow(p) {
		s.splitTags(r.bundle)
		if r = s.index.find(hash, p); r == nil {
			return s.firstOf(p, hash), 0
		}
	}
	if bad && !r.fits(p) {
		return nil, Stray
	}
	if r.transport != ib.UD && p.Op.Is(ib.IsRequest) && s.reused(r, p) {
		s.retireRow(r)
		return s.firstOf(p, hash), 0
	}
	r.suspect = false
	return r, 0
}

// find returns the row of a packet, nil where it has none yet. Data comes in
// trains, so the row of the last packet is asked first.
func (s *shard) find(p *decode.Packet) *row {
	if r := s.last; r != nil && !r.retired && r.takes(p) {
		return r
	}
	s.last = s.index.find(hashOf(p), p)
	return s.last
}

// firstOf makes the row of a packet that has none.
func (s *shard) firstOf(p *decode.Packet, hash uint32) *row {
	bk, dir := keyOf(p)
	b := s.bundles[bk]
	if b == nil {
		if s.full(bucketOf(p)) {
			return s.otherRow()
		}
		b = &bundle{times: &s.times, id: uint32(len(s.bundles)), addr: [2][16]byte{bk.lo, bk.hi}, room: &s.room[bucketOf(p)], first: p.Time, vni: p.VNI, tenant: bk.tenant != 0}
		s.bundles[bk] = b
	}
	tag := b.tags.number(p, dir)
	return s.newRow(p, &row{bundle: b, dir: dir, vlan: b.tags.key(tag), tag: tag, hash: hash})
}

// fits reports whether a packet with a bad ICRC continues its row.
func (r *row) fits(p *decode.Packet) bool {
	d, known := r.ahead(p)
	return !known || -1<<16 < d && d < 1024
}

// likeRow reports whether a packet's PSN lies in the neighbourhood of those that
// the row has seen, as far as that is known.
func (r *row) likeRow(p *decode.Packet) bool {
	const near = 1 << 16
	d, known := r.ahead(p)
	return !known || -near < d && d < near
}

// ahead returns how far a packet's PSN lies ahead of the highest one of the
// sequence that it belongs to; not known while that sequence is not.
func (r *row) ahead(p *decode.Packet) (d int32, known bool) {
	w := &r.win
	if p.Op.Is(ib.IsResponse) {
		if r.peer == nil {
			return 0, false
		}
		w = &r.peer.win
	}
	if !w.set || p.Op == ib.CNP {
		return 0, false
	}
	return p.PSN.Sub(w.high), true
}

// newRow fills in a new row from its first packet, and gives it its place.
func (s *shard) newRow(p *decode.Packet, r *row) *row {
	bucket := bucketOf(p)
	if s.full(bucket) {
		return s.otherRow()
	}
	s.rowCount[bucket]++
	r.id, r.version, r.transport, r.qp = FlowID(len(s.rows)), p.Version, rowTransport(p.Op), p.QP
	r.suspect = p.ICRC == decode.ICRCBad
	if r.transport == ib.UD {
		r.srcQP = p.SrcQP
	}
	s.rows = append(s.rows, r)
	s.index.add(r)
	r.bundle.rows[r.dir] = append(r.bundle.rows[r.dir], r)
	switch {
	case r.transport != ib.UD:
		s.byConn(r)
	case r.knowsSender():
		r.peerQP, r.peerBy = r.srcQP, byDatagram
		s.shareUD(r)
	}
	return r
}

// full reports whether a bucket of address pairs has its share of the rows.
func (s *shard) full(bucket int) bool {
	return s.rowCount[bucket] >= max(1, s.cfg.MaxFlows/buckets)
}

func (s *shard) otherRow() *row {
	if s.other == nil {
		s.other = &row{id: FlowID(len(s.rows)), bundle: &bundle{}}
		s.rows = append(s.rows, s.other)
	}
	return s.other
}

// warmRows is from how many rows on those of a batch are asked for at once, before
// they are used: fewer stay in the cache.
const warmRows = 1 << 14

// warm reads what the packets of a batch will ask for first, row by row with
// nothing that waits for it, so that the memory serves many at a time.
func (s *shard) warm(in *input) {
	var sum uint32
	for i := 0; i < len(in.packets); {
		p, to := &in.packets[i], min(in.goesOn.train(i), len(in.packets))
		if p.Status == decode.RoCE {
			if r := s.index.likely(hashOf(p)); r != nil {
				sum += r.warm(p, to-i)
			}
		}
		i = to
	}
	s.warmed = sum
}

// warm reads what n packets of a message will ask for, of every line of memory a word.
func (r *row) warm(p *decode.Packet, n int) uint32 {
	sum := r.bundle.id + uint32(r.bundle.unsure) + uint32(r.count.Frames) + uint32(r.count.LastNs) + uint32(r.win.high) + r.win.gaps +
		uint32(r.req.high) + uint32(r.req.newest) + uint32(r.rsp.high) + r.tries
	seen := &r.rsp.recent
	if p.Op.Is(ib.IsRequest) {
		seen = &r.req.recent
	}
	sum += seen.warm(p.PSN, n)
	if rec := r.req.rec; rec != nil {
		sum += uint32(rec.reads.from) + uint32(rec.lastResend) + uint32(rec.pass.start)
	}
	if m := r.req.sent; m != nil {
		sum += uint32(m.want)
	}
	if r.peer != nil {
		q := &r.peer.req
		sum += uint32(q.una) + uint32(q.newest) + q.recent.warm(p.PSN, 1)
	}
	return sum
}

// warm reads the slots of n packets, more than two to a line of memory.
func (c *recent) warm(psn ib.PSN, n int) (sum uint32) {
	for i := 0; i < min(n, len(c.slots)); i += 2 {
		sum += uint32(c.slots[c.first(psn.Add(int32(i)))].psnOp)
	}
	return sum
}
