package detect

import "github.com/rocescope/rocescope/analysis/report"

// setUp is what connection management says of the connection that a row belongs
// to.
type setUp struct {
	closed  bool  // behind a time
	perhaps bool  // one of the two hosts' was, and short frames do not tell which
	retries int64 // of what meets no buffer, as the other end asked; 0 not known
}

// forEver is an rnr_retry that never ends.
const forEver = 7

// managedRows are the connections that connection management speaks of, and the
// columns of their table that count here.
type managedRows struct {
	rows      []report.Row
	qp, retry [2]int // of the client, and of the server
	from, end int
}

func managedRowsOf(r *report.Report) managedRows {
	t := r.Table("connection", "connections")
	if t == nil {
		return managedRows{}
	}
	m := managedRows{
		rows: t.Rows, qp: [2]int{t.Column("client_qp"), t.Column("server_qp")},
		retry: [2]int{t.Column("server_rnr_retry"), t.Column("client_rnr_retry")}, // each says it of the other
		from:  t.Column("first_ns"), end: t.Column("close_ns"),
	}
	if min(m.qp[0], m.qp[1], m.retry[0], m.retry[1], m.from, m.end) < 0 {
		return managedRows{} // of another release
	}
	return m
}

// at returns what is said of the connection of a row at a time. What ends it may
// stand in a row of its own where short frames do not tell whom it belongs to.
func (m *managedRows) at(f *report.Flow, ns int64) (s setUp) {
	for i := range m.rows {
		row := &m.rows[i]
		v := row.Values
		side := 0 // who the row goes to
		switch (hosts{row.Key[0], row.Key[1]}) {
		case hostsOf(f):
			side = 1
		case hostsOf(f).back():
		default:
			continue
		}
		switch qp := v[m.qp[side]]; {
		case v[m.end] != 0 && v[m.end] < ns:
		case qp == 0:
			s.perhaps = s.perhaps || v[m.end] > ns
		case qp == int64(f.DestQP) && v[m.from] <= ns:
			s.closed = s.closed || v[m.end] > ns
			s.retries = v[m.retry[side]]
		}
	}
	return s
}
