package analysis

import (
	"math"
	"slices"
)

// Round trips between two hosts are alike: those of true pairs lie this close
// together, and a false pair is only ruled out where its own lies this far off. The
// least of many is more exact (Limits.PeerSame).
const (
	alike  = 0.05
	unlike = 0.15
)

// likeness is how close the round trip of a true pair lies to that of others, how far
// off that of a false one, and how many answers have to have fitted.
type likeness struct {
	near, far float64
	least     int
	alone     bool // of responses alone that were not kept back
}

// of returns the round trip that counts; 0 where there is none.
func (l *likeness) of(c *candidate) int64 {
	if l.alone {
		return c.alone
	}
	return c.quickest
}

// likenesses are those that tell pairs apart, ones for receivers that answer each message
// first. The closer the true ones lie together, the less the false ones need to be off:
// to look so much alike by chance, two queue pairs would have to be apart in their
// sending by just what their ways are.
func likenesses(l *Limits) (out [6]likeness) {
	for i, alone := range []bool{false, true} {
		copy(out[3*i:], []likeness{
			{alike, unlike, 2 * l.PeerAnswers, alone},
			{l.PeerSame, unlike, l.PeerAnswers / 2, alone},
			{l.PeerSame, alike, l.PeerAnswers, alone},
		})
	}
	return out
}

// settleByTime pairs the rows of one direction by how fast the responses
// follow the requests: all queue pairs between two hosts share a way, so the
// shortest times of the true pairs are alike. Where more than one assignment
// has that, nothing is known. It reports whether it paired any.
func (s *shard) settleByTime(b *bundle, dir uint8) bool {
	var gs []*row
	for _, g := range b.rows[dir] {
		if g.cand != nil {
			gs = append(gs, g)
		}
	}
	if len(gs) == 0 {
		return false
	}
	for _, l := range likenesses(&s.cfg.Limits) {
		rs := b.assignment(gs, dir, l)
		if rs == nil || !l.alone && keptBack(gs, rs, s.cfg.Limits.PeerSame) || strained(gs, rs) && fitAll(gs) {
			continue
		}
		for i, r := range rs {
			s.pair(r, gs[i], byResponses)
		}
		return true
	}
	return false
}

// keptBack reports whether the rows of responses, if these are their partners, keep ACKs
// back for what comes behind: then how soon one follows the last message says little,
// unless those that were not kept back are alike as well.
func keptBack(gs, partners []*row, same float64) bool {
	kept := false
	low, high := int64(math.MaxInt64), int64(0)
	for i, g := range gs {
		for j := range g.cand {
			if c := &g.cand[j]; c.row == partners[i] {
				kept = kept || c.kept
				low, high = min(low, c.alone), max(high, c.alone)
			}
		}
	}
	return kept && (len(gs) == 1 || low == 0 || float64(high) > float64(low)*(1+same))
}

// strained reports whether some response does not fit, if these are the partners of the rows.
func strained(gs, partners []*row) bool {
	for i, g := range gs {
		if !g.candidate(partners[i]).clean() {
			return true
		}
	}
	return false
}

// fitAll reports whether the rows may have partners, each its own, such that all responses
// fit: then no times make up for some that do not.
func fitAll(gs []*row) bool {
	taken := map[*row]*row{} // by whom
	for _, g := range gs {
		if !g.finds(taken, map[*row]bool{}) {
			return false
		}
	}
	return true
}

// finds looks for a partner of the row that nothing contradicts, if need be one that another row
// leaves to it for one it has not tried yet.
func (g *row) finds(taken map[*row]*row, tried map[*row]bool) bool {
	for i := range g.cand {
		c := &g.cand[i]
		if !c.clean() || tried[c.row] {
			continue
		}
		tried[c.row] = true
		if by := taken[c.row]; by == nil || by.finds(taken, tried) {
			taken[c.row] = g
			return true
		}
	}
	return false
}

// assignment returns the partners of the rows by time, or nil. The round trip is
// that of rows which are paired; where there are none, one of those that the
// first row may have.
func (b *bundle) assignment(gs []*row, dir uint8, l likeness) []*row {
	if rtt := b.minRTT[1-dir]; rtt > 0 {
		if rs := distinct(partners(gs, float64(rtt), l)); !slices.Contains(rs, nil) && !closerTogether(gs, rs, l) {
			return rs
		}
		return nil
	}
	if len(gs) == 1 {
		return nil // any candidate is like itself
	}
	var found []*row
	clear := false
	for _, c := range gs[0].cand {
		rtt := float64(l.of(&c))
		rs := closest(gs, rtt, l)
		switch {
		case slices.Contains(rs, nil) || slices.Contains(distinct(slices.Clone(rs)), nil):
			continue
		case found != nil && !slices.Equal(found, rs):
			return nil
		}
		found = rs
		clear = clear || slices.Equal(rs, partners(gs, rtt, l))
	}
	if !clear {
		return nil
	}
	return found
}

// closerTogether reports whether the round trips of other partners of the rows are more
// alike than theirs: the one that is known may be that of answers which were kept back for
// a shorter time, or not at all.
func closerTogether(gs, partners []*row, l likeness) bool {
	own := spread(gs, partners, l)
	for i := range gs[0].cand {
		rs := closest(gs, float64(l.of(&gs[0].cand[i])), l)
		if !slices.Equal(rs, partners) && !slices.Contains(distinct(slices.Clone(rs)), nil) && spread(gs, rs, l) < own {
			return true
		}
	}
	return false
}

// spread is how far apart, as a share, the round trips of the rows lie if these are their
// partners.
func spread(gs, partners []*row, l likeness) float64 {
	low, high := int64(math.MaxInt64), int64(0)
	for i, g := range gs {
		took := l.of(g.candidate(partners[i]))
		low, high = min(low, took), max(high, took)
	}
	return float64(high)/float64(low) - 1
}

// closest returns, for each row, the candidate whose round trip lies closest to rtt;
// nil where it has none near it.
func closest(gs []*row, rtt float64, l likeness) []*row {
	out := make([]*row, len(gs))
	for i, g := range gs {
		best := l.near
		for j := range g.cand {
			took := l.of(&g.cand[j])
			if off := math.Abs(float64(took)/rtt - 1); took > 0 && off <= best {
				out[i], best = g.cand[j].row, off
			}
		}
	}
	return out
}

// distinct takes away what stands there twice.
func distinct(rs []*row) []*row {
	for i, r := range rs {
		if r != nil && slices.Contains(rs[i+1:], r) {
			for j := range rs {
				if rs[j] == r {
					rs[j] = nil
				}
			}
		}
	}
	return rs
}

// partners returns, for each row, the one candidate with about that round trip;
// nil where it has none or several.
func partners(gs []*row, rtt float64, l likeness) []*row {
	out := make([]*row, len(gs))
	for i, g := range gs {
		out[i] = g.like(rtt, l)
	}
	return out
}

// like returns the only candidate whose quickest response took about rtt.
func (g *row) like(rtt float64, l likeness) *row {
	var found *row
	far := l.far + 2*float64(g.noise())/rtt // both times may be wrong, and the true one is not to be ruled out
	for i := range g.cand {
		c := &g.cand[i]
		took := l.of(c)
		off := float64(took)/rtt - 1
		switch {
		case took == 0 || off > far || off < -far:
		case found != nil || off > l.near || off < -l.near || int(c.fitted) < l.least:
			return nil
		default:
			found = c.row
		}
	}
	return found
}
