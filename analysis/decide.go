package analysis

import (
	"slices"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// Whether packets that fill holes were late or sent again, where what follows tells.

// settle decides on packets that were late or resent, now that one more has
// come. It reports false where p joins them.
func (s *shard) settle(r *row, p *decode.Packet) bool {
	q := &r.req
	tent := q.rec.tent
	inHole := q.holeInPass(p.PSN) != nil
	// One that steps back has nothing to do with those before it: a resend goes
	// on from where it began.
	onward := p.PSN.After(tent[len(tent)-1].PSN)
	if inHole && onward && len(tent) < tentMax {
		q.rec.tent = append(tent, *p)
		if last := &tent[len(tent)-1]; p.PSN == last.PSN.Add(1) && !p.IPv6 {
			q.ids.step(int16(p.IPID - last.IPID)) // these two are in order
		}
		if !r.idsRise() {
			return false
		}
		s.decide(r, nil)
		return false
	}
	s.decide(r, p)
	return true
}

// decide closes the doubt about the tentative packets by the packet that
// follows them, where there is one.
func (s *shard) decide(r *row, next *decode.Packet) {
	q := &r.req
	tent := q.rec.tent
	q.rec.tent = nil
	// Go-back-N repeats what follows the hole; lateness does not.
	repeats, goesOn := false, false
	if next != nil {
		repeats = next.PSN.Before(q.cur) && next.PSN.After(tent[len(tent)-1].PSN)
		goesOn = q.gobackn && q.known && !next.PSN.Before(q.cur)
	}
	first := &tent[0]
	h := q.holeInPass(first.PSN)
	if h == nil {
		return
	}
	again := repeats
	if r.idsRise() && !first.IPv6 {
		again = int16(first.IPID-q.ids.last) > 0
	} else if !first.IPv6 && h.between(first.IPID) {
		again = false
	} else if !repeats {
		again = s.cameAgain(r, h, first, goesOn)
	}
	strayed := (again || len(tent) > 1 && !r.idsRise()) && s.strayed(r, h, first, again, len(tent) > 1)
	if again || strayed {
		if !strayed {
			s.passBegins(r, first, 1)
		}
		for i := range tent {
			span, known := r.span(&tent[i])
			if tent[i].PSN.After(q.cur) && (i > 0 || strayed) { // a new pass has skipped to its first one
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

// lateWith takes back, too, that others closed holes behind the first of late
// packets, sooner than its sender turned around in now: they were late as well.
func (s *shard) lateWith(r *row, first *hole, p *decode.Packet, turn int64) {
	rec := r.req.rec
	if rec.pass.frame != first.closer.frame {
		return // there has been another pass since
	}
	for {
		i := slices.IndexFunc(rec.holes.list, func(h hole) bool {
			return h.fate == fateLost && h.len() == 1 && h.closer.kind == first.closer.kind && h.closer.frame >= first.closer.frame && h.closer.time-h.time < turn
		})
		if i < 0 {
			break
		}
		h := &rec.holes.list[i]
		s.notResent(r, i, h.start)
	}
	s.noPass(r, p)
}

// noPass takes back what a resend pass seemed to skip that was none.
func (s *shard) noPass(r *row, p *decode.Packet) {
	rec := r.req.rec
	for i := 0; i < len(rec.holes.list); i++ {
		h := rec.holes.list[i]
		if h.fate != fateOpen || h.pass != rec.pass.number || !h.start.Before(rec.pass.high) {
			continue
		}
		if h.sure {
			s.emit(Event{Kind: Gap, Count: -1, Flow: r.id, PSN: h.start, Time: h.time, Frame: h.frame, Ref: p.Frame})
		}
		rec.holes.drop(i)
		i--
	}
}

// notResent takes back that a resend closed the hole at index i, which has the PSN.
func (s *shard) notResent(r *row, i int, psn ib.PSN) {
	rec := r.req.rec
	was, named := rec.holes.list[i].closer, rec.holes.list[i].isNaked(psn)
	s.wasLate(r, i, psn)
	rec.doubts = slices.DeleteFunc(rec.doubts, func(d doubt) bool {
		if d.psn != psn || d.seen != was.frame {
			return false
		}
		if !named {
			s.needless(r, &d)
		}
		return true
	})
}

// wasLate takes back that what closed the hole at index i was sent again then: it came late,
// and was a resend of the pass that had skipped it if that was one.
func (s *shard) wasLate(r *row, i int, psn ib.PSN) {
	h := r.req.rec.holes.list[i]
	r.countEnd(&h)
	e := Event{Kind: h.closer.kind, Count: -1, Flow: r.id, PSN: psn, Time: h.closer.time, Frame: h.closer.frame}
	s.emit(e)
	if h.again {
		e.Kind, e.Count, e.Ref = h.cause, 1, h.frame
		s.emit(e)
	}
	s.overturn(r, i, &decode.Packet{PSN: psn, Time: e.Time, Frame: e.Frame}, LostUpstream)
}

// quickestTurn is the time, ns, within which no adapter that a NAK reaches has
// the packet it asks for on the wire again: it fetches it from the host's memory.
// Where packets overtake each other time and again, what comes a little later is
// rather one of those as well.
func (r *row) quickestTurn() int64 {
	if r.bundle.overtaken(r.dir) {
		return 1_000
	}
	return quickTurn
}

// quickTurn is that time where packets do not, ns.
const quickTurn = 600

// cameAgain tells a single resent packet from a late one where neither IDs nor
// a repetition can: a resend needs a round trip behind the hole, and a reason.
// Where the sender goes on behind it as if nothing had happened, although it is
// known to repeat what follows, only a long silence speaks for a resend.
func (s *shard) cameAgain(r *row, h *hole, p *decode.Packet, goesOn bool) bool {
	rec := r.req.rec
	if h.phantom && r.arrivedBefore(p) {
		return true
	}
	if r.askedUnseen(h, p) && !goesOn {
		return true
	}
	waited := r.atMost(p, h.time)
	if rtt := r.minRTT(); rtt > 0 && waited < rtt && !h.phantom {
		return false
	}
	for i := range rec.naks {
		n := &rec.naks[i]
		asked := n.frame > h.frame || h.phantom && n.psn == p.PSN
		if turn := r.bundle.turn[r.dir]; n.set && rec.holes.inGap(h.gap, n.psn) && asked && (!goesOn || turn > 0 && p.PSN == n.psn && r.atMost(p, n.time) >= turn-turn/8 && waited >= r.minRTT()+turn-turn/8) {
			// Where the next resend shows that this one was none, that is taken
			// back.
			since := r.atMost(p, n.time)
			return since >= r.quickestTurn() && p.PSN == n.psn || since >= r.turnaround()
		}
	}
	return p.Time-h.time > s.patience(r)
}

// askedUnseen reports whether a NAK had asked for the packet before the tap could see that
// it is missing, so long ago that this may be what it drew. The capture lacks what drew the
// NAK, which had passed by then: so has the packet, or it was lost.
func (r *row) askedUnseen(h *hole, p *decode.Packet) bool {
	n := r.req.rec.naks.naming(p.PSN)
	if n == nil || n.used || n.frame > h.frame || h.phantom {
		return false
	}
	soonest := r.quickestTurn()
	if turn := r.bundle.turn[r.dir]; turn > 0 {
		soonest = turn - turn/8
	}
	return r.atMost(p, n.time) >= soonest
}
