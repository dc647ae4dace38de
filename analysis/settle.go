package analysis

import (
	"slices"
)

// settlePairs pairs, at the end, the rows whose partner follows from what is
// known of all of them.
func (s *shard) settlePairs(b *bundle) {
	b.settleDebts()
	for b.unsure > 0 && (s.settleByResend(b) || s.settleLast(b, false) || s.settleByTime(b, 0) || s.settleByTime(b, 1) || s.settleLast(b, true) || s.settleOnly(b)) {
	}
}

// settleDebts weighs what responses named and rows of requests have passed by now.
func (b *bundle) settleDebts() {
	for _, rows := range b.rows {
		for _, g := range rows {
			for i := range g.cand {
				g.cand[i].settleDebt()
			}
		}
	}
}

// settleLast pairs rows that have one candidate left because the others found
// their partner, or, where nothing else tells, because some response contradicted
// them. It reports whether it paired any.
func (s *shard) settleLast(b *bundle, contradicted bool) bool {
	for _, rows := range b.rows {
		for _, g := range rows {
			if g.cand == nil {
				continue
			}
			g.cand = slices.DeleteFunc(g.cand, func(c candidate) bool { return c.row.peer != nil })
			left := g.cand
			if contradicted && g.missedAtLeast(2) {
				left = best(slices.Clone(left))
				if len(left) == 1 && (g.excuses() && left[0].fitsOthers(g) || left[0].neededToo(g, s.cfg.Limits.PeerMissed) || left[0].oddOneOut(g, s.cfg.Limits.PeerSame)) {
					continue
				}
			}
			if len(left) == 1 && left[0].shows(g) && !g.rivalled(&left[0]) && (!left[0].doubtful(g) || b.lastPair(g.dir)) {
				s.pair(left[0].row, g, byResponses)
				return true
			}
		}
	}
	return false
}

// oddOneOut reports whether the round trip of another candidate of the row is that of others,
// and that of this one is not: all queue pairs between two hosts share a way.
func (c *candidate) oddOneOut(g *row, same float64) bool {
	most := 0
	for i := range g.cand {
		if x := &g.cand[i]; x.row != c.row {
			most = max(most, x.likeOthers(g, same))
		}
	}
	return most > c.likeOthers(g, same)
}

// likeOthers counts the rows that another candidate answers as fast as this one does g.
func (c *candidate) likeOthers(g *row, same float64) (n int) {
	for _, x := range g.bundle.rows[g.dir] {
		if x != g && slices.ContainsFunc(x.cand, func(y candidate) bool {
			off := float64(y.quickest)/float64(max(c.quickest, 1)) - 1
			return y.row != c.row && c.quickest > 0 && -same < off && off < same
		}) {
			n++
		}
	}
	return n
}

// excuses reports whether nothing but a pause of the capture makes some candidate one.
func (g *row) excuses() bool {
	return slices.ContainsFunc(g.cand, func(c candidate) bool { return c.excused > 0 })
}

// fitsOthers reports whether as many responses of another row fit the candidate: then
// it may be that one's partner, and a pause excuses what speaks against another one here.
func (c *candidate) fitsOthers(g *row) bool {
	return c.ofAnother(g, func(_ *row, y *candidate) bool { return y.fitted >= c.fitted && y.since >= c.since })
}

// neededToo reports whether another row, of which responses contradict all others, has no
// candidate left but this one either: then the capture did miss something, and nothing
// tells for which of the two. It does where only the other row may have one as well of which
// the capture missed but so many requests.
func (c *candidate) neededToo(g *row, missed int) bool {
	mayBe := func(z candidate) bool {
		return z.row != c.row && z.row.peer == nil && !z.contradicted() && int(z.lacks) <= missed
	}
	only := c.within >= enough && !slices.ContainsFunc(g.cand, mayBe)
	return c.ofAnother(g, func(x *row, y *candidate) bool {
		return y.clean() && !slices.ContainsFunc(x.cand, func(z candidate) bool {
			return mayBe(z) && (z.clean() || only && z.excused == 0 && z.within >= enough)
		})
	})
}

// shows reports whether enough responses fitted the candidate to pair the two where it
// is the last one left: one among the requests in view does where it came as soon as
// answers do and not far sooner, and no other row may have asked for it unseen. None do
// where all came far later than others, to what was sent once.
func (c *candidate) shows(g *row) bool {
	b, dir := c.row.bundle, c.row.dir
	early := b.rtts[dir] >= enough && c.quickest > 0 && 2*(c.quickest+g.noise()) < b.minRTT[dir]
	late := c.quickest > max(leastSilence, b.longest(c.row)) && len(c.row.win.repeats) == 0
	if late && b.rtts[dir] >= enough {
		return false
	}
	return c.within >= enough || c.within > 0 && !late && !early && !g.mayAnswerUnseen()
}

// mayAnswerUnseen reports whether a row that asked only after the responses in g may
// have drawn them by requests that nobody saw, which it did not have yet then.
func (g *row) mayAnswerUnseen() bool {
	return slices.ContainsFunc(g.bundle.asking[1-g.dir], func(r *row) bool {
		behind := r.win.first.Sub(g.rsp.high)
		return r.peer == nil && r.win.number >= g.heardBy && r.transport == g.transport && 0 < behind && behind <= beforeCapture
	})
}

