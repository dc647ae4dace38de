package detect

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
)

// markTimes is when a row's data was marked, and in which class. Only rows with
// marks have it.
type markTimes struct {
	shift  uint8 // bins are 1<<shift ns long and begin at multiples of that
	base   int64 // the number of the first bin
	bins   [markBins]markBin
	dscps  [4]markDSCP // further ones count in the last
	unsaid int64       // time of the first mark that no CNP has answered; 0 none
}

// markBin counts frames. A count stays at its largest value once it got there.
type markBin struct{ data, ce uint32 }

func (b *markBin) add(data, ce uint32) {
	b.data += min(data, math.MaxUint32-b.data)
	b.ce += min(ce, math.MaxUint32-b.ce)
}

type markDSCP struct {
	dscp uint8
	used bool
	ce   uint32 // as in a markBin
}

const (
	markBins   = 16
	firstShift = 16 // 66 µs
)

// sentAll counts data frames.
func (m *markTimes) sentAll(b *analysis.Batch, r *analysis.Streak) {
	if b.Head(r).ECN != decode.CE {
		if last := m.bin(r.LastNs); last == m.bin(r.FirstNs) {
			m.bins[last].add(uint32(r.Len()), 0)
			return
		}
	}
	for i := r.From; i < r.To; i++ {
		m.sent(&b.Packets[i])
	}
}

// sent counts a data frame, from the first marked one on.
func (m *markTimes) sent(p *decode.Packet) {
	marked := p.ECN == decode.CE
	b := &m.bins[m.bin(p.Time)]
	if !marked {
		b.add(1, 0)
		return
	}
	b.add(1, 1)
	if m.unsaid == 0 {
		m.unsaid = p.Time
	}
	for i := range m.dscps {
		d := &m.dscps[i]
		if !d.used {
			d.used, d.dscp = true, p.DSCP
		}
		if d.dscp == p.DSCP || i == len(m.dscps)-1 {
			d.ce += min(1, math.MaxUint32-d.ce)
			return
		}
	}
}

// bin returns the place of a time, after making the bins twice as long until it
// has one. What comes before the first counts there.
func (m *markTimes) bin(t int64) int64 {
	for t>>m.shift-m.base >= markBins {
		m.coarsen()
	}
	return max(0, t>>m.shift-m.base)
}

func (m *markTimes) coarsen() {
	old, base := m.bins, m.base
	m.shift, m.base, m.bins = m.shift+1, base>>1, [markBins]markBin{}
	for i, b := range old {
		m.bins[(base+int64(i))>>1-m.base].add(b.data, b.ce)
	}
}

// cnpTimes is when the CNPs of a row were sent.
type cnpTimes struct {
	last    int64 // time of the last one
	spacing spacing
	delay   report.Waits // behind the mark that drew it
}

// spacing is the shortest time between two CNPs.
type spacing struct{ n, shortest int64 }

func (s *spacing) add(ns int64) {
	if s.n == 0 || ns < s.shortest {
		s.shortest = ns
	}
	s.n++
}

// quietCNP is how long, in ns, a queue pair must not have been told before a mark
// draws its CNP at once: the longest spacing in use is 50 µs.
const quietCNP = 60_000

// notifies takes a CNP of the row, for data that was marked as m says; nil where
// none was, or where the data's row is not known.
func (t *cnpTimes) notifies(p *decode.Packet, m *markTimes) {
	if m != nil && m.unsaid != 0 {
		if (t.last == 0 || m.unsaid-t.last >= quietCNP) && p.Time >= m.unsaid {
			t.delay.Add(p.Time - m.unsaid)
		}
		m.unsaid = 0
	}
	if t.last != 0 && p.Time >= t.last {
		t.spacing.add(p.Time - t.last)
	}
	t.last = p.Time
}

// pairCNPs is the CNPs of all queue pairs from one host to another.
type pairCNPs struct {
	last    int64
	qp      uint32
	spacing spacing
}

// other takes a CNP; only those for two different queue pairs are compared.
func (c *pairCNPs) other(p *decode.Packet) {
	if c.last != 0 && p.QP != c.qp && p.Time >= c.last {
		c.spacing.add(p.Time - c.last)
	}
	c.last, c.qp = p.Time, p.QP
}

// cnpHosts watches the CNPs of each host towards all others. It knows no copies,
// so what it says holds where the capture has none.
type cnpHosts map[[16]byte]*hostCNPs

type hostCNPs struct {
	last    int64
	dst     [16]byte
	spacing spacing
}

// cnpHostsMax bounds the hosts that are told apart.
const cnpHostsMax = 1 << 14

func watchCongestion(*analysis.Config) analysis.Watcher { return cnpHosts{} }

func (c cnpHosts) Watch(ts []analysis.Train, sorts analysis.Sorts) {
	if !sorts.Has(analysis.Notice) {
		return
	}
	for i := range ts {
		if ts[i].Sort == analysis.Notice {
			for _, p := range ts[i].Packets {
				c.notice(p)
			}
		}
	}
}

func (c cnpHosts) notice(p *decode.Packet) {
	h := c[p.Src]
	if h == nil {
		if len(c) == cnpHostsMax {
			return
		}
		h = new(hostCNPs) // once in a host's life
		c[p.Src] = h
	}
	if h.last != 0 && p.Dst != h.dst && p.Time >= h.last {
		h.spacing.add(p.Time - h.last)
	}
	h.last, h.dst = p.Time, p.Dst
}

