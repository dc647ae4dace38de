package analysis

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// requests follows the request packets that travel in one row.
//
// They form passes. A pass starts at the first packet and at each resend that
// steps back; a PSN skipped within a pass is a hole. What becomes of a hole is
// told by what fills it: a packet of a later pass was sent again, one of the
// same pass came late, and a hole that the receiver acknowledged without
// either was never missing in the network, only in the capture.
type requests struct {
	started   bool
	known     bool   // cur is known; it is not behind a READ of unknown length
	unaSet    bool   // a response has been seen
	gobackn   bool   // this sender repeats what follows a resent packet
	cur       ib.PSN // the PSN the current pass expects next
	high      ib.PSN // one past the highest PSN sent
	una       ib.PSN // the first PSN that no response covers
	first     ib.PSN // the first PSN of the row
	wants     ib.PSN // the highest PSN that asked for an answer; first-1 where none did
	pass      uint16
	last      int64 // time of the last request
	lastFrame uint64

	lastFresh int64 // time of the last request that was sent the first time

	inOrder int   // UD: packets that followed their predecessor, since the last jump
	newest  int64 // time of the packet that was sent last, as far as IDs tell
	ids     idOrder
	recent  recent
	rec     *recovery // nil until something out of the ordinary happens
}

// recovery is what a sequence needs once something went wrong, or READs are
// under way: cold state, so that a clean row stays small.
type recovery struct {
	holes   holes
	pass    passInfo
	naks    nakList
	rnr     nakInfo
	doubts  []doubt         // sequence NAKs whose meaning the next answer tells
	tent    []decode.Packet // packets that are late or resent: what follows tells
	resends []resend        // of which no answer has come
	waiting []firstAnswer   // first answers that only a known round trip can judge
	trail   trail
	// duplicate is when a request last passed that the receiver may have had
	// already, and may answer again; 0 never.
	duplicate  int64
	lastResend int64 // when a request last passed again; 0 never
	reads      reads
}

// passInfo is the current resend pass.
type passInfo struct {
	number    uint16
	start     ib.PSN
	high      ib.PSN // the row's high when the pass started
	wants     ib.PSN // the row's wants when the pass started
	cause     EventKind
	time      int64
	frame     uint64
	sent      int   // packets resent in it
	tries     int32 // timeouts in a row that this pass ends, all from start
	explained bool  // why the timer ran out is known without looking at the answer
	answered  bool  // the first answer has been judged
	late      bool  // the answer had passed before, and may have come too late or never
}

// nakInfo is the last NAK of a kind.
type nakInfo struct {
	set   bool
	used  bool // a pass followed it
	psn   ib.PSN
	time  int64
	frame uint64
}

// nakList holds the last sequence NAKs, oldest first: a second one may arrive
// before the requester reacts to the first.
type nakList [4]nakInfo

// last returns the newest NAK; its set is false where there was none.
func (l *nakList) last() *nakInfo { return &l[len(l)-1] }

func (l *nakList) add(n nakInfo) {
	copy(l[:], l[1:])
	*l.last() = n
}

// pending returns the NAK that a pass starting at psn follows, or nil: the one
// that named it, else the newest that named one before it.
func (l *nakList) pending(psn ib.PSN) *nakInfo {
	var found *nakInfo
	for i := range l {
		n := &l[i]
		if !n.set || n.used || psn.Before(n.psn) {
			continue
		}
		if n.psn == psn {
			return n
		}
		found = n
	}
	return found
}

// doubt is a sequence NAK for a packet that had passed the tap: lost behind
// it, or overtaken there.
type doubt struct {
	psn      ib.PSN
	seen     uint64 // the frame of the packet
	nakFrame uint64
	nakTime  int64
	resent   int64 // when the packet passed again; 0 not yet
	answered int64 // when its arrival was acknowledged; 0 not yet
	answer   uint64
}

// resend is a resent packet that no answer covers yet.
type resend struct {
	psn      ib.PSN
	time     int64
	frame    uint64
	answered int64  // when an answer came, while no round trip was known
	answer   uint64 // its frame
}

const (
	resendsMax = 256
	doubtsMax  = 16
	tentMax    = 16
)

