package synth

import (
	"cmp"
	"slices"
)

// Lost is frames that were to slow somebody down, or to let him go on, and did
// not arrive.
type Lost struct {
	What     string `json:"what"` // CNP, XOFF or XON
	From     string `json:"from"` // an address, or of pauses the name of a device
	To       string `json:"to"`
	Frames   int64  `json:"frames"`
	Captured int64  `json:"captured"` // those of them that were lost behind the tap
}

// lostPause notes a pause frame that did not arrive.
func (r *recorder) lostPause(x *packet, captured bool) {
	what := "XOFF"
	if x.kind == isXON {
		what = "XON"
	}
	r.lost = addLost(r.lost, Lost{What: what, From: x.path[0].of.name(), To: x.path[0].far.of.name()}, captured)
}

// lostSignals returns all of them, CNPs included.
func (r *recorder) lostSignals() []Lost {
	out := r.lost
	for _, x := range r.order {
		if p := x.packet; p.kind == isCNP && x.lost {
			out = addLost(out, Lost{What: "CNP", From: p.from.addr.String(), To: p.to.addr.String()}, x.captured)
		}
	}
	slices.SortFunc(out, func(a, b Lost) int {
		return cmp.Or(cmp.Compare(a.What, b.What), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return out
}

func addLost(all []Lost, x Lost, captured bool) []Lost {
	i := slices.IndexFunc(all, func(y Lost) bool { return y.What == x.What && y.From == x.From && y.To == x.To })
	if i < 0 {
		all, i = append(all, x), len(all)
	}
	all[i].Frames++
	if captured {
		all[i].Captured++
	}
	return all
}