// The scopes over which the spacing of CNPs is measured.
const (
	scopeQP   = "queue pair"
	scopePair = "host pair"
	scopeHost = "host"
)

// spacingTable has a row for each scope in which two CNPs were seen: of one queue
// pair, of two queue pairs of one peer, of two peers.
func spacingTable(rows map[[3]string]spacing) report.Table {
	t := report.Table{Name: "cnp_spacing", Help: "The shortest time between two CNPs of src: for one queue pair, for two of one peer, and for two peers (dst empty).",
		Keys: []string{"src", "dst", "scope"}, Columns: []report.Column{{Name: "pairs", Kind: report.Sum}, {Name: "shortest", Unit: "ns", Kind: report.Floor}}}
	for _, k := range slices.SortedFunc(maps.Keys(rows), func(a, b [3]string) int { return slices.Compare(a[:], b[:]) }) {
		if s := rows[k]; s.n > 0 {
			t.Rows = append(t.Rows, report.Row{Key: k[:], Values: []int64{s.n, s.shortest}})
		}
	}
	return t
}

func (c cnpHosts) Report(r *report.Report) {
	rows := map[[3]string]spacing{}
	for src, h := range c {
		rows[[3]string{decode.Address(src), "", scopeHost}] = h.spacing
	}
	addTable(r, "congestion", spacingTable(rows))
}

// times reports when marks and CNPs came.
func (c *congestion) times(r *report.Report) {
	rows := map[[3]string]spacing{}
	for k, p := range c.pairs {
		rows[[3]string{decode.Address(k[0]), decode.Address(k[1]), scopePair}] = p.spacing
	}
	delays, marks, classes := map[hosts]*report.Waits{}, map[hosts]*markTimes{}, map[[2]string]int64{}
	for id, x := range c.flows.of(r) {
		f := &r.Flows[id]
		if f.Src == report.Other {
			continue
		}
		h := hostsOf(f)
		if x.notices != nil && x.notices.cnps > 0 {
			t := &x.notices.times
			k := [3]string{f.Src, f.Dst, scopeQP}
			s := rows[k]
			if n := t.spacing; n.n > 0 {
				s = spacing{s.n + n.n, min(n.shortest, cmp.Or(s.shortest, n.shortest))}
			}
			rows[k] = s
			if delays[h] == nil {
				delays[h] = new(report.Waits)
			}
			delays[h].Merge(&t.delay)
		}
		if x.marks != nil && x.marks.times != nil {
			m := x.marks.times
			for _, d := range m.dscps {
				if d.ce > 0 {
					classes[[2]string{f.Dst, strconv.Itoa(int(d.dscp))}] += int64(d.ce)
				}
			}
			if sum := marks[h]; sum != nil {
				*sum = m.joined(sum)
			} else {
				first := *m
				marks[h] = &first
			}
		}
	}
	addTable(r, "congestion", spacingTable(rows))
	addTable(r, "congestion", delayTable(delays))
	addTable(r, "congestion", markTable(marks))
	addTable(r, "congestion", classTable(classes))
}

// joined adds the bins of two rows, as long as those of the coarser one.
func (m *markTimes) joined(other *markTimes) markTimes {
	a, b := *m, *other
	for a.shift != b.shift || a.spread(&b) {
		if a.shift <= b.shift {
			a.coarsen()
		} else {
			b.coarsen()
		}
	}
	if b.base < a.base {
		a, b = b, a
	}
	for i, x := range b.bins {
		if x.data > 0 {
			a.bins[b.base+int64(i)-a.base].add(x.data, x.ce)
		}
	}
	return a
}

// spread reports whether the bins in use of two rows of one length are too far
// apart for one.
func (m *markTimes) spread(other *markTimes) bool {
	first, last := min(m.base, other.base), int64(0)
	for _, x := range []*markTimes{m, other} {
		for i, b := range x.bins {
			if b.data > 0 {
				last = max(last, x.base+int64(i))
			}
		}
	}
	return last-first >= markBins
}

func delayTable(delays map[hosts]*report.Waits) report.Table {
	t := report.NewWaitTable("cnp_delay", "How long after a mark its CNP from src to dst passed, where the queue pair had not been told a moment before.")
	for _, h := range sortedHosts(delays) {
		t.AddWaits(h.src, h.dst, "cnp", delays[h])
	}
	return t
}

func markTable(marks map[hosts]*markTimes) report.Table {
	t := report.Table{Name: "marks", Help: "Data and marks over time between two hosts, from the first mark of each queue pair on, in bins of a length that fits.",
		Keys: []string{"src", "dst", "bin_ns", "first_ns"}, Columns: columns("frames", "data", "ce_data")}
	var slab report.Slab
	for h, m := range marks {
		for i, b := range m.bins {
			if b.data > 0 {
				t.Rows = append(t.Rows, slab.Row([]int64{int64(b.data), int64(b.ce)}, h.src, h.dst, strconv.FormatInt(1<<m.shift, 10), strconv.FormatInt((m.base+int64(i))<<m.shift, 10)))
			}
		}
	}
	return t
}

func classTable(classes map[[2]string]int64) report.Table {
	t := report.Table{Name: "classes", Help: "Marked data by receiver and DSCP.", Keys: []string{"dst", "dscp"}, Columns: columns("frames", "ce_data")}
	for _, k := range slices.SortedFunc(maps.Keys(classes), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		t.Rows = append(t.Rows, report.Row{Key: k[:], Values: []int64{classes[k]}})
	}
	return t
}
