package analysis

import (
	"slices"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// candidate is a row that may hold the requests which the responses of another
// answer.
type candidate struct {
	row *row
	// msn is the responder's message count less the messages that the row has
	// ended; it stays the same as long as the two belong together.
	msn    uint32
	msnSet bool
	gaps   uint32 // how often the row's count had got lost when msn was learned
	agreed int8   // how many responses it fitted, alone
	fitted uint8  // how many it fitted, alone or not
	struck uint8  // how many it would only fit had the capture missed packets
	ahead  uint8  // how many of these because it had not asked for that yet
	lacks  uint8  // how many packets the capture missed if it had
	last   ib.PSN // of the newest of them
	owed   ib.PSN // valid iff owes
	named  ib.PSN // by the newest response
	heard  bool   // there was one
	agrees bool   // the newest response fits it
	within uint8  // how many fitted it among the requests in view, alone or not
	owes   bool   // a response named what the row had not asked for, and has not by now
	paused bool   // and nobody could see that, as the capture may have paused
	again  bool   // or a NAK did, so that the row sends it again
	// quickest is the shortest time from the last packet of a message to the
	// response that acknowledges just that; 0 where there was none. alone is the
	// same of responses that cannot have been kept back for an earlier message, and
	// kept whether there was one that may have been.
	quickest, alone int64
	silence         int64 // the end of the last silence behind which a response named what nobody saw
	silences        uint8 // and how many there were
	excused         uint8 // how many responses did that
	since           uint8 // how many named the end of a message that passed behind the last silence
	kept            bool
	far             bool // a response named what the row was far from having asked for: owed
}

// match looks for the row whose requests the response in g answers. It pairs
// the two only where no other row could have asked.
func (s *shard) match(g *row, p *decode.Packet) {
	g.hearMSN(p)
	g.hearAnswer(p)
	b := g.bundle
	fit, before := g.cand[:0], b.far[g]
	var far []candidate
	for _, c := range g.cand {
		switch {
		case c.stays(g, p, s.cfg.Limits.PeerMissed):
			fit = append(fit, c)
		case c.far:
			far = append(far, c)
		}
	}
	if len(before) > 0 {
		fit, far = g.comeBack(fit, before, far, p, s.cfg.Limits.PeerMissed)
	}
	b.keepFar(g, far)
	if g.cand != nil && len(fit) == 1 && len(g.cand) > 1 {
		fit[0].agreed = 0 // alone from now on
	}
	known := len(fit) > 0 && g.cand != nil
	anew := !known && g.tryAgain()
	for _, r := range slices.Backward(b.asking[1-g.dir]) {
		if !anew && r.win.number <= g.looked {
			break // they stand in the order of their first request
		}
		if slices.ContainsFunc(far, func(c candidate) bool { return c.row == r }) {
			continue
		}
		if c := (candidate{row: r}); c.stays(g, p, s.cfg.Limits.PeerMissed) {
			c.compareEarlier(g)
			fit = append(fit, c)
		}
	}
	g.looked = b.asked
	g.named, g.heardBy, g.amid = arrived(p), b.asked+1, p.Op.Is(ib.IsReadResponse) && p.Op.Is(ib.IsFirst|ib.IsMiddle)
	if len(fit) > 1 {
		if r := byFormula(fit, g, p.SrcPort); r != nil {
			s.pair(r, g, byPort)
			return
		}
	}
	s.narrow(g, fit, p)
}

// comeBack adds the candidates that some response before ruled out, as they were far from
// having asked for it, where they left that out since: the capture did not hold it. Those
// that have not gone on stay far.
func (g *row) comeBack(fit, before, far []candidate, p *decode.Packet, missed int) (fits, still []candidate) {
	for _, c := range before {
		switch w := &c.row.win; {
		case c.row.peer != nil:
		case !c.owed.Before(w.high): // it has not gone on
			c.owed = p.PSN
			far = append(far, c)
		case w.find(c.owed) == nil && len(w.log) > 0 && !c.owed.Before(w.log[0].start):
			c.far, c.owes = false, false
			if c.stays(g, p, missed) {
				fit = append(fit, c)
			}
		}
	}
	return fit, far
}

// keepFar keeps the candidates of a row that are ruled out as they are far from having asked
// for what a response named.
func (b *bundle) keepFar(g *row, far []candidate) {
	switch {
	case len(far) > 0 && b.far == nil:
		b.far = map[*row][]candidate{g: far}
	case len(far) > 0:
		b.far[g] = far
	case b.far != nil:
		delete(b.far, g)
	}
}

// arrived is the newest PSN of what a response says has arrived; what a NAK names has not.
func arrived(p *decode.Packet) ib.PSN {
	if p.HasSyndrome() && p.Syndrome.Type() != ib.ACK {
		return p.PSN.Add(-1)
	}
	return p.PSN
}

// compareEarlier holds against a new candidate that an earlier response named what it
// asked for only later.
func (c *candidate) compareEarlier(g *row) {
	if w := &c.row.win; g.heardBy > 0 && w.number >= g.heardBy && !g.named.Before(w.first) && g.named.Sub(w.first) < 1<<16 {
		c.struck = inc(c.struck)
	}
}

// hearMSN learns whether the responder counts messages at all.
func (g *row) hearMSN(p *decode.Packet) {
	if p.HasExt && p.Op.Is(ib.IsAck) {
		g.counting = g.counting || g.tries > 0 && p.MSN != g.msn
		g.msn = p.MSN
	}
}

// hearAnswer notes where the answer to a READ began that a response belongs to.
func (g *row) hearAnswer(p *decode.Packet) {
	if !g.amid || p.Op.Is(ib.IsFirst|ib.IsOnly) || p.PSN != g.named.Add(1) {
		g.began = p.PSN
	}
}

// tryAgain paces the search for a partner among those that were looked at before: a row
// whose requests the capture does not hold would search all anew with each of its responses.
func (g *row) tryAgain() bool {
	g.tries++
	return g.tries <= 16 || g.tries&(g.tries-1) == 0
}

// narrow keeps the candidates that are left, and pairs where there is one.
func (s *shard) narrow(g *row, fit []candidate, p *decode.Packet) {
	switch {
	case len(fit) == 1 && fit[0].convinces(g, p):
		s.pair(fit[0].row, g, byResponses)
	case len(fit) == 0:
		g.forgetCandidates()
		s.release(g.bundle)
	default:
		if g.cand == nil {
			g.bundle.unsure++
		}
		g.cand = fit
	}
}

// beforeCapture is by how many PSNs a response may name a request before the
// first one of a row in view: one that passed before the capture began, or that
// it missed.
const beforeCapture = 1 << 10

// enough is how many responses must fit one row alone where others have PSNs
// alike: the right one may have asked before the capture began.
const enough = 3

// namesLostStart reports whether a NAK asks for a packet just before the first
// one that the tap saw.
func namesLostStart(w *window, p *decode.Packet) bool {
	return p.IsSequenceNAK() && w.first.Sub(p.PSN) <= beforeFirst
}

// convinces reports whether the response in g, which fits this candidate alone,
// is enough to pair the two: at once where no other row has PSNs anywhere near,
// or where the source port says the same.
func (c *candidate) convinces(g *row, p *decode.Packet) bool {
	r := c.row
	switch {
	case formulaNames(r, g, p.SrcPort):
		return true
	case !c.agrees:
		return false
	case p.PSN.Before(r.win.first) && !namesLostStart(&r.win, p):
		return false // the one that asked for it may not have been seen yet
	case !r.hasTwin() && g.bundle.settled(r, p):
		return true
	}
	if c.agreed == 0 || p.PSN.After(c.last) {
		c.agreed++
		c.last = p.PSN
	}
	least := int8(enough)
	if c.quickest == 0 && p.Op.Is(ib.IsAck) {
		least = 4 * enough // not one of them named the end of a message
	}
	return c.agreed >= least && !c.doubtful(g) && !c.fitsOneTooMany(g)
}

// fitsOneTooMany reports whether another row may answer the candidate as well, where more
// rows look for a partner than there are: then one of them answers what passed before the
// capture began, and that may be this one. Among very many nobody looks.
func (c *candidate) fitsOneTooMany(g *row) bool {
	if len(g.bundle.rows[g.dir]) > coverLooks {
		return false // each answer would look at all of them
	}
	seeking, free := g.bundle.left(g.dir)
	return seeking > free && c.ofAnother(g, func(_ *row, y *candidate) bool { return y.struck == 0 })
}

// ofAnother reports whether the candidate is one of another row than g, too, such that
// fits says so.
func (c *candidate) ofAnother(g *row, fits func(x *row, y *candidate) bool) bool {
	return slices.ContainsFunc(g.bundle.rows[g.dir], func(x *row) bool {
		y := x.candidate(c.row)
		return x != g && y != nil && fits(x, y)
	})
}

// candidate returns what speaks for r as the row's partner, or nil where nothing does.
func (g *row) candidate(r *row) *candidate {
	for i := range g.cand {
		if g.cand[i].row == r {
			return &g.cand[i]
		}
	}
	return nil
}

// doubtful reports whether responses contradicted the candidate, and others may
// have drawn them: it has a twin, fitted too few since, and was not answered as
// fast as others; or the candidate itself answers a row that is not this one.
func (c *candidate) doubtful(g *row) bool {
	r := c.row
	if r.cand != nil && r.candidate(g) == nil {
		return c.struck > 0
	}
	rtt := float64(max(r.minRTT(), 1))
	if off := float64(c.quickest)/rtt - 1; -unlike < off && off < unlike && float64(r.noise()) < unlike*rtt {
		return false
	}
	return c.struck > 0 && int(c.agreed) < enough+4*int(c.struck) && r.hasTwin()
}

// settled reports whether the capture had run for long when the row's request
// passed that the response seems to answer. Else another one, not seen yet, may
// have asked before the capture began.
func (b *bundle) settled(r *row, p *decode.Packet) bool {
	longest := b.longest(r)
	if m := r.win.find(p.PSN); m != nil {
		longest = max(longest, 4*(p.Time-m.time))
	}
	return r.atLeast(p, b.first) > longest
}

// longest is how long the answer to a request of the row may take.
func (b *bundle) longest(r *row) int64 {
	if rtt := r.minRTT(); rtt > 0 {
		return 4 * rtt
	}
	return unseenRTT
}

// unseenRTT is how long an answer may take, ns, where no round trip was seen.
const unseenRTT = 200_000

// hasTwin reports whether another row of the same direction, whatever its
// partner, has PSNs near those of this one.
func (r *row) hasTwin() bool {
	for _, x := range r.bundle.rows[r.dir] {
		if d := x.win.high.Sub(r.win.high); x != r && x.win.set && -1<<16 < d && d < 1<<16 {
			return true
		}
	}
	return false
}

// stays reports whether the candidate remains one, now that the response in g
// has come. One that fits most responses may have lost packets to the capture; so may
// another, as long as these are few (Limits.PeerMissed).
func (c *candidate) stays(g *row, p *decode.Packet, missed int) bool {
	r := c.row
	if r.peer != nil || r.retired || r.suspect || r.transport != g.transport || r.bundle.tags.apart(r.vlan, g.vlan) || !r.win.set {
		return false
	}
	c.settleDebt()
	c.agrees = c.fits(g, p)
	c.named, c.heard = p.PSN, true
	if c.agrees {
		c.fitted = inc(c.fitted)
		if !p.PSN.Before(r.win.first) {
			c.within = inc(c.within)
		}
		return true
	}
	ahead := p.PSN.Sub(r.win.high)
	c.again = arrived(p) != p.PSN
	if 0 <= ahead && ahead <= 1<<16 && c.unseen(g, p) {
		c.owed, c.owes, c.paused = p.PSN, true, true
		c.excused = inc(c.excused)
		return true
	}
	if ahead >= missedAtMost && ahead <= 1<<16 && !r.silentSince() {
		c.owed, c.far = p.PSN, true
		return false
	}
	if ahead > 1<<16 || r.win.first.Sub(p.PSN) > beforeCapture || -ahead > 1<<16 {
		return false
	}
	c.struck = inc(c.struck)
	if ahead >= 0 {
		c.ahead, c.lacks = inc(c.ahead), c.lacking(p.PSN)
		c.owed, c.owes, c.paused = p.PSN, true, false
	}
	return c.struck < 2 || int(c.struck)*4 <= int(c.fitted) || !c.contradicted() && int(c.lacks) <= missed
}

// lacking is how many packets the capture missed if the candidate sent all up to that PSN:
// those that an answer before told of are missing once.
func (c *candidate) lacking(psn ib.PSN) uint8 {
	told := c.row.win.high.Add(-1)
	if c.owes && !c.paused && c.owed.After(told) {
		told = c.owed
	}
	return uint8(min(255, int32(c.lacks)+max(0, psn.Sub(told))))
}

// settleDebt weighs a response that named a packet which the row had not sent by then,
// once the row has gone on: if it left that packet out, the capture missed it; if it sent
// it only then, the response was for somebody else.
func (c *candidate) settleDebt() {
	w := &c.row.win
	if !c.owes || !c.owed.Before(w.high) {
		return
	}
	c.owes = false
	switch {
	case len(w.log) == 0 || c.owed.Before(w.log[0].start): // fallen out of the log
	case w.find(c.owed) != nil && c.again:
	case w.find(c.owed) != nil && c.paused && w.skippedBehind(c.silence):
		// it may have sent that in the pause, as it did what is missing, and now sent it again
	case w.find(c.owed) != nil && c.paused:
		c.struck = inc(c.struck)
	case w.find(c.owed) != nil:
		c.ahead-- // so that it is contradicted
	case c.paused:
		c.fitted = inc(c.fitted)
	default:
		c.struck, c.ahead, c.lacks = c.struck-c.ahead, 0, 0
		c.fitted = inc(c.fitted)
	}
}

// contradicted reports whether some response did not fit the candidate, and nothing that
// the capture missed explains that.
func (c *candidate) contradicted() bool { return c.struck > c.ahead }

// clean reports whether the candidate fits all responses, whatever the capture missed.
func (c *candidate) clean() bool { return c.struck+c.excused == 0 && c.row.peer == nil }

// missedAtMost is how many PSNs a response may lie ahead of a row's requests
// because the capture missed these, unless it has paused since.
const missedAtMost = 16

// silentSince reports whether the capture may have paused since the last request of a
// row: nothing at all passed between the two hosts for longer than a round trip, and
// a response behind that answers what nobody saw.
func (r *row) silentSince() bool { return r.win.last < r.bundle.resumed }

// unseen reports whether the response in g may answer what the candidate asked for while the
// capture paused: in the last silence, or in the longest of late, if that ended no longer
// ago than an answer takes.
func (c *candidate) unseen(g *row, p *decode.Packet) bool {
	b := c.row.bundle
	return c.unseenIn(b.resumed, b.silent, max(leastSilence, b.longest(c.row)), p) ||
		b.longestEnd != b.resumed && c.unseenIn(b.longestEnd, b.longestSilent, g.quickest(), p)
}

// quickest is how long, ns, the quickest response in g took by any candidate; 0 unknown.
func (g *row) quickest() (ns int64) {
	for i := range g.cand {
		ns = least(ns, g.cand[i].quickest)
	}
	return ns
}

// unseenIn does so for the silence of that length which ended then: the response comes
// soon behind it, and few others did so. Where the two hosts are silent time and again for
// about as long, they wait for each other, and no capture paused.
func (c *candidate) unseenIn(end, silent, soon int64, p *decode.Packet) bool {
	const pauses, habit = 2, 4
	b := c.row.bundle
	if c.row.win.last >= end || b.silences >= habit && silent <= 2*b.shortest || p.Time-end > soon {
		return false
	}
	if c.silence != end {
		c.silence, c.silences = end, inc(c.silences)
	}
	return c.silences <= pauses
}

// fits reports whether the response in g may answer the candidate's requests.
func (c *candidate) fits(g *row, p *decode.Packet) bool {
	r := c.row
	w := &r.win
	if w.first.Sub(p.PSN) > beforeCapture || !p.PSN.Before(w.high) || w.high.Sub(p.PSN) > 1<<16 {
		return false
	}
	m := w.find(p.PSN)
	if m == nil { // fallen out of the log, or a hole
		return !p.HasSyndrome() || p.Syndrome.Type() != ib.ACK || !r.passedLongAgo(p)
	}
	prompt := !m.follows || c.heard && !m.prior.After(c.named)
	if took := p.Time - m.time; took > 0 && r.knowsRTT() && took+r.noise() < (r.minRTT()-r.noise())/2 && prompt && p.PSN == m.end.Add(-1) {
		return false // it was sent too short a while ago
	}
	switch {
	case p.Op.Is(ib.IsReadResponse):
		return m.kind&ib.AnsweredByRead != 0 && !g.began.Before(m.start) // one answer is to one READ
	case p.Op.Is(ib.IsAtomicAck):
		return m.kind&ib.IsAtomic != 0
	case !p.HasSyndrome() || p.Syndrome.Type() != ib.ACK:
		return true // a NAK may name any request
	case m.kind&(ib.AnsweredByRead|ib.IsAtomic) != 0:
		return false
	}
	if d := max(p.Time-m.time, 1); p.PSN == m.end.Add(-1) {
		c.quickest = least(c.quickest, d)
		if b := r.bundle; b.resumed != 0 && m.time >= b.resumed {
			c.since = inc(c.since)
		}
		if prompt {
			c.alone = least(c.alone, d)
		} else {
			c.kept = true
		}
	}
	if !p.HasExt {
		return true // the count is cut off
	}
	return c.countsAlike(p.MSN-m.ended(p.PSN), m.gaps) || !g.counting
}

// passedLongAgo reports whether what an ACK names, in a hole of the row's requests, passed
// so long ago that it would have been acknowledged by now: what follows did, and the row has
// not gone back to it since.
func (r *row) passedLongAgo(p *decode.Packet) bool {
	log, long := r.win.log, max(unseenRTT, r.bundle.longest(r))
	i := slices.IndexFunc(log, func(m message) bool { return m.start.After(p.PSN) })
	return i > 0 && r.atLeast(p, log[i].time) > long && !slices.ContainsFunc(r.win.repeats, func(x repeat) bool {
		return !p.PSN.Before(x.psn) && r.atLeast(p, x.last) <= long
	})
}

// countsAlike reports whether the message counts of both ends still differ by
// the same number; where one of them has got lost since, they cannot but do.
func (c *candidate) countsAlike(d, gaps uint32) bool {
	d &= ib.PSNMask
	alike := !c.msnSet || c.msn == d || c.gaps != gaps
	c.msn, c.msnSet, c.gaps = d, true, gaps // the end of a message may have been missed
	return alike
}

func (r *row) forgetCandidates() {
	if r.cand != nil {
		r.cand = nil
		r.bundle.unsure--
	}
	delete(r.bundle.far, r)
}
