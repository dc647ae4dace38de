package main

import "github.com/rocescope/rocescope/decode/ib"

// sentAgain finds the frames that carry a PSN which their sender had sent
// before, at the first tap behind the sender: there nothing has overtaken yet.
func (r *recording) sentAgain() map[key]int {
	out := map[key]int{}
	mtu := r.pathMTU()
	for from := 1; from <= r.scenario.Net.Hosts; from++ {
		for to := 1; to <= r.scenario.Net.Hosts; to++ {
			if steps := r.tappedSteps(from, to); from != to && len(steps) > 0 {
				sentAgain(r.passing(steps[0], from, to), mtu, out)
			}
		}
	}
	return out
}

// A sequence is one of the two that share a row: requests, or answers.
type sequence struct {
	qp     uint32
	answer bool
}

func sentAgain(frames []frame, mtu uint32, out map[key]int) {
	newest := map[sequence]ib.PSN{}
	seen := map[key]bool{}
	for _, f := range frames {
		if f.QP < 2 || f.Op.Is(ib.IsAck) || f.Op.Transport() == ib.UD || seen[f.key] {
			continue
		}
		seen[f.key] = true
		s := sequence{f.QP, f.Op.Is(ib.IsResponse)}
		last := f.PSN.Add(int32(f.span(mtu)) - 1)
		n, known := newest[s]
		if known && !f.PSN.After(n) {
			out[f.key]++
		}
		if !known || last.After(n) {
			newest[s] = last
		}
	}
}

// span is how many PSNs a packet takes: a READ has one for each packet of the
// answer.
func (f *frame) span(mtu uint32) uint32 {
	if !f.Op.Is(ib.IsRead) || f.DMALen == 0 {
		return 1
	}
	return (f.DMALen + mtu - 1) / mtu
}

// pathMTU is the payload of the packets that are followed by others of their
// message; all connections of a scenario have the same.
func (r *recording) pathMTU() uint32 {
	mtu := uint32(0)
	for _, frames := range r.seen {
		for _, f := range frames {
			if f.Op.Is(ib.IsFirst | ib.IsMiddle) {
				mtu = max(mtu, f.PayloadLen)
			}
		}
	}
	if mtu == 0 {
		return 1024
	}
	return mtu
}