func (q *requests) recovery() *recovery {
	if q.rec == nil {
		q.rec = new(recovery)
	}
	return q.rec
}

// request takes a request packet of a reliable row.
func (s *shard) request(r *row, p *decode.Packet) Verdict {
	q := &r.req
	span, known := r.span(p)
	if !q.started {
		*q = requests{started: true, first: p.PSN, cur: p.PSN, high: p.PSN, una: p.PSN, wants: p.PSN.Add(-1), known: true}
		q.ids.last = p.IPID
		return s.accept(r, p, span, known)
	}
	if s.isCopy(r, &q.recent, &q.ids, p) {
		return Copy
	}
	if r.sentBefore(&q.ids, p) {
		return s.belated(r, p, span)
	}
	if q.rec != nil && len(q.rec.tent) > 0 && !s.settle(r, p) {
		return 0
	}
	return s.advance(r, p, span, known)
}

// advance places a packet that was sent after all before it.
func (s *shard) advance(r *row, p *decode.Packet, span int32, known bool) Verdict {
	q := &r.req
	fresh := !p.PSN.Before(q.high)
	switch ahead := p.PSN.Sub(q.cur); {
	case !q.known:
		if !fresh {
			s.newPass(r, p)
		}
	case ahead > 0:
		s.skip(r, q.cur, p)
	case ahead < 0:
		if q.pass == 0 && p.PSN.Before(q.first) && q.first.Sub(p.PSN) <= beforeFirst {
			s.lookBack(r, p)
		}
		if p.IPv6 || !r.idsRise() {
			if q.holeInPass(p.PSN) != nil {
				q.rec.tent = append(q.rec.tent, *p)
				return 0
			}
			if s.lateInPass(r, p) {
				s.emit(Event{Kind: Reordered, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame})
				s.resent(r, p, span)
				return s.keepLate(r, p, Resent)
			}
		}
		s.newPass(r, p)
	}
	return s.accept(r, p, span, known)
}

// lateInPass reports whether a packet behind the cursor is one that the current
// resend pass skipped over and that comes late: the pass has not shown it yet,
// and nothing asks for a new pass.
func (s *shard) lateInPass(r *row, p *decode.Packet) bool {
	q := &r.req
	if q.pass == 0 || !p.PSN.After(q.rec.pass.start) {
		return false
	}
	if e := q.recent.get(p.PSN); e == nil || e.time >= q.rec.pass.time {
		return false
	}
	n := q.rec.naks.pending(p.PSN)
	return (n == nil || n.psn != p.PSN) && p.Time-q.last < s.patience(r)
}

// beforeFirst is how far before the first packet of a row a late one may lie.
const beforeFirst = 64

// lookBack opens a hole before the first packet of the row: the packet at hand
// may have been overtaken by it.
func (s *shard) lookBack(r *row, p *decode.Packet) {
	q := &r.req
	hs := &q.recovery().holes
	hs.lastGap++
	h := hole{start: p.PSN, end: q.first, upto: q.cur, pass: q.pass, gap: hs.lastGap, phantom: true}
	if e := q.recent.get(q.first); e != nil {
		h.time, h.frame, h.after = e.time, e.frame, e.id
	}
	h.before = h.after - 1<<14
	if out, full := hs.add(h); full {
		s.giveUp(r, &out)
	}
	q.first = p.PSN
}

func (q *requests) holeInPass(p ib.PSN) *hole {
	if q.rec == nil {
		return nil
	}
	return q.rec.holes.openAt(p, int(q.pass))
}

// accept takes the packet as the pass's next.
func (s *shard) accept(r *row, p *decode.Packet, span int32, known bool) Verdict {
	q := &r.req
	var v Verdict
	var flags sightingFlag
	if p.PSN.Before(q.high) {
		v, flags = Resent, seenResent
		s.resent(r, p, span)
	} else {
		if q.cur == p.PSN && q.known && !p.IPv6 && p.PSN != q.first {
			q.ids.inOrder(p.IPID)
			if q.ids.rising() {
				r.bundle.rising[r.dir] = true
			}
		}
		q.high = p.PSN.Add(span)
		q.lastFresh = p.Time
		if q.rec != nil && q.rec.pass.late {
			s.judgeLate(r, p.Time)
		}
		if p.AckReq || p.Op.Is(ib.IsRead|ib.IsAtomic) {
			q.wants = p.PSN
		}
		r.countMessage(p)
	}
	q.cur, q.known = p.PSN.Add(span), known
	if q.cur.After(q.high) {
		q.high = q.cur
	}
	q.newest = p.Time
	q.ids.newest(p.IPID, r.idsRise())
	q.recent.put(p, flags, q.una)
	q.last, q.lastFrame = p.Time, p.Frame
	if p.Op.Is(ib.IsRead) {
		s.askedRead(r, p, span, known, v == Resent)
	}
	return v
}