// settleOnly pairs a row of requests that one row alone may answer, where there are as
// many that look for a partner as there are partners. It reports whether it paired any.
func (s *shard) settleOnly(b *bundle) bool {
	for dir := range uint8(2) {
		if seeking, free := b.left(dir); seeking != free {
			continue
		}
		for _, r := range b.asking[1-dir] {
			if g := r.onlyAnswers(); g != nil {
				s.pair(r, g, byResponses)
				return true
			}
		}
	}
	return false
}

// onlyAnswers returns the one row that may answer the requests of the row, and that
// nothing contradicts; nil where there are several or none.
func (r *row) onlyAnswers() *row {
	var only *row
	for _, g := range r.bundle.rows[1-r.dir] {
		i := slices.IndexFunc(g.cand, func(c candidate) bool { return c.row == r })
		switch {
		case r.peer != nil || i < 0:
		case only != nil || g.cand[i].struck > 0 || g.cand[i].fitted < enough:
			return nil
		default:
			only = g
		}
	}
	return only
}

// best leaves out those that some response contradicted where there are others, and
// those that a pause alone excuses where another one asked behind it for all of that.
func best(cs []candidate) []candidate {
	needed := uint8(0)
	for i := range cs {
		if c := &cs[i]; c.excused > 0 && c.fitted > 0 {
			needed = max(needed, c.excused, 2)
		} else {
			needed = max(needed, c.excused)
		}
	}
	clean := func(c candidate) bool { return c.struck+c.excused == 0 && c.fitted > 0 && c.since >= needed }
	if !slices.ContainsFunc(cs, clean) {
		return cs
	}
	return slices.DeleteFunc(cs, func(c candidate) bool { return !clean(c) })
}

// missedAtLeast reports whether the capture would have to lack so many requests if the
// partner of the row were one of those candidates that some response contradicted, and
// not the only one that none did. It may well lack a few.
func (g *row) missedAtLeast(n int) bool {
	left := best(slices.Clone(g.cand))
	if len(left) != 1 {
		return true
	}
	unanswered := left[0].row.unanswered(g)
	return !slices.ContainsFunc(g.cand, func(c candidate) bool {
		if c.struck+c.excused == 0 || c.contradicted() {
			return false
		}
		lacks := int(c.lacks) + int(c.excused) + unanswered
		for _, x := range g.bundle.rows[g.dir] {
			lacks += x.lacksWithout(g, c.row)
		}
		return lacks < n
	})
}

// unanswered is 1 where requests at the end of the row got no answer if it was not g
// that answered it, else 0.
func (r *row) unanswered(g *row) int {
	for _, x := range r.bundle.rows[g.dir] {
		if x == g || x.candidate(r) == nil {
			continue
		}
		if x.rsp.any && !x.rsp.high.Before(g.rsp.high) {
			return 0
		}
	}
	return 1
}

// lacksWithout is how many requests the capture lacks at least if the row, which nothing
// keeps from answering r, answers another one, since g answers that.
func (x *row) lacksWithout(g, r *row) int {
	if y := x.candidate(r); x == g || y == nil || y.struck > 0 {
		return 0
	}
	least := 255
	for _, c := range x.cand {
		if c.row != r && c.row.peer == nil && !c.contradicted() {
			least = min(least, int(c.lacks))
		}
	}
	return least
}

// settleEnding pairs a row that ends with the one that answered nobody but it.
func (s *shard) settleEnding(r *row) {
	if r.peer != nil || r.bundle.unsure == 0 {
		return
	}
	for _, rows := range r.bundle.rows {
		for _, g := range rows {
			if len(g.cand) == 1 && (g == r || g.cand[0].row == r) && !g.rivalled(&g.cand[0]) {
				s.pair(g.cand[0].row, g, byResponses)
				return
			}
		}
	}
}

// rivalled reports whether the only candidate left may as well be the partner
// of another row. Where more rows look for a partner than there are partners, one
// of them lacks it: a single response that fits is no better than none, and what answers
// that one drew before the capture began come no later than queues make them.
func (g *row) rivalled(c *candidate) bool {
	seeking, free := g.bundle.left(g.dir)
	few := c.agreed < 2 && seeking > free
	return c.ofAnother(g, func(x *row, y *candidate) bool {
		return y.agreed > 0 && y.agreed >= c.agreed || few || seeking > free && y.struck == 0 && !g.outlasts(x)
	})
}

// outlasts reports whether responses in g came more than twice as long behind the begin
// of the capture as any in another row: so long as queues keep back none of those.
func (g *row) outlasts(x *row) bool {
	began := g.bundle.first
	return g.lastAnswer()-began > 2*(x.lastAnswer()-began)
}

// lastAnswer is when the response of the highest PSN in the row passed.
func (g *row) lastAnswer() int64 {
	if e := g.rsp.recent.get(g.rsp.high); e != nil {
		return e.time
	}
	return g.count.LastNs
}

// left counts the rows of a direction that look for a partner, and those of the
// other one that could be it.
func (b *bundle) left(dir uint8) (seeking, free int) {
	for _, g := range b.rows[dir] {
		if g.cand != nil {
			seeking++
		}
	}
	for _, r := range b.asking[1-dir] {
		if r.peer == nil {
			free++
		}
	}
	return seeking, free
}

// lastPair reports whether one row looks for a partner, and one could be it.
func (b *bundle) lastPair(dir uint8) bool {
	seeking, free := b.left(dir)
	return seeking == 1 && free == 1
}
