package analysis

import (
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// turnaround is the least time from a NAK at the tap to the resend it draws.
func (r *row) turnaround() int64 {
	if turn := r.soonestTurn(); turn > 0 {
		return turn
	}
	return max(2*r.minRTT(), 3_000)
}

// soonestTurn is what the tap has seen of that; 0 where it has seen none.
func (r *row) soonestTurn() int64 {
	turn := r.bundle.turn[r.dir]
	return turn - turn/8
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
	return 4 * (r.minRTT() + r.bundle.turn[r.dir] + r.noise())
}

// soonest is how soon a requester would usually ask again for a response that
// it missed. It decides only where nothing was asked again to the end.
func (r *row) soonest() int64 {
	if r.bundle.turn[r.dir] > 0 {
		return r.reaction()
	}
	return max(4*r.minRTT(), 20_000)
}

// thereAndBack is how long it takes from the tap to the requester of this row, whose peer is
// g, and back: the round trip of requests in g's direction, or that of its own where none of
// those was seen.
func (r *row) thereAndBack(g *row) int64 {
	if g.bundle.rtts[g.dir] > 0 {
		return g.minRTT()
	}
	return r.minRTT()
}

// learnTurn takes a sample of how fast the requester of this row reacts.
func (s *shard) learnTurn(r *row, turn int64) {
	if t := &r.bundle.turn[r.dir]; turn > 0 && (*t == 0 || turn < *t) {
		*t = turn
	}
}

// learnRTT takes a sample of the round trip. Once there are enough of them, what
// waited for the shortest one is judged.
func (s *shard) learnRTT(r *row, rtt int64) {
	b, d := r.bundle, r.dir
	rtt = max(rtt, 1)
	if b.rtts[d] == 0 || rtt < b.minRTT[d] {
		b.minRTT[d] = rtt
	}
	b.rtts[d]++
	if b.rtts[d] != rttsNeeded {
		return
	}
	for _, x := range b.rows[d] {
		if x.req.rec != nil {
			s.judgeWaiting(x)
		}
	}
}

// rttsNeeded is how many round trips must have been seen before the shortest
// is believed to be near the least possible.
const rttsNeeded = 16

// knowsRTT reports whether answers can be told to have come too soon.
func (r *row) knowsRTT() bool { return r.bundle.rtts[r.dir] >= rttsNeeded }

// minRTT returns the shortest round trip seen from the tap to the receiver of
// this row's requests and back; 0 where none was.
func (r *row) minRTT() int64 { return r.bundle.minRTT[r.dir] }

// learnPrompt takes a sample of the round trip by an answer that was sent at
// once. One that may be of another packet than it seems is believed where a second
// one is like it, or the shortest round trip of those that are certain.
func (s *shard) learnPrompt(r *row, rtt int64, sure bool) {
	b, d := r.bundle, r.dir
	if before := b.prompt[d]; sure || before > 0 && before-before/8 <= rtt && rtt <= before+before/8 {
		b.prompts[d]++
	}
	if b.prompt[d] == 0 || rtt < b.prompt[d] || sure && !b.certain[d] {
		b.prompt[d] = max(rtt, 1)
	}
	b.certain[d] = b.certain[d] || sure
}

// soon reports whether an answer at t came too soon to answer a packet that
// passed the tap at sent: clearly sooner than the shortest round trip, which a
// shorter packet or an idle link may yet undercut. It is never said before that
// is known well enough. What an ACK is kept back for may be an earlier packet, so that
// it comes as soon as one that was sent at once.
func (r *row) soon(sent, t int64, nak bool) bool {
	rtt, prompt, noise := r.minRTT(), r.bundle.prompt[r.dir], r.noise()
	switch {
	case r.bundle.prompts[r.dir] > 0 || nak && same(prompt, rtt):
		rtt = min(rtt, prompt)
	case nak:
		rtt = min(rtt, prompt) * 2 / 3
	}
	return r.knowsRTT() && t-sent+noise < (rtt-noise)*3/4
}

// farSooner is soon for an answer to a packet that passed behind silence: the round
// trips known may be those of packets that had to wait behind others of their train.
func (r *row) farSooner(sent, t int64) bool {
	return r.knowsRTT() && t-sent+r.noise() < (r.minRTT()-r.noise())/3
}

// soonFor is soon, or farSooner for an answer that may be what a pass behind a timeout asked
// for: a timer runs out behind silence, in which queues have drained.
func (r *row) soonFor(sent, t int64, nak, own bool) bool {
	if own {
		return r.farSooner(sent, t)
	}
	return r.soon(sent, t, nak)
}

// muchSooner is farSooner where few round trips are known, but among them those of answers
// that were sent at once.
func (r *row) muchSooner(sent, t int64) bool {
	rtt := min(r.minRTT(), r.bundle.prompt[r.dir])
	return r.bundle.prompts[r.dir] > 0 && t-sent+r.noise() < (rtt-r.noise())/3
}

// sooner is soon without that room, for what is only counted and decides
// nothing: a hundredth covers the few bytes by which packets differ in length.
func (r *row) sooner(sent, t int64) bool {
	noise := r.noise()
	return r.knowsRTT() && t-sent+noise < r.minRTT()-noise-r.minRTT()/128
}

// needless reports whether the answer to a resend came too soon to be caused by
// it: sooner by more than a shorter packet could explain. A receiver that lacked
// the first packet of a pass lacked all that follows in it, unless it keeps what
// comes behind a missing packet. That tells by time alone, where the shortest round
// trip is one of answers sent at once, and the answer to the first took as long.
func (r *row) needless(rec *recovery, e *resend, t int64, nak bool) bool {
	soon := r.soonFor(e.time, t, nak, e.own)
	if e.frame == rec.pass.frame && (!r.sooner(e.time, t) || rec.pass.alone && rec.pass.sent == 1 && !r.farSooner(e.time, t)) {
		rec.needed = e.pass
	}
	if !soon || e.pass != rec.needed {
		return soon
	}
	first := rec.neededPass
	if e.pass == rec.pass.number {
		first = rec.pass.begins()
	}
	return e.frame != first.frame && r.bundle.prompts[r.dir] > 0 && first.heard != 0 && !r.sooner(first.time, first.heard)
}

// trail pairs the sendings of one packet with the answers to them. Where every
// packet is resent before its answer can arrive, no packet is sent once, and
// only that the answers repeat as the sendings did shows the round trip.
type trail struct {
	psn         ib.PSN
	sends, acks [2]int64 // the first two
	nSend, nAck uint8
}

// sent notes a resend; before is the packet's sighting so far.
func (t *trail) sent(p *decode.Packet, before *sighting) {
	if !p.AckReq || before == nil {
		return
	}
	if t.nSend == 0 || t.psn != p.PSN {
		*t = trail{psn: p.PSN, sends: [2]int64{before.time, p.Time}, nSend: 2}
	}
}

// answered notes an ACK and returns the round trip once two answers show it, 0
// before.
func (t *trail) answered(p *decode.Packet) int64 {
	if t.nSend < 2 || t.psn != p.PSN || t.nAck >= 2 {
		return 0
	}
	t.acks[t.nAck] = p.Time
	t.nAck++
	if t.nAck < 2 {
		return 0
	}
	a, b := t.acks[0]-t.sends[0], t.acks[1]-t.sends[1]
	if a <= 0 || b <= 0 || apart(a, b) > a/16 {
		return 0
	}
	return max(a, b) // a duplicate of another packet may draw the second answer
}

// sampleNAK measures the round trip by a sequence NAK, which is sent at once when
// the first packet behind the missing one arrives, where an ACK may be kept
// back. That packet is the one after it, unless it was lost as well: then the
// NAK is far too late for it, and its cause is the first one that it may answer
// within about the shortest round trip. It says nothing where that packet came
// more than once.
func (s *shard) sampleNAK(r *row, p *decode.Packet) {
	learnt, before := false, r.minRTT()
	psn := p.PSN
	for range nakSearch {
		psn = r.req.behind(psn)
		e := r.req.recent.get(psn)
		if e == nil && r.req.rec.holes.openAt(psn, -1) != nil || e != nil && e.flags&(seenResent|seenLate) == seenLate {
			continue // lost before the tap, or overtaken by another one behind the missing
		}
		if e == nil || e.flags&(seenResent|seenBad) != 0 || e.time > p.Time {
			return
		}
		rtt := p.Time - e.time
		if !learnt && (r.minRTT() == 0 || rtt < 4*r.minRTT()) {
			s.learnRTT(r, rtt)
			s.measure(NAKGeneration, r, p, e.frame(), rtt)
			learnt = true
		}
		if rtt < r.minRTT()*5/4 {
			other := r.mayHaveDrawn(p, psn)
			sure := other == 0 || r.isRoundTrip(rtt, p.Time-other, before) || p.Time-r.newestInOrder() >= rtt-rtt/8
			if !sure && r.bundle.prompts[r.dir] == 0 {
				rtt = p.Time - other
			}
			s.learnPrompt(r, rtt, sure)
			return
		}
	}
}

// isRoundTrip reports whether a time from a request to a NAK is the shortest round trip.
// That of ACKs which may have been kept back has to be the same time, not about that, and
// not be further off than the time from the other packet that may have drawn the NAK is
// from that of a NAK before.
func (r *row) isRoundTrip(rtt, other, before int64) bool {
	b, d := r.bundle, r.dir
	if b.prompts[d] == 0 {
		return same(rtt, before) && (b.prompt[d] == 0 || apart(rtt, before) < apart(other, b.prompt[d]))
	}
	return rtt >= before-before/8
}

// same reports whether a time is another one, which is 0 where it is not known.
func same(a, b int64) bool { return b > 0 && apart(a, b) <= b/64 }

func apart(a, b int64) int64 { return max(a, b) - min(a, b) }

// mayHaveDrawn returns when the packet passed that drew a NAK, if the one of the PSN did
// not: the next one, where that was lost as well, or one sent again, where the receiver
// had kept what is behind that; 0 where there is none, or it came too late for that.
func (r *row) mayHaveDrawn(nak *decode.Packet, psn ib.PSN) (other int64) {
	e, next := r.req.recent.get(psn), r.req.recent.get(r.req.behind(psn))
	latest := nak.Time - (nak.Time-e.time)/2
	switch again := r.req.rec.lastResend; {
	case e.time < again && again <= latest:
		return again
	case next != nil && next.time <= latest:
		return next.time
	}
	return 0
}

// newestInOrder returns when the last request passed that did not come late: whichever
// of those before drew a NAK, it did not pass later.
func (r *row) newestInOrder() int64 { return max(r.req.lastFresh, r.req.rec.lastResend) }

// behind returns the PSN of the request behind the one of a PSN: a READ uses those of its
// responses.
func (q *requests) behind(psn ib.PSN) ib.PSN {
	for i := range q.rec.reads.list {
		if e := &q.rec.reads.list[i]; e.known && e.start == psn {
			return e.end
		}
	}
	return psn.Add(1)
}

// nakSearch is how many packets behind the missing one may be missing as well.
const nakSearch = 32

// sample measures the round trip of a request that was sent once.
func (s *shard) sample(r *row, p *decode.Packet) {
	q := &r.req
	if q.rec != nil && p.Op.Is(ib.IsAck) {
		if rtt := q.rec.trail.answered(p); rtt > 0 {
			s.learnRTT(r, rtt)
		}
	}
	e := q.recent.get(p.PSN)
	if e == nil || e.flags&(seenResent|seenLate) != 0 || e.time > p.Time || q.answered(p.PSN) {
		return
	}
	rtt := p.Time - e.time
	s.learnRTT(r, rtt)
	if !p.Op.Is(ib.IsAck) {
		s.learnPrompt(r, rtt, true)
		return
	}
	s.measure(RoundTrip, r, p, e.frame(), rtt)
	s.complete(r, e, p)
}

// measure tells how long something took that began at the frame ref and ends at
// the packet. Where time runs backwards it took no time that could be told.
func (s *shard) measure(kind EventKind, r *row, p *decode.Packet, ref uint64, ns int64) {
	if ns >= 0 {
		s.emit(Event{Kind: kind, Count: 1, Flow: r.id, PSN: p.PSN, Time: p.Time, Frame: p.Frame, Ref: ref, Value: ns})
	}
}
