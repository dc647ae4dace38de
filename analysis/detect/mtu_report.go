package detect

import (
	"strconv"

	"github.com/rocescope/rocescope/analysis/report"
)

// mtuTables are the tables of the section.
type mtuTables struct {
	arrived, unanswered, payloads, negotiated report.Table
	slab                                      report.Slab
	sums                                      report.Tally[hosts]
}

func newMTUTables() *mtuTables {
	keys := []string{"src", "dst", "dest_qp"}
	col := func(name, unit string, kind report.Kind) report.Column {
		return report.Column{Name: name, Unit: unit, Kind: kind}
	}
	seen := []report.Column{col("first_frame", "", report.Floor), col("last_frame", "", report.Peak),
		col("first_ns", "ns", report.Floor), col("last_ns", "ns", report.Peak)}
	return &mtuTables{
		arrived: report.Table{Name: "arrived", Help: "The largest packets known to have arrived, by direction between two hosts.", Keys: keys[:2],
			Columns: []report.Column{col("answers", "", report.Sum), col("only", "bytes", report.Peak), col("part", "bytes", report.Peak), col("last_ns", "ns", report.Peak),
				col("read_responses", "frames", report.Sum), col("read_response", "bytes", report.Peak)}},
		unanswered: report.Table{Name: "unanswered", Help: "Packets sent again and never answered, up to the end of their row, by size.",
			Keys: []string{"src", "dst", "dest_qp", "psn", "kind"},
			Columns: append([]report.Column{col("sendings", "", report.Peak), col("size", "bytes", report.Peak), col("smallest_behind", "bytes", report.Floor),
				col("naks", "", report.Sum), col("first", "", report.Peak), col("asked", "bytes", report.Peak), col("answers", "", report.Sum)}, seen...)},
		payloads: report.Table{Name: "path-mtu", Help: "First and Middle packets by their payload, which is the path MTU of their sender.",
			Keys: []string{"src", "dst", "dest_qp", "path_mtu"}, Columns: append(columns("packets", "packets"), seen...)},
		negotiated: report.Table{Name: "negotiated", Help: "The path MTU that connection management asked for, by the queue pair that asked.",
			Keys: []string{"src", "dst", "src_qp", "path_mtu"}, Columns: []report.Column{seen[0], seen[2]}},
	}
}

func (m *mtu) Report(r *report.Report) {
	t, early := newMTUTables(), m.early(r)
	n := 0
	for _, row := range m.flows.of(r) {
		n += len(row.payloads)
	}
	t.payloads.Rows = make([]report.Row, 0, n)
	for id, row := range m.flows.of(r) {
		f, x := &r.Flows[id], *row
		if f.Src == report.Other {
			continue
		}
		if a := early[*f.Ref()]; a.n > 0 && x.requests != nil {
			x.requests = x.requests.reached(a)
		}
		x.report(t, f)
	}
	m.reportAsked(t, r)
	for _, t := range []report.Table{t.arrived, t.unanswered, t.payloads, t.negotiated} {
		addTable(r, "mtu", t)
	}
}

// early returns the answers that came before it was known what they answer, by
// the row that they turned out to answer.
func (m *mtu) early(r *report.Report) map[report.FlowRef]answer {
	out := map[report.FlowRef]answer{}
	for id, x := range m.flows.of(r) {
		if f := &r.Flows[id]; x.early.n > 0 && f.PeerQP != nil {
			out[report.FlowRef{Src: f.Dst, Dst: f.Src, DestQP: *f.PeerQP}] = x.early
		}
	}
	return out
}

func (x *mtuFlow) report(t *mtuTables, f *report.Flow) {
	qp := qpText(f.DestQP)
	if q, a := x.requests, x.replies; q != nil || a != nil {
		var row [6]int64
		if q != nil {
			row[0], row[1], row[2], row[3] = q.answers, q.only.arrived, q.part.arrived, q.lastNs
			again, ending := q.stuck()
			kind := "request"
			if ending {
				kind = "end of message"
			}
			if again.sendings > 1 {
				t.unanswered.Rows = append(t.unanswered.Rows, t.slab.Row(again.row(q.answers), f.Src, f.Dst, qp, strconv.Itoa(int(again.psn)), kind))
			}
		}
		if a != nil {
			row[4], row[5] = a.frames, a.arrived()
			if a.try != nil {
				again := *a.try
				again.sendings++ // each READ again, and the first one
				t.unanswered.Rows = append(t.unanswered.Rows, t.slab.Row(again.row(a.frames), f.Src, f.Dst, qp, strconv.Itoa(int(again.psn)), "read response"))
			}
		}
		t.sums.Add(&t.arrived, hostsOf(f), row[:], func() []string { return []string{f.Src, f.Dst} })
	}
	for _, s := range x.payloads {
		t.payloads.Rows = append(t.payloads.Rows, t.slab.Row([]int64{s.n, s.firstFrame, s.lastFrame, s.firstNs, s.lastNs}, f.Src, f.Dst, qp, strconv.FormatInt(s.bytes, 10)))
	}
}

func (m *mtu) reportAsked(t *mtuTables, r *report.Report) {
	for id, asked := range m.asked.of(r) {
		f := &r.Flows[id]
		if f.Src == report.Other {
			continue
		}
		for k, seen := range *asked {
			t.negotiated.Rows = append(t.negotiated.Rows, report.Row{Key: []string{f.Src, f.Dst, qpText(k.qp), strconv.Itoa(k.mtu)}, Values: []int64{int64(seen.frame), seen.ns}})
		}
	}
}

// reached returns a copy that an answer has reached, for what is observed must not
// change by a report.
func (s *requestSizes) reached(a answer) *requestSizes {
	q := *s
	if q.again != nil {
		again := *q.again
		q.again = &again
	}
	q.reach(a)
	return &q
}

// row returns the values of the table "unanswered".
func (t *try) row(answers int64) []int64 {
	return []int64{t.sendings, t.size, t.behind, t.naks, yes(t.first), t.asks, answers, int64(t.firstSeen), int64(t.lastSeen), t.firstNs, t.lastNs}
}

func yes(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
