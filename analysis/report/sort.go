package report

import (
	"cmp"
	"slices"
	"strings"
)

// place is where a row stands: by source, destination, destination queue pair,
// source queue pair and time. Addresses compare as numbers; what is no address
// stands last.
type place struct {
	src, dst cell
	flow     *Flow
	at       int32 // in its list
}

func placeOf(f *Flow, at int) place {
	return place{addrCell(f.Src), addrCell(f.Dst), f, int32(at)}
}

func (a *place) compare(b *place) int {
	if c := a.compareQPs(b); c != 0 {
		return c
	}
	return cmp.Or(
		cmp.Compare(a.flow.FirstNs, b.flow.FirstNs),
		a.flow.compareKinds(b.flow),
		cmp.Compare(a.flow.end(), b.flow.end()),
	)
}

// compareKeys puts rows of one key together, ordered by their span.
func (a place) compareKeys(b place) int {
	if c := a.compareQPs(&b); c != 0 {
		return c
	}
	if a.flow.Src == Other {
		return compareSpans(a.flow, b.flow)
	}
	return cmp.Or(a.flow.compareKinds(b.flow), compareSpans(a.flow, b.flow))
}

// compareQPs compares addresses and queue pairs. What is beyond the cap on rows
// is one row, whatever it says.
func (a *place) compareQPs(b *place) int {
	if c := a.src.compare(b.src, a.flow.Src, b.flow.Src); c != 0 || a.flow.Src == Other {
		return c
	}
	if c := a.dst.compare(b.dst, a.flow.Dst, b.flow.Dst); c != 0 {
		return c
	}
	if c := cmp.Compare(a.flow.DestQP, b.flow.DestQP); c != 0 {
		return c
	}
	return cmp.Compare(optional(a.flow.SrcQP), optional(b.flow.SrcQP))
}

// compareKinds compares what else tells rows apart.
func (f *Flow) compareKinds(g *Flow) int {
	return cmp.Or(
		cmp.Compare(f.Version, g.Version),
		cmp.Compare(f.Transport, g.Transport),
		cmp.Compare(optional(f.VNI), optional(g.VNI)),
		cmp.Compare(optional(f.VLAN), optional(g.VLAN)),
	)
}

// families orders the rules of one severity: first what says that work stopped
// or was lost, then what slowed it, then what explains that, and last what
// speaks of the capture. Counts of different rules do not compare: a thousand
// marks are less than one lost packet. A family that is not listed stands last.
var families = []string{
	"peer", "nak", "cm", "loss", "mtu", "icrc", "rnr", "retransmit", "pfc", "pause", "incast", "straggler",
	"reorder", "cnp", "ecn", "entropy", "ecmp", "class", "gid", "header", "capture", "uet",
}

func familyRank(rule string) int {
	family, _, _ := strings.Cut(rule, ".")
	if i := slices.Index(families, family); i >= 0 {
		return i
	}
	return len(families)
}

// SortFindings orders findings as a reader should meet them: the worst severity
// first, then by family of rule, and within a rule the largest count first,
// then by time and flow.
func SortFindings(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.Severity.Rank(), b.Severity.Rank()),
			cmp.Compare(familyRank(a.Rule), familyRank(b.Rule)),
			cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(b.Count, a.Count),
			cmp.Compare(a.FirstNs, b.FirstNs),
			compareRefs(a.Flow, b.Flow),
			cmp.Compare(a.Summary, b.Summary),
		)
	})
}

// compareRefs orders flows by address, with none at all first.
func compareRefs(a, b *FlowRef) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return cmp.Or(
		addrCell(a.Src).compare(addrCell(b.Src), a.Src, b.Src),
		addrCell(a.Dst).compare(addrCell(b.Dst), a.Dst, b.Dst),
		cmp.Compare(a.DestQP, b.DestQP),
	)
}
