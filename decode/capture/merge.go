package capture

import (
	"io"
	"math"

	"github.com/rocescope/rocescope/decode"
)

// A Source hands out frames. Read fills f and returns io.EOF after the last
// frame; f.Data is valid until the next Read.
type Source interface {
	Read(f *decode.Frame) error
}

// Merged is several sources read as one.
type Merged struct {
	inputs []Source
	primed int     // how many of inputs have been asked for their first frame
	heads  []*head // a heap by time, then by source
	taken  bool    // heads[0] was handed out, and its source must move on
	number uint64
	ifaces []ifaceOf
	ended  []ended
	source int    // where the last frame came from,
	origin uint64 // and its number there
}

// A head is the next frame of one source.
type head struct {
	frame  decode.Frame
	source int
	src    Source
	known  []int32 // the merged number of each of its interfaces, -1 for none yet
	first  int64   // time of its first frame
	last   int64   // and of the one before
}

type ifaceOf struct {
	source int
	iface  uint16
}

// ended is a source that has ended: another one may go on with its interfaces.
type ended struct {
	last    int64                      // time of its last frame
	numbers map[InterfaceInfo][]uint16 // the merged ones, by what the source said of them
}

// goesOn is how soon, in ns, the next of several files begins that a capture was written
// to in turn. Whoever captures at one place and then at another takes longer.
const goesOn = 1_000_000_000

// Merge reads sources in the order of time: of the frames that stand next in
// each, the earliest, and of equals that of the source that began first, and of
// those of the one named first. A source whose own clock steps back keeps its own
// order. One frame of each source is held, in the source's own buffer, so memory
// is bounded whatever the lengths.
//
// Frames are numbered from 1 over the whole. Interfaces are renumbered in the
// order in which their first frames come, so that those of different sources
// stay apart; Interface tells which is which. A source that begins within a second
// of the end of one other, and describes its interface alike, goes on with that
// interface: files that one capture was written to in turn are one capture. Sources
// describe their interfaces by a method Interface, as that of File.
//
// Sources must not be read by anyone else. Closing them, and asking them for
// Damage, is left to the caller.
func Merge(sources ...Source) *Merged { return &Merged{inputs: sources} }

// Read fills f with the next frame. Its Data belongs to the source it came
// from, and is valid until the next Read. An error of one source ends that
// source and is returned once; reading on gives the others' frames.
func (m *Merged) Read(f *decode.Frame) error {
	if err := m.advance(); err != nil {
		return err
	}
	if len(m.heads) == 0 {
		return io.EOF
	}
	h := m.heads[0]
	m.taken = true
	m.number++
	m.source, m.origin = h.source, h.frame.Number
	*f = h.frame
	f.Number = m.number
	f.Iface = m.iface(h, f.Iface)
	return nil
}

// Origin returns the index of the source of the frame that Read handed out
// last, and the frame's number there.
func (m *Merged) Origin() (source int, number uint64) { return m.source, m.origin }

// Interface returns the source, by its index, and that source's interface which
// a merged Frame.Iface stands for. It reports false for numbers not used yet.
func (m *Merged) Interface(n uint16) (source int, iface uint16, ok bool) {
	if int(n) >= len(m.ifaces) {
		return 0, 0, false
	}
	i := m.ifaces[n]
	return i.source, i.iface, true
}

// advance brings the earliest frame to heads[0].
func (m *Merged) advance() error {
	if m.primed < len(m.inputs) {
		return m.prime()
	}
	if !m.taken {
		return nil
	}
	m.taken = false
	h := m.heads[0]
	h.last = h.frame.Time
	err := h.src.Read(&h.frame)
	if err != nil {
		m.end(h)
		last := len(m.heads) - 1
		m.heads[0] = m.heads[last]
		m.heads = m.heads[:last]
	}
	m.sift(0)
	if err == io.EOF {
		return nil
	}
	return err
}

// prime reads the first frame of each source. Its error leaves the sources not
// read yet to the next call.
func (m *Merged) prime() error {
	for m.primed < len(m.inputs) {
		h := &head{src: m.inputs[m.primed], source: m.primed}
		m.primed++
		err := h.src.Read(&h.frame)
		if err == nil {
			h.first = h.frame.Time
			m.push(h)
		} else if err != io.EOF {
			return err
		}
	}
	return nil
}

// push adds a head to the heap and lets it rise to its place.
func (m *Merged) push(h *head) {
	m.heads = append(m.heads, h)
	for i := len(m.heads) - 1; i > 0; {
		up := (i - 1) / 2
		if !m.heads[i].before(m.heads[up]) {
			return
		}
		m.heads[i], m.heads[up] = m.heads[up], m.heads[i]
		i = up
	}
}

// sift lets heads[i] sink to its place in the heap.
func (m *Merged) sift(i int) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(m.heads); c++ {
			if m.heads[c].before(m.heads[least]) {
				least = c
			}
		}
		if least == i {
			return
		}
		m.heads[i], m.heads[least] = m.heads[least], m.heads[i]
		i = least
	}
}

func (h *head) before(o *head) bool {
	if h.frame.Time != o.frame.Time {
		return h.frame.Time < o.frame.Time
	}
	if h.first != o.first {
		return h.first < o.first
	}
	return h.source < o.source
}

// end notes the interfaces of a source that has ended.
func (m *Merged) end(h *head) {
	e := ended{h.last, map[InterfaceInfo][]uint16{}}
	for n, number := range h.known {
		if info, ok := h.describe(uint16(n)); ok && number >= 0 {
			e.numbers[info] = append(e.numbers[info], uint16(number))
		}
	}
	m.ended = append(m.ended, e)
}

// describe returns what the source says of its interface n, without what it counts.
func (h *head) describe(n uint16) (InterfaceInfo, bool) {
	src, ok := h.src.(interface {
		Interface(n uint16) (InterfaceInfo, bool)
	})
	if !ok {
		return InterfaceInfo{}, false
	}
	i, ok := src.Interface(n)
	return InterfaceInfo{Link: i.Link, Name: i.Name, SnapLen: i.SnapLen, TsResol: i.TsResol, FCSLen: i.FCSLen}, ok
}

// continued returns the merged number of the interface that h goes on with in its
// interface n, or -1 where there is none, or more than one.
func (m *Merged) continued(h *head, n uint16) int32 {
	info, ok := h.describe(n)
	if !ok {
		return -1
	}
	var before *ended
	for i := range m.ended {
		e := &m.ended[i]
		numbers := e.numbers[info]
		if len(numbers) == 0 || e.last > h.first || h.first-e.last > goesOn {
			continue
		}
		if before != nil || len(numbers) > 1 {
			return -1
		}
		before = e
	}
	if before == nil {
		return -1
	}
	number := before.numbers[info][0]
	delete(before.numbers, info)
	return int32(number)
}

// iface returns the merged number of h's interface n. Beyond the numbers there
// are, all further interfaces share the last.
func (m *Merged) iface(h *head, n uint16) uint16 {
	for int(n) >= len(h.known) {
		h.known = append(h.known, -1)
	}
	if h.known[n] < 0 {
		h.known[n] = m.continued(h, n)
	}
	if h.known[n] < 0 {
		if len(m.ifaces) <= math.MaxUint16 {
			m.ifaces = append(m.ifaces, ifaceOf{h.source, n})
		}
		h.known[n] = int32(len(m.ifaces) - 1)
	}
	return uint16(h.known[n])
}
