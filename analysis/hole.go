package analysis

import (
	"slices"

	"github.com/rocescope/rocescope/decode/ib"
)

// hole is a run of PSNs that one pass skipped.
type hole struct {
	start, end ib.PSN // end is one past the last
	upto       ib.PSN // where its pass stood when the hole was closed
	time       int64  // of the packet that revealed it
	ahead      int64  // time of the packet before that one
	frame      uint64
	before     uint16 // IPv4 IDs of the packets on either side; of the late one of a phantom, or behind a pause
	after      uint16
	pass       uint16
	gap        uint16 // the episode it belongs to
	fate       fate
	sure       bool      // counts; else only once it is NAKed or sent again
	amid       bool      // its pass had repeated several packets before it
	within     bool      // its pass had repeated several packets before it, or some behind it
	again      bool      // its packets had been sent before its pass began
	cause      EventKind // why its pass began, valid iff again
	naked      bool      // a NAK named one of it, or a READ asked for it again
	named      ib.PSN    // the one that the newest NAK named, which had all before it; 0 of responses
	closer     closer
	phantom    bool // it lies before the row's first packet: only a late packet can tell
	paused     bool // the capture may have paused before the packet that revealed it
	ended      bool // a message ended with the packet that closed it
}

// closer is the resend or the late packet that closed a hole.
type closer struct {
	time  int64
	frame uint64
	kind  EventKind // of a resend
	turn  int64     // the shortest turnaround known before it
}

type fate uint8

const (
	fateOpen  fate = iota
	fateLost       // sent again
	fateLate       // came late
	fateAcked      // acknowledged, though never seen
)

func (h *hole) has(p ib.PSN) bool { return !p.Before(h.start) && p.Before(h.end) }

// isNaked reports whether a NAK named the PSN, of requests.
func (h *hole) isNaked(p ib.PSN) bool { return h.naked && h.named == p }

// between reports whether an ID lies so closely between those on either side of
// the hole that it is no chance, whatever else is known of the sender's IDs. Before the
// row's first packet there is one side.
func (h *hole) between(id uint16) bool {
	before, behind := id-h.before, h.after-id
	return (h.phantom || 0 < before && before < closely) && 0 < behind && behind < closely
}

func (h *hole) len() int32 { return h.end.Sub(h.start) }

// holes keeps the last holes of a sequence, oldest first. Closed ones stay for
// a while: they tell that a packet had come too early, and a belated original
// overturns a verdict of loss.
type holes struct {
	list    []hole
	open    int    // how many of list are open
	lastGap uint16 // the newest episode
	dropped int32  // PSNs of sure holes that found no place any more
}

const holesMax = 64

// openAt returns an open hole that has p: the newest, or the newest of one
// pass where pass is not negative.
func (hs *holes) openAt(p ib.PSN, pass int) *hole {
	if hs.open == 0 {
		return nil
	}
	for i := len(hs.list) - 1; i >= 0; i-- {
		h := &hs.list[i]
		if h.fate == fateOpen && h.has(p) && (pass < 0 || h.pass == uint16(pass)) {
			return h
		}
	}
	return nil
}

// inGap reports whether an open hole of the gap has p: a NAK parts one that was only suspected.
func (hs *holes) inGap(gap uint16, p ib.PSN) bool {
	return slices.ContainsFunc(hs.list, func(h hole) bool { return h.fate == fateOpen && h.gap == gap && h.has(p) })
}

// add appends a hole. Where the list is full the oldest falls out and is
// returned, so that its fate can be told.
func (hs *holes) add(h hole) (out hole, full bool) {
	if len(hs.list) >= holesMax {
		out, full = hs.list[0], true
		hs.drop(0)
	}
	hs.list = append(hs.list, h)
	if h.fate == fateOpen {
		hs.open++
	}
	return out, full
}

