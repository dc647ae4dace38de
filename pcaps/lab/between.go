package main

import (
	"cmp"
	"slices"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// A difference is what became of the frames of one host between two taps.
type difference struct {
	From      string `json:"from"`
	To        string `json:"to"`
	Src       string `json:"src"`
	Dst       string `json:"dst"`
	Frames    int    `json:"frames"` // at From
	LostTotal int    `json:"lost"`
	Lost      []lost `json:"lost_frames,omitempty"`
	Late      int    `json:"late,omitempty"`    // overtaken by a frame that was behind it
	Copies    int    `json:"copies,omitempty"`  // more of a frame at To than at From
	Damaged   int    `json:"damaged,omitempty"` // arrived with another header
	Marked    int    `json:"marked,omitempty"`  // by Congestion Experienced
	from      int
	to        int
}

// A lost frame, by its number in the capture of the tap that saw it.
type lost struct {
	Tap    string `json:"tap"`
	Frame  uint64 `json:"frame"`
	DestQP uint32 `json:"dest_qp"`
	PSN    uint32 `json:"psn"`
	Opcode string `json:"opcode"`
	op     ib.Opcode
}

// compare matches what one tap saw with what a later one did.
func compare(before, after []frame) difference {
	d := difference{Frames: len(before)}
	left := byKey(after)
	var missed []frame
	came := make([]int, len(after)) // for each arrival its place among the sent, from 1
	for i, f := range before {
		places := left[f.key]
		if len(places) == 0 {
			missed = append(missed, f)
			continue
		}
		left[f.key] = places[1:]
		came[places[0]] = i + 1
		if f.ECN != decode.CE && after[places[0]].ECN == decode.CE {
			d.Marked++
		}
	}
	d.Late = overtaken(came)
	d.account(missed, after, left, byKey(before))
	return d
}

// overtaken counts the arrivals behind one that was sent later. An arrival that
// nobody sent, a copy, has place 0 and does not count.
func overtaken(came []int) int {
	n, newest := 0, 0
	for _, place := range came {
		if place > 0 && place < newest {
			n++
		}
		newest = max(newest, place)
	}
	return n
}

func byKey(frames []frame) map[key][]int {
	out := map[key][]int{}
	for i, f := range frames {
		out[f.key] = append(out[f.key], i)
	}
	return out
}

// account says what became of frames that were missed, given those at the later
// tap that nothing was matched with: copies, or what damage made of a frame.
func (d *difference) account(missed, after []frame, left, known map[key][]int) {
	changed := map[uint16]int{}
	for k, places := range left {
		if len(known[k]) > 0 {
			d.Copies += len(places)
			continue
		}
		for _, i := range places {
			changed[after[i].IPID]++
		}
	}
	for _, f := range missed {
		if changed[f.IPID] > 0 && !f.IPv6 {
			changed[f.IPID]--
			d.Damaged++
			continue
		}
		d.Lost = append(d.Lost, lost{f.tap, f.Frame, f.QP, uint32(f.PSN), f.Op.String(), f.Op})
	}
	d.LostTotal = len(d.Lost)
}

// between compares, for every two hosts, each tap on the way with the next one.
func (r *recording) between() []difference {
	out := []difference{} // in JSON an empty list, not null
	for from := 1; from <= r.scenario.Net.Hosts; from++ {
		for to := 1; to <= r.scenario.Net.Hosts; to++ {
			if from != to {
				out = append(out, r.along(from, to)...)
			}
		}
	}
	return out
}

// tappedSteps are the steps of a way where the taps see every packet.
func (r *recording) tappedSteps(from, to int) [][]string {
	return slices.DeleteFunc(r.scenario.Net.path(from, to), func(step []string) bool {
		return slices.ContainsFunc(step, func(p string) bool { return !r.scenario.tapped(p) })
	})
}

func (r *recording) along(from, to int) []difference {
	steps := r.tappedSteps(from, to)
	var out []difference
	for i := 1; i < len(steps); i++ {
		out = r.appendDifference(out, steps[i-1], steps[i], from, to)
	}
	for _, p := range []string{"mirror", "collector"} {
		if r.scenario.tapped(p) && len(steps) > 0 {
			out = r.appendDifference(out, steps[0], []string{p}, from, to)
		}
	}
	return out
}

func (r *recording) appendDifference(out []difference, from, to []string, a, b int) []difference {
	before, after := r.passing(from, a, b), r.passing(to, a, b)
	if len(before)+len(after) == 0 {
		return out
	}
	d := compare(before, after)
	d.From, d.To, d.from, d.to = join(from), join(to), a, b
	some := slices.Concat(before, after)[0]
	d.Src, d.Dst = text(some.Src), text(some.Dst)
	return append(out, d)
}

func join(points []string) string {
	if len(points) == 2 {
		return points[0] + "+" + points[1]
	}
	return points[0]
}

// passing are the frames of one host to another that some taps saw, in the
// order of time.
func (r *recording) passing(points []string, from, to int) []frame {
	var out []frame
	for _, p := range points {
		for _, f := range r.seen[p] {
			if hostOf(f.Src) == from && hostOf(f.Dst) == to {
				out = append(out, f)
			}
		}
	}
	if len(points) > 1 {
		slices.SortStableFunc(out, func(a, b frame) int { return cmp.Compare(a.Time, b.Time) })
	}
	return out
}
