package report

import (
	"cmp"
	"slices"
)

// flowKey is what names a row, except its time.
type flowKey struct {
	src, dst     string
	destQP       uint32
	srcQP        int64 // -1 absent
	vni, vlan    int64 // -1 absent
	version      int
	transport    string
	beyondTheCap bool
}

func (f *Flow) key() flowKey {
	if f.Src == Other {
		return flowKey{beyondTheCap: true}
	}
	return flowKey{
		src: f.Src, dst: f.Dst, destQP: f.DestQP,
		srcQP: optional(f.SrcQP), vni: optional(f.VNI), vlan: optional(f.VLAN),
		version: f.Version, transport: f.Transport,
	}
}

func optional(n *uint32) int64 {
	if n == nil {
		return -1
	}
	return int64(*n)
}

// addFlows adds the rows that are one flow and returns the sums in order. Where
// own says so, it takes the rows over.
//
// Two rows of one key are one where their spans of time overlap, directly or by
// way of a third. That relation does not depend on the order of merging,
// because the span of a sum is just what the spans of its parts cover.
func addFlows(flows [][]Flow, own bool) []Flow {
	var rows []place
	for _, part := range flows {
		rows = slices.Grow(rows, len(part))
		for i := range part {
			rows = append(rows, placeOf(&part[i], i))
		}
	}
	slices.SortFunc(rows, place.compareKeys)
	sums := grouped(rows)
	slices.SortFunc(sums, func(a, b []place) int { return a[0].compare(&b[0]) })
	if own && len(flows) == 1 && len(sums) == len(flows[0]) {
		return arranged(flows[0], sums)
	}
	// A row is large and there may be a million: each is copied once.
	out := make([]Flow, len(sums))
	for i, parts := range sums {
		if out[i] = *parts[0].flow; !own || len(parts) > 1 {
			out[i] = parts[0].flow.clone()
		}
		for _, p := range parts[1:] {
			flowPlan.add(&out[i], p.flow)
		}
	}
	return out
}

// grouped divides rows, ordered by their keys, into those that are one flow.
func grouped(rows []place) [][]place {
	out := make([][]place, 0, len(rows))
	for len(rows) > 0 {
		same := 1
		for k := rows[0].flow.key(); same < len(rows) && rows[same].flow.key() == k; {
			same++
		}
		for left := rows[:same]; len(left) > 0; {
			n := len(left)
			if left[0].flow.Src != Other {
				n = overlapping(left)
			}
			out = append(out, left[:n:n])
			left = left[n:]
		}
		rows = rows[same:]
	}
	return out
}

// arranged puts rows, each of them its own sum, in order where they stand.
func arranged(flows []Flow, sums [][]place) []Flow {
	order := make([]int32, len(flows))
	for i := range order {
		order[i] = sums[i][0].at
	}
	arrange(flows, order)
	return flows
}

// overlapping returns how many rows, ordered by their span, hang together with
// the first: at least 1. Spans that only touch do not overlap, so that a number
// used again within one tick of a coarse clock stays two rows; of rows that
// last for an instant those of the same instant hang together.
func overlapping(rows []place) int {
	start, last := rows[0].flow.FirstNs, rows[0].flow.end()
	for i, p := range rows {
		if p.flow.FirstNs >= last && p.flow.end() != start {
			return i
		}
		last = max(last, p.flow.end())
	}
	return len(rows)
}

// compareSpans orders rows by their start and then by their end.
func compareSpans(a, b *Flow) int {
	return cmp.Or(cmp.Compare(a.FirstNs, b.FirstNs), cmp.Compare(a.end(), b.end()))
}

// end returns LastNs, but never a time before FirstNs, which only a saved
// report can claim.
func (f *Flow) end() int64 { return max(f.FirstNs, f.LastNs) }

// clone returns a row that shares nothing with f that could change.
func (f *Flow) clone() Flow {
	c := *f
	c.UDPSourcePorts = ascending(f.UDPSourcePorts)
	c.DSCPs = ascending(f.DSCPs)
	c.VLANs = ascending(f.VLANs)
	c.AckRTT = f.AckRTT.Clone()
	c.Evidence = addEvidence(nil, f.Evidence)
	return c
}

// peerRank orders the ways to know a peer, the surest first.
func peerRank(by string) int {
	order := []string{"cm", "responses", "datagram", "source-port"}
	if i := slices.Index(order, by); i >= 0 {
		return i
	}
	return len(order)
}

// comparePeers puts the row first that knows its peer best. Where two rows
// contradict each other, which is for two taps to do, the order is arbitrary
// but total, so that merging stays commutative.
func comparePeers(a, b *Flow) int {
	known := func(f *Flow) int {
		if f.PeerQP != nil {
			return 0
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(known(a), known(b)),
		cmp.Compare(peerRank(a.PeerBy), peerRank(b.PeerBy)),
		cmp.Compare(optional(a.PeerQP), optional(b.PeerQP)),
		cmp.Compare(a.PeerBy, b.PeerBy),
	)
}

func addPeer(sum, f *Flow) {
	if comparePeers(f, sum) < 0 {
		sum.PeerQP, sum.PeerBy = f.PeerQP, f.PeerBy
	}
}

// addEvidence returns the sum of two lists, by kind; neither changes. Events
// that did not happen are left out.
func addEvidence(a, b []Evidence) []Evidence {
	var out []Evidence
	for _, e := range slices.Concat(a, b) {
		if e.Count == 0 && len(e.Frames) == 0 {
			continue
		}
		i, found := slices.BinarySearchFunc(out, e.Kind, func(x Evidence, kind string) int { return cmp.Compare(x.Kind, kind) })
		if !found {
			e.Frames = fewFrames(e.Frames)
			out = slices.Insert(out, i, e)
			continue
		}
		sum := &out[i]
		sum.Count += e.Count
		sum.FirstNs, sum.LastNs = min(sum.FirstNs, e.FirstNs), max(sum.LastNs, e.LastNs)
		sum.Frames = fewFrames(slices.Concat(sum.Frames, e.Frames))
	}
	return out
}

// fewFrames returns the first and the last few of some frames. Frames cut out
// once lie between those kept, so it may be applied again and again.
func fewFrames(frames []uint64) []uint64 {
	frames = ascending(frames)
	if n := len(frames); n > 2*EvidenceFrames {
		frames = slices.Delete(frames, EvidenceFrames, n-EvidenceFrames)
	}
	return frames
}

// ascending returns a sorted copy without repetitions, nil for nothing.
func ascending[T cmp.Ordered](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	s = slices.Clone(s)
	slices.Sort(s)
	return slices.Compact(s)
}