func (hs *holes) drop(i int) {
	if hs.list[i].fate == fateOpen {
		hs.open--
	}
	hs.list = append(hs.list[:i], hs.list[i+1:]...)
}

// cut takes [from, to) out of the open hole at index i and returns that piece;
// what is left on either side stays open. The piece itself is not in the list.
func (hs *holes) cut(i int, from, to ib.PSN) hole {
	h := hs.list[i]
	if from.Before(h.start) {
		from = h.start
	}
	if to.After(h.end) {
		to = h.end
	}
	piece := h
	piece.start, piece.end = from, to
	left, right := h, h
	left.end, right.start = from, to
	switch {
	case left.len() > 0:
		hs.list[i] = left
		if right.len() > 0 {
			hs.insert(i+1, right)
		}
	case right.len() > 0:
		hs.list[i] = right
	default:
		hs.drop(i)
	}
	return piece
}

// part parts an open hole in two before psn.
func (hs *holes) part(psn ib.PSN) {
	for i := 0; i < len(hs.list) && hs.open > 0; i++ {
		if h := &hs.list[i]; h.fate == fateOpen && h.has(psn) && h.start != psn {
			right := *h
			right.start = psn
			h.end = psn
			hs.insert(i+1, right)
			i++
		}
	}
}

// insert puts an open hole at index i. A closed one makes room where the list
// is full; a hole so riddled that its rests alone fill the list is only counted
// further.
func (hs *holes) insert(i int, h hole) {
	if len(hs.list) >= holesMax {
		k := hs.closed()
		if k < 0 {
			if h.sure {
				hs.dropped += h.len()
			}
			return
		}
		hs.drop(k)
		if k < i {
			i--
		}
	}
	hs.list = append(hs.list, hole{})
	copy(hs.list[i+1:], hs.list[i:])
	hs.list[i] = h
	hs.open++
}

// closed returns the index of the oldest closed hole, or -1.
func (hs *holes) closed() int {
	for i := range hs.list {
		if hs.list[i].fate != fateOpen {
			return i
		}
	}
	return -1
}

// fill takes [from, to) out of all open holes.
func (hs *holes) fill(from, to ib.PSN) {
	for i := 0; i < len(hs.list) && hs.open > 0; i++ {
		h := &hs.list[i]
		if h.fate != fateOpen || !h.start.Before(to) || !from.Before(h.end) {
			continue
		}
		n := len(hs.list)
		hs.cut(i, from, to)
		if len(hs.list) < n {
			i--
		}
	}
}

// cameLate reports whether the PSN, or one before it, came late in a pass, behind some
// from the PSN on.
func (hs *holes) cameLate(pass uint16, psn ib.PSN) bool {
	return slices.ContainsFunc(hs.list, func(h hole) bool {
		return h.pass == pass && h.fate == fateLate && !psn.Before(h.start) && psn.Before(h.upto)
	})
}

// forgetAt takes the open hole of a pass that begins at a PSN out of the list.
func (hs *holes) forgetAt(start ib.PSN, pass uint16) {
	for i := range hs.list {
		if h := &hs.list[i]; h.fate == fateOpen && h.start == start && h.pass == pass {
			hs.drop(i)
			return
		}
	}
}

// take removes one PSN from the closed hole at index i.
func (hs *holes) take(i int, psn ib.PSN) {
	left, right := hs.list[i], hs.list[i]
	left.end, right.start = psn, psn.Add(1)
	switch {
	case left.len() <= 0 && right.len() <= 0:
		hs.drop(i)
	case left.len() <= 0:
		hs.list[i] = right
	default:
		hs.list[i] = left
		if right.len() > 0 {
			hs.keep(right)
		}
	}
}

// keep puts a closed piece back for later reference.
func (hs *holes) keep(h hole) {
	if k := hs.closed(); len(hs.list) >= holesMax && k >= 0 {
		hs.drop(k)
	}
	if len(hs.list) < holesMax {
		hs.list = append(hs.list, h)
	}
}
