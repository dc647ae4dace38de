package detect

import (
	"strconv"

	"github.com/rocescope/rocescope/analysis/report"
)

// pauseColumns are those of the table "pauses". Where the link's rate is given,
// the columns that end in "most_ns" repeat those before.
var pauseColumns = []report.Column{
	{Name: "xoff_frames", Unit: "frames", Kind: report.Sum},
	{Name: "xon_frames", Unit: "frames", Kind: report.Sum},
	{Name: "refresh_frames", Unit: "frames", Kind: report.Sum},
	{Name: "stretches", Kind: report.Sum},
	{Name: "quanta", Kind: report.Sum},
	{Name: "paused_ns", Unit: "ns", Kind: report.Sum},
	{Name: "paused_most_ns", Unit: "ns", Kind: report.Sum},
	{Name: "longest_ns", Unit: "ns", Kind: report.Peak},
	{Name: "longest_most_ns", Unit: "ns", Kind: report.Peak},
	{Name: "worst_window_ns", Unit: "ns", Kind: report.Peak},
	{Name: "worst_window_most_ns", Unit: "ns", Kind: report.Peak},
	{Name: "capture_ns", Unit: "ns", Kind: report.Sum},
	{Name: "unmarked_xoff_frames", Unit: "frames", Kind: report.Sum},
	{Name: "unmarked_ect_frames", Unit: "frames", Kind: report.Peak},
	{Name: "first_ns", Unit: "ns", Kind: report.Floor},
	{Name: "last_ns", Unit: "ns", Kind: report.Peak},
	{Name: "first_frame", Kind: report.Floor},
	{Name: "last_frame", Kind: report.Peak},
	{Name: "link_rate", Unit: "bit/s", Kind: report.Floor}, // 0 unknown
}

func (w *pfcWatch) Report(r *report.Report) {
	if len(w.list) == 0 {
		return
	}
	pauses := report.Table{Name: "pauses", Help: "Pauses by port and priority; \"link\" is PAUSE, which stops all of them.",
		Keys: []string{"interface", "mac", "priority"}, Columns: pauseColumns}
	storms := report.Table{Name: "storms", Help: "Stretches of pause without a resume, longer than a watchdog waits, and up to which rate of the link they have no break.",
		Keys: []string{"interface", "mac", "priority", "first_ns"}, Columns: []report.Column{
			{Name: "held_ns", Unit: "ns", Kind: report.Peak}, {Name: "xoff_frames", Unit: "frames", Kind: report.Peak},
			{Name: "unbroken_to", Unit: "bit/s", Kind: report.Peak},
			{Name: "first_frame", Kind: report.Floor}, {Name: "last_frame", Kind: report.Peak}}}
	for _, x := range w.list {
		pauses.Rows = append(pauses.Rows, report.Row{Key: x.names(), Values: w.values(x)})
		held := x.storms
		if s, long := x.closed(w.last, w.cfg.Limits.StormAfter); long && len(held) < stormsMax {
			held = append(held[:len(held):len(held)], s)
		}
		for _, s := range held {
			storms.Rows = append(storms.Rows, report.Row{Key: append(x.names(), strconv.FormatInt(s.from, 10)),
				Values: []int64{s.ns, s.frames, int64(min(s.unbroken, 1e18)), int64(s.firstAt), int64(s.lastAt)}})
		}
	}
	addTable(r, "pfc", pauses)
	addTable(r, "pfc", storms)
	addTable(r, "pfc", w.spreadTable())
	if w.beyond > 0 {
		s := r.Section("pfc")
		s.Measures = append(s.Measures, report.Measure{Name: "beyond_frames", Unit: "frames", Kind: report.Sum, Value: w.beyond,
			Help: "Pauses of further ports, beyond as many as are told apart."})
	}
}

func (w *pfcWatch) values(x *pauser) []int64 {
	least, most := x.least.at(w.last), x.most.at(w.last)
	rate := int64(0)
	if pfcRateKnown(w.cfg.LinkRate) {
		rate = int64(min(w.cfg.LinkRate, 1e18))
	}
	return []int64{x.xoff, x.xon, x.refreshed, least.stretches, x.quanta, least.total, most.total, least.longest, most.longest,
		least.worst.most, most.worst.most, w.last - w.first, x.unmarked, x.ectBefore, x.firstNs, x.lastNs, int64(x.firstAt), int64(x.lastAt), rate}
}

func (w *pfcWatch) spreadTable() report.Table {
	t := report.Table{Name: "spread", Help: "Ports that joined others of another interface in pausing a priority, each behind the one that joined before: the later one has \"then\" before its names.",
		Keys: []string{"interface", "mac", "priority", "then_interface", "then_mac", "then_priority"}, Columns: []report.Column{
			{Name: "times", Kind: report.Sum}, {Name: "shortest_ns", Unit: "ns", Kind: report.Floor},
			{Name: "first_ns", Unit: "ns", Kind: report.Floor}, {Name: "first_frame", Kind: report.Floor}}}
	for k, s := range w.spreads {
		t.Rows = append(t.Rows, report.Row{Key: append(k.first.names(), k.then.names()...),
			Values: []int64{s.times, s.shortest, s.firstNs, int64(s.firstAt)}})
	}
	return t
}

// names returns the key of a port and priority as tables hold it.
func (k pauserKey) names() []string {
	return []string{strconv.Itoa(int(k.iface)), macText(k.mac), pausePriority(k.priority)}
}

func pausePriority(n uint8) string {
	if n == wholeLink {
		return "link"
	}
	return strconv.Itoa(int(n))
}