// span returns how many PSNs the packet uses, and whether that is known.
func (r *row) span(p *decode.Packet) (int32, bool) {
	if !p.Op.Is(ib.IsRead) {
		return 1, true
	}
	mtu := r.readMTU()
	if !p.HasExt || (mtu == 0 && p.DMALen > 256) { // the smallest path MTU
		return 1, false
	}
	if mtu == 0 {
		return 1, true
	}
	return int32(max(1, (min(p.DMALen, 1<<31)+mtu-1)/mtu)), true
}

// skip opens holes for the PSNs from cur up to the packet.
func (s *shard) skip(r *row, from ib.PSN, p *decode.Packet) {
	q := &r.req
	rec := q.recovery()
	fresh := !p.PSN.Before(q.high)
	if fresh && from.Before(q.high) && rec.pass.sent == 1 && !q.gobackn {
		// One packet sent again and then new ones: the sender repeats
		// selectively, and skipped nothing it owed.
		from = q.high
	}
	if !from.Before(p.PSN) {
		return
	}
	rec.holes.lastGap++
	if from.Before(q.high) {
		end := q.high
		if p.PSN.Before(end) {
			end = p.PSN
		}
		s.open(r, from, end, p, false)
		from = end
	}
	if from.Before(p.PSN) {
		s.open(r, from, p.PSN, p, true)
	}
}

// open adds one hole.
func (s *shard) open(r *row, from, to ib.PSN, p *decode.Packet, sure bool) {
	q := &r.req
	rec := q.rec
	h := hole{start: from, end: to, upto: to, time: p.Time, frame: p.Frame, before: q.ids.last, after: p.IPID,
		pass: q.pass, gap: rec.holes.lastGap, sure: sure}
	if sure {
		s.emit(Event{Kind: Gap, Count: 1, Flow: r.id, PSN: from, Time: p.Time, Frame: p.Frame})
	}
	if out, full := rec.holes.add(h); full {
		s.giveUp(r, &out)
	}
	if q.unaSet && q.una.After(from) {
		s.coverHoles(r, q.una, p)
	}
}

// giveUp tells the fate of a hole that falls out of memory, or is open at the
// end.
func (s *shard) giveUp(r *row, h *hole) {
	if h.fate != fateOpen || !h.sure {
		return
	}
	kind := Unresolved
	if !r.reliable() {
		kind = LostUpstream // nothing will ever repair it
	}
	s.emit(Event{Kind: kind, Count: h.len(), Flow: r.id, PSN: h.start, Time: h.time, Frame: h.frame})
}

// promote makes a hole count that was only suspected.
func (s *shard) promote(r *row, h *hole) {
	if h.sure {
		return
	}
	h.sure = true
	for i := range r.req.rec.holes.list { // its episode may count already
		if o := &r.req.rec.holes.list[i]; o != h && o.gap == h.gap && o.sure {
			return
		}
	}
	s.emit(Event{Kind: Gap, Count: 1, Flow: r.id, PSN: h.start, Time: h.time, Frame: h.frame})
}

