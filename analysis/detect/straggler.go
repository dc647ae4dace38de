package detect

import (
	"encoding/binary"
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
	near   [256]nearHost
	index  map[[16]byte]int32
	hosts  []stepHost
	steps  [len(stepGaps)]step
	latest int64
	ends   []int64 // room for sorting
	begins []int64
}

type nearHost struct {
	addr [16]byte
	id   int32
	used bool
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
	number      int64 // the step it last sent in
	begin       int64 // its first request in that step; 0 none yet
	steps       int64
	length      int64 // of all its steps, to the end of their median host
	late        lastSteps
	first, last lastPlace
}

// lastSteps adds up the steps in which a host was the last.
type lastSteps struct {
	steps int64
	ns    int64 // behind the median host
	begin int64 // how much later than the median host it began
	alone int64 // behind the host before it
	rest  int64 // from the first host's end to that of the last but one
	share int64 // lateness in thousandths of the step's length, at most 1000 each
}

type lastPlace struct {
	ns    int64
	frame uint64
}

func newStraggler(*analysis.Config) analysis.Watcher {
	s := &straggler{index: map[[16]byte]int32{}}
	for i := range s.steps {
		s.steps[i].number = 1
	}
	return s
}

func (s *straggler) Watch(p *decode.Packet) {
	if p.Status != decode.RoCE || p.QP <= 1 || p.Op == ib.CNP {
		return
	}
	if gap := p.Time - s.latest; gap >= stepGaps[0] {
		s.silence(gap, p.Time)
	}
	s.latest = max(s.latest, p.Time)
	if !p.Op.Is(ib.IsRequest | ib.IsReadResponse | ib.IsAtomicAck) {
		return // an ACK ends nothing: that of the next in a ring comes last where the one before it is late
	}
	h := s.host(&p.Src)
	if h == nil {
		return
	}
	if h.parts[0].number != s.steps[0].number {
		s.join(h)
	}
	if !h.busy && p.Op.Is(ib.IsRequest) {
		h.begin(p.Time)
	}
	h.last, h.frame = p.Time, p.Frame
}

// host returns the host of an address, nil beyond the cap.
func (s *straggler) host(a *[16]byte) *stepHost {
	n := &s.near[binary.LittleEndian.Uint64(a[8:])*0x9E3779B97F4A7C15>>56]
	if n.used && n.addr == *a {
		return &s.hosts[n.id]
	}
	id, ok := s.index[*a]
	if !ok {
		if len(s.hosts) == stepHostsMost {
			return nil
		}
		id = int32(len(s.hosts))
		s.index[*a] = id
		s.hosts = append(s.hosts, stepHost{addr: *a})
	}
	*n = nearHost{*a, id, true}
	return &s.hosts[id]
}

// join notes a host's first frame in a step. A longer gap's step may go on.
func (s *straggler) join(h *stepHost) {
	h.busy = false
	id := s.index[h.addr]
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

// silence ends the steps of all gaps that it fills.
func (s *straggler) silence(gap, now int64) {
	for i := range s.steps {
		if gap < stepGaps[i] {
			break
		}
		s.close(i)
		s.steps[i].number++
		s.steps[i].start = now
		s.steps[i].hosts = s.steps[i].hosts[:0]
	}
}

// close counts a step: who was last, and by how much.
func (s *straggler) close(i int) {
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
	part.late.add(h.last-end, length)
	part.late.alone += s.ends[len(s.ends)-1] - s.ends[len(s.ends)-2]
	part.late.rest += s.ends[len(s.ends)-2] - s.ends[0]
	if part.begin != 0 && len(s.begins) > 0 {
		part.late.begin += part.begin - s.begins[len(s.begins)/2]
	}
	if part.late.steps == 1 {
		part.first = lastPlace{h.last, h.frame}
	}
	part.last = lastPlace{h.last, h.frame}
}

func (l *lastSteps) add(ns, length int64) {
	l.steps++
	l.ns += ns
	// In this order nothing overflows, however odd the times.
	l.share += min(1000, max(0, ns)/max(1, length/1000))
}

func (s *straggler) Report(r *report.Report) {
	c := *s
	c.hosts, c.ends, c.begins = slices.Clone(s.hosts), nil, nil
	steps := report.Table{Name: "steps", Help: "Steps between common silences of at least gap_ns in which a host sent, four hosts or more together.",
		Keys: []string{"gap_ns", "host"}, Columns: append(columns("", "steps"), columns("ns", "length")...)}
	last := report.Table{Name: "last", Help: "Steps that a host ended, and how long after the median host.",
		Keys:    []string{"gap_ns", "host"},
		Columns: append(append(columns("", "steps"), columns("ns", "lateness", "late_start", "alone", "rest")...), columns("", "lateness_permille")...)}
	last.Columns = append(last.Columns, report.Column{Name: "first_ns", Unit: "ns", Kind: report.Floor}, report.Column{Name: "last_ns", Unit: "ns", Kind: report.Peak},
		report.Column{Name: "first_frame", Kind: report.Floor}, report.Column{Name: "last_frame", Kind: report.Peak})
	for i, gap := range stepGaps {
		c.close(i)
		for id := range c.hosts {
			part, key := &c.hosts[id].parts[i], []string{strconv.FormatInt(gap, 10), decode.Address(c.hosts[id].addr)}
			if part.steps > 0 {
				steps.Rows = append(steps.Rows, report.Row{Key: key, Values: []int64{part.steps, part.length}})
			}
			if l := &part.late; l.steps > 0 {
				last.Rows = append(last.Rows, report.Row{Key: key, Values: []int64{l.steps, l.ns, l.begin, l.alone, l.rest, l.share,
					part.first.ns, part.last.ns, int64(part.first.frame), int64(part.last.frame)}})
			}
		}
	}
	addTable(r, "straggler", steps)
	addTable(r, "straggler", last)
}
