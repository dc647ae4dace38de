package synth

import (
	"cmp"
	"slices"

	"github.com/rocescope/rocescope/decode/ib"
	"github.com/rocescope/rocescope/decode/roce"
)

// Exchange is what connection management said about one connection, as far as
// it is in the capture.
type Exchange struct {
	Client   string `json:"client"`
	Server   string `json:"server"`
	CommID   uint32 `json:"comm_id"` // the client's
	ClientQP uint32 `json:"client_qp"`
	ServerQP uint32 `json:"server_qp"`
	// Counts holds messages by the columns of a report's table of connections; one
	// that is missing is 0.
	Counts map[string]int64 `json:"counts"`
	// Reason is why it was refused or withdrawn, as the last REJ says; 0 it was
	// not.
	Reason uint16 `json:"reject_reason,omitempty"`
	// Accepted says that the server did accept it, and the client that, whether the
	// capture shows that or not.
	Accepted bool `json:"accepted"`
}

// cmColumns are the columns in which messages of connection management count.
var cmColumns = map[ib.CMAttr]string{
	ib.AttrREQ: "requests", ib.AttrMRA: "delays", ib.AttrREP: "replies", ib.AttrRTU: "ready_to_use",
	ib.AttrDREQ: "disconnect_requests", ib.AttrDREP: "disconnect_replies",
}

// exchanges tells what the capture holds of each connection's management.
func (r *recorder) exchanges() []Exchange {
	byConn := map[*conn]*Exchange{}
	for _, x := range r.order {
		p := x.packet
		if !x.captured || x.damaged || !r.legible(p) {
			continue
		}
		e := byConn[p.conn]
		if e == nil {
			e = p.conn.exchange()
			byConn[p.conn] = e
		}
		e.take(p)
	}
	var out []Exchange
	for _, e := range byConn {
		out = append(out, *e)
	}
	slices.SortFunc(out, func(a, b Exchange) int {
		return cmp.Or(cmp.Compare(a.Client, b.Client), cmp.Compare(a.Server, b.Server), cmp.Compare(a.ClientQP, b.ClientQP))
	})
	return out
}

// legible reports whether a packet is a message of connection management of which
// the snap length leaves enough to tell which.
func (r *recorder) legible(p *packet) bool {
	return r.legibleUpTo(p, ib.MADHeaderLen-6) // behind the attribute
}

// legibleUpTo reports whether the snap length leaves so many bytes of a message of
// connection management.
func (r *recorder) legibleUpTo(p *packet, bytes int) bool {
	snap := r.world.scenario.File.SnapLen
	return p.kind == isManagement && (snap == 0 || snap >= p.size()-ib.ICRCLen-ib.MADLen+bytes)
}

// introduce notes of which connections the capture tells both queue pairs, by REQ
// and REP. What is cut within the REQ need not be understood.
func (r *recorder) introduce() {
	const whole = ib.MADHeaderLen + ib.REQLen // a REP is shorter
	said := map[*conn]map[ib.CMAttr]bool{}
	for _, x := range r.order {
		if c := x.packet.conn; x.captured && !x.damaged && r.legibleUpTo(x.packet, whole) {
			if said[c] == nil {
				said[c] = map[ib.CMAttr]bool{}
			}
			said[c][x.packet.attr()] = true
			r.introduced[c] = said[c][ib.AttrREQ] && said[c][ib.AttrREP]
		}
	}
}

func (c *conn) exchange() *Exchange {
	return &Exchange{
		Client: c.a.host.addr.String(), Server: c.b.host.addr.String(), CommID: c.ids[0], ClientQP: c.a.qpn, ServerQP: c.b.qpn,
		Counts: map[string]int64{}, Accepted: c.state.decided && c.Setup.Rejected == 0 && c.Setup.Declined == 0,
	}
}

func (e *Exchange) take(p *packet) {
	column := cmColumns[p.attr()]
	if p.attr() == ib.AttrREJ {
		column = "rejects_of_server"
		if p.from == p.conn.a.host {
			column = "rejects_of_client"
		}
		e.Reason = uint16(p.ext[2].(*roce.REJ).Reason)
	}
	e.Counts[column]++
}

// declined reports whether the capture shows that the client refused what the server
// answered.
func (e *Exchange) declined() bool {
	return e.Counts["rejects_of_client"] > 0 && e.Counts["replies"] > 0 && e.Reason != uint16(ib.REJTimeout)
}

// unheard reports whether the server said nothing to the request.
func (e *Exchange) unheard() bool {
	return e.Counts["requests"] > 0 && e.Counts["delays"]+e.Counts["replies"]+e.Counts["rejects_of_server"]+e.Counts["ready_to_use"] == 0
}
