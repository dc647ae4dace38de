package render

import (
	"slices"
	"strings"

	"github.com/rocescope/rocescope/analysis/report"
)

// connectionLine sums up what connection management says: how many connections
// were asked for, and what became of them. It is empty where there is none.
func connectionLine(r *report.Report) string {
	t := r.Table("connection", "connections")
	if t == nil {
		return ""
	}
	ready, closed := t.Column("ready_to_use"), t.Column("disconnect_requests")
	refused := []int{t.Column("rejects_of_client"), t.Column("rejects_of_server")}
	var asked, set, over, no int64
	var services []string
	for _, row := range t.Rows {
		has := func(i int) bool { return i >= 0 && i < len(row.Values) && row.Values[i] > 0 }
		asked++
		if has(ready) {
			set++
		}
		if has(closed) {
			over++
		}
		if slices.ContainsFunc(refused, has) {
			no++
		}
		if service := serviceOf(t, &row); service != "" && !slices.Contains(services, service) {
			services = append(services, service)
		}
	}
	if asked == 0 {
		return ""
	}
	text := report.Counted(asked, "connection") + " in view: " + report.Count(set) + " set up, " + report.Count(over) + " closed, " + report.Count(no) + " refused"
	const few = 4
	if n := len(services); n > few {
		services = append(services[:few:few], report.Counted(int64(n-few), "more service"))
	}
	if len(services) > 0 {
		text += "; for " + strings.Join(services, ", ")
	}
	return text
}

// serviceOf returns what a row says in the key column of that name.
func serviceOf(t *report.Table, row *report.Row) string {
	if i := slices.Index(t.Keys, "service"); i >= 0 && i < len(row.Key) {
		return row.Key[i]
	}
	return ""
}