// belated takes a packet whose ID says that it was sent before others already
// seen: it came late, and was not sent again.
func (s *shard) belated(r *row, p *decode.Packet, span int32) Verdict {
	q := &r.req
	if q.pass == 0 && p.PSN.Before(q.first) && q.first.Sub(p.PSN) <= beforeFirst {
		s.lookBack(r, p)
	}
	if q.rec != nil {
		hs := &q.rec.holes
		for i := range hs.list {
			h := &hs.list[i]
			if !h.has(p.PSN) || int16(p.IPID-h.before) < 0 || int16(h.after-p.IPID) < 0 {
				continue
			}
			switch h.fate {
			case fateOpen:
				return s.late(r, i, p)
			case fateLost: // the resend overtook it
				s.overturn(r, i, p, LostUpstream)
			case fateAcked:
				was := NotCaptured
				if h.naked {
					was = Unresolved
				}
				s.overturn(r, i, p, was)
			default:
				continue
			}
			return s.keepLate(r, p, 0)
		}
	}
	if !p.PSN.Before(q.high) { // the tail of a pass that a resend overtook
		if p.PSN.After(q.high) {
			s.recordTail(r, p)
		}
		q.high = p.PSN.Add(span)
		r.countMessage(p)
		q.recent.put(p, 0, q.una)
		q.last, q.lastFrame = p.Time, p.Frame
		return 0
	}
	// Its PSN has passed, and is no hole of that time: a resend that was
	// overtaken. Where frames stand twice as a rule and the first one fell out
	// of the recent ones, it is rather a copy.
	if e := q.recent.get(p.PSN); e != nil && e.id != p.IPID || r.count.MirrorDuplicates < r.count.Frames/4 {
		return s.belatedResend(r, p, span)
	}
	s.emit(Event{Kind: MirrorDuplicate, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame})
	return Copy
}

// belatedResend takes a packet of a resend pass whose later packets overtook
// it, so that the pass looked like the one before going on.
func (s *shard) belatedResend(r *row, p *decode.Packet, span int32) Verdict {
	q := &r.req
	rec := q.recovery()
	if n := rec.naks.pending(p.PSN); n != nil && n.time < q.newest {
		n.used = true
		rec.pass.cause = RetransmittedNAK
	}
	if p.PSN.Before(rec.pass.start) {
		// The pass began here; what came of it so far came too early.
		rec.holes.keep(hole{start: p.PSN, end: rec.pass.start, upto: q.cur, pass: q.pass, fate: fateLate, time: p.Time, frame: p.Frame})
		rec.pass.start = p.PSN
	}
	s.emit(Event{Kind: Reordered, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame})
	s.resent(r, p, span)
	return s.keepLate(r, p, Resent)
}

// recordTail opens a hole of the pass before the current one.
func (s *shard) recordTail(r *row, p *decode.Packet) {
	q := &r.req
	q.recovery().holes.lastGap++
	pass := q.pass
	q.pass--
	s.open(r, q.high, p.PSN, p, true)
	q.pass = pass
}

// late closes the hole at index i by a packet of its own pass. In a resend
// pass that packet is late and sent again at once.
func (s *shard) late(r *row, i int, p *decode.Packet) Verdict {
	q := &r.req
	hs := &q.rec.holes
	span, _ := r.span(p)
	piece := hs.cut(i, p.PSN, p.PSN.Add(span))
	s.promote(r, &piece)
	piece.fate, piece.upto = fateLate, q.cur
	hs.keep(piece)
	s.emit(Event{Kind: Reordered, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: piece.frame, Value: p.Time - piece.time})
	if piece.pass == q.pass && q.pass > 0 && p.PSN.Before(q.rec.pass.high) {
		s.resent(r, p, span)
		return s.keepLate(r, p, Resent)
	}
	return s.keepLate(r, p, 0)
}

// keepLate notes a late packet as seen.
func (s *shard) keepLate(r *row, p *decode.Packet, v Verdict) Verdict {
	q := &r.req
	flags := seenLate
	if v == Resent {
		flags |= seenResent
	} else {
		r.countMessage(p)
	}
	q.recent.put(p, flags, q.una)
	q.last, q.lastFrame = p.Time, p.Frame
	if p.Op.Is(ib.IsRead) {
		span, known := r.span(p)
		s.askedRead(r, p, span, known, v == Resent)
	}
	return v
}

// overturn takes a verdict back: the packet was late after all.
func (s *shard) overturn(r *row, i int, p *decode.Packet, was EventKind) {
	h := &r.req.rec.holes.list[i]
	s.emit(Event{Kind: was, Count: -1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: h.frame})
	s.emit(Event{Kind: Reordered, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: h.frame, Value: p.Time - h.time})
	if h.len() == 1 {
		h.fate = fateLate
	}
}

