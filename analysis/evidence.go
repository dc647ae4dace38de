package analysis

import (
	"cmp"
	"slices"

	"github.com/rocescope/rocescope/analysis/report"
)

// evidenceKey names one kind of event in one row.
type evidenceKey struct {
	flow FlowID
	kind EventKind
}

// evidenceLog keeps the first and the last few frames of a kind.
type evidenceLog struct {
	count         int64
	firstNs, last int64
	first, recent []uint64
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
	}
	if e.Kind.Measure() {
		return // no evidence
	}
	k := evidenceKey{e.Flow, e.Kind}
	l := s.evidence[k]
	if l == nil {
		l = &evidenceLog{firstNs: e.Time}
		s.evidence[k] = l
	}
	l.add(&e)
}

func (l *evidenceLog) add(e *Event) {
	l.count += int64(e.Count)
	if e.Count < 0 {
		return
	}
	l.firstNs, l.last = min(l.firstNs, e.Time), max(l.last, e.Time)
	switch {
	case len(l.first) < evidenceFrames:
		l.first = append(l.first, e.Frame)
	case len(l.recent) < evidenceFrames:
		l.recent = append(l.recent, e.Frame)
	default:
		copy(l.recent, l.recent[1:])
		l.recent[evidenceFrames-1] = e.Frame
	}
}

// attach adds the evidence to the rows of a report.
func (s *shard) attach(r *report.Report) {
	for k, l := range s.evidence {
		if k.flow < 0 || l.count <= 0 {
			continue
		}
		frames := slices.Concat(l.first, l.recent)
		slices.Sort(frames)
		f := &r.Flows[k.flow]
		f.Evidence = append(f.Evidence, report.Evidence{
			Kind: k.kind.String(), Count: l.count, FirstNs: l.firstNs, LastNs: l.last, Frames: slices.Compact(frames),
		})
	}
	for i := range r.Flows {
		slices.SortFunc(r.Flows[i].Evidence, func(a, b report.Evidence) int { return cmp.Compare(a.Kind, b.Kind) })
	}
}
