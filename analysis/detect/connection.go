package detect

import (
	"fmt"

	"github.com/rocescope/rocescope/analysis"
	"github.com/rocescope/rocescope/analysis/report"
	"github.com/rocescope/rocescope/decode"
	"github.com/rocescope/rocescope/decode/ib"
)

// Connection follows connections from the request to the tear-down.
var Connection = add(analysis.Analyzer{
	Name: "connection",
	Doc: "Who asked whom for a connection, what became of it, and do both ends speak with the same kind of address?\n\n" +
		"Connection management (CM) says what no other packet does: the service, both queue pairs, path MTU and timers, and\n" +
		"why a connection was refused. Many applications exchange all that over TCP instead, which leaves nothing here.",
	Rules: connectionRules,
	New:   newConnection,
	Watch: newBeside,
	Judge: judgeConnection,
})

type connection struct {
	limit     int // connections followed in each bucket of address pairs
	followed  [analysis.Buckets]int
	unseen    int64 // requests beyond that
	exchanges []*exchange
	find      map[cmKey]*exchange
	byQP      map[qpKey]*exchange
	born      uint32 // how often byQP has grown
	rows      perRow[connectionRow]
	managed   perRow[managedRow] // once there was an exchange
}

// cmPair is who speaks to whom, and over what.
type cmPair struct {
	from, to [16]byte
	vni      uint32
	version  uint8
}

func cmPairOf(p *decode.Packet) cmPair {
	return cmPair{from: p.Src, to: p.Dst, vni: p.VNI, version: p.Version}
}

func (p cmPair) back() cmPair { p.from, p.to = p.to, p.from; return p }

// cmKey finds an exchange by what a message says of its sender: its
// communication ID, or, where a capture cut that off, the transaction.
type cmKey struct {
	cmPair
	transaction bool
	id          uint64
}

// qpKey finds it by a packet of data.
type qpKey struct {
	cmPair
	qp uint32
}

// exchange is all messages about one connection. Its sides are client and
// server: who asked, and who was asked.
type exchange struct {
	pair        cmPair // from client to server
	clientID    uint32
	serverID    uint32
	transaction uint64
	service     ib.ServiceID
	transport   string // empty where the request was not seen
	values      [numCM]int64
	use         connectionUse
}

// connectionUse is the data of a connection.
type connectionUse struct {
	toServer, toClient int64 // frames
	fatalNAKs          int64
	first, last        int64 // times
}

// connectionRow is what a row shows beside CM.
type connectionRow struct {
	ends  rowEnds
	style rowStyle
}

// managedRow is the connection of a row.
type managedRow struct {
	exchange *exchange
	looked   uint32 // born, when it was last looked for
	toServer bool
}

func newConnection(c *analysis.Config) analysis.Observer {
	return &connection{limit: max(1, c.MaxFlows/analysis.Buckets), find: map[cmKey]*exchange{}, byQP: map[qpKey]*exchange{}}
}

func (c *connection) Observe(b *analysis.Batch) {
	c.rows.warm(b)
	cms := b.CMs
	for i := range b.Streaks {
		r := &b.Streaks[i]
		p := b.Head(r)
		var m *ib.CM
		if len(cms) > 0 && cms[0].Index == r.From { // which is no part of a longer streak
			m, cms = &cms[0].CM, cms[1:]
		}
		if !r.Counts() || p.ICRC == decode.ICRCBad {
			continue
		}
		row := c.rows.at(r.Flow)
		row.ends.seen(p, r.Len())
		switch {
		case m != nil:
			c.message(p, m)
		case p.QP > 1:
			row.style.seen(p, b.Tail(r))
			if c.born > 0 {
				c.used(c.managed.at(r.Flow), p, r)
			}
		}
	}
}

// used counts packets of data, of which p is the first, for their connection.
func (c *connection) used(row *managedRow, p *decode.Packet, r *analysis.Streak) {
	if row.exchange == nil {
		if row.looked == c.born {
			return
		}
		row.looked = c.born
		x := c.byQP[qpKey{cmPairOf(p), p.QP}]
		if x == nil {
			return
		}
		row.exchange, row.toServer = x, x.pair.from == p.Src && x.values[cmServerQP] == int64(p.QP)
	}
	u := &row.exchange.use
	if u.toServer+u.toClient == 0 {
		u.first, u.last = r.FirstNs, r.LastNs
	}
	u.first, u.last = min(u.first, r.FirstNs), max(u.last, r.LastNs)
	if row.toServer {
		u.toServer += r.Len()
	} else {
		u.toClient += r.Len()
	}
	if p.HasSyndrome() && p.Syndrome.Type() == ib.NAK && p.Syndrome&0x7F != ib.NAKPSNSequence {
		u.fatalNAKs++
	}
}

func (c *connection) Report(r *report.Report) {
	connections := report.Table{Name: "connections", Keys: connectionKeys, Columns: cmColumns[:],
		Help: "Connections by connection management: who asked whom for what, and what became of it. State: 1 asked, 2 delayed, 3 accepted, 4 established, 5 rejected, 6 closing, 7 closed. Where the request is not in view, the client is who spoke first."}
	uses := report.Table{Name: "uses", Keys: connectionKeys, Help: "The data of these connections.",
		Columns: append(columns("frames", "frames_to_server", "frames_to_client", "fatal_naks"),
			report.Column{Name: "first_ns", Unit: "ns", Kind: report.Floor}, report.Column{Name: "last_ns", Unit: "ns", Kind: report.Peak})}
	for _, x := range c.exchanges {
		key := x.key()
		connections.Rows = append(connections.Rows, report.Row{Key: key, Values: append([]int64(nil), x.values[:]...)})
		if u := &x.use; u.toServer+u.toClient > 0 {
			uses.Rows = append(uses.Rows, report.Row{Key: key, Values: []int64{u.toServer, u.toClient, u.fatalNAKs, u.first, u.last}})
		}
	}
	addTable(r, "connection", connections)
	addTable(r, "connection", uses)
	addTable(r, "connection", c.endsTable(r))
	addTable(r, "connection", c.servicesTable(r))
	if c.unseen > 0 {
		s := r.Section("connection")
		s.Measures = append(s.Measures, report.Measure{Name: "requests_beyond_cap", Kind: report.Sum, Value: c.unseen,
			Help: "Connection requests beyond the number that is followed."})
	}
}

var connectionKeys = []string{"client", "server", "service", "transport", "comm_id"}

func (x *exchange) key() []string {
	service := ""
	if x.service != 0 {
		service = x.service.String()
	}
	id := fmt.Sprintf("%#x", x.clientID)
	if x.clientID == 0 {
		id = fmt.Sprintf("transaction %#x", x.transaction) // the ID was cut off, or never in view
	}
	return []string{decode.Address(x.pair.from), decode.Address(x.pair.to), service, x.transport, id}
}