// settle decides on packets that were late or resent, now that one more has
// come. It reports false where p joins them.
func (s *shard) settle(r *row, p *decode.Packet) bool {
	q := &r.req
	tent := q.rec.tent
	inHole := q.holeInPass(p.PSN) != nil
	dup := false
	for i := range tent {
		dup = dup || tent[i].PSN == p.PSN
	}
	if inHole && !dup && len(tent) < tentMax {
		q.rec.tent = append(tent, *p)
		if last := &tent[len(tent)-1]; p.PSN == last.PSN.Add(1) && !p.IPv6 {
			q.ids.step(int16(p.IPID - last.IPID)) // these two are in order
		}
		if !r.idsRise() {
			return false
		}
		s.decide(r, false)
		return false
	}
	// Go-back-N repeats what follows the hole; lateness does not.
	repeats := p.PSN.Before(q.cur) && p.PSN.After(tent[len(tent)-1].PSN)
	s.decide(r, repeats)
	return true
}

// decide closes the doubt about the tentative packets.
func (s *shard) decide(r *row, repeats bool) {
	q := &r.req
	tent := q.rec.tent
	q.rec.tent = nil
	first := &tent[0]
	h := q.holeInPass(first.PSN)
	if h == nil {
		return
	}
	again := repeats
	if r.idsRise() && !first.IPv6 {
		again = int16(first.IPID-q.ids.last) > 0
	} else if !repeats {
		again = s.cameAgain(r, h, first)
	}
	if again {
		s.newPass(r, first)
		for i := range tent {
			span, known := r.span(&tent[i])
			if tent[i].PSN.After(q.cur) {
				s.skip(r, q.cur, &tent[i])
			}
			s.accept(r, &tent[i], span, known)
		}
		return
	}
	for i := range tent {
		p := &tent[i]
		for j := range q.rec.holes.list {
			if h := &q.rec.holes.list[j]; h.fate == fateOpen && h.pass == q.pass && h.has(p.PSN) {
				s.late(r, j, p)
				break
			}
		}
	}
}

// cameAgain tells a single resent packet from a late one where neither IDs nor
// a repetition can: a resend needs a round trip behind the hole, and a reason.
func (s *shard) cameAgain(r *row, h *hole, p *decode.Packet) bool {
	rec := r.req.rec
	waited := p.Time - h.time
	if rtt := r.minRTT(); rtt > 0 && waited < rtt {
		return false
	}
	for i := range rec.naks {
		if n := &rec.naks[i]; n.set && h.has(n.psn) && n.time >= h.time {
			return p.Time-n.time >= r.turnaround()
		}
	}
	return waited > s.patience(r)
}

// turnaround is the least time from a NAK at the tap to the resend it draws.
func (r *row) turnaround() int64 {
	if turn := r.bundle.turn[r.dir]; turn > 0 {
		return turn - turn/8
	}
	return max(2*r.minRTT(), 3_000)
}

// patience is how long a reaction to what the wire shows may take: silence
// beyond it means that a timer ran out. Four round trips leave room for queues
// and for software that answers slowly. Where the tap has not seen how fast the
// requester turns around, it may be a millisecond away.
func (s *shard) patience(r *row) int64 {
	if r.bundle.turn[r.dir] == 0 {
		return max(4*r.minRTT(), 1_000_000)
	}
	return max(r.reaction(), 300_000)
}

// reaction is how soon a requester that missed something reacts, as the tap
// sees it, with room for queues: four round trips.
func (r *row) reaction() int64 {
	if r.bundle.turn[r.dir] == 0 {
		return 1_000_000
	}
	return 4 * (r.minRTT() + r.bundle.turn[r.dir])
}

// soonest is how soon a requester would usually ask again for a response that
// it missed. It decides only where nothing was asked again to the end.
func (r *row) soonest() int64 {
	if r.bundle.turn[r.dir] > 0 {
		return r.reaction()
	}
	return max(4*r.minRTT(), 20_000)
}

// learnTurn takes a sample of how fast the requester of this row reacts.
func (s *shard) learnTurn(r *row, turn int64) {
	if t := &r.bundle.turn[r.dir]; turn > 0 && (*t == 0 || turn < *t) {
		*t = turn
	}
}
