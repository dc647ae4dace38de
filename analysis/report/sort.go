package report

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
)

// place is where a row stands: by source, destination, destination queue pair,
// source queue pair and time. Addresses compare as numbers; what is no address
// stands last.
type place struct {
	src, dst netip.Addr // parsed once, not at each comparison
	flow     *Flow
}

func placeOf(f *Flow) place { return place{parseAddr(f.Src), parseAddr(f.Dst), f} }

func (a place) compare(b place) int {
	return cmp.Or(
		compareAddrs(a.src, b.src, a.flow.Src, b.flow.Src),
		compareAddrs(a.dst, b.dst, a.flow.Dst, b.flow.Dst),
		cmp.Compare(a.flow.DestQP, b.flow.DestQP),
		cmp.Compare(optional(a.flow.SrcQP), optional(b.flow.SrcQP)),
		cmp.Compare(a.flow.FirstNs, b.flow.FirstNs),
		cmp.Compare(a.flow.Version, b.flow.Version),
		cmp.Compare(a.flow.Transport, b.flow.Transport),
		cmp.Compare(optional(a.flow.VNI), optional(b.flow.VNI)),
		cmp.Compare(optional(a.flow.VLAN), optional(b.flow.VLAN)),
		cmp.Compare(a.flow.end(), b.flow.end()),
	)
}

// parseAddr returns the zero Addr for what is no address.
func parseAddr(s string) netip.Addr {
	addr, _ := netip.ParseAddr(s)
	return addr
}

// compareAddrs compares two addresses, and as text what is none.
func compareAddrs(a, b netip.Addr, textA, textB string) int {
	if a.IsValid() != b.IsValid() {
		if a.IsValid() {
			return -1
		}
		return 1
	}
	return cmp.Or(a.Compare(b), cmp.Compare(textA, textB))
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
		compareAddrs(parseAddr(a.Src), parseAddr(b.Src), a.Src, b.Src),
		compareAddrs(parseAddr(a.Dst), parseAddr(b.Dst), a.Dst, b.Dst),
		cmp.Compare(a.DestQP, b.DestQP),
	)
}
