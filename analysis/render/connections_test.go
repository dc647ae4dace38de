package render

import (
	"strings"
	"testing"

	"github.com/rocescope/rocescope/analysis/report"
)

func TestConnectionsAreSummedUp(t *testing.T) {
	if got := connectionLine(healthy()); got != "" {
		t.Errorf("without connection management it says %q", got)
	}
	sums := func(names ...string) (out []report.Column) {
		for _, n := range names {
			out = append(out, report.Column{Name: n, Kind: report.Sum})
		}
		return out
	}
	r := healthy()
	row := func(service string, values ...int64) report.Row {
		return report.Row{Key: []string{"10.0.0.1", "10.0.0.2", service}, Values: values}
	}
	r.Section("connection").Tables = []report.Table{{
		Name: "connections", Keys: []string{"client", "server", "service"}, Columns: sums("ready_to_use", "disconnect_requests", "rejects_of_client", "rejects_of_server"),
		Rows: []report.Row{row("TCP 4420", 1, 1, 0, 0), row("TCP 4420", 0, 0, 0, 3), row("", 1, 0, 0, 0), row("a", 0, 0, 1, 0), row("b"), row("c"), row("d")},
	}}
	want := "7 connections in view: 2 set up, 1 closed, 2 refused; for TCP 4420, a, b, c, 1 more service"
	if got := connectionLine(r); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if text := render(t, "text", r, Options{}); !strings.Contains(text, "Managed    7 connections in view") {
		t.Errorf("the head does not have it:\n%s", text)
	}
}
