package analysis

import (
	"cmp"
	"slices"

	"github.com/rocescope/rocescope/analysis/report"
)

// evidence is the logs of each row, by FlowID.
type evidence []*evidenceLog

// evidenceLog keeps the first and the last few frames of one kind of event in one
// row.
type evidenceLog struct {
	next          *evidenceLog // of the same row; nil for the last
	count         int64
	firstNs, last int64
	frames        []uint64 // the first, and behind evidenceFrames of them the last
	kind          EventKind
}

// evidenceFrames is how many frames are kept at either end.
const evidenceFrames = 4

// emit records an event: for the observers of this batch, and as evidence.
func (s *shard) emit(e Event) {
	s.batch.Events = append(s.batch.Events, e)
	switch r := s.rows[e.Flow]; e.Kind {
	case Reordered:
		r.bundle.late[r.dir] += int64(e.Count)
		r.bundle.latest[r.dir] = max(r.bundle.latest[r.dir], e.Value)
	case LostUpstream:
		r.bundle.lost[r.dir] += int64(e.Count)
	case MirrorDuplicate:
		r.bundle.copied = true
	}
	if e.Kind.Measure() {
		return // no evidence
	}
	s.evidence.of(&e).add(&e)
}

// of returns the log that an event belongs into.
func (v *evidence) of(e *Event) *evidenceLog {
	if int(e.Flow) >= len(*v) {
		*v = append(*v, make([]*evidenceLog, int(e.Flow)+1-len(*v))...)
	}
	at := &(*v)[e.Flow]
	for ; *at != nil; at = &(*at).next {
		if (*at).kind == e.Kind {
			return *at
		}
	}
	*at = &evidenceLog{kind: e.Kind, firstNs: e.Time} // as often in a row's life as there are kinds
	return *at
}

func (l *evidenceLog) add(e *Event) {
	l.count += int64(e.Count)
	if e.Count < 0 {
		return
	}
	l.firstNs, l.last = min(l.firstNs, e.Time), max(l.last, e.Time)
	if len(l.frames) == 2*evidenceFrames {
		l.frames = slices.Delete(l.frames, evidenceFrames, evidenceFrames+1)
	}
	l.frames = append(l.frames, e.Frame)
}

// attach adds the evidence to the rows of a report.
func (s *shard) attach(r *report.Report) {
	for id, logs := range s.evidence {
		f, n := &r.Flows[id], 0
		for l := logs; l != nil; l = l.next {
			n++
		}
		f.Evidence = slices.Grow(f.Evidence, n)
		for l := logs; l != nil; l = l.next {
			if l.count <= 0 {
				continue
			}
			frames := slices.Clone(l.frames)
			slices.Sort(frames)
			f.Evidence = append(f.Evidence, report.Evidence{
				Kind: l.kind.String(), Count: l.count, FirstNs: l.firstNs, LastNs: l.last, Frames: slices.Compact(frames),
			})
		}
		slices.SortFunc(f.Evidence, func(a, b report.Evidence) int { return cmp.Compare(a.Kind, b.Kind) })
	}
}
