package detect

import (
	"slices"
	"strconv"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// Straggler finds the steps of collectives and who ends them.
var Straggler = add(analysis.Analyzer{
	Name: "straggler",
	Doc: "Does everybody wait for one host?\n\n" +
		"Collectives come in steps, with silence between them that all hosts share. How long that silence is differs by\n" +
		"job, so that steps are cut by several lengths at once and the judge takes the one that fits. In each step a host\n" +
		"starts with its first request and is done with its last request or response. A host that is last in most steps, or\n" +
		"whose ACKs take a multiple of its peers', makes them all wait.",
	Rules: stragglerRules,
	Watch: newStraggler,
	Judge: judgeStraggler,
})

// stepGaps are the silences, in ns, that end a step, rising.
var stepGaps = [...]int64{20_000, 100_000, 500_000, 2_500_000, 12_500_000, 62_500_000}

// What bounds the count: hosts, and how many a step needs for its last one to
// stand out from a median.
const (
	stepHostsMost = 1 << 14
	stepHosts     = 4
)

// straggler cuts the whole capture into steps.
type straggler struct {
	index  []int32 // by host: place in hosts, and one; 0 for who sent nothing
	hosts  []stepHost
	steps  [len(stepGaps)]step
	latest int64
	amid   bool    // the last request or response was not the last of its message
	ends   []int64 // room for sorting
	begins []int64
}

// step is the current one of its gap.
type step struct {
	number int64 // from 1
	start  int64
	hosts  []int32 // those that sent in it
}

// stepHost is a host's part in the steps.
type stepHost struct {
	addr  [16]byte
	last  int64 // time and number of the last request or response it sent
	frame uint64
	busy  bool // it sent a request in the current step of the shortest gap
	parts [len(stepGaps)]stepPart
}

// stepPart is a host's part in the steps of one gap.
type stepPart struct {
	number int64 // the step it last sent in
	begin  int64 // its first request in that step; 0 none yet
	steps  int64
	length int64      // of all its steps, to the end of their median host
	late   *lastSteps // nil for a host that was never the last
}

// lastSteps adds up the steps in which a host was the last.
type lastSteps struct {
	steps int64
	ns    int64 // behind the median host
	begin int64 // how much later than the median host it began
	alone int64 // behind the host before it
	rest  int64 // from the first host's end to that of the last but one
	share int64 // lateness in thousandths of the step's length, at most 1000 each
	quiet int64 // the shortest silence behind one of them; 0 none yet

	first, last lastPlace
}

type lastPlace struct {
	ns    int64
	frame uint64
}

func newStraggler(*analysis.Config) analysis.Watcher {
	s := &straggler{}
	for i := range s.steps {
		s.steps[i].number = 1
	}
	return s
}

func (s *straggler) Watch(ts []analysis.Train, _ analysis.Sorts) {
	for i := range ts {
		t := &ts[i]
		if t.Sort < analysis.Answer {
			continue
		}
		if uint64(t.Last().Time-t.First().Time) < uint64(stepGaps[0]) {
			s.train(t, t.Packets)
			continue
		}
		for j := range t.Packets {
			s.train(t, t.Packets[j:j+1])
		}
	}
}

// train takes frames of a train between which no step ends.
func (s *straggler) train(t *analysis.Train, ps []*decode.Packet) {
	first, last := ps[0], ps[len(ps)-1]
	if gap := first.Time - s.latest; gap >= stepGaps[0] {
		s.silence(gap, first.Time)
	}
	s.latest = max(s.latest, last.Time)
	if t.Sort < analysis.Ask {
		return // an ACK ends nothing: that of the next in a ring comes last where the one before it is late
	}
	id := s.host(t)
	if id < 0 {
		return
	}
	h := &s.hosts[id]
	if h.parts[0].number != s.steps[0].number {
		s.join(h, id)
	}
	if !h.busy && t.Sort != analysis.Reply {
		h.begin(first.Time)
	}
	h.last, h.frame = last.Time, last.Frame
	s.amid = last.Op.Is(ib.IsFirst | ib.IsMiddle)
}

// host returns the place of a train's sender, negative beyond the cap.
func (s *straggler) host(t *analysis.Train) int32 {
	if t.Src < 0 {
		return -1
	}
	if int(t.Src) >= len(s.index) {
		s.index = slices.Grow(s.index, int(t.Src)+1-len(s.index))[:t.Src+1]
	}
	if s.index[t.Src] == 0 {
		if len(s.hosts) == stepHostsMost {
			return -1
		}
		s.hosts = append(s.hosts, stepHost{addr: t.First().Src})
		s.index[t.Src] = int32(len(s.hosts))
	}
	return s.index[t.Src] - 1
}

// join notes a host's first frame in a step. A longer gap's step may go on.
func (s *straggler) join(h *stepHost, id int32) {
	h.busy = false
	for i := range h.parts {
		part, st := &h.parts[i], &s.steps[i]
		if part.number == st.number {
			break // those of longer gaps are the same, too
		}
		part.number, part.begin = st.number, 0
		st.hosts = append(st.hosts, id)
	}
}

func (h *stepHost) begin(ns int64) {
	h.busy = true
	for i := range h.parts {
		if h.parts[i].begin != 0 {
			break
		}
		h.parts[i].begin = ns
	}
}

// silence ends the steps of all gaps that it fills. Amid a message nobody is done: who is
// silent there sends by a rate, or waits for its turn.
func (s *straggler) silence(gap, now int64) {
	if s.amid {
		return
	}
	for i := range s.steps {
		if gap < stepGaps[i] {
			break
		}
		s.close(i, gap)
		s.steps[i].number++
		s.steps[i].start = now
		s.steps[i].hosts = s.steps[i].hosts[:0]
	}
}

// close counts a step that a silence ends, 0 where the capture does: who was last, and
// by how much.
func (s *straggler) close(i int, silence int64) {
	st := &s.steps[i]
	if len(st.hosts) < stepHosts {
		return
	}
	s.ends, s.begins = s.ends[:0], s.begins[:0]
	last := st.hosts[0]
	for _, id := range st.hosts {
		h := &s.hosts[id]
		s.ends = append(s.ends, h.last)
		if b := h.parts[i].begin; b != 0 {
			s.begins = append(s.begins, b)
		}
		if h.last > s.hosts[last].last {
			last = id
		}
	}
	slices.Sort(s.ends)
	slices.Sort(s.begins)
	end := s.ends[len(s.ends)/2]
	length := max(1, end-st.start)
	for _, id := range st.hosts {
		s.hosts[id].parts[i].steps++
		s.hosts[id].parts[i].length += length
	}
	h := &s.hosts[last]
	part := &h.parts[i]
	if part.late == nil {
		part.late = new(lastSteps) // once in a host's life
	}
	part.late.add(h.last-end, length)
	if l := part.late; silence > 0 && (l.quiet == 0 || silence < l.quiet) {
		l.quiet = silence
	}
	part.late.alone += s.ends[len(s.ends)-1] - s.ends[len(s.ends)-2]
	part.late.rest += s.ends[len(s.ends)-2] - s.ends[0]
	if part.begin != 0 && len(s.begins) > 0 {
		part.late.begin += part.begin - s.begins[len(s.begins)/2]
	}
	if part.late.steps == 1 {
		part.late.first = lastPlace{h.last, h.frame}
	}
	part.late.last = lastPlace{h.last, h.frame}
}

func (l *lastSteps) add(ns, length int64) {
	l.steps++
	l.ns += ns
	// In this order nothing overflows, however odd the times.
	l.share += min(1000, max(0, ns)/max(1, length/1000))
}

// copy returns what may end steps in its place.
func (s *straggler) copy() *straggler {
	c := *s
	c.hosts, c.ends, c.begins = slices.Clone(s.hosts), nil, nil
	for i := range c.hosts {
		for j := range c.hosts[i].parts {
			if l := &c.hosts[i].parts[j].late; *l != nil {
				late := **l
				*l = &late
			}
		}
	}
	return &c
}

func (s *straggler) Report(r *report.Report) {
	c := s.copy()
	steps := report.Table{Name: "steps", Help: "Steps between common silences of at least gap_ns in which a host sent, four hosts or more together.",
		Keys: []string{"gap_ns", "host"}, Columns: append(columns("", "steps"), columns("ns", "length")...)}
	last := report.Table{Name: "last", Help: "Steps that a host ended, how long after the median host, and the shortest silence behind one.",
		Keys:    []string{"gap_ns", "host"},
		Columns: append(append(columns("", "steps"), columns("ns", "lateness", "late_start", "alone", "rest")...), columns("", "lateness_permille")...)}
	last.Columns = append(last.Columns, report.Column{Name: "first_ns", Unit: "ns", Kind: report.Floor}, report.Column{Name: "last_ns", Unit: "ns", Kind: report.Peak},
		report.Column{Name: "first_frame", Kind: report.Floor}, report.Column{Name: "last_frame", Kind: report.Peak},
		report.Column{Name: "silence", Unit: "ns", Kind: report.Floor})
	var gaps [len(stepGaps)]string
	for i, gap := range stepGaps {
		c.close(i, 0)
		gaps[i] = strconv.FormatInt(gap, 10)
	}
	var slab report.Slab
	steps.Rows = make([]report.Row, 0, len(c.hosts)*len(gaps))
	for id := range c.hosts {
		h := &c.hosts[id]
		addr := decode.Address(h.addr)
		for i := range h.parts {
			part := &h.parts[i]
			if part.steps > 0 {
				steps.Rows = append(steps.Rows, slab.Row([]int64{part.steps, part.length}, gaps[i], addr))
			}
			if l := part.late; l != nil {
				last.Rows = append(last.Rows, slab.Row([]int64{l.steps, l.ns, l.begin, l.alone, l.rest, l.share,
					l.first.ns, l.last.ns, int64(l.first.frame), int64(l.last.frame), l.quiet}, gaps[i], addr))
			}
		}
	}
	addTable(r, "straggler", steps)
	addTable(r, "straggler", last)
}
