package detect

import (
	"fmt"
	"slices"

	"github.com/rocescope/rocescope/analysis/report"
)

// setUps holds, for two hosts in either order, when connections between them were
// ready for use.
type setUps map[hosts][]int64

// setUpsOf reads the table of connections.
func setUpsOf(r *report.Report) setUps {
	out := setUps{}
	t := r.Table("connection", "connections")
	if t == nil {
		return out
	}
	ready := t.Column("ready_ns")
	if ready < 0 {
		return out
	}
	for _, row := range t.Rows {
		if ns := row.Values[ready]; ns > 0 {
			h := hosts{row.Key[0], row.Key[1]}
			out[h], out[h.back()] = append(out[h], ns), append(out[h.back()], ns)
		}
	}
	return out
}

// again tells how often two hosts connected anew once a queue pair had been given
// up, and how soon; empty where they did not.
func (u setUps) again(h hosts, rows []*stuckRow) (text string, times int64) {
	var ends []int64
	for _, s := range rows {
		ends = append(ends, s.last)
	}
	first, soonest := slices.Min(ends), int64(0)
	for _, ns := range u[h] {
		if ns <= first {
			continue
		}
		times++
		if soonest == 0 || ns-first < soonest {
			soonest = ns - first
		}
	}
	if times == 0 {
		return "", 0
	}
	return fmt.Sprintf(" %s later the two connected anew, %s in this capture.", report.Duration(soonest), report.Counted(times, "time")), times
}

// told adds that to a finding.
func (u setUps) told(h hosts, rows []*stuckRow, f report.Finding) report.Finding {
	text, times := u.again(h, rows)
	if times > 0 {
		f.Summary += text
		f.Values["connected_again"] = times
	}
	return f
}
