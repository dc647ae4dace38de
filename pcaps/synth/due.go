package synth

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rocescope/rocescope/decode/ib"
)

// proofs names the columns of which any makes a rule's finding due.
var proofs = map[string][]string{
	"loss.upstream":          {"lost_upstream", "response_lost_upstream"},
	"loss.downstream":        {"lost_downstream", "response_lost_downstream"},
	"loss.datagram":          {"datagram lost_upstream"},
	"capture.missed":         {"not_captured", "response_not_captured"},
	"rnr.stall":              {"rnr_naks"},
	"nak.invalid-request":    {"naks_invalid_request"},
	"nak.remote-access":      {"naks_remote_access"},
	"nak.remote-operational": {"naks_remote_operational"},
}

// From where on a capture tells something for certain.
const (
	waits         = 4                      // of an RNR NAK, until nobody will come any more
	manyMarks     = 10                     // without a CNP
	longForACNP   = 100 * time.Microsecond // between a mark and the end
	longForAREP   = 2 * time.Second
	underWay      = 200 * time.Microsecond // at most, of what a queue pair sent before it ended
	otherSenders  = 2                      // that agree on a priority
	dataQueuePair = 2                      // the first that is none of management
)

// due returns the rules of which the capture holds the proof.
func (r *recorder) due(t *Truth) []string {
	out := map[string]bool{}
	for i := range t.Rows {
		t.Rows[i].proves(out)
	}
	for i := range t.Connections {
		e := &t.Connections[i]
		out["cm.rejected"] = out["cm.rejected"] || e.Counts["rejects_of_server"] > 0 || e.declined()
		out["cm.unanswered"] = out["cm.unanswered"] || r.unanswered(e)
	}
	out["rnr.exhausted"] = r.exhausted(t)
	out["cnp.missing"] = r.untold()
	out["class.pcp-mismatch"] = r.oddPriority()
	maps.DeleteFunc(out, func(_ string, due bool) bool { return !due })
	return append([]string{}, slices.Sorted(maps.Keys(out))...)
}

func (row *Row) proves(out map[string]bool) {
	prefix := ""
	if row.Transport == ib.UC.String() || row.Transport == ib.UD.String() { // else RC, though it began with a CNP
		prefix = "datagram "
	}
	for rule, columns := range proofs {
		for _, column := range columns {
			column, fits := strings.CutPrefix(column, prefix)
			out[rule] = out[rule] || fits && row.Counts[column] > 0
		}
	}
}

// last is the time of the last frame.
func (r *recorder) last() (ns int64) {
	for _, x := range r.order {
		if x.captured {
			ns = max(ns, x.time)
		}
	}
	return ns
}

// unanswered reports whether the capture shows that the server said nothing: the
// client says so, or repeats its request or has long waited, and what else the
// server sends to it is in view.
func (r *recorder) unanswered(e *Exchange) bool {
	if !e.unheard() {
		return false
	}
	way, used, first := false, false, int64(0)
	for _, x := range r.order {
		p := x.packet
		of := p.conn.ids[0] == e.CommID
		switch {
		case of && p.kind == isManagement && p.from == p.conn.b.host && x.unseen():
			return false // it answered, and the capture missed that
		case !x.captured:
		case of && p.kind != isManagement:
			used = true
		case p.attr() == ib.AttrREQ && of && first == 0:
			first = x.time
		case p.from.addr.String() == e.Server && p.to.addr.String() == e.Client:
			way = true
		}
	}
	waited := e.Counts["requests"] > 1 || r.last()-first >= ns(longForAREP)
	return !used && (e.Counts["rejects_of_client"] > 0 || way && waited)
}

// exhausted reports whether the capture shows that a sender gave up for want of
// a receive buffer: the last RNR NAK, and long silence or the tear-down behind
// it.
func (r *recorder) exhausted(t *Truth) bool {
	return slices.ContainsFunc(r.order, func(x *record) bool {
		p := x.packet
		if p.asker == nil || p.asker.lastRefusal != p || !x.captured || x.damaged {
			return false
		}
		i := slices.IndexFunc(t.Rows, func(row Row) bool { return row.Src == p.from.addr.String() && row.DestQP == p.bth.DestQP })
		if !t.Rows[i].BothWays || t.Rows[i].Twin != 0 {
			return false
		}
		return r.last() > x.time+waits*p.syndrome().RNRTimer().Nanoseconds()+ns(underWay) || slices.ContainsFunc(r.order, func(y *record) bool {
			return y.captured && r.legible(y.packet) && y.time > x.time && y.packet.conn == p.conn && y.packet.attr() == ib.AttrDREQ && y.packet.from == p.to
		})
	})
}

// untold reports whether a host got marks and answered them with everything but
// a CNP.
func (r *recorder) untold() bool {
	if r.world.scenario.Network.RoCEv1 {
		return false // no switch marks a GRH, so that what stands there means nothing
	}
	marks, first, back := map[*host]int{}, map[*host]int64{}, map[*host]int64{}
	for _, x := range r.order {
		p := x.packet
		if !x.captured || x.damaged {
			continue
		}
		if h := p.to; h.machine.NoCNPs && x.ce && (p.kind == isRequest || p.kind == isReadResponse) {
			if marks[h]++; marks[h] == 1 || x.time < first[h] {
				first[h] = x.time
			}
		}
		back[p.from] = max(back[p.from], x.time)
	}
	for h, n := range marks {
		if n >= manyMarks && back[h]-first[h] >= ns(longForACNP) {
			return true
		}
	}
	return false
}

// oddPriority reports whether few senders tag a DSCP with another priority than
// most do, or with one that most keep for another DSCP.
func (r *recorder) oddPriority() bool {
	net := &r.world.scenario.Network
	senders := map[[2]uint8]map[*host]bool{}
	for _, x := range r.order {
		p := x.packet
		if k := [2]uint8{p.dscp, p.pcp()}; x.captured && p.kind != isCNP && p.bth.DestQP >= dataQueuePair {
			if senders[k] == nil {
				senders[k] = map[*host]bool{}
			}
			senders[k][p.from] = true
		}
	}
	for k, few := range senders {
		for other, many := range senders {
			outnumbered := len(many) >= otherSenders && len(few) < len(many)
			sameDSCP := k[0] == other[0] && k[1] != other[1]
			samePCP := k[1] == other[1] && k[1] != k[0]>>3 && other[1] == other[0]>>3
			if outnumbered && (sameDSCP || samePCP) {
				return net.VLAN != 0 && !net.RoCEv1
			}
		}
	}
	return false
}
