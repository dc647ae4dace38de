package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// A row is what travelled from Src to Dst towards DestQP, as far as the
// sample's tap saw it or should have.
type row struct {
	Src    string `json:"src"`
	Dst    string `json:"dst"`
	DestQP uint32 `json:"dest_qp"`

	Frames        int `json:"frames"` // at the tap
	Resent        int `json:"resent_requests,omitempty"`
	AnswersResent int `json:"resent_responses,omitempty"` // READ responses and answers to atomics
	Copies        int `json:"copies,omitempty"`           // frames seen more than once
	Marked        int `json:"ce_frames,omitempty"`
	BadICRC       int `json:"icrc_bad,omitempty"`

	NAKs map[string]int `json:"naks,omitempty"` // travelling in this row, by what they say

	// By comparing taps. What was lost where no tap stood before is not known
	// frame by frame; see what tc counted.
	LostBefore        int `json:"lost_before,omitempty"` // requests, on their way to the tap
	LostBehind        int `json:"lost_behind,omitempty"`
	AnswersLostBefore int `json:"responses_lost_before,omitempty"`
	AnswersLostBehind int `json:"responses_lost_behind,omitempty"` // READ responses and answers to atomics
	AcksLostBefore    int `json:"acks_lost_before,omitempty"`
	AcksLostBehind    int `json:"acks_lost_behind,omitempty"`
	NotCaptured       int `json:"not_captured,omitempty"` // passed the tap's place, but are not in the file
}

// rows are the sample's, ordered by who sends to whom.
func (r *recording) rows(t *truth) []*row {
	all := table{}
	again := r.sentAgain()
	once := map[key]bool{}
	for _, point := range r.scenario.Sample.Points {
		for _, f := range r.seen[point] {
			all.of(text(f.Src), text(f.Dst), f.QP).count(f, again, once)
		}
	}
	for _, d := range t.Between {
		r.enterLost(all, d)
	}
	return all.sorted()
}

// A table holds rows by what they are called.
type table map[string]*row

func (t table) of(src, dst string, qp uint32) *row {
	name := fmt.Sprintf("%s %s %08d", src, dst, qp)
	if t[name] == nil {
		t[name] = &row{Src: src, Dst: dst, DestQP: qp}
	}
	return t[name]
}

func (t table) sorted() []*row {
	var out []*row
	for _, name := range slices.Sorted(maps.Keys(t)) {
		out = append(out, t[name])
	}
	return out
}

// count enters a frame of the sample; once holds those seen before it, and
// again how often each was sent that had been sent before.
func (x *row) count(f frame, again map[key]int, once map[key]bool) {
	x.Frames++
	if f.ECN == decode.CE {
		x.Marked++
	}
	if f.ICRC == decode.ICRCBad {
		x.BadICRC++
	}
	switch {
	case again[f.key] > 0 && f.Op.Is(ib.IsRequest):
		x.Resent++
		again[f.key]--
	case again[f.key] > 0:
		x.AnswersResent++
		again[f.key]--
	case once[f.key]:
		x.Copies++
		return
	}
	once[f.key] = true
	if f.Op.Is(ib.IsAck) && f.Syndrome.Type() != ib.ACK {
		x.refused(f.Syndrome)
	}
}

func (x *row) refused(s ib.Syndrome) {
	if x.NAKs == nil {
		x.NAKs = map[string]int{}
	}
	what := "rnr"
	if s.Type() == ib.NAK {
		what = s.String()
	}
	x.NAKs[what]++
}

// enterLost enters what was lost between two taps, before the sample's or
// behind it.
func (r *recording) enterLost(all table, d difference) {
	point := r.scenario.Sample.Points[0]
	place := r.stepOfSample(d)
	for _, l := range d.Lost {
		x := all.of(d.Src, d.Dst, l.DestQP)
		path := r.scenario.Net.path(d.from, d.to)
		switch {
		case d.To == point && place >= 0 && stepOf(path, point) < 0:
			x.NotCaptured++
		case stepOf(path, first(d.To)) < 0: // another mirror's trouble
		case stepOf(path, first(d.To)) <= place:
			x.lose(l, &x.LostBefore, &x.AnswersLostBefore, &x.AcksLostBefore)
		default:
			x.lose(l, &x.LostBehind, &x.AnswersLostBehind, &x.AcksLostBehind)
		}
	}
}

func (x *row) lose(l lost, request, answer, ack *int) {
	switch {
	case l.op.Is(ib.IsAck):
		*ack++
	case l.op.Is(ib.IsResponse):
		*answer++
	default:
		*request++
	}
}

// stepOfSample is where on the way of a difference's packets the sample's tap
// stands, or the port that it mirrors; -1 where it does not see them.
func (r *recording) stepOfSample(d difference) int {
	path := r.scenario.Net.path(d.from, d.to)
	if step := stepOf(path, r.scenario.Sample.Points[0]); step >= 0 {
		return step
	}
	for _, h := range r.scenario.Mirror.Hooks {
		if step := stepOf(path, h.Port); step >= 0 && entered(step) == h.In {
			return step
		}
	}
	return -1
}
